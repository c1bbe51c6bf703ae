// jaxlib's cuSOLVER and cuBLAS calls, and the TPU's LuDecomposition, as LAPACK's, which have names
// and flags of their own.
//
//   custom-call(a), custom_call_target="cusolver_geqrf_ffi"
//   ->  custom-call(copy of a by columns), custom_call_target="lapack_sgeqrf_ffi"
// LAPACK's matrices lie column by column: operands get copies in that layout, and so do results,
// where layouts are assigned anew. Flags change their spelling (solver_calls.cc has the table). The
// singular value routines by Jacobi's method return V where gesdd returns its transpose, which a
// transpose after the call undoes. Where a flag asks for another order, or leaves results out, the
// call stays.
#include <algorithm>

#include "ops/vendor/lapack_legacy.h"
#include "ops/vendor/solver_calls.h"
#include "passes/vendor/vendor_calls_internal.h"

namespace hlokit {
namespace {

// Matrices, of `rank` dimensions with those of the batch, column by column, as LAPACK has them.
Shape ByColumns(Shape shape, int64_t rank) {
  shape = shape.WithDefaultLayout();
  if (shape.rank() < rank) return shape;
  DimVector order = shape.MinorToMajor();
  std::swap(order[0], order[1]);
  return Shape::ArrayWithLayout(shape.type, shape.dims, order);
}

// The parts of the result of a call of LAPACK, with its own matrices as operands.
VendorCall::Parts CallLapack(VendorCall& c, std::string target, std::string config,
                             std::vector<Instruction*> operands, std::vector<Shape> results) {
  CustomCallAttrs attrs;
  attrs.operand_layout_constraints.emplace();
  int64_t rank = 2;
  for (const Instruction* operand : operands)
    rank = std::max<int64_t>(rank, operand->shape().rank());
  for (Instruction*& operand : operands) {
    operand = c.As(operand, ByColumns(operand->shape(), rank));
    attrs.operand_layout_constraints->push_back(operand->shape());
  }
  attrs.target = std::move(target);
  attrs.api_version = CustomCallApiVersion::kTypedFfi;
  for (Shape& shape : results) shape = ByColumns(shape, rank);
  const bool one = results.size() == 1;
  Instruction* call = c.rewriter().Add(
      Opcode::kCustomCall, one ? results[0] : Shape::Tuple(results), operands, std::move(attrs));
  call->mutable_extras().backend_config = std::move(config);
  if (one) return {call};
  VendorCall::Parts parts;
  for (size_t k = 0; k < results.size(); ++k)
    parts.push_back(c.rewriter().Add(Opcode::kGetTupleElement, results[k], {call},
                                     GetTupleElementAttrs{static_cast<int64_t>(k)}));
  return parts;
}

// The same, of a routine for the first operand's element type, with the operands of `c`.
VendorCall::Parts CallRoutine(VendorCall& c, absl::string_view routine, std::string config,
                              std::vector<Shape> results) {
  std::vector<Instruction*> operands;
  for (int64_t o = 0; o < c.operand_count(); ++o) operands.push_back(c.operand(o));
  std::string target = LapackTarget(routine, operands[0]->shape().type);
  return CallLapack(c, std::move(target), std::move(config), std::move(operands),
                    std::move(results));
}

bool IsSolverType(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kC64 ||
         type == ElementType::kC128;
}

std::vector<Shape> Results(const VendorCall& c) {
  std::vector<Shape> results;
  for (size_t k = 0; k < c.result_count(); ++k) results.push_back(c.result(k));
  return results;
}

// gesvdj and gesvdp give V where LAPACK gives its transpose.
VendorCall::Parts ExpandJacobi(VendorCall& c) {
  std::vector<Shape> results = Results(c);
  if (results.size() < 5 || results[3].rank() < 2 || IsComplex(results[3].type)) return {};
  const int64_t rank = results[3].rank();
  std::swap(results[3].dims[rank - 2], results[3].dims[rank - 1]);
  VendorCall::Parts parts = CallRoutine(c, "gesdd", LapackConfig("gesvdj", c.config("")), results);
  DimVector order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[rank - 2], order[rank - 1]);
  parts[3] = c.rewriter().Add(Opcode::kTranspose, c.result(3).WithDefaultLayout(), {parts[3]},
                              DimensionsAttrs{order});
  return parts;
}

}  // namespace

VendorCall::Parts ExpandCusolver(VendorCall& c) {
  const absl::string_view routine = SolverRoutine(c.attrs().target);
  const ElementType type = c.operand(0)->shape().type;
  if (!IsSolverType(type) || c.operand(0)->shape().rank() < 2) return {};
  const ConfigValue& config = c.config("");
  if (config.NumberOr("transposed", 0) != 0 || config.NumberOr("compute_uv", 1) == 0)
    return {};  // results in another order, or left out
  if (routine == "gesvdj" || routine == "gesvdp") return ExpandJacobi(c);
  const absl::string_view lapack = LapackEquivalent(routine, IsComplex(type));
  if (lapack.empty()) return {};
  return CallRoutine(c, lapack, LapackConfig(routine, config), Results(c));
}

VendorCall::Parts ExpandTriangularSolve(VendorCall& c) {
  if (c.operand_count() != 2) return {};
  const Shape &a = c.operand(0)->shape(), &b = c.operand(1)->shape();
  const int64_t rank = a.rank();
  if (!IsSolverType(a.type) || a.type != b.type || rank < 2 || b.rank() != rank) return {};
  const TriangularSolveAttrs attrs = CublasTriangular(c.config(""));
  const int64_t n = b.dims[rank - (attrs.left_side ? 2 : 1)];
  DimVector triangle(b.dims.begin(), b.dims.end() - 2);
  triangle.push_back(n);
  triangle.push_back(n);
  if (a.dims != triangle) return {};
  return {c.rewriter().Add(Opcode::kTriangularSolve, b.WithDefaultLayout(),
                           {c.operand(0), c.operand(1)}, attrs)};
}

// (factors, 0-based pivots, the permutation that they make).
VendorCall::Parts ExpandLuDecomposition(VendorCall& c) {
  const Shape& matrix = c.operand(0)->shape();
  if (c.operand_count() != 1 || c.result_count() != 3 || matrix.rank() < 2 ||
      !IsSolverType(matrix.type) || c.result(0).dims != matrix.dims)
    return {};
  const DimVector batch(matrix.dims.begin(), matrix.dims.end() - 2);
  VendorCall::Parts parts = CallRoutine(
      c, "getrf", "{}", {c.result(0), c.result(1), Shape::Array(ElementType::kS32, batch)});
  parts[1] = c.Do(Opcode::kSubtract, parts[1], c.Number(1, parts[1]->shape()));
  CustomCallAttrs attrs;
  attrs.target = "cu_lu_pivots_to_permutation";
  attrs.api_version = CustomCallApiVersion::kTypedFfi;
  parts[2] = c.rewriter().Add(Opcode::kCustomCall, c.result(2).WithDefaultLayout(), {parts[1]},
                              std::move(attrs));
  return parts;
}

// jaxlib's calls before the typed FFI, where the flags among their operands are constants.
VendorCall::Parts ExpandLegacyLapack(VendorCall& c) {
  const absl::StatusOr<LegacyLapack> legacy =
      ReadLegacyLapack(c.attrs().target, c.operand_count(), Results(c), [&](int64_t o) {
        const Instruction* operand = c.operand(o);
        return operand->opcode() == Opcode::kConstant ? operand->literal() : nullptr;
      });
  if (!legacy.ok()) return {};
  std::vector<Instruction*> operands;
  for (int64_t o : legacy->operands) operands.push_back(c.operand(o));
  const VendorCall::Parts today =
      CallLapack(c, legacy->target, legacy->config, std::move(operands), legacy->results);
  VendorCall::Parts parts;
  for (size_t r = 0; r < c.result_count(); ++r)
    parts.push_back(legacy->place[r] < 0 ? c.rewriter().Splat(c.result(r), 0)
                                         : today[legacy->place[r]]);
  return parts;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
