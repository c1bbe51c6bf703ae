// Recipes of what programs do with the rows of an array, whole: softmax under a mask of places,
// normalization, forces between all pairs of points; and reductions in the forms that simplifiers
// leave: windows of windows, one sum of very many elements. Chance seldom puts such parts together,
// and emitters have kernels for each.
#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxRowElements = 2048;  // of an array of rows
constexpr int64_t kMaxShortRow = 24;

ElementType RowType(GeneratedCode& s) {
  return s.random().OneOf({ElementType::kF32, ElementType::kF32, ElementType::kF64,
                           ElementType::kBF16, ElementType::kF16});
}

// Dimensions of rows: short ones, or of a size about an edge.
DimVector RowDims(GeneratedCode& s, int least_rank) {
  const int64_t length =
      s.random().Chance(0.5) ? s.random().Between(2, kMaxShortRow) : s.EdgeSize();
  DimVector dims = {length};
  int64_t count = length;
  for (int64_t rank = s.random().Between(least_rank, 3); rank > 1; --rank) {
    int64_t d = s.random().Chance(0.3) ? s.EdgeSize() : s.random().Between(1, 24);
    if (count * d > kMaxRowElements) d = s.random().Between(1, 3);
    dims.insert(dims.begin(), d);
    count *= d;
  }
  return dims;
}

Instruction* Reduced(GeneratedCode& s, Opcode reducer, Instruction* x, int64_t dimension,
                     double initial) {
  const ElementType type = x->shape().type;
  return s.MakeCalling(Opcode::kReduce, {x, s.ScalarConstant(type, initial)},
                       {s.ScalarFunction(reducer, type)}, DimensionsAttrs{{dimension}});
}

// `x`, which lacks dimension `missing` of `like`, repeated along it.
Instruction* Repeated(GeneratedCode& s, Instruction* x, const DimVector& like, int64_t missing) {
  DimVector places;
  for (int64_t d = 0; d < static_cast<int64_t>(like.size()); ++d)
    if (d != missing) places.push_back(d);
  const Shape shape = Shape::Array(x->shape().type, like);
  return s.Make(Opcode::kBroadcast, {x}, BroadcastAttrs{places}, &shape);
}

// The positions along a dimension, from `start` on.
Instruction* Positions(GeneratedCode& s, const DimVector& dims, int64_t dimension, int64_t start) {
  const Shape shape = Shape::Array(ElementType::kS32, dims);
  Instruction* at = s.Make(Opcode::kIota, {}, IotaAttrs{dimension}, &shape);
  if (start == 0) return at;
  Instruction* by = s.ScalarConstant(ElementType::kS32, static_cast<double>(start));
  return s.Make(Opcode::kAdd, {at, s.Spread(by, shape)});
}

// Which places of an array's rows are looked at: those up to the row's own, those near it, those
// before a length that all rows share or that each has, or any.
Instruction* MaskOfPlaces(GeneratedCode& s, const DimVector& dims) {
  using D = ComparisonDirection;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t last = rank - 1, length = dims[last];
  const int64_t kind = s.random().Between(rank > 1 ? 0 : 2, 4);
  Instruction* at = Positions(s, dims, last, 0);
  if (kind <= 1) {
    Instruction* row =
        Positions(s, dims, last - 1, s.random().Chance(0.7) ? 0 : s.random().Between(-3, 9));
    Instruction* before = Compared(s, s.random().OneOf({D::kGe, D::kGt, D::kLe}), row, at);
    if (kind == 0) return before;
    const Shape numbers = Shape::Array(ElementType::kS32, dims);
    Instruction* width =
        s.Spread(s.ScalarConstant(ElementType::kS32, static_cast<double>(s.random().Between(1, 9))),
                 numbers);
    Instruction* near = Compared(s, D::kLt, s.Make(Opcode::kSubtract, {row, at}), width);
    return s.Make(Opcode::kAnd, {before, near});
  }
  const Shape numbers = Shape::Array(ElementType::kS32, dims);
  if (kind == 2) {
    Instruction* some = s.TameInteger(s.Get(ElementType::kS32, {}).instruction, 0, length);
    return Compared(s, D::kLt, at, s.Spread(some, numbers));
  }
  if (kind == 3 && rank > 1) {
    const DimVector rows(dims.begin(), dims.end() - 1);
    Instruction* some = s.TameInteger(s.Get(ElementType::kS32, rows).instruction, 0, length);
    return Compared(s, D::kLt, at, Repeated(s, some, dims, last));
  }
  return s.Get(ElementType::kPred, dims).instruction;
}

// A narrow type's sums of many elements tell nothing: programs make them in f32.
RandomValue Widened(GeneratedCode& s, const RandomValue& x, int64_t count) {
  constexpr int64_t kFew = 6;
  const bool narrow = BitWidth(x.type()) < 32;
  if (!narrow || (count <= kFew && s.random().Chance(0.5))) return x;
  const Shape wide = x.shape().WithoutLayout().WithType(ElementType::kF32);
  return {s.Make(Opcode::kConvert, {x.instruction}, &wide), x.bounds};
}

// What masked scores are: far below all others, in the ways that programs write it.
double MaskedScore(GeneratedCode& s, ElementType type) {
  if (type == ElementType::kF16) return s.random().OneOf({-1e4, -65504.0, -50.0});
  return s.random().OneOf({-1e9, -3e38, -1e4, -50.0});
}

}  // namespace

// Softmax of rows, its logarithm, or the logarithm of the sum; mostly under a mask.
void SoftmaxOfRows(GeneratedCode& s) {
  const DimVector dims = RowDims(s, 1);
  const auto last = static_cast<int64_t>(dims.size()) - 1;
  const RandomValue scores = Widened(s, s.GetTame(RowType(s), dims, -4, 4), dims[last]);
  const ElementType type = scores.type();
  Instruction *x = scores.instruction, *mask = nullptr;
  if (s.random().Chance(0.8)) {
    mask = MaskOfPlaces(s, dims);
    Instruction* masked = s.Spread(s.ScalarConstant(type, MaskedScore(s, type)), x->shape());
    x = s.random().Chance(0.8) ? s.Make(Opcode::kSelect, {mask, x, masked})
                               : s.Make(Opcode::kSelect, {s.Make(Opcode::kNot, {mask}), masked, x});
  }
  const double lowest = type == ElementType::kF16 ? -65504 : -3.38e38;
  const double least = s.random().Chance(0.7) ? -std::numeric_limits<double>::infinity() : lowest;
  Instruction* most = Reduced(s, Opcode::kMaximum, x, last, least);
  Instruction* below = s.Make(Opcode::kSubtract, {x, Repeated(s, most, dims, last)});
  // Where all of a row is masked its scores are equal.
  const Bounds under{-8, 0, 2 * scores.bounds.error + RoundingError(type, 8)};
  Instruction* power = s.Make(Opcode::kExponential, {below});
  Bounds bounds = SmoothBounds(
      type, [](double v) { return std::exp(v); }, under);
  bounds.low = 0;
  const auto count = static_cast<double>(dims[last]);
  Instruction* sum = Reduced(s, Opcode::kAdd, power, last, 0);
  Bounds sums = SumBounds(type, bounds, {1, 1, 0}, dims[last]);
  sums.low = 1;  // that of the largest
  sums.high = count;
  if (s.random().Chance(0.5))
    return s.Keep(s.Make(Opcode::kDivide, {power, Repeated(s, sum, dims, last)}),
                  DivideBounds(type, bounds, sums));
  Instruction* log = s.Make(Opcode::kLog, {sum});
  const Bounds logs = SmoothBounds(
      type, [](double v) { return std::log(v); }, sums);
  if (mask == nullptr && s.random().Chance(0.3)) return s.Keep(log, logs);
  Instruction* logits = s.Make(Opcode::kSubtract, {below, Repeated(s, log, dims, last)});
  const Bounds result = AddBounds(type, under, {-logs.high, -logs.low, logs.error});
  if (mask == nullptr) return s.Keep(logits, result);
  Instruction* none = s.Spread(s.ScalarConstant(type, 0), logits->shape());
  s.Keep(s.Make(Opcode::kSelect, {mask, logits, none}), Join(result, {0, 0, 0}));
}

// Rows, or columns, with mean 0 and variance near 1; or each divided by its length.
void NormalizedRows(GeneratedCode& s) {
  const DimVector dims = RowDims(s, 2);
  const int64_t along = static_cast<int64_t>(dims.size()) - (s.random().Chance(0.7) ? 1 : 2);
  const RandomValue value = Widened(s, s.GetTame(RowType(s), dims, -2, 2), dims[along]);
  const ElementType type = value.type();
  Instruction* x = value.instruction;
  const auto count = static_cast<double>(dims[along]);
  const auto average = [&](Instruction* of) {
    Instruction* sum = Reduced(s, Opcode::kAdd, of, along, 0);
    return s.Make(Opcode::kMultiply,
                  {sum, s.Spread(s.ScalarConstant(type, 1 / count), sum->shape())});
  };
  if (s.random().Chance(0.6))
    x = s.Make(Opcode::kSubtract, {x, Repeated(s, average(x), dims, along)});
  Instruction* square = average(s.Make(Opcode::kMultiply, {x, x}));
  Instruction* kept =
      s.Make(Opcode::kAdd, {square, s.Spread(s.ScalarConstant(type, 0.25), square->shape())});
  const bool by_root = s.random().Chance(0.5);
  Instruction* scale = s.Make(by_root ? Opcode::kSqrt : Opcode::kRsqrt, {kept});
  Instruction* spread = Repeated(s, scale, dims, along);
  // x / sqrt(square + 0.25) is at most 8, and no operand moves it by more than 64 times its own
  // error.
  s.Keep(s.Make(by_root ? Opcode::kDivide : Opcode::kMultiply, {x, spread}),
         {-8, 8, 64 * value.bounds.error + (count + 16) * RoundingError(type, 8)});
}

// The differences between all pairs of points, their squared lengths, a weight of each, and the
// sums of weighted differences.
void PairsOfPoints(GeneratedCode& s) {
  const ElementType type =
      s.random().OneOf({ElementType::kF32, ElementType::kF32, ElementType::kF64});
  const int64_t axes = s.random().Between(1, 4);
  const int64_t points =
      s.random().Chance(0.4) ? std::min<int64_t>(s.EdgeSize(), 66) : s.random().Between(1, 24);
  const RandomValue value = s.GetTame(type, {points, axes}, -2, 2);
  const DimVector pairs = {points, points, axes}, weights = {points, points};
  Instruction* of_first = Repeated(s, value.instruction, pairs, 1);
  Instruction* of_second = Repeated(s, value.instruction, pairs, 0);
  Instruction* apart = s.Make(Opcode::kSubtract, {of_first, of_second});
  const Bounds difference = AddBounds(type, value.bounds, {-2, 2, value.bounds.error});
  Instruction* square = Reduced(s, Opcode::kAdd, s.Make(Opcode::kMultiply, {apart, apart}), 2, 0);
  Bounds squares = SumBounds(type, difference, difference, axes);
  squares.low = 0;
  const bool gaussian = s.random().Chance(0.5);
  const double constant = gaussian ? -0.125 : 0.5;
  Instruction* shifted =
      s.Make(gaussian ? Opcode::kMultiply : Opcode::kAdd,
             {square, s.Spread(s.ScalarConstant(type, constant), square->shape())});
  const double most = 16.0 * static_cast<double>(axes);
  const double error = squares.error + RoundingError(type, most + 1);
  Instruction* weight = s.Make(gaussian ? Opcode::kExponential : Opcode::kRsqrt, {shifted});
  const Bounds bounds =
      gaussian ? SmoothBounds(type, [](double v) { return std::exp(v); }, {-most / 8, 0, error})
               : SmoothBounds(type, [](double v) { return 1 / std::sqrt(v); },
                              {constant, most + constant, error});
  s.Keep(weight, bounds);
  Instruction* force = s.Make(Opcode::kMultiply, {apart, Repeated(s, weight, pairs, 2)});
  const Bounds each = MultiplyBounds(type, difference, bounds);
  s.Keep(Reduced(s, Opcode::kAdd, force, s.random().Between(0, 1), 0),
         SumBounds(type, each, {1, 1, 0}, points));
}

void WindowsOfWindows(GeneratedCode& s) {
  s.StartChain(s.Any());
  for (int64_t steps = s.random().Between(2, 3); steps > 0; --steps) ReduceWindowValue(s);
  s.EndChain();
}

// One sum, or another reduction, of more elements than two stages of warps or one block take.
void LongReduction(GeneratedCode& s) {
  if (s.kind() != GeneratedCode::Kind::kEntry) return;
  const ElementType type =
      s.random().OneOf({ElementType::kF32, ElementType::kF64, ElementType::kF16, ElementType::kBF16,
                        ElementType::kS32, ElementType::kU8, ElementType::kPred});
  const int64_t count = s.random().OneOf({4096, 4096, 16384, 65536}) + s.random().Between(-1, 1);
  const RandomValue x = s.AddParameter(Shape::Array(type, {count}).WithDefaultLayout(), {-1, 1, 0});
  const bool coarse = type == ElementType::kF16 || type == ElementType::kBF16;
  const Opcode reducer = IsPred(type)                       ? Opcode::kAnd
                         : coarse || s.random().Chance(0.2) ? Opcode::kMaximum
                                                            : Opcode::kAdd;
  const bool adds = IsFloat(type) && reducer == Opcode::kAdd;
  s.Keep(Reduced(s, reducer, x.instruction, 0, reducer == Opcode::kAnd ? 1 : 0),
         adds ? SumBounds(type, x.bounds, {1, 1, 0}, count) : Bounds{0, 1, 0});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
