// Steps on arrays without elements, which others come to now and then only.
#include <algorithm>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

// Some of the dimensions become 0; at least one, where there are any.
DimVector Emptied(GeneratedCode& s, DimVector dims) {
  if (dims.empty()) return dims;
  dims[s.random().Between(0, static_cast<int64_t>(dims.size()) - 1)] = 0;
  for (int64_t& d : dims)
    if (s.random().Chance(0.3)) d = 0;
  return dims;
}

std::vector<Instruction*> WithStarts(GeneratedCode& s, std::vector<Instruction*> operands,
                                     int rank) {
  for (int d = 0; d < rank; ++d) operands.push_back(s.Get(ElementType::kS32, {}).instruction);
  return operands;
}

}  // namespace

// Slices and updates of nothing in arrays that may have elements.
void EmptySlice(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const int rank = x.shape().rank();
  const DimVector sizes = Emptied(s, x.shape().dims);
  if (s.random().Chance(0.5))
    return s.Keep(s.Make(Opcode::kDynamicSlice, WithStarts(s, {x.instruction}, rank),
                         DynamicSliceAttrs{sizes}),
                  x.bounds);
  const RandomValue update = s.Get(x.type(), sizes);  // of a scalar: all that there is
  s.Keep(
      s.Make(Opcode::kDynamicUpdateSlice, WithStarts(s, {x.instruction, update.instruction}, rank)),
      rank == 0 ? update.bounds : x.bounds);
}

// A sum over nothing, or nothing at all.
void EmptyDot(GeneratedCode& s) {
  const ElementType type =
      s.random().OneOf({ElementType::kF32, ElementType::kS32, ElementType::kBF16});
  const int64_t batch = s.random().Between(0, 2), m = s.random().Between(0, 3);
  const int64_t n = s.random().Between(0, 3), k = m * n * batch == 0 ? s.random().Between(0, 3) : 0;
  const RandomValue x = s.Get(type, {batch, m, k}), y = s.Get(type, {batch, k, n});
  DotAttrs attributes;
  attributes.lhs_batch_dims = attributes.rhs_batch_dims = {0};
  attributes.lhs_contracting_dims = {2};
  attributes.rhs_contracting_dims = {1};
  const Shape result = Shape::Scalar(type);
  s.Keep(s.Make(Opcode::kDot, {x.instruction, y.instruction}, attributes, &result), {0, 0, 0});
}

// A convolution without batches, features, results, or a place for its window.
void EmptyConvolution(GeneratedCode& s) {
  DimVector sizes = {2, 2, 3, 2, 2};  // batch, features, space, outputs, window
  sizes[s.random().OneOf({0, 2, 3})] = 0;
  ConvolutionAttrs attributes;
  WindowDim& window = attributes.window.emplace_back();
  window.size = sizes[4];
  if (s.random().Chance(0.5)) window.pad_low = s.random().Between(0, 2);
  if (s.random().Chance(0.5)) window.pad_high = s.random().Between(0, 2);
  ConvDims& labels = attributes.dim_labels;
  labels.input_batch = labels.kernel_input_feature = labels.output_batch = 0;
  labels.input_feature = labels.kernel_output_feature = labels.output_feature = 1;
  labels.input_spatial = labels.kernel_spatial = labels.output_spatial = {2};
  const ElementType type = s.random().OneOf({ElementType::kF32, ElementType::kS32});
  const RandomValue x = s.Get(type, {sizes[0], sizes[1], sizes[2]});
  const RandomValue y = s.Get(type, {sizes[1], sizes[3], sizes[4]});
  const Shape result = Shape::Scalar(type);
  s.Keep(s.Make(Opcode::kConvolution, {x.instruction, y.instruction}, attributes, &result),
         {0, 0, 0});
}

// Matrices without rows, columns or both.
void EmptySolve(GeneratedCode& s) {
  const int64_t n = s.random().Between(0, 1) * 2, other = n == 0 ? s.random().Between(0, 2) : 0;
  const int64_t batch = s.random().Between(0, 2);
  const RandomValue b = s.GetTame(ElementType::kF32, {batch, n, other}, -2, 2);
  Literal identity(Shape::Array(ElementType::kF32, {batch, n, n}));
  for (int64_t i = 0; i < identity.element_count(); ++i)
    identity.SetDouble(i, i / n % n == i % n ? 1 : 0);
  Instruction* a = s.Constant(std::move(identity));
  if (n == 0 && s.random().Chance(0.5)) s.Keep(s.Make(Opcode::kCholesky, {a}, CholeskyAttrs{}));
  TriangularSolveAttrs attributes;
  attributes.left_side = true;
  attributes.lower = s.random().Chance(0.5);
  attributes.transpose_a = TriangularTranspose::kNone;
  s.Keep(s.Make(Opcode::kTriangularSolve, {a, b.instruction}, attributes), b.bounds);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
