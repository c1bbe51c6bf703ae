// Runtime calls of linear algebra and Fourier transforms, and of jaxlib's lapack_*_ffi custom
// calls.
//
// cholesky and triangular-solve of HLO take any layout whose last two dimensions are the matrix:
// the descriptor holds row and column strides. LAPACK's custom calls want columns and say so in
// their operand layouts, which are checked; their flags are letters in the configuration
// (`uplo = 76 : ui8` is 'L'), read by ConfigNumber without parsing the whole of it.
// Shapes are checked against the table of lapack_shapes.cc before a call is made: the library
// itself checks nothing, and a wrong size would write out of bounds.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "backends/cpu/library_calls/lapack_shapes_internal.h"
#include "backends/cpu/library_calls/library_internal.h"
#include "runtime/linalg/lapack.h"

namespace hlokit {
namespace {

// The number after `name = ` in a backend config such as {uplo = 76 : ui8}.
int64_t ConfigNumber(absl::string_view config, absl::string_view name, int64_t absent) {
  for (size_t at = config.find(name); at != absl::string_view::npos;
       at = config.find(name, at + 1)) {
    const bool starts = at == 0 || (!absl::ascii_isalnum(config[at - 1]) && config[at - 1] != '_');
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(config.substr(at + name.size()));
    if (!starts || rest.empty() || rest[0] != '=') continue;
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(1));
    size_t end = 0;
    while (end < rest.size() && (absl::ascii_isdigit(rest[end]) || rest[end] == '-')) ++end;
    int64_t value = 0;
    if (absl::SimpleAtoi(rest.substr(0, end), &value)) return value;
    if (rest.substr(0, 4) == "true") return 1;
    if (rest.substr(0, 5) == "false") return 0;
  }
  return absent;
}

int64_t FromEnd(const Shape& shape, int64_t d) {
  return shape.rank() >= d ? shape.dims[shape.rank() - d] : 1;
}

int64_t BatchOf(const Shape& matrices) {
  int64_t batch = 1;
  for (int64_t d = 0; d + 2 < matrices.rank(); ++d) batch *= matrices.dims[d];
  return batch;
}

// Batch dimensions outermost and row-major, the matrix either way round.
bool DenseMatrices(const Shape& s) {
  if (!s.IsArray() || s.rank() < 2 || s.HasDynamicDims()) return false;
  const DimVector order = s.MinorToMajor();
  for (int64_t k = 2; k < s.rank(); ++k)
    if (order[k] != s.rank() - 1 - k) return false;
  return true;
}

bool ColumnMajor(const Shape& s) {
  if (s.rank() < 2) return s.IsRowMajor();
  return DenseMatrices(s) &&
         (s.MinorToMajor()[0] == s.rank() - 2 || FromEnd(s, 1) == 1 || FromEnd(s, 2) == 1);
}

bool SolverType(ElementType t) {
  return t == ElementType::kF32 || t == ElementType::kF64 || t == ElementType::kC64 ||
         t == ElementType::kC128;
}

class FftCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    return i.opcode() == Opcode::kFft && i.attr<FftAttrs>().fft_length.size() <= 3 &&
           !i.shape().HasDynamicDims() && i.operand(0)->shape().IsRowMajor() &&
           i.shape().IsRowMajor() && i.shape().ElementCount() > 0 &&
           i.operand(0)->shape().ElementCount() > 0;
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const auto& a = i.attr<FftAttrs>();
    int64_t batch = 1;
    const int64_t rank = static_cast<int64_t>(a.fft_length.size());
    for (int64_t d = 0; d + rank < i.shape().rank(); ++d) batch *= i.shape().dims[d];
    std::vector<int64_t> desc = {static_cast<int64_t>(a.fft_type),
                                 RealComponent(i.shape().type) == ElementType::kF64 ? 1 : 0, batch,
                                 rank};
    desc.insert(desc.end(), a.fft_length.begin(), a.fft_length.end());
    desc.resize(7, 1);
    site.Call("hlokit_fft", {site.context(), site.Words(desc), site.operand(0), site.result()});
  }
};

// {row stride, column stride} of each matrix.
void AddStrides(std::vector<int64_t>& desc, const Shape& s) {
  const DimVector strides = LayoutStrides(s);
  desc.push_back(strides[s.rank() - 2]);
  desc.push_back(strides[s.rank() - 1]);
}

class CholeskyCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    return i.opcode() == Opcode::kCholesky && SolverType(i.shape().type) &&
           DenseMatrices(i.shape()) && DenseMatrices(i.operand(0)->shape()) &&
           i.shape().ElementCount() > 0;
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const Shape& from = i.operand(0)->shape();
    std::vector<int64_t> desc = {Number(from), BatchOf(from), FromEnd(from, 1),
                                 i.attr<CholeskyAttrs>().lower ? 1 : 0};
    AddStrides(desc, from);
    AddStrides(desc, i.shape());
    site.Call("hlokit_cholesky",
              {site.context(), site.Words(desc), site.operand(0), site.result(), nullptr});
  }
};

class TriangularSolveCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    return i.opcode() == Opcode::kTriangularSolve && SolverType(i.shape().type) &&
           DenseMatrices(i.shape()) && DenseMatrices(i.operand(0)->shape()) &&
           DenseMatrices(i.operand(1)->shape()) && i.shape().ElementCount() > 0;
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const auto& a = i.attr<TriangularSolveAttrs>();
    const Shape& b = i.operand(1)->shape();
    const int64_t op = a.transpose_a == TriangularTranspose::kTranspose ? 1
                       : a.transpose_a == TriangularTranspose::kAdjoint ? 2
                                                                        : 0;
    std::vector<int64_t> desc = {
        Number(b),           BatchOf(b),      FromEnd(b, 2),           FromEnd(b, 1),
        a.left_side ? 1 : 0, a.lower ? 1 : 0, a.unit_diagonal ? 1 : 0, op};
    AddStrides(desc, i.operand(0)->shape());
    AddStrides(desc, b);
    AddStrides(desc, i.shape());
    site.Call("hlokit_triangular_solve",
              {site.context(), site.Words(desc), site.operand(0), site.operand(1), site.result()});
  }
};

class LapackCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    int64_t function = 0, type = 0;
    if (i.opcode() != Opcode::kCustomCall || i.operand_count() == 0 ||
        !FindLapackTarget(i.attr<CustomCallAttrs>().target.c_str(), &function, &type))
      return false;
    int rank = 0;
    for (const Instruction* operand : i.operands()) rank = std::max(rank, operand->shape().rank());
    for (const Instruction* operand : i.operands())
      if (!InPlace(operand->shape(), rank) || operand->shape().ElementCount() == 0) return false;
    for (const ShapeLeaf& leaf : Leaves(i.shape()))
      if (!InPlace(*leaf.shape, rank)) return false;
    // What does not fit is left to the reference kernel, which says so.
    return LapackShapesFit(i, DescOf(i), static_cast<ElementType>(type));
  }

  void Emit(CallSite& site, const Instruction& i) const override {
    const HlokitLapackDesc desc = DescOf(i);
    const auto* words = reinterpret_cast<const int64_t*>(&desc);
    std::vector<llvm::Value*> operands, results;
    for (int64_t o = 0; o < i.operand_count(); ++o) operands.push_back(site.operand(o));
    const int64_t leaves = static_cast<int64_t>(Leaves(i.shape()).size());
    for (int64_t leaf = 0; leaf < leaves; ++leaf) results.push_back(site.result(leaf));
    site.Call("hlokit_lapack", {site.context(), site.Words({words, sizeof(desc) / sizeof(int64_t)}),
                                site.Pointers(operands), site.Pointers(results)});
  }

 private:
  // As LAPACK has them one batch after the other: matrices by columns; pivots, scalars and values,
  // of fewer dimensions, as they are.
  static bool InPlace(const Shape& shape, int matrix_rank) {
    if (!shape.IsArray()) return false;
    return shape.rank() == matrix_rank ? ColumnMajor(shape) : shape.IsRowMajor();
  }

  static HlokitLapackDesc DescOf(const Instruction& i) {
    HlokitLapackDesc desc = {};
    FindLapackTarget(i.attr<CustomCallAttrs>().target.c_str(), &desc.function, &desc.type);
    SetSizes(desc, i);
    SetFlags(desc, i.backend_config());
    return desc;
  }

  static void SetSizes(HlokitLapackDesc& desc, const Instruction& i) {
    const auto shape = [&](int64_t o) -> const Shape& {
      return i.operand(std::min(o, i.operand_count() - 1))->shape();
    };
    const bool last = desc.function == HLOKIT_LAPACK_TRSM || desc.function == HLOKIT_LAPACK_GTSV ||
                      desc.function == HLOKIT_LAPACK_ORMQR;
    const Shape& main = last ? shape(i.operand_count() - 1) : shape(0);
    desc.batch = BatchOf(main);
    desc.m = FromEnd(main, 2);
    desc.n = FromEnd(main, 1);
    if (desc.function == HLOKIT_LAPACK_ORGQR || desc.function == HLOKIT_LAPACK_ORMQR)
      desc.k = FromEnd(shape(1), 1);
    if (desc.function == HLOKIT_LAPACK_GTSV) {
      desc.k = desc.n;
      desc.n = desc.m;
    }
  }

  static void SetFlags(HlokitLapackDesc& desc, absl::string_view config) {
    const bool right = desc.function == HLOKIT_LAPACK_GEEV;
    const bool singular =
        desc.function == HLOKIT_LAPACK_GESDD || desc.function == HLOKIT_LAPACK_GESVD;
    desc.mode = ConfigNumber(config, right ? "compute_right" : "mode", singular ? 'S' : 'V');
    desc.left_mode = ConfigNumber(config, "compute_left", 'V');
    desc.uplo = ConfigNumber(config, "uplo", 'L');
    desc.side = ConfigNumber(config, "side", 'L');
    desc.trans = ConfigNumber(config, "trans_x", 'N');
    desc.diag = ConfigNumber(config, "diag", 'N');
    desc.left = ConfigNumber(config, "left", 1);
    desc.transpose = ConfigNumber(config, "transpose", 0);
    desc.low = ConfigNumber(config, "low", 1);
    desc.high = ConfigNumber(config, "high", desc.n);
  }
};

class PivotsCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    if (i.opcode() != Opcode::kCustomCall || i.operand_count() != 1 || !StaticArrays(i) ||
        !absl::EndsWith(i.attr<CustomCallAttrs>().target, "_lu_pivots_to_permutation"))
      return false;
    const Shape &from = i.operand(0)->shape(), &to = i.shape();
    return to.IsArray() && to.type == ElementType::kS32 && from.type == ElementType::kS32 &&
           to.rank() >= 1 && from.rank() == to.rank() && from.IsRowMajor() && to.IsRowMajor() &&
           std::equal(to.dims.begin(), to.dims.end() - 1, from.dims.begin());
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const int64_t rows = i.shape().dims.back();
    const int64_t batch = rows == 0 ? 0 : i.shape().ElementCount() / rows;
    site.Call("hlokit_pivots_to_permutation",
              {site.context(), site.Words({batch, i.operand(0)->shape().dims.back(), rows}),
               site.operand(0), site.result()});
  }
};

}  // namespace

std::vector<const LibraryCall*> LinearAlgebraCalls() {
  static const PivotsCall pivots;
  static const FftCall fft;
  static const CholeskyCall cholesky;
  static const TriangularSolveCall solve;
  static const LapackCall lapack;
  return {&fft, &cholesky, &solve, &lapack, &pivots};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
