// The instructions that move or combine elements, on shards: elementwise ones, constants,
// broadcasts, transposes, reshapes, slices, concatenations, updates.
//   add of two arrays cut [4,1]: the same add of the shards; concatenate along a dimension that is
//   cut: each partition writes its operands into zeros, which are summed up and cut
#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "passes/rewrite/matchers.h"
#include "passes/spmd/manual_regions.h"
#include "passes/spmd/spmd_visitor.h"
#include "support/status.h"

namespace hlokit {
absl::Status SpmdVisitor::Elementwise(const Instruction& i) {
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands())
    if (!operand->shape().IsArray() || operand->shape().dims != i.shape().dims) return Default(i);
  // In a manual region the result moves, not the operands, where these lie alike.
  const Cut& first = Of(i.operand(0)).cut();
  const bool as_operands =
      scope_->parent != nullptr && absl::c_all_of(i.operands(), [&](const Instruction* operand) {
        return Of(operand).cut() == first && !first.HasOneDevice();
      });
  const Cut cut = as_operands ? first : CutOfResult();
  for (const Instruction* operand : i.operands())
    operands.push_back(sharder_.To(Of(operand), cut).value);
  Set(i, Array(Clone(i, ShardOf(i.shape(), cut), operands), i.shape(), cut));
  return absl::OkStatus();
}

// A custom call that computes each element by itself, or none. What moves between memories moves as
// it is cut.
absl::Status SpmdVisitor::ElementwiseCall(const Instruction& i) {
  const bool moves = absl::StartsWith(TargetOf(i), "MoveTo") && i.operand_count() == 1 &&
                     Of(i.operand(0)).IsArray() && !Of(i.operand(0)).cut().HasOneDevice() &&
                     CutOfResult().IsTiled();
  const std::vector<Cut> wanted = cuts_;
  if (moves) cuts_ = Of(i.operand(0)).cuts;
  RETURN_IF_ERROR(Elementwise(i));
  Instruction* made = done_[i.id()].value;
  if (moves) {
    cuts_ = wanted;
    done_[i.id()] = sharder_.To(done_[i.id()], wanted);
  }
  if (made->opcode() != Opcode::kCustomCall) return absl::OkStatus();
  auto& layouts = made->mutable_attr<CustomCallAttrs>().operand_layout_constraints;
  for (size_t k = 0; layouts && k < layouts->size(); ++k)
    (*layouts)[k].dims = made->operand(static_cast<int64_t>(k))->shape().dims;
  return absl::OkStatus();
}

// The narrower type has one dimension more, at the end.
absl::Status SpmdVisitor::BitcastConvert(const Instruction& i) {
  const Cut& cut = CutOfResult();
  const int64_t from = i.operand(0)->shape().rank(), to = i.shape().rank();
  if (from == to) return Elementwise(i);
  const Shard& operand = Of(i.operand(0));
  if (from > to) {  // whole in the dimension that goes
    if (!operand.cut().IsTiled()) return Default(i);
    const Cut whole = MadeWhole(operand.cut(), {from - 1});
    const Cut result = WithoutDims(whole, {from - 1});
    Instruction* made = Clone(i, ShardOf(i.shape(), result), {sharder_.To(operand, whole).value});
    Set(i, Array(made, i.shape(), result));
    return absl::OkStatus();
  }
  if (!cut.IsTiled()) return Default(i);
  const Cut whole = MadeWhole(cut, {to - 1});
  Instruction* x = sharder_.To(operand, WithoutDims(whole, {to - 1})).value;
  Set(i, Array(Clone(i, ShardOf(i.shape(), whole), {x}), i.shape(), whole));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Barrier(const Instruction& i) {
  Set(i, Clone(i, LocalShape(i), {sharder_.To(Of(i.operand(0)), cuts_).value}));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Tuple(const Instruction& i) {
  std::vector<Instruction*> elements;
  size_t next = 0;
  for (const Instruction* operand : i.operands()) {
    const int64_t leaves = NumLeaves(operand->shape());
    elements.push_back(
        sharder_
            .To(Of(operand), std::vector<Cut>(cuts_.begin() + next, cuts_.begin() + next + leaves))
            .value);
    next += leaves;
  }
  Set(i, Clone(i, LocalShape(i), elements));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Element(const Instruction& i) {
  const Shard& tuple = Of(i.operand(0));
  const auto begin = tuple.cuts.begin() + LeafOffset(tuple.whole, i.tuple_index());
  Set(i, Shard{w_.Part(tuple.value, i.tuple_index()), i.shape(),
               std::vector<Cut>(begin, begin + NumLeaves(i.shape())), tuple.scope});
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Constant(const Instruction& i) {
  const Literal* literal = i.literal();
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled() || literal == nullptr || !i.shape().IsArray() || !IsEven(cut, i.shape()))
    return Default(i);
  const int width = ByteWidth(i.shape().type);
  for (int64_t k = 1; k < literal->element_count(); ++k)
    if (std::memcmp(literal->data(), literal->data() + k * width, width) != 0) return Default(i);
  Shape shape = LocalShape(i);
  Literal part = Literal::Unset(shape);
  for (int64_t k = 0; k < part.element_count(); ++k)
    std::memcpy(part.data() + k * width, literal->data(), width);
  Set(i, r_.Constant(std::move(part)));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Iota(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const int64_t d = i.attr<IotaAttrs>().iota_dimension;
  Instruction* iota = Clone(i, LocalShape(i), {});
  if (cut.tiles[d] > 1) {
    Instruction* offset = w_.Binary(Opcode::kMultiply, writer_.Places(cut, scope_)[d],
                                    writer_.S32(iota->shape().dims[d]));
    offset = w_.Convert(offset, i.shape().type);
    iota = w_.Binary(Opcode::kAdd, iota, w_.Fill(iota->shape(), offset));
  }
  Set(i, iota);
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Broadcast(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const DimVector& map = i.attr<BroadcastAttrs>().dimensions;
  if (!absl::c_is_sorted(map)) return Default(i);
  DimVector made;
  for (int64_t d = 0; d < i.shape().rank(); ++d)
    if (!absl::c_linear_search(map, d)) made.push_back(d);
  const Cut wanted = WithoutDims(MadeWhole(cut, made), made);
  Set(i, Clone(i, LocalShape(i), {sharder_.To(Of(i.operand(0)), wanted).value}));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Transpose(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const DimVector& from = i.attr<DimensionsAttrs>().dimensions;
  DimVector inverse(from.size());
  for (size_t d = 0; d < from.size(); ++d) inverse[from[d]] = static_cast<int64_t>(d);
  Set(i, Clone(i, LocalShape(i), {sharder_.To(Of(i.operand(0)), Transposed(cut, inverse)).value}));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Reshape(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const Shape& from = i.operand(0)->shape();
  const Shard& operand = Of(i.operand(0));
  const auto wanted = Reshaped(i.shape(), from, cut);
  if (wanted && wanted->NumTiles() == cut.NumTiles()) {
    Set(i, Clone(i, LocalShape(i), {sharder_.To(operand, *wanted).value}));
    if (operand.cut().IsReplicated())  // who needs it whole need not gather it
      sharder_.Know(done_[i.id()], Array(Clone(i, i.shape(), {operand.value}), i.shape(), Cut()));
    return absl::OkStatus();
  }
  const auto possible = Reshaped(from, i.shape(), operand.cut());
  if (possible && possible->NumTiles() == operand.cut().NumTiles()) {
    Instruction* local = Clone(i, ShardOf(i.shape(), *possible), {operand.value});
    Set(i, Array(local, i.shape(), *possible));
    return absl::OkStatus();
  }
  // Some of the operand's dimensions stay cut.
  if (possible && possible->NumTiles() > 1 && !OnlyCutDim(operand.cut())) {
    const auto kept = Reshaped(i.shape(), from, *possible);
    if (kept && kept->NumTiles() == possible->NumTiles()) {
      Instruction* local =
          Clone(i, ShardOf(i.shape(), *possible), {sharder_.To(operand, *kept).value});
      Set(i, Array(local, i.shape(), *possible));
      return absl::OkStatus();
    }
  }
  // One of them is made whole, the last that may.
  for (int64_t d = from.rank() - 1; operand.cut().IsTiled() && d >= 0; --d) {
    if (operand.cut().tiles[d] == 1 || OnlyCutDim(operand.cut())) continue;
    const Cut whole = MadeWhole(operand.cut(), {d});
    const auto kept = Reshaped(from, i.shape(), whole);
    if (!kept || kept->NumTiles() != whole.NumTiles()) continue;
    Instruction* local = Clone(i, ShardOf(i.shape(), *kept), {sharder_.To(operand, whole).value});
    Set(i, Array(local, i.shape(), *kept));
    return absl::OkStatus();
  }
  return ReshapeByHalo(i);
}

// One dimension is cut in both, behind the same number of elements; the shards do not agree, but
// neighbours can help out.
absl::Status SpmdVisitor::ReshapeByHalo(const Instruction& i) {
  const Cut& cut = CutOfResult();
  const Shard& operand = Of(i.operand(0));
  const Shape& from = operand.whole;
  if (!operand.cut().IsTiled() || operand.cut().Copies() != cut.Copies() ||
      operand.cut().has_copies != cut.has_copies)
    return Default(i);
  const auto in = OnlyCutDim(operand.cut()), out = OnlyCutDim(cut);
  if (!in || !out) return Default(i);
  int64_t before = 1, after = 1;
  for (int64_t d = 0; d < *in; ++d) before *= from.dims[d];
  for (int64_t d = 0; d < *out; ++d) after *= i.shape().dims[d];
  if (before != after) return Default(i);
  const Cut aligned = Retiled(cut, operand.cut().tiles, cut.has_copies);
  const Shard given = sharder_.To(operand, aligned);
  const int64_t size = from.dims[*in], result = i.shape().dims[*out];
  const int64_t tiles = cut.tiles[*out];
  const Shape local = LocalShape(i);
  Instruction* zero = writer_.Zero(from.type);
  if (size == 0 || result == 0) return Default(i);
  if (size % result == 0) {  // split
    Window window(from.rank());
    window[*in].pad_high = local.dims[*out] * (size / result) * tiles - size;
    const auto windowed = sharder_.AsWindowed(given, window, aligned, zero, /*mask=*/false);
    if (!windowed || !windowed->offset.empty() ||
        windowed->value->shape().ElementCount() != local.ElementCount())
      return Default(i);
    Set(i, r_.Reshape(windowed->value, local));
    return absl::OkStatus();
  }
  if (result % size != 0) return Default(i);
  Shape merged = local, whole;  // with the padding of the operand
  merged.dims[*out] = given.value->shape().dims[*in] * (result / size);
  if (merged.ElementCount() != given.value->shape().ElementCount()) return Default(i);
  whole = merged;
  whole.dims[*out] *= tiles;
  for (int64_t d = 0; d < whole.rank(); ++d)
    if (d != *out) whole.dims[d] = i.shape().dims[d];
  Window window(whole.rank());
  window[*out].pad_high = result - whole.dims[*out];
  const Shard reshaped = Array(r_.Reshape(given.value, merged), whole, cut);
  const auto windowed = sharder_.AsWindowed(reshaped, window, cut, zero, /*mask=*/false);
  if (!windowed || !windowed->offset.empty() || windowed->value->shape().dims != local.dims)
    return Default(i);
  Set(i, windowed->value);
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Slice(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const SliceSpec& slice = i.attr<SliceAttrs>().slice;
  if (Instruction* padded = SliceOfPad(i)) {
    Set(i, padded);
    return absl::OkStatus();
  }
  const auto windowed = sharder_.ForSlice(sharder_.To(Of(i.operand(0)), cut), slice, cut);
  if (!windowed || !windowed->offset.empty()) return Default(i);
  Instruction* made = sharder_.SliceLocally(*windowed, slice);
  if (made->shape().dims != LocalShape(i).dims) return Default(i);
  // A copy, which has no other cuts of its own.
  if (made == windowed->value) made = r_.Add(Opcode::kCopy, made->shape(), {made});
  Set(i, made);
  return absl::OkStatus();
}

// A part of `x` padded to the result of `i`; null where it cannot be had.
Instruction* SpmdVisitor::Padded(const Instruction& i, const Shard& x, const PaddingConfig& padding,
                                 Instruction* value) {
  const auto windowed = sharder_.ForPad(x, padding, i.shape(), CutOfResult(), value);
  if (!windowed) return nullptr;
  Instruction* made = sharder_.PadLocally(*windowed, value);
  const Shape local = LocalShape(i);
  if (!windowed->offset.empty()) made = w_.DynamicSlice(made, windowed->offset, local.dims);
  return made->shape().dims == local.dims ? made : nullptr;
}

absl::Status SpmdVisitor::Pad(const Instruction& i) {
  if (!CutOfResult().IsTiled()) return Default(i);
  Instruction* made =
      Padded(i, Of(i.operand(0)), i.attr<PadAttrs>().padding, WholeOf(i.operand(1)));
  if (made == nullptr) return Default(i);
  Set(i, made);
  return absl::OkStatus();
}

// Along a dimension that is cut: another one that has no tiles takes them for the while, or the
// dimension is made whole.
absl::Status SpmdVisitor::Concatenate(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const int64_t d = i.attr<DimensionsAttrs>().dimensions[0];
  if (const auto amount = RotationOf(i); amount && cut.tiles[d] > 1) {
    Set(i, Rotated(done_[i.operand(0)->operand(0)->id()], d, *amount));
    return absl::OkStatus();
  }
  Cut joined = cut;
  for (int64_t k = 0; k < cut.rank() && joined.Dim(d) > 1; ++k) {
    if (cut.tiles[k] != 1 || i.shape().dims[k] % cut.tiles[d] != 0) continue;
    DimVector order(cut.rank());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[k], order[d]);
    joined = Transposed(cut, order);
  }
  if (joined.Dim(d) > 1) joined = MadeWhole(cut, {d});
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands())
    operands.push_back(sharder_.To(Of(operand), joined).value);
  Set(i, Array(Clone(i, ShardOf(i.shape(), joined), operands), i.shape(), joined));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::DynamicSlice(const Instruction& i) {
  const Cut& cut = CutOfResult();
  const Shape& from = i.operand(0)->shape();
  if (!cut.IsTiled() || i.operand_count() != from.rank() + 1) return Default(i);
  for (int64_t d = 0; d < from.rank(); ++d)
    if (cut.tiles[d] != 1 && i.shape().dims[d] != from.dims[d]) return Default(i);
  Instruction* x = sharder_.To(Of(i.operand(0)), cut).value;
  std::vector<Instruction*> starts;
  for (int64_t d = 0; d < from.rank(); ++d)
    starts.push_back(i.shape().dims[d] == from.dims[d]
                         ? writer_.Zero(i.operand(d + 1)->shape().type)
                         : WholeOf(i.operand(d + 1)));
  Set(i, w_.DynamicSlice(x, starts, LocalShape(i).dims));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Reverse(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const DimVector& dims = i.attr<DimensionsAttrs>().dimensions;
  const Shard operand = sharder_.To(Of(i.operand(0)), Reversed(cut, dims));
  const auto padded = sharder_.PaddedOnLeft(operand, dims);
  if (!padded) return Default(i);
  Set(i, Clone(i, (*padded)->shape(), {*padded}));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
