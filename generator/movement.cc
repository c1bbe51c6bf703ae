// Recipes that move data: broadcast, reshape, transpose, slices, pad, concatenate, reverse. Bounds
// of the operands hold for the results.
#include <algorithm>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

// A start index: any integer, inside or outside of what the op allows.
std::vector<Instruction*> StartIndices(GeneratedCode& s, Instruction* first, int rank) {
  std::vector<Instruction*> operands = {first};
  const ElementType type =
      s.random().OneOf({ElementType::kS32, ElementType::kS64, ElementType::kU32, ElementType::kS8});
  for (int d = 0; d < rank; ++d) operands.push_back(s.Get(type, {}).instruction);
  return operands;
}

// Sizes of a slice: at least one element a dimension, where there is one.
DimVector SizesWithin(GeneratedCode& s, absl::Span<const int64_t> dims) {
  DimVector sizes;
  for (int64_t d : dims) sizes.push_back(s.random().Between(std::min<int64_t>(d, 1), d));
  return sizes;
}

// Dimensions of `count` elements in all.
DimVector Factored(GeneratedCode& s, int64_t count) {
  DimVector dims;
  if (count == 0) return {s.random().Between(0, 3), 0};
  for (int64_t divisor : {2, 3, 5, 7, 2, 3, 2}) {
    if (count % divisor != 0 || s.random().Chance(0.3)) continue;
    dims.push_back(divisor);
    count /= divisor;
  }
  if (count > 1 || s.random().Chance(0.2)) dims.push_back(count);
  if (s.random().Chance(0.2)) dims.push_back(1);
  s.random().Shuffle(dims);
  return dims;
}

}  // namespace

void BroadcastValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const int rank = x.shape().rank();
  const int64_t result_rank = rank + s.random().Between(rank == 0 ? 1 : 0, 2);
  DimVector all;
  for (int64_t d = 0; d < result_rank; ++d) all.push_back(d);
  s.random().Shuffle(all);
  DimVector places(all.begin(), all.begin() + rank);
  std::sort(places.begin(), places.end());
  DimVector dims = s.NewDims(static_cast<int>(result_rank), static_cast<int>(result_rank));
  for (int d = 0; d < rank; ++d) dims[places[d]] = x.shape().dims[d];
  if (CountOf(dims) > s.state().options.max_elements * 4) return;
  const Shape shape = Shape::Array(x.type(), dims);
  s.Keep(s.Make(Opcode::kBroadcast, {x.instruction}, BroadcastAttrs{places}, &shape), x.bounds);
}

void ReshapeValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const Shape shape = Shape::Array(x.type(), Factored(s, x.shape().ElementCount()));
  s.Keep(s.Make(Opcode::kReshape, {x.instruction}, ReshapeAttrs{}, &shape), x.bounds);
}

void TransposeValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  DimVector order;
  for (int d = 0; d < x.shape().rank(); ++d) order.push_back(d);
  s.random().Shuffle(order);
  s.Keep(s.Make(Opcode::kTranspose, {x.instruction}, DimensionsAttrs{order}), x.bounds);
}

void ReverseValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  DimVector dimensions;
  for (int d = 0; d < x.shape().rank(); ++d)
    if (s.random().Chance(0.5)) dimensions.push_back(d);
  s.Keep(s.Make(Opcode::kReverse, {x.instruction}, DimensionsAttrs{dimensions}), x.bounds);
}

void SliceValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  SliceAttrs attributes;
  for (int64_t d : x.shape().dims) {
    if (s.random().Chance(0.2)) {  // one of every few, of all
      attributes.slice.push_back({0, d, s.random().Between(1, 20)});
      continue;
    }
    const int64_t start = s.random().Between(0, d);
    const int64_t limit = s.random().Chance(0.03) ? start : s.random().Between(start, d);
    attributes.slice.push_back({std::min<int64_t>(start, d / 2), limit, s.random().Between(1, 3)});
    if (attributes.slice.back().limit < attributes.slice.back().start)
      attributes.slice.back().limit = d;
  }
  s.Keep(s.Make(Opcode::kSlice, {x.instruction}, attributes), x.bounds);
}

void PadValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (x.shape().rank() == 0) return;  // its text, `padding=`, cannot be read
  const RandomValue padding = s.Get(x.type(), {});
  PadAttrs attributes;
  int64_t count = 1;
  for (int64_t d : x.shape().dims) {
    PaddingDim& p = attributes.padding.emplace_back();
    if (s.random().Chance(0.4)) p.interior = s.random().Between(0, 2);
    if (s.random().Chance(0.6)) p.low = s.random().Between(-1, 3);
    if (s.random().Chance(0.6)) p.high = s.random().Between(-1, 3);
    const int64_t size = p.low + p.high + d + std::max<int64_t>(d - 1, 0) * p.interior;
    if (size < 0) return;
    count *= size;
  }
  if (count > s.state().options.max_elements * 4) return;
  s.Keep(s.Make(Opcode::kPad, {x.instruction, padding.instruction}, attributes),
         Join(x.bounds, padding.bounds));
}

void ConcatenateValues(GeneratedCode& s) {
  const RandomValue first = s.Any();
  const int rank = first.shape().rank();
  if (rank == 0) return;
  const int64_t dimension = s.random().Between(0, rank - 1);
  std::vector<Instruction*> operands = {first.instruction};
  Bounds bounds = first.bounds;
  for (int64_t more = s.random().Between(0, 2); more > 0; --more) {
    DimVector dims = first.shape().dims;
    if (s.random().Chance(0.6)) dims[dimension] = s.random().Between(0, 5);
    const RandomValue next = s.Get(first.type(), dims);
    operands.push_back(next.instruction);
    bounds = Join(bounds, next.bounds);
  }
  s.Keep(s.Make(Opcode::kConcatenate, operands, DimensionsAttrs{{dimension}}), bounds);
}

void IotaValue(GeneratedCode& s) {
  const ElementType type = s.AnyType();
  const DimVector dims = s.AnyDims();
  if (dims.empty() || IsPred(type) || type == ElementType::kF8E8M0FNU) return;
  const int64_t d = s.random().Between(0, static_cast<int64_t>(dims.size()) - 1);
  const auto most = static_cast<double>(std::max<int64_t>(dims[d] - 1, 0));
  if ((IsFloat(type) && most > MostUseful(type)) || (IsInteger(type) && BitWidth(type) < 8)) return;
  const Shape shape = Shape::Array(type, dims);
  // Not all whole numbers beyond are numbers of the type.
  const bool rounds = IsFloat(type) && most > 2 / EpsilonOf(type);
  s.Keep(s.Make(Opcode::kIota, {}, IotaAttrs{d}, &shape),
         {0, most, rounds ? RoundingError(type, most) : 0});
}

void CopyValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  Instruction* copy = s.Make(Opcode::kCopy, {x.instruction});
  if (copy == nullptr) return;
  if (s.kind() != GeneratedCode::Kind::kFused && copy->shape().rank() > 1)
    s.random().Shuffle(copy->mutable_shape().layout.minor_to_major);
  s.Keep(copy, x.bounds);
}

void BitcastValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (!x.shape().IsRowMajor()) return;
  const Shape shape = Shape::Array(x.type(), Factored(s, x.shape().ElementCount()));
  Instruction* bitcast = s.Make(Opcode::kBitcast, {x.instruction}, &shape);
  if (bitcast == nullptr) return;
  bitcast->set_shape(shape.WithDefaultLayout());  // another order would be another meaning
  s.Keep(bitcast, x.bounds);
}

void DynamicSliceValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const DynamicSliceAttrs attributes{SizesWithin(s, x.shape().dims)};
  s.Keep(
      s.Make(Opcode::kDynamicSlice, StartIndices(s, x.instruction, x.shape().rank()), attributes),
      x.bounds);
}

void DynamicUpdateSliceValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const RandomValue update = s.Get(x.type(), SizesWithin(s, x.shape().dims));
  std::vector<Instruction*> operands = StartIndices(s, x.instruction, x.shape().rank());
  operands.insert(operands.begin() + 1, update.instruction);
  s.Keep(s.Make(Opcode::kDynamicUpdateSlice, operands), Join(x.bounds, update.bounds));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
