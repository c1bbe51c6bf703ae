// The operands and results that each LAPACK function takes, as a table. A call whose shapes do not
// fit is left to the evaluator, whose error names the operand; the library itself checks nothing.
#include "backends/cpu/library_calls/lapack_shapes_internal.h"

#include <algorithm>
#include <vector>

namespace hlokit {
namespace {

// Each value is two letters. How many elements a matrix of the batch: a: m x n, q: n x n, k:
// min(m, n), n, 1: n - 1, i: one, r: the order of a triangle, squared, h: reflectors, t: their
// factors, u and v: the singular vectors. Of which type: T the matrix's, R its real part, C
// complex, I s32.
struct Signature {
  HlokitLapackFunction function;
  absl::string_view operands, results, complex_results;  // the last only where they differ
};
constexpr Signature kSignatures[] = {
    {HLOKIT_LAPACK_GETRF, "aT", "aTkIiI", ""},
    {HLOKIT_LAPACK_GEQRF, "aT", "aTkT", ""},
    {HLOKIT_LAPACK_GEQP3, "aTnI", "aTnIkT", ""},
    {HLOKIT_LAPACK_ORGQR, "aTtT", "aT", ""},
    {HLOKIT_LAPACK_ORMQR, "hTtTaT", "aT", ""},
    {HLOKIT_LAPACK_GESDD, "aT", "aTkRuTvTiI", ""},
    {HLOKIT_LAPACK_GESVD, "aT", "aTkRuTvTiI", ""},
    {HLOKIT_LAPACK_SYEVD, "qT", "qTnRiI", ""},
    {HLOKIT_LAPACK_SYTRD, "qT", "qTnR1R1TiI", ""},
    {HLOKIT_LAPACK_GEEV, "qT", "nTnTqCqCiI", "nTqCqCiI"},
    {HLOKIT_LAPACK_GEES, "qT", "qTqTnTnTiIiI", "qTqTnTiIiI"},
    {HLOKIT_LAPACK_GEHRD, "qT", "qT1TiI", ""},
    {HLOKIT_LAPACK_GTSV, "nTnTnTbT", "nTnTnTbTiI", ""},
    {HLOKIT_LAPACK_POTRF, "qT", "qTiI", ""},
    {HLOKIT_LAPACK_TRSM, "rTaT", "aT", ""},
};

int64_t ElementsOf(char size, const HlokitLapackDesc& d) {
  const int64_t least = std::min(d.m, d.n), order = d.side == 'L' ? d.m : d.n;
  switch (size) {
    case 'a':
      return d.m * d.n;
    case 'b':
      return d.n * d.k;
    case 'q':
      return d.m == d.n ? d.n * d.n : -1;
    case 'r':
      return order * order;
    case 'h':
      return (d.left ? d.m : d.n) * d.k;
    case 'u':
      return d.m * (d.mode == 'S' ? least : d.m);
    case 'v':
      return d.n * (d.mode == 'S' ? least : d.n);
    case 'k':
      return least;
    case 't':
      return d.k;
    case 'n':
      return d.n;
    case '1':
      return std::max<int64_t>(d.n - 1, 0);
    default:
      return 1;
  }
}

ElementType TypeOf(char type, ElementType matrix) {
  if (type == 'I') return ElementType::kS32;
  if (type == 'R') return RealComponent(matrix);
  return type == 'C' && !IsComplex(matrix) ? ComplexOf(matrix) : matrix;
}

bool Fit(const std::vector<const Shape*>& shapes, absl::string_view signature,
         const HlokitLapackDesc& d, ElementType matrix) {
  if (shapes.size() < signature.size() / 2) return false;
  for (size_t i = 0; 2 * i < signature.size(); ++i) {
    const int64_t each = ElementsOf(signature[2 * i], d);
    if (shapes[i]->type != TypeOf(signature[2 * i + 1], matrix) || each < 0 ||
        shapes[i]->ElementCount() != d.batch * each)
      return false;
  }
  return true;
}

}  // namespace

bool LapackShapesFit(const Instruction& i, const HlokitLapackDesc& desc, ElementType matrix) {
  std::vector<const Shape*> operands, results;
  for (const Instruction* operand : i.operands()) operands.push_back(&operand->shape());
  for (const ShapeLeaf& leaf : Leaves(i.shape())) results.push_back(leaf.shape);
  for (const Signature& signature : kSignatures) {
    if (signature.function != desc.function) continue;
    const bool complex = IsComplex(matrix) && !signature.complex_results.empty();
    return Fit(operands, signature.operands, desc, matrix) &&
           Fit(results, complex ? signature.complex_results : signature.results, desc, matrix);
  }
  return false;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
