// A recipe of products of f32 as networks have them, with what follows on their results one by one:
// biases, scales, gates, activations, sums with other arrays. Sizes are those from which targets
// have kernels of their own, and features lie last in memory.
#include <cmath>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

constexpr ElementType kType = ElementType::kF32;
constexpr double kMaxProduct = 8;  // of values that are multiplied with each other

RandomValue Matrices(GeneratedCode& s, const DimVector& rows, int64_t depth, int64_t columns) {
  DimVector left = rows;
  left.push_back(depth);
  const RandomValue x = s.GetTame(kType, left, -1, 1);
  const RandomValue w = s.GetTame(kType, {depth, columns}, -1, 1);
  DotAttrs attributes;
  attributes.lhs_contracting_dims = {static_cast<int64_t>(rows.size())};
  attributes.rhs_contracting_dims = {0};
  const Shape result = Shape::Scalar(kType);
  return {s.Make(Opcode::kDot, {x.instruction, w.instruction}, attributes, &result),
          SumBounds(kType, x.bounds, w.bounds, depth)};
}

// Pictures [batch, y, x, feature]; `each`: a window for each feature.
RandomValue Pictures(GeneratedCode& s, bool each) {
  const int64_t features = s.random().Between(16, each ? 40 : 20);
  const int64_t outputs = each ? features : s.random().Between(16, 40);
  const int64_t window = s.random().OneOf({1, 3, 3, 4, 5}), side = s.random().Between(5, 9);
  ConvolutionAttrs attributes;
  for (int d = 0; d < 2; ++d) {
    WindowDim& w = attributes.window.emplace_back();
    w.size = window;
    w.stride = s.random().OneOf({1, 1, 2});
    w.pad_low = w.pad_high = s.random().Chance(0.7) ? window / 2 : 0;
  }
  attributes.dim_labels.input_feature = attributes.dim_labels.output_feature = 3;
  attributes.dim_labels.input_spatial = attributes.dim_labels.output_spatial = {1, 2};
  attributes.dim_labels.kernel_input_feature = 2;
  attributes.dim_labels.kernel_output_feature = 3;
  attributes.dim_labels.kernel_spatial = {0, 1};
  if (each) attributes.feature_group_count = features;
  const int64_t inputs = each ? 1 : features;
  const RandomValue x = s.GetTame(kType, {s.random().Between(1, 2), side, side, features}, -1, 1);
  const RandomValue w = s.GetTame(kType, {window, window, inputs, outputs}, -1, 1);
  const Shape result = Shape::Scalar(kType);
  return {s.Make(Opcode::kConvolution, {x.instruction, w.instruction}, attributes, &result),
          SumBounds(kType, x.bounds, w.bounds, window * window * inputs)};
}

// Divided by its largest value, so that functions of it are not all at their ends.
RandomValue Scaled(GeneratedCode& s, const RandomValue& x) {
  const double factor = 2 / std::max(x.bounds.Most(), 2.0);
  Instruction* by = s.Spread(s.ScalarConstant(kType, factor), x.shape());
  const double rounded = static_cast<float>(factor);
  return {s.Make(Opcode::kMultiply, {x.instruction, by}),
          MultiplyBounds(kType, x.bounds, {rounded, rounded, 0})};
}

RandomValue Activated(GeneratedCode& s, const RandomValue& x) {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  switch (s.random().Between(0, 3)) {
    case 0:
      return {s.Make(Opcode::kTanh, {x.instruction}),
              SmoothBounds(
                  kType, [](double v) { return std::tanh(v); }, x.bounds)};
    case 1:
      return {s.Make(Opcode::kLogistic, {x.instruction}), SmoothBounds(kType, sigmoid, x.bounds)};
    case 2: {
      Instruction* open = s.Make(Opcode::kLogistic, {x.instruction});
      return {s.Make(Opcode::kMultiply, {x.instruction, open}),
              MultiplyBounds(kType, x.bounds, SmoothBounds(kType, sigmoid, x.bounds))};
    }
    default: {  // a tenth of what is negative: both sides are near 0 where a sign is in doubt
      Instruction* zero = s.Spread(s.ScalarConstant(kType, 0), x.shape());
      Instruction* tenth = s.Make(
          Opcode::kMultiply, {x.instruction, s.Spread(s.ScalarConstant(kType, 0.125), x.shape())});
      Instruction* positive = Compared(s, ComparisonDirection::kGt, x.instruction, zero);
      return {s.Make(Opcode::kSelect, {positive, x.instruction, tenth}),
              {std::min(x.bounds.low, 0.0), std::max(x.bounds.high, 0.0),
               2 * x.bounds.error + RoundingError(kType, x.bounds.Most())}};
    }
  }
}

// The value with an array added to it, or multiplied with one: of columns, of one number, or whole.
RandomValue WithOther(GeneratedCode& s, const RandomValue& x) {
  const DimVector dims = x.shape().dims;
  const int64_t kind = s.random().Between(0, 2), last = x.shape().rank() - 1;
  RandomValue other = s.GetTame(kType,
                                kind == 0   ? DimVector{dims.back()}
                                : kind == 1 ? DimVector()
                                            : dims,
                                -1, 1);
  const Shape shape = Shape::Array(kType, dims);
  if (kind == 0)
    other.instruction =
        s.Make(Opcode::kBroadcast, {other.instruction}, BroadcastAttrs{{last}}, &shape);
  if (kind == 1) other.instruction = s.Spread(other.instruction, x.shape());
  std::vector<Instruction*> both = {x.instruction, other.instruction};
  if (s.random().Chance(0.3)) std::swap(both[0], both[1]);
  if (s.random().Chance(0.5))
    return {s.Make(Opcode::kAdd, both), AddBounds(kType, x.bounds, other.bounds)};
  return {s.Make(Opcode::kMultiply, both), MultiplyBounds(kType, x.bounds, other.bounds)};
}

}  // namespace

// Some steps after a product; a value on the way may have other users, and a second product may be
// multiplied with the first.
void FinishedProduct(GeneratedCode& s) {
  const int64_t kind = s.random().Between(0, 3);
  const DimVector rows =
      kind == 0 ? DimVector{2, s.random().Between(8, 20)} : DimVector{s.random().Between(12, 40)};
  const int64_t depth = s.random().Between(12, 40), columns = s.random().Between(12, 70);
  RandomValue x = kind <= 1 ? Matrices(s, rows, depth, columns) : Pictures(s, kind == 2);
  if (s.random().Chance(0.2)) s.Keep(x.instruction, x.bounds);
  x = Scaled(s, x);
  for (int64_t steps = s.random().Between(1, 4); steps > 0; --steps) {
    if (kind <= 1 && s.random().Chance(0.2)) {
      const RandomValue gate = Scaled(s, Matrices(s, rows, depth, columns));
      x = {s.Make(Opcode::kMultiply, {x.instruction, gate.instruction}),
           MultiplyBounds(kType, x.bounds, gate.bounds)};
    } else {
      x = s.random().Chance(0.5) ? Activated(s, x) : WithOther(s, x);
    }
    if (x.bounds.Most() > kMaxProduct) x = Scaled(s, x);
    if (s.random().Chance(0.15)) s.Keep(x.instruction, x.bounds);
  }
  s.Keep(x.instruction, x.bounds);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
