// Dots, decompositions, transforms and normalisation.
#include "builder/products.h"

#include "builder/elementwise.h"
#include "builder/emit_internal.h"

namespace hlokit {
namespace {

template <typename A>
void SetDotDims(const DotDimensionNumbers& numbers, A& attributes) {
  attributes.lhs_batch_dims = numbers.lhs_batch_dimensions;
  attributes.rhs_batch_dims = numbers.rhs_batch_dimensions;
  attributes.lhs_contracting_dims = numbers.lhs_contracting_dimensions;
  attributes.rhs_contracting_dims = numbers.rhs_contracting_dimensions;
}

template <typename A>
void SetPrecision(const PrecisionConfig* precision, A& attributes) {
  if (precision == nullptr) return;
  for (Precision p : precision->operand_precision)
    if (p != Precision::kDefault) attributes.operand_precision = precision->operand_precision;
  attributes.algorithm.text = precision->algorithm;
}

EmitExtras Preferring(MaybeType type) {
  if (!type) return {};
  return {Shape::Scalar(*type)};
}

// The dimension of rhs that a dot without dimension numbers sums over.
int64_t RhsContraction(const Shape& rhs) { return rhs.rank() <= 2 ? 0 : rhs.rank() - 2; }

}  // namespace

XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& numbers,
                 const PrecisionConfig* precision, MaybeType preferred_type, Where where) {
  DotAttrs attributes;
  SetDotDims(numbers, attributes);
  SetPrecision(precision, attributes);
  return Emit(where, Opcode::kDot, {lhs, rhs}, std::move(attributes), Preferring(preferred_type));
}

XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision, MaybeType preferred_type,
          Where where) {
  return WithShapes(where, {lhs, rhs}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (s[0].IsScalar() && s[1].IsScalar()) return Mul(lhs, rhs, {}, where);
    DotDimensionNumbers numbers;
    numbers.lhs_contracting_dimensions = {s[0].rank() - 1};
    numbers.rhs_contracting_dimensions = {RhsContraction(s[1])};
    return DotGeneral(lhs, rhs, numbers, precision, preferred_type, where);
  });
}

XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale,
                const DotDimensionNumbers& numbers, const PrecisionConfig* precision,
                MaybeType preferred_type, Where where) {
  DotAttrs attributes;
  SetDotDims(numbers, attributes);
  SetPrecision(precision, attributes);
  return Emit(where, Opcode::kScaledDot, {lhs, rhs, lhs_scale, rhs_scale}, std::move(attributes),
              Preferring(preferred_type));
}

XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& numbers,
                const PrecisionConfig* precision, MaybeType preferred_type, Where where) {
  RaggedDotAttrs attributes;
  SetDotDims(numbers.dot_dimension_numbers, attributes);
  attributes.lhs_ragged_dims = numbers.lhs_ragged_dimensions;
  attributes.rhs_group_dims = numbers.rhs_group_dimensions;
  SetPrecision(precision, attributes);
  return Emit(where, Opcode::kRaggedDot, {lhs, rhs, group_sizes}, std::move(attributes),
              Preferring(preferred_type));
}

XlaOp Cholesky(XlaOp a, bool lower, Where where) {
  return Emit(where, Opcode::kCholesky, {a}, CholeskyAttrs{lower});
}

XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularTranspose transpose_a, Where where) {
  return Emit(where, Opcode::kTriangularSolve, {a, b},
              TriangularSolveAttrs{left_side, lower, unit_diagonal, transpose_a});
}

XlaOp Fft(XlaOp operand, FftType type, DimSpan fft_length, Where where) {
  return Emit(where, Opcode::kFft, {operand}, FftAttrs{type, ToDims(fft_length)});
}

XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                        int64_t feature_index, Where where) {
  return Emit(where, Opcode::kBatchNormTraining, {operand, scale, offset},
              BatchNormAttrs{epsilon, feature_index});
}

XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                         float epsilon, int64_t feature_index, Where where) {
  return Emit(where, Opcode::kBatchNormInference, {operand, scale, offset, mean, variance},
              BatchNormAttrs{epsilon, feature_index});
}

XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var,
                    XlaOp grad_output, float epsilon, int64_t feature_index, Where where) {
  return Emit(where, Opcode::kBatchNormGrad, {operand, scale, batch_mean, batch_var, grad_output},
              BatchNormAttrs{epsilon, feature_index});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
