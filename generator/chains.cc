// Chains of steps that move data, each on what the last one gave: what fused index arithmetic is
// made of. At sizes about the widths of vectors and the edges of tiles.
#include <algorithm>
#include <numeric>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxElements = 8192;  // at the start of a chain

// Joins dimensions `at` and `at` + 1.
void Merge(DimVector& dims, int64_t at) {
  dims[at] *= dims[at + 1];
  dims.erase(dims.begin() + at + 1);
}

// Splits dimension `at` by one of its divisors.
void Split(Random& random, DimVector& dims, int64_t at) {
  const int64_t divisor = random.OneOf({2, 3, 4, 5, 7, 8, 16, 64});
  if (dims[at] % divisor != 0) return;
  const bool outside = random.Chance(0.5);
  const int64_t rest = dims[at] / divisor;
  dims[at] = outside ? divisor : rest;
  dims.insert(dims.begin() + at + 1, outside ? rest : divisor);
}

// Other dimensions of an array whose elements keep their row-major order.
DimVector Regrouped(Random& random, DimVector dims) {
  constexpr size_t kMaxDims = 6;
  for (int64_t edits = random.Between(1, 3); edits > 0; --edits) {
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t kind = random.Between(0, 4);
    if (kind <= 1 && rank > 1) {
      Merge(dims, random.Between(0, rank - 2));
    } else if (kind == 2) {
      while (dims.size() > 1) Merge(dims, 0);
    } else if (kind == 3 && rank > 0 && dims.size() < kMaxDims) {
      Split(random, dims, random.Between(0, rank - 1));
    } else if (kind == 4 && dims.size() < kMaxDims) {
      dims.insert(dims.begin() + random.Between(0, rank), 1);
    }
  }
  return dims;
}

DimVector ChainDims(GeneratedCode& s) {
  DimVector dims;
  int64_t count = 1;
  for (int64_t rank = s.random().OneOf({1, 1, 2, 3}); rank > 0; --rank) {
    int64_t d = s.random().Chance(0.6) ? s.EdgeSize() : s.random().Between(1, 9);
    if (count * d > kMaxElements) d = s.random().Between(1, 3);
    dims.push_back(d);
    count *= d;
  }
  s.random().Shuffle(dims);
  return dims;
}

// One of every few elements, from near the start to near the end of a dimension.
void StridedSlice(GeneratedCode& s) {
  const RandomValue x = s.Any();
  SliceAttrs attributes;
  for (const int64_t d : x.shape().dims) {
    SliceDim& slice = attributes.slice.emplace_back(SliceDim{0, d, 1});
    if (x.shape().rank() > 1 && s.random().Chance(0.4)) continue;
    slice.stride = s.random().OneOf({1, 2, 3, 3, 4, 5, 6, 7, 11, 16});
    if (s.random().Chance(0.5) || d < 8) continue;
    slice.start = s.random().Between(0, 3);
    slice.limit = d - s.random().Between(0, 3);
  }
  s.Keep(s.Make(Opcode::kSlice, {x.instruction}, attributes), x.bounds);
}

constexpr void (*kLinks[])(GeneratedCode&) = {
    BroadcastValue,    BroadcastValue,    RegroupValue,
    RegroupValue,      RegroupValue,      LayoutBitcast,
    LayoutBitcast,     TransposeValue,    ReverseValue,
    SliceValue,        StridedSlice,      StridedSlice,
    PadValue,          PadValue,          ConcatenateValues,
    ConcatenateValues, DynamicSliceValue, DynamicUpdateSliceValue,
    GatherValue,       ReduceValue,       SelectValues,
    ConvertValue,      ClampValues,       ReshapeValue,
};

// The array several times over, as the rows of another.
void RepeatRows(GeneratedCode& s) {
  const RandomValue x = s.Any();
  DimVector dims = x.shape().dims, places;
  for (int64_t d = 0; d < x.shape().rank(); ++d) places.push_back(d + 1);
  dims.insert(dims.begin(), s.random().Between(2, 4));
  if (CountOf(dims) > kMaxElements) return;
  const Shape shape = Shape::Array(x.type(), dims);
  s.Keep(s.Make(Opcode::kBroadcast, {x.instruction}, BroadcastAttrs{places}, &shape), x.bounds);
}

// All elements in one dimension.
void Flatten(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const Shape shape = Shape::Array(x.type(), {x.shape().ElementCount()});
  Instruction* flat = x.shape().IsRowMajor()
                          ? s.Make(Opcode::kBitcast, {x.instruction}, &shape)
                          : s.Make(Opcode::kReshape, {x.instruction}, ReshapeAttrs{}, &shape);
  if (flat == nullptr) return;
  flat->set_shape(shape.WithDefaultLayout());
  s.Keep(flat, x.bounds);
}

// A chain as simplifiers leave them: what repeats or spreads elements, other dimensions, a choice.
constexpr void (*kSpread[])(GeneratedCode&) = {
    RepeatRows, RepeatRows, BroadcastValue, ConcatenateValues, PadValue, DynamicUpdateSliceValue};
constexpr void (*kRename[])(GeneratedCode&) = {Flatten,       Flatten,        RegroupValue,
                                               LayoutBitcast, TransposeValue, ReverseValue};
constexpr void (*kChoose[])(GeneratedCode&) = {StridedSlice, StridedSlice, StridedSlice,
                                               SliceValue,   GatherValue,  DynamicSliceValue,
                                               ReduceValue};

// A new parameter of the entry, or some value: no large constants, whose text is long.
RandomValue ChainStart(GeneratedCode& s) {
  const ElementType type = s.AnyType();
  if (s.kind() != GeneratedCode::Kind::kEntry || type == ElementType::kF8E8M0FNU ||
      s.random().Chance(0.3))
    return s.Any();
  return s.AddParameter(s.WithSomeLayout(Shape::Array(type, ChainDims(s))), {-1, 1, 0});
}

}  // namespace

void RegroupValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const Shape shape = Shape::Array(x.type(), Regrouped(s.random(), x.shape().dims));
  if (!x.shape().IsRowMajor() || s.random().Chance(0.3))
    return s.Keep(s.Make(Opcode::kReshape, {x.instruction}, ReshapeAttrs{}, &shape), x.bounds);
  Instruction* bitcast = s.Make(Opcode::kBitcast, {x.instruction}, &shape);
  if (bitcast == nullptr) return;
  bitcast->set_shape(shape.WithDefaultLayout());
  s.Keep(bitcast, x.bounds);
}

// The bytes of `x` as they lie, under other dimensions in any order.
void LayoutBitcast(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (x.shape().has_layout && x.shape().layout.extras != nullptr) return;
  const DimVector order = x.shape().MinorToMajor();
  DimVector physical;  // sizes from the slowest dimension to the fastest
  for (auto d = order.rbegin(); d != order.rend(); ++d) physical.push_back(x.shape().dims[*d]);
  physical = Regrouped(s.random(), std::move(physical));
  const size_t rank = physical.size();
  DimVector place(rank), dims(rank), minor_to_major(rank);
  std::iota(place.begin(), place.end(), 0);
  s.random().Shuffle(place);
  for (size_t k = 0; k < rank; ++k) {
    dims[place[k]] = physical[k];
    minor_to_major[rank - 1 - k] = place[k];
  }
  const Shape shape = Shape::ArrayWithLayout(x.type(), dims, minor_to_major);
  Instruction* bitcast = s.Make(Opcode::kBitcast, {x.instruction}, &shape);
  if (bitcast == nullptr) return;
  bitcast->set_shape(shape);
  s.Keep(bitcast, x.bounds);
}

void MovementChain(GeneratedCode& s) {
  s.StartChain(ChainStart(s));
  if (s.random().Chance(0.4)) {
    s.random().OneOf(kSpread)(s);
    s.random().OneOf(kRename)(s);
    s.random().OneOf(kChoose)(s);
    s.EndChain();
    return;
  }
  const int64_t links = s.random().Between(2, 6);
  for (int64_t made = 0, tries = 0; made < links && tries < 3 * links; ++tries) {
    const size_t before = s.values().size();
    if (s.Any().shape().rank() == 0)
      BroadcastValue(s);
    else
      s.random().OneOf(kLinks)(s);
    made += s.values().size() > before ? 1 : 0;
  }
  s.EndChain();
}

// What simplifiers take a reduction through: steps that join, repeat or rename elements, then the
// reduction, often from an initial value that counts.
void ReductionChain(GeneratedCode& s) {
  constexpr void (*kBefore[])(GeneratedCode&) = {
      ConcatenateValues, ConcatenateValues, PadValue,     BroadcastValue, RegroupValue,
      TransposeValue,    ReverseValue,      ConvertValue, ReduceValue,    ReduceWindowValue};
  s.StartChain(s.Any());
  for (int64_t steps = s.random().Between(1, 2); steps > 0; --steps) s.random().OneOf(kBefore)(s);
  s.random().OneOf({ReduceValue, ReduceValue, ReduceWindowValue, ScanValues})(s);
  s.EndChain();
}

// Operations of all kinds, each on what the last one gave, as rules of simplifiers look for them:
// a dot of a padded array, its transpose, a slice of that. Values that meet by chance seldom do.
void RewriteChain(GeneratedCode& s) {
  constexpr void (*kSteps[])(GeneratedCode&) = {
      UnaryFloat,       UnaryExactFloat, UnaryInteger,      BinaryFloat,
      BinaryFloat,      BinaryInteger,   BinaryInteger,     PredLogic,
      CompareValues,    SelectValues,    ClampValues,       ConvertValue,
      ConvertValue,     ComplexParts,    ComplexArithmetic, BroadcastValue,
      BroadcastValue,   ReshapeValue,    ReshapeValue,      TransposeValue,
      TransposeValue,   ReverseValue,    SliceValue,        SliceValue,
      PadValue,         PadValue,        ConcatenateValues, ConcatenateValues,
      IotaValue,        CopyValue,       BitcastValue,      DynamicSliceValue,
      GatherValue,      ScatterValue,    SortValues,        DynamicUpdateSliceValue,
      ProductWithValue, ReduceValue,     ReduceSeveral,     ProductWithValue,
      ReduceWindowValue};
  s.StartChain(s.Any());
  for (int64_t steps = s.random().Between(2, 5); steps > 0; --steps) s.random().OneOf(kSteps)(s);
  s.EndChain();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
