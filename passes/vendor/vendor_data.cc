// Calls of GPU libraries that sort, scan, draw random bits or normalise, as operations.
//   custom-call(x), "__cub$DeviceRadixSort"   ->   sort(x) along the rows
//   custom-call(k0, k1, x0, x1), ThreeFry     ->   20 rounds of add, rotate, xor
//   softmax, layer norm, batch norm of cuDNN  ->   reductions, broadcasts, exponentials
// So that modules of another compiler's GPU pipeline run on every platform.
#include <algorithm>
#include <bit>

#include "ir/module.h"
#include "ops/vendor/cub_sort.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/rewriter.h"
#include "passes/vendor/vendor_calls_internal.h"

namespace hlokit {
namespace {

constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
constexpr uint32_t kParity = 0x1BD11BDA;

// x0, x1 after one step of ThreeFry 2x32.
// ThreeFry: J. K. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).
void Round(VendorCall& c, Instruction*& x0, Instruction*& x1, int rotation) {
  const Shape shape = x0->shape();
  x0 = c.Do(Opcode::kAdd, x0, x1);
  Instruction* left = c.Do(Opcode::kShiftLeft, x1, c.Number(rotation, shape));
  Instruction* right = c.Do(Opcode::kShiftRightLogical, x1, c.Number(32 - rotation, shape));
  x1 = c.Do(Opcode::kXor, c.Do(Opcode::kOr, left, right), x0);
}

Instruction* Average(VendorCall& c, Instruction* x, int64_t d) {
  return c.Scaled(c.Reduced(Opcode::kAdd, x, {d}), 1 / static_cast<double>(x->shape().dims[d]));
}

// `line`, which lacks dimension d, over all of it.
Instruction* Spread(VendorCall& c, Instruction* line, const Shape& shape, int64_t d) {
  DimVector kept;
  for (int64_t k = 0; k < shape.rank(); ++k)
    if (k != d) kept.push_back(k);
  return c.rewriter().Broadcast(line, shape.WithDefaultLayout(), kept);
}

// (x - mean) * factor along dimension d, with factor = 1 / sqrt(variance + epsilon).
struct Normalised {
  Instruction *x, *mean, *factor;
};
Normalised Normalise(VendorCall& c, Instruction* x, int64_t d, double epsilon) {
  Instruction* mean = Average(c, x, d);
  x = c.Do(Opcode::kSubtract, x, Spread(c, mean, x->shape(), d));
  Instruction* variance = Average(c, c.Do(Opcode::kMultiply, x, x), d);
  Instruction* factor =
      c.Do(Opcode::kRsqrt, c.Do(Opcode::kAdd, variance, c.Number(epsilon, variance->shape())));
  return {c.Do(Opcode::kMultiply, x, Spread(c, factor, x->shape(), d)), mean, factor};
}

Computation* Comparator(Instruction* key, const Instruction* value, bool descending) {
  Computation* less = key->module()->AddComputation("sort_order");
  const auto scalar = [](const Instruction* x) {
    return Shape::Scalar(x->shape().type).WithDefaultLayout();
  };
  Instruction* a = less->AddParameter(0, scalar(key), "a");
  Instruction* b = less->AddParameter(1, scalar(key), "b");
  if (value != nullptr) {
    less->AddParameter(2, scalar(value), "i");
    less->AddParameter(3, scalar(value), "j");
  }
  CompareAttrs how;
  how.direction = descending ? ComparisonDirection::kGt : ComparisonDirection::kLt;
  if (IsFloat(key->shape().type)) how.type = ComparisonType::kTotalOrder;
  const Shape pred = Shape::Scalar(ElementType::kPred).WithDefaultLayout();
  if (IsFloat(key->shape().type)) {
    const Shape type = scalar(key);
    Instruction* zero = less->AddConstant(Literal(type));
    CompareAttrs equal;
    equal.direction = ComparisonDirection::kEq;
    for (Instruction** x : {&a, &b})  // CUB takes -0 for 0
      *x = less->Add(Opcode::kSelect, type,
                     {less->Add(Opcode::kCompare, pred, {*x, zero}, equal), zero, *x});
  }
  less->set_root(less->Add(Opcode::kCompare, pred, {a, b}, how));
  return less;
}

// `x` in the shape of `to`, which has as many elements.
Instruction* Reshaped(VendorCall& c, Instruction* x, const Shape& to) {
  return x->shape().dims == to.dims ? x : c.rewriter().Reshape(x, to);
}

}  // namespace

// Sorts rows: keys, and values along with them.
VendorCall::Parts ExpandCubSort(VendorCall& c) {
  const Shape& keys = c.operand(0)->shape();
  if (c.operand_count() > 2 || keys.rank() == 0 || IsComplex(keys.type) ||
      c.operand(c.operand_count() - 1)->shape().dims != keys.dims)
    return {};
  const int64_t row = CubRowLength(c.config(""), keys);
  if (row < 0) return {};
  DimVector dims = keys.dims;
  if (row != dims.back()) dims = {keys.ElementCount() / std::max<int64_t>(row, 1), row};
  const bool descending = c.config("").NumberOr("descending", 0) != 0;
  Rewriter& r = c.rewriter();
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (int64_t o = 0; o < c.operand_count(); ++o) {
    const Shape& shape = c.operand(o)->shape();
    if (!shape.IsRowMajor()) return {};
    shapes.push_back(Shape::Array(shape.type, dims).WithDefaultLayout());
    operands.push_back(Reshaped(c, c.operand(o), shapes[o]));
  }
  const bool pair = operands.size() == 2;
  Instruction* sort = r.Add(Opcode::kSort, pair ? Shape::Tuple(shapes) : shapes[0], operands);
  sort->mutable_attr<SortAttrs>().dimensions.push_back(shapes[0].rank() - 1);
  sort->mutable_attr<SortAttrs>().is_stable = true;
  sort->set_called({Comparator(operands[0], pair ? operands[1] : nullptr, descending)});
  if (!pair) return {Reshaped(c, sort, keys)};
  VendorCall::Parts parts;
  for (int64_t k = 0; k < 2; ++k)
    parts.push_back(
        Reshaped(c, r.Add(Opcode::kGetTupleElement, shapes[k], {sort}, GetTupleElementAttrs{k}),
                 c.operand(k)->shape()));
  return parts;
}

// Sums along rows, as windows that reach from each element to the begin of its row.
VendorCall::Parts ExpandCubScan(VendorCall& c) {
  if (c.operand_count() != 1) return {};
  Instruction* x = c.operand(0);
  const std::optional<int64_t> dimension = CubScanDimension(c.config(""), c.attrs(), x->shape());
  if (!dimension || IsComplex(x->shape().type) || IsPred(x->shape().type)) return {};
  const int64_t n = x->shape().dims[*dimension];
  if (n == 0) return {x};
  Window window(x->shape().rank());
  window[*dimension].size = n;
  const bool is_reverse = c.config("").NumberOr("is_reverse", 0) != 0;
  (is_reverse ? window[*dimension].pad_high : window[*dimension].pad_low) = n - 1;
  Rewriter& r = c.rewriter();
  HloWriter w(r);
  Instruction* sums = r.Add(Opcode::kReduceWindow, x->shape(), {x, w.Integer(x->shape().type, 0)},
                            WindowAttrs{window});
  sums->set_called({MakeReducer(*x->module(), Opcode::kAdd, x->shape().type)});
  return {sums};
}

// Two key words and two counter words, each an array (or a scalar for all), to two words.
VendorCall::Parts ExpandThreefry(VendorCall& c) {
  if (c.operand_count() != 4 || c.result_count() < 2) return {};
  const Shape shape = Shape::Array(ElementType::kU32, c.result().dims);
  std::vector<Instruction*> words;
  for (int64_t o = 0; o < 4; ++o) {
    Instruction* x = c.operand(o);
    if (x->shape().type != ElementType::kU32) return {};
    if (x->shape().rank() == 0) x = c.rewriter().Broadcast(x, shape, {});
    if (x->shape().dims != shape.dims) return {};
    words.push_back(x);
  }
  Instruction *k0 = words[0], *k1 = words[1];
  Instruction* k2 = c.Do(Opcode::kXor, c.Do(Opcode::kXor, k0, k1), c.Number(kParity, shape));
  Instruction* keys[3] = {k0, k1, k2};
  Instruction *x0 = c.Do(Opcode::kAdd, words[2], k0), *x1 = c.Do(Opcode::kAdd, words[3], k1);
  for (int group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) Round(c, x0, x1, rotation);
    x0 = c.Do(Opcode::kAdd, x0, keys[(group + 1) % 3]);
    x1 = c.Do(Opcode::kAdd, x1, keys[(group + 2) % 3]);
    x1 = c.Do(Opcode::kAdd, x1, c.Number(group + 1, shape));
  }
  return {x0, x1};
}

// Over the last dimension, or softmax_config's axis.
VendorCall::Parts ExpandSoftmax(VendorCall& c) {
  const Shape& shape = c.result();
  if (c.operand_count() != 1 || shape.rank() == 0 || c.operand(0)->shape().dims != shape.dims ||
      !IsFloat(shape.type))
    return {};
  const double axis = c.config("onednn_softmax_config")
                          .NumberOr("softmax_axis", static_cast<double>(shape.rank() - 1));
  if (!(axis >= 0 && axis < static_cast<double>(shape.rank()))) return {};
  const auto d = static_cast<int64_t>(axis);
  Instruction* x = c.As(c.operand(0), VendorCall::Wide(shape.type));
  Instruction* top = c.Along(Opcode::kMaximum, x, d);
  Instruction* power = c.Do(Opcode::kExponential, c.Do(Opcode::kSubtract, x, top));
  return {c.Do(Opcode::kDivide, power, c.Along(Opcode::kAdd, power, d))};
}

// (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last dimension.
VendorCall::Parts ExpandLayerNorm(VendorCall& c) {
  const Shape& shape = c.result();
  if (c.operand_count() != 3 || shape.rank() == 0 || c.operand(0)->shape().dims != shape.dims ||
      !IsFloat(shape.type))
    return {};
  const int64_t d = shape.rank() - 1;
  const ElementType wide = VendorCall::Wide(shape.type);
  Instruction* factors[2];
  for (int64_t k = 0; k < 2; ++k) {
    Instruction* x = c.As(c.operand(k + 1), wide);
    if (x->shape().ElementCount() != shape.dims[d]) return {};
    x = c.rewriter().Reshape(x, Shape::Array(wide, {shape.dims[d]}));
    factors[k] = c.rewriter().Broadcast(x, Shape::Array(wide, shape.dims), {d});
  }
  const auto bits = static_cast<uint32_t>(
      c.config("onednn_layer_norm_config").NumberOr("epsilon_typecast", 0));  // by its bits
  const Normalised x = Normalise(c, c.As(c.operand(0), wide), d, std::bit_cast<float>(bits));
  Instruction* y = c.Do(Opcode::kMultiply, x.x, factors[0]);
  return {c.Do(Opcode::kAdd, y, factors[1])};
}

// Over all dimensions but the first: x, scale and bias to y and, for training, means and factors;
// or x, scale, the gradient at y, means and factors to the gradients at x, scale and bias.
VendorCall::Parts ExpandCudnnNorm(VendorCall& c) {
  const Shape& given = c.operand(0)->shape();
  const bool forward = c.operand_count() == 3;
  if ((!forward && c.operand_count() != 5) || given.rank() == 0 || given.ElementCount() == 0 ||
      !IsFloat(given.type) || !IsFloat(c.result().type))
    return {};
  const ElementType wide = VendorCall::Wide(given.type);
  const int64_t rows = given.dims[0], columns = given.ElementCount() / rows;
  const Shape lines = Shape::Array(wide, {rows, columns}).WithDefaultLayout();
  const Shape per_row = Shape::Array(wide, {rows}), per_column = Shape::Array(wide, {columns});
  const Shape* const as[] = {&lines, &per_column, forward ? &per_column : &lines, &per_row,
                             &per_row};
  std::vector<Instruction*> in;
  for (int64_t o = 0; o < c.operand_count(); ++o) {
    if (c.operand(o)->shape().ElementCount() != as[o]->ElementCount()) return {};
    in.push_back(c.rewriter().Reshape(c.As(c.operand(o), wide), *as[o]));
  }
  Instruction* scale = Spread(c, in[1], lines, 0);
  VendorCall::Parts parts;
  if (forward) {
    const double epsilon = c.config("cudnn_norm_backend_config").NumberOr("epsilon", 0);
    const Normalised x = Normalise(c, in[0], 1, epsilon);
    parts = {c.Do(Opcode::kAdd, c.Do(Opcode::kMultiply, x.x, scale), Spread(c, in[2], lines, 0)),
             x.mean, x.factor};
  } else {
    Instruction* factor = Spread(c, in[4], lines, 1);
    Instruction* x =
        c.Do(Opcode::kMultiply, c.Do(Opcode::kSubtract, in[0], Spread(c, in[3], lines, 1)), factor);
    Instruction* slope = c.Do(Opcode::kMultiply, in[2], scale);
    Instruction* mean = Spread(c, Average(c, slope, 1), lines, 1);
    Instruction* along = Spread(c, Average(c, c.Do(Opcode::kMultiply, slope, x), 1), lines, 1);
    Instruction* dx = c.Do(Opcode::kSubtract, c.Do(Opcode::kSubtract, slope, mean),
                           c.Do(Opcode::kMultiply, x, along));
    parts = {c.Do(Opcode::kMultiply, dx, factor),
             c.Reduced(Opcode::kAdd, c.Do(Opcode::kMultiply, in[2], x), {0}),
             c.Reduced(Opcode::kAdd, in[2], {0})};
  }
  KeepFloats(c, parts);
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts[k]->shape().ElementCount() != c.result(k).ElementCount()) return {};
    parts[k] = c.rewriter().Reshape(parts[k], Shape::Array(wide, c.result(k).dims));
  }
  return parts;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
