// Recipes that multiply and add up: dot, ragged and scaled dots, convolution, fft, Cholesky and
// triangular solves. Dimensions of operands stand in random order. Each recipe gives a bound of its
// result's error: n products of values within m, each rounded, differ by at most n times one
// rounding error of m^2 (bounds.h).
#include <algorithm>
#include <cmath>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

ElementType ProductType(GeneratedCode& s) {
  return s.random().OneOf({ElementType::kF32, ElementType::kF32, ElementType::kF32,
                           ElementType::kF64, ElementType::kBF16, ElementType::kF16,
                           ElementType::kS32, ElementType::kS8, ElementType::kU8, ElementType::kC64,
                           ElementType::kC128, ElementType::kS64, ElementType::kF8E5M2,
                           ElementType::kF8E4M3FN, ElementType::kS4});
}

// What a product of `type` may be added up in.
ElementType ResultType(GeneratedCode& s, ElementType type) {
  if (BitWidth(type) > 16 || s.random().Chance(0.4)) return type;
  return IsFloat(type) ? ElementType::kF32 : ElementType::kS32;
}

// Dimensions in random places, each with what it is.
struct Side {
  DimVector dims, batch, contracting;
};
Side Arrange(GeneratedCode& s, absl::Span<const int64_t> batch,
             absl::Span<const int64_t> contracting, absl::Span<const int64_t> free) {
  std::vector<std::pair<int, int64_t>> parts;  // kind and number, size
  for (size_t i = 0; i < batch.size(); ++i) parts.emplace_back(static_cast<int>(i), batch[i]);
  for (size_t i = 0; i < contracting.size(); ++i)
    parts.emplace_back(10 + static_cast<int>(i), contracting[i]);
  for (int64_t size : free) parts.emplace_back(100, size);
  s.random().Shuffle(parts);
  Side side;
  side.batch.resize(batch.size());
  side.contracting.resize(contracting.size());
  for (size_t d = 0; d < parts.size(); ++d) {
    const int kind = parts[d].first;
    side.dims.push_back(parts[d].second);
    if (kind < 10) side.batch[kind] = static_cast<int64_t>(d);
    if (kind >= 10 && kind < 100) side.contracting[kind - 10] = static_cast<int64_t>(d);
  }
  return side;
}

DimVector FewDims(GeneratedCode& s, int most_rank, int64_t most) {
  DimVector dims(s.random().Between(0, most_rank));
  for (int64_t& d : dims)
    d = s.random().Chance(s.state().options.empty_dims) ? 0 : s.random().Between(1, most);
  return dims;
}

// Bounds widened to [-m, m], as the bounds of products want them.
RandomValue Symmetric(const RandomValue& x) {
  return {x.instruction, {-x.bounds.Most(), x.bounds.Most(), x.bounds.error}};
}

}  // namespace

void DotValues(GeneratedCode& s) {
  const ElementType type = ProductType(s);
  const DimVector batch = FewDims(s, s.random().Chance(0.4) ? 2 : 0, 4);
  const DimVector contracting = FewDims(s, s.random().Chance(0.2) ? 2 : 1, 12);
  const Side left = Arrange(s, batch, contracting, FewDims(s, 2, 9));
  const Side right = Arrange(s, batch, contracting, FewDims(s, 2, 9));
  const RandomValue x = Symmetric(s.Get(type, left.dims));
  const RandomValue y = Symmetric(s.Get(type, right.dims));
  DotAttrs attributes;
  attributes.lhs_batch_dims = left.batch;
  attributes.lhs_contracting_dims = left.contracting;
  attributes.rhs_batch_dims = right.batch;
  attributes.rhs_contracting_dims = right.contracting;
  const Shape result = Shape::Scalar(ResultType(s, type));
  const bool narrow = IsFloat(type) && BitWidth(result.type) > BitWidth(type);
  s.Keep(s.Make(Opcode::kDot, {x.instruction, y.instruction}, attributes, &result),
         SumBounds(narrow ? result.type : type, x.bounds, y.bounds, CountOf(contracting)));
}

// Some value, of whose dimensions each is batch, contracted or free, and an array that fits.
void ProductWithValue(GeneratedCode& s) {
  const RandomValue x = Symmetric(s.Any());
  const ElementType type = x.type();
  if (IsPred(type) || type == ElementType::kF8E8M0FNU || BitWidth(type) < 4) return;
  constexpr int64_t kMaxContracted = 64, kMaxResult = 4096;
  DimVector batch, contracting;
  DotAttrs attributes;
  int64_t free = 1;
  for (int64_t d = 0; d < x.shape().rank(); ++d) {
    const int64_t size = x.shape().dims[d], kind = s.random().Between(0, 3);
    if (kind == 0 && size <= 8) {
      batch.push_back(size);
      attributes.lhs_batch_dims.push_back(d);
    } else if (kind <= 1 && CountOf(contracting) * size <= kMaxContracted) {
      contracting.push_back(size);
      attributes.lhs_contracting_dims.push_back(d);
    } else {
      free *= size;
    }
  }
  const Side right = Arrange(s, batch, contracting, FewDims(s, 2, 5));
  if (CountOf(right.dims) * free > kMaxResult) return;
  const RandomValue y = Symmetric(s.Get(type, right.dims));
  attributes.rhs_batch_dims = right.batch;
  attributes.rhs_contracting_dims = right.contracting;
  const Shape result = Shape::Scalar(ResultType(s, type));
  const bool narrow = IsFloat(type) && BitWidth(result.type) > BitWidth(type);
  std::vector<Instruction*> operands = {x.instruction, y.instruction};
  if (s.random().Chance(0.3)) {
    std::swap(operands[0], operands[1]);
    std::swap(attributes.lhs_batch_dims, attributes.rhs_batch_dims);
    std::swap(attributes.lhs_contracting_dims, attributes.rhs_contracting_dims);
  }
  s.Keep(s.Make(Opcode::kDot, operands, attributes, &result),
         SumBounds(narrow ? result.type : type, x.bounds, y.bounds, CountOf(contracting)));
}

// Matrices, or batches of them, of a type that libraries multiply.
void MatrixProduct(GeneratedCode& s) {
  const ElementType type =
      s.random().OneOf({ElementType::kF32, ElementType::kF32, ElementType::kF64, ElementType::kBF16,
                        ElementType::kF16, ElementType::kC64, ElementType::kC128});
  const DimVector batch = FewDims(s, s.random().Chance(0.3) ? 1 : 0, 4);
  const auto size = [&s] {
    return s.random().Chance(0.3) ? std::min<int64_t>(s.EdgeSize(), 70) : s.random().Between(1, 12);
  };
  const DimVector contracting = {size()};
  const Side left = Arrange(s, batch, contracting, {size()});
  const Side right = Arrange(s, batch, contracting, {size()});
  const RandomValue x = Symmetric(s.Get(type, left.dims));
  const RandomValue y = Symmetric(s.Get(type, right.dims));
  DotAttrs attributes;
  attributes.lhs_batch_dims = left.batch;
  attributes.lhs_contracting_dims = left.contracting;
  attributes.rhs_batch_dims = right.batch;
  attributes.rhs_contracting_dims = right.contracting;
  const Shape result = Shape::Scalar(type);
  s.Keep(s.Make(Opcode::kDot, {x.instruction, y.instruction}, attributes, &result),
         SumBounds(type, x.bounds, y.bounds, CountOf(contracting)));
}

// Rows of floats by weights of a byte or less, widened before the product.
void QuantizedProduct(GeneratedCode& s) {
  constexpr int64_t kWeights = 4096;
  const ElementType type = s.random().OneOf(
      {ElementType::kF32, ElementType::kF32, ElementType::kBF16, ElementType::kF16});
  const ElementType narrow =
      s.random().OneOf({ElementType::kS8, ElementType::kU8, ElementType::kS4, ElementType::kU4,
                        ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kF8E4M3});
  const int64_t depth = s.random().Between(30, 130), rows = s.random().Between(1, 20);
  const int64_t columns = kWeights / depth + s.random().Between(-5, 20);
  const Side left = Arrange(s, {}, {depth}, {rows}), right = Arrange(s, {}, {depth}, {columns});
  const RandomValue x = Symmetric(s.Get(type, left.dims));
  RandomValue w = Symmetric(s.Get(narrow, right.dims));
  if (IsInteger(narrow)) w = {s.TameInteger(w.instruction, 0, 4), {0, 4, 0}};
  const Shape wide = w.shape().WithoutLayout().WithType(type);
  const Shape result = Shape::Scalar(type);
  DotAttrs attributes;
  attributes.lhs_contracting_dims = left.contracting;
  attributes.rhs_contracting_dims = right.contracting;
  std::vector<Instruction*> operands = {x.instruction,
                                        s.Make(Opcode::kConvert, {w.instruction}, &wide)};
  if (s.random().Chance(0.3)) {
    std::swap(operands[0], operands[1]);
    std::swap(attributes.lhs_contracting_dims, attributes.rhs_contracting_dims);
  }
  s.Keep(s.Make(Opcode::kDot, operands, attributes, &result),
         SumBounds(type, x.bounds, w.bounds, depth));
}

// Rows, parts of what is contracted, or batches in groups.
void RaggedDotValues(GeneratedCode& s) {
  const ElementType type =
      s.random().OneOf({ElementType::kF32, ElementType::kF32, ElementType::kF64, ElementType::kS32,
                        ElementType::kBF16, ElementType::kC64});
  const int64_t m = s.random().Between(0, 6), k = s.random().Between(1, 6);
  const int64_t n = s.random().Between(1, 4), groups = s.random().Between(1, 3);
  const int64_t mode = s.random().Between(0, 2);  // of the ragged dimension
  const int64_t batch = s.random().Between(1, 5);
  const int64_t first = mode == 2 ? 1 : 0;  // dimension that is not batch
  RaggedDotAttrs attributes;
  attributes.lhs_contracting_dims = {first + 1};
  attributes.rhs_contracting_dims = {mode == 1 ? 0 : 1};
  attributes.lhs_ragged_dims = {mode == 1 ? 1 : 0};
  if (mode == 0) attributes.rhs_group_dims = {0};
  if (mode == 2) attributes.lhs_batch_dims = attributes.rhs_batch_dims = {0};
  DimVector left = {m, k}, right = {k, n};
  if (mode == 2) left.insert(left.begin(), batch);
  if (mode != 1) right.insert(right.begin(), mode == 0 ? groups : batch);
  const RandomValue x = Symmetric(s.Get(type, left)), y = Symmetric(s.Get(type, right));
  Instruction* sizes = s.TameInteger(
      s.Get(s.random().OneOf({ElementType::kS32, ElementType::kS64}), {groups}).instruction, 0, 3);
  s.Keep(s.Make(Opcode::kRaggedDot, {x.instruction, y.instruction, sizes}, attributes),
         SumBounds(type, x.bounds, y.bounds, k));
}

// Blocks of narrow floats, each with its scale.
void ScaledDotValues(GeneratedCode& s) {
  const ElementType type = s.random().OneOf(
      {ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kBF16, ElementType::kF4E2M1FN});
  const int64_t m = s.random().Between(1, 5), n = s.random().Between(1, 5);
  const int64_t blocks = s.random().Between(1, 3), size = s.random().Between(1, 3);
  const RandomValue x = Symmetric(s.Get(type, {m, blocks * size}));
  const RandomValue y = Symmetric(s.Get(type, {blocks * size, n}));
  const ElementType scale = ElementType::kF8E8M0FNU;
  const RandomValue x_scale = Symmetric(s.Get(scale, {m, blocks}));
  const RandomValue y_scale = Symmetric(s.Get(scale, {blocks, n}));
  DotAttrs attributes;
  attributes.lhs_contracting_dims = {1};
  attributes.rhs_contracting_dims = {0};
  const ElementType to = ElementType::kF32;
  const Shape result = Shape::Scalar(to);
  s.Keep(s.Make(Opcode::kScaledDot,
                {x.instruction, y.instruction, x_scale.instruction, y_scale.instruction},
                attributes, &result),
         SumBounds(to, MultiplyBounds(to, x.bounds, x_scale.bounds),
                   MultiplyBounds(to, y.bounds, y_scale.bounds), blocks * size));
}

// Up to three spatial dimensions with any strides, padding, dilations, reversal and groups.
void ConvolutionValues(GeneratedCode& s) {
  const ElementType type = ProductType(s);
  const int spatial =
      static_cast<int>(s.random().Between(0, 2)) + (s.random().Chance(0.05) ? 1 : 0);
  ConvolutionAttrs attributes;
  const int64_t groups = s.random().Chance(0.3) ? s.random().Between(2, 3) : 1;
  const bool by_batch = s.random().Chance(0.3);
  (by_batch ? attributes.batch_group_count : attributes.feature_group_count) = groups;
  const int64_t features = s.random().Between(1, 3);
  const int64_t input_features = by_batch ? features : features * groups;
  const int64_t outputs = s.random().Between(1, 3) * groups;
  const int64_t batch = s.random().Between(1, 2) * (by_batch ? groups : 1);
  DimVector input, kernel;
  auto label = [&](DimVector& dims, int64_t first, int64_t second, DimVector sizes, int64_t& a,
                   int64_t& b, DimVector& places) {
    DimVector order;
    for (int d = 0; d < spatial + 2; ++d) order.push_back(d);
    s.random().Shuffle(order);
    dims.assign(spatial + 2, 0);
    a = order[0];
    b = order[1];
    places.assign(order.begin() + 2, order.end());
    dims[a] = first;
    dims[b] = second;
    for (int d = 0; d < spatial; ++d) dims[places[d]] = sizes[d];
  };
  DimVector input_sizes, kernel_sizes;
  int64_t taps = features;
  for (int d = 0; d < spatial; ++d) {
    WindowDim& w = attributes.window.emplace_back();
    w.size = s.random().Between(1, 3);
    if (s.random().Chance(0.4)) w.stride = s.random().Between(1, 3);
    if (s.random().Chance(0.5)) w.pad_low = s.random().Between(-1, 2);
    if (s.random().Chance(0.5)) w.pad_high = s.random().Between(-1, 2);
    if (s.random().Chance(0.2)) w.base_dilation = s.random().Between(1, 3);
    if (s.random().Chance(0.2)) w.window_dilation = s.random().Between(1, 3);
    w.reversal = s.random().Chance(0.15);
    input_sizes.push_back(s.random().Between(2, 7));
    kernel_sizes.push_back(w.size);
    taps *= w.size;
  }
  ConvDims& labels = attributes.dim_labels;
  label(input, batch, input_features, input_sizes, labels.input_batch, labels.input_feature,
        labels.input_spatial);
  label(kernel, features, outputs, kernel_sizes, labels.kernel_input_feature,
        labels.kernel_output_feature, labels.kernel_spatial);
  DimVector unused;
  label(unused, 1, 1, DimVector(spatial, 1), labels.output_batch, labels.output_feature,
        labels.output_spatial);
  const RandomValue x = Symmetric(s.Get(type, input));
  const RandomValue y = Symmetric(s.Get(type, kernel));
  const Shape result = Shape::Scalar(ResultType(s, type));
  s.Keep(s.Make(Opcode::kConvolution, {x.instruction, y.instruction}, attributes, &result),
         SumBounds(type, x.bounds, y.bounds, taps));
}

// Each result adds `count` terms of magnitude m, in log(count) rounded steps; the bound is
// generous.
void FftValue(GeneratedCode& s) {
  const FftType kind =
      s.random().OneOf({FftType::kFft, FftType::kIfft, FftType::kRfft, FftType::kIrfft});
  const bool wide = s.random().Chance(0.4);
  const ElementType real = wide ? ElementType::kF64 : ElementType::kF32;
  DimVector dims = s.NewDims(0, 1), length;
  for (int64_t d = s.random().Between(1, 2); d > 0; --d)
    length.push_back(s.random().Chance(0.1) ? s.random().Between(13, 45)
                                            : s.random().Between(1, 12));
  dims.insert(dims.end(), length.begin(), length.end());
  if (kind == FftType::kIrfft) dims.back() = length.back() / 2 + 1;
  if (CountOf(dims) > s.state().options.max_elements) return;
  const RandomValue x = s.Get(kind == FftType::kRfft ? real : ComplexOf(real), dims);
  const auto count = static_cast<double>(CountOf(length));
  const double most = 2 * count * x.bounds.Most();
  s.Keep(s.Make(Opcode::kFft, {x.instruction}, FftAttrs{kind, length}),
         {-most, most, 2 * count * x.bounds.error + 4 * RoundingError(real, most)});
}

namespace {

// A value whose parts lie in [-most, most].
RandomValue WithParts(GeneratedCode& s, ElementType type, const DimVector& dims, double most) {
  if (!IsComplex(type)) return s.GetTame(type, dims, -most, most);
  const ElementType part = RealComponent(type);
  const RandomValue real = s.GetTame(part, dims, -most, most);
  const RandomValue imaginary = s.GetTame(part, dims, -most, most);
  return {s.Make(Opcode::kComplex, {real.instruction, imaginary.instruction}),
          {-most, most, real.bounds.error + imaginary.bounds.error}};
}

// n times the identity plus something small: far from singular.
RandomValue WellConditioned(GeneratedCode& s, ElementType type, int64_t n, const DimVector& batch) {
  DimVector dims = batch;
  dims.insert(dims.end(), {n, n});
  const RandomValue small = WithParts(s, type, dims, 0.5);
  Literal diagonal(Shape::Array(type, dims));
  for (int64_t i = 0; i < diagonal.element_count(); ++i)
    diagonal.SetComplex(i, i / n % n == i % n ? static_cast<double>(n) : 0.0);
  const double most = static_cast<double>(n) + 0.5;
  return {s.Make(Opcode::kAdd, {small.instruction, s.Constant(std::move(diagonal))}),
          {-most, most, small.bounds.error + RoundingError(type, most)}};
}

}  // namespace

// Of a well-conditioned matrix; the triangle that is not defined is replaced by zeros.
void CholeskyValue(GeneratedCode& s) {
  const ElementType type = s.random().OneOf({ElementType::kF32, ElementType::kF64});
  const int64_t n = s.random().Between(1, 5);
  const RandomValue a = WellConditioned(s, type, n, s.NewDims(0, 1));
  const bool lower = s.random().Chance(0.6);
  Instruction* factor = s.Make(Opcode::kCholesky, {a.instruction}, CholeskyAttrs{lower});
  if (factor == nullptr) return;
  // The other triangle is not defined.
  const int rank = factor->shape().rank();
  const Shape numbers = factor->shape().WithoutLayout().WithType(ElementType::kS32);
  Instruction* row = s.Make(Opcode::kIota, {}, IotaAttrs{rank - 2}, &numbers);
  Instruction* column = s.Make(Opcode::kIota, {}, IotaAttrs{rank - 1}, &numbers);
  using D = ComparisonDirection;
  Instruction* inside =
      s.Make(Opcode::kCompare, {row, column}, CompareAttrs{lower ? D::kGe : D::kLe, {}});
  Instruction* zero = s.Spread(s.ScalarConstant(type, 0), factor->shape());
  s.Keep(s.Make(Opcode::kSelect, {inside, factor, zero}),
         {-3, 3, 8 * a.bounds.error + 32 * RoundingError(type, 3)});
}

// Either side, either triangle, transposed or not.
void TriangularSolveValue(GeneratedCode& s) {
  const ElementType type =
      s.random().OneOf({ElementType::kF32, ElementType::kF32, ElementType::kF64, ElementType::kF64,
                        ElementType::kC64, ElementType::kC128});
  const int64_t n = s.random().Between(1, 5);
  const DimVector batch = s.NewDims(0, 1);
  const RandomValue a = WellConditioned(s, type, n, batch);
  TriangularSolveAttrs attributes;
  attributes.left_side = s.random().Chance(0.5);
  attributes.lower = s.random().Chance(0.5);
  attributes.unit_diagonal = s.random().Chance(0.3);
  attributes.transpose_a = s.random().OneOf(
      {TriangularTranspose::kNone, TriangularTranspose::kTranspose, TriangularTranspose::kAdjoint});
  DimVector dims = batch;
  const int64_t other = s.random().Between(1, 6);
  dims.push_back(attributes.left_side ? n : other);
  dims.push_back(attributes.left_side ? other : n);
  const RandomValue b = WithParts(s, type, dims, 2);
  // 2 (1 + sqrt(1/2))^4, by a triangle of ones on the diagonal.
  const double most = IsComplex(type) ? 32 : 16;
  s.Keep(s.Make(Opcode::kTriangularSolve, {a.instruction, b.instruction}, attributes),
         {-most, most,
          4 * most * (a.bounds.error + b.bounds.error) + 4 * most * RoundingError(type, most)});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
