// Collectives among partitions; see the header.
#include "passes/spmd/shard_writer.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"

namespace hlokit {

PlaceFunction::PlaceFunction(int64_t factor, int64_t offset, int64_t divisor)
    : factor_(factor), offset_(offset), divisor_(divisor) {
  // Division truncates, so that a quotient of two signs may not be cancelled.
  if (divisor_ != 1 && factor_ % divisor_ == 0 &&
      (offset_ % divisor_ == 0 || offset_ * factor_ > 0)) {
    factor_ /= divisor_;
    offset_ /= divisor_;
    divisor_ = 1;
  }
}

int64_t PlaceFunction::At(int64_t place) const {
  if (!opcode_) return (place * factor_ + offset_) / divisor_;
  const int64_t a = a_->At(place), b = b_->At(place);
  return *opcode_ == Opcode::kAdd ? a + b : *opcode_ == Opcode::kSubtract ? a - b : a * b;
}

Instruction* PlaceFunction::Write(HloWriter& w, Instruction* place) const {
  if (opcode_) {
    Instruction* a = a_->Write(w, place);
    return w.Binary(*opcode_, a, b_->Write(w, place));
  }
  const auto number = [&w](int64_t value) { return w.Integer(ElementType::kS32, value); };
  if (factor_ == 0) return number(offset_ / divisor_);
  Instruction* x = place;
  if (factor_ != 1) x = w.Binary(Opcode::kMultiply, x, number(factor_));
  if (offset_ != 0) x = w.Binary(Opcode::kAdd, x, number(offset_));
  if (divisor_ != 1) x = w.Binary(Opcode::kDivide, x, number(divisor_));
  return x;
}

bool PlaceFunction::IsConstant() const {
  if (!opcode_) return factor_ == 0;
  if (*opcode_ == Opcode::kSubtract && *a_ == *b_) return true;
  return a_->IsConstant() && b_->IsConstant();
}

int64_t PlaceFunction::Most(int64_t first, int64_t limit) const {
  int64_t most = At(first);
  for (int64_t place = first + 1; place < limit; ++place) most = std::max(most, At(place));
  return most;
}

PlaceFunction PlaceFunction::Combined(Opcode opcode, const PlaceFunction& a,
                                      const PlaceFunction& b) {
  const bool plain = !a.opcode_ && !b.opcode_ && a.divisor_ == 1 && b.divisor_ == 1;
  if (plain && opcode == Opcode::kAdd) return {a.factor_ + b.factor_, a.offset_ + b.offset_};
  if (plain && opcode == Opcode::kSubtract) return {a.factor_ - b.factor_, a.offset_ - b.offset_};
  PlaceFunction made;
  made.opcode_ = opcode;
  made.a_ = std::make_shared<const PlaceFunction>(a);
  made.b_ = std::make_shared<const PlaceFunction>(b);
  return made;
}

PlaceFunction operator-(const PlaceFunction& a, const PlaceFunction& b) {
  return PlaceFunction::Combined(Opcode::kSubtract, a, b);
}
PlaceFunction operator+(const PlaceFunction& a, const PlaceFunction& b) {
  return PlaceFunction::Combined(Opcode::kAdd, a, b);
}
PlaceFunction operator*(const PlaceFunction& a, const PlaceFunction& b) {
  return PlaceFunction::Combined(Opcode::kMultiply, a, b);
}

bool PlaceFunction::operator==(const PlaceFunction& other) const {
  if (opcode_ != other.opcode_) return false;
  if (opcode_) return *a_ == *other.a_ && *b_ == *other.b_;
  return factor_ == other.factor_ && offset_ == other.offset_ && divisor_ == other.divisor_;
}

ShardWriter::ShardWriter(Module& module, HloWriter& w, int64_t partitions, int64_t& next_channel)
    : module_(module),
      w_(w),
      replicas_(module.header().replica_count),
      partitions_(partitions),
      next_channel_(next_channel) {
  Devices every(partitions);
  std::iota(every.begin(), every.end(), 0);
  all_.groups = {std::move(every)};
}

DeviceScope* ShardWriter::Within(DeviceScope* scope, const DeviceGroups& groups) {
  if (groups.size() == 1) {
    bool same = true;
    for (size_t k = 0; k < groups[0].size(); ++k) same &= groups[0][k] == static_cast<int64_t>(k);
    if (same) return scope;
  }
  for (const auto& made : scopes_)
    if (made->parent == scope && made->within == groups) return made.get();
  auto made = std::make_unique<DeviceScope>();
  made->parent = scope;
  made->within = groups;
  for (const Devices& outer : scope->groups)
    for (const Devices& group : groups) {
      Devices members;
      for (const int64_t k : group) members.push_back(outer[k]);
      made->groups.push_back(std::move(members));
    }
  scopes_.push_back(std::move(made));
  return scopes_.back().get();
}

Instruction* ShardWriter::PartitionId(DeviceScope* scope) {
  if (scope->id != nullptr) return scope->id;
  if (scope->parent == nullptr)
    return scope->id = w_.rewriter().Add(Opcode::kPartitionId, RowMajor(ElementType::kU32, {}), {});
  std::vector<int64_t> numbers(scope->parent->size());
  for (const Devices& group : scope->within)
    for (size_t k = 0; k < group.size(); ++k) numbers[group[k]] = static_cast<int64_t>(k);
  return scope->id = Lookup(numbers, ElementType::kU32, PartitionId(scope->parent));
}

Instruction* ShardWriter::Lookup(absl::Span<const int64_t> table, ElementType type,
                                 Instruction* place) {
  return w_.Reshape(w_.DynamicSlice(w_.List(type, table), {place}, {1}), {});
}

std::vector<Instruction*> ShardWriter::Offsets(const Shape& whole, const Cut& cut,
                                               DeviceScope* scope, absl::Span<const int64_t> dims) {
  const Shape shard = ShardOf(whole, cut);
  std::vector<Instruction*> offsets;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    if (cut.Dim(d) == 1 || (!dims.empty() && !absl::c_linear_search(dims, d))) {
      offsets.push_back(S32(0));
      continue;
    }
    std::vector<int64_t> table(cut.devices.size());
    cut.ForEach(
        [&](const DimVector& place, int64_t device) { table[device] = place[d] * shard.dims[d]; });
    offsets.push_back(Lookup(table, ElementType::kS32, PartitionId(scope)));
  }
  return offsets;
}

std::vector<Instruction*> ShardWriter::Places(const Cut& cut, DeviceScope* scope) {
  const Shape one_each = Shape::Array(
      ElementType::kS32, absl::MakeConstSpan(cut.tiles).first(std::max<int64_t>(cut.rank(), 0)));
  return Offsets(one_each, cut, scope);
}

Computation* ShardWriter::Add(ElementType type) {
  Computation*& add = adders_[type];
  if (add == nullptr) add = MakeReducer(module_, IsPred(type) ? Opcode::kOr : Opcode::kAdd, type);
  return add;
}

ReplicaGroups ShardWriter::InModule(const DeviceGroups& groups, const DeviceScope& scope) const {
  ReplicaGroups lists;
  for (int64_t replica = 0; replica < replicas_; ++replica)
    for (const Devices& outer : scope.groups)
      for (const Devices& group : groups) {
        Devices members;
        for (const int64_t k : group) members.push_back(replica * partitions_ + outer[k]);
        lists.lists.push_back(std::move(members));
      }
  return lists;
}

Instruction* ShardWriter::AllReduce(Instruction* x, const DeviceGroups& groups,
                                    Computation* reducer, DeviceScope* scope) {
  AllReduceAttrs attrs;
  attrs.channel_id = next_channel_++;
  attrs.replica_groups = InModule(groups, *scope);
  attrs.use_global_device_ids = true;
  Instruction* made = w_.rewriter().Add(Opcode::kAllReduce, x->shape(), {x}, std::move(attrs));
  made->set_called({reducer});
  return made;
}

Instruction* ShardWriter::AllReduceAlong(Instruction* x, const Cut& cut,
                                         absl::Span<const int64_t> dims, Computation* reducer,
                                         DeviceScope* scope) {
  for (size_t k = dims.size(); k-- > 0;)
    if (cut.IsTiled() && cut.tiles[dims[k]] > 1)
      x = AllReduce(x, GroupsAlong(cut, {dims[k]}), reducer, scope);
  return x;
}

Instruction* ShardWriter::AllGatherAlong(Instruction* x, const Cut& cut,
                                         absl::Span<const int64_t> dims, DeviceScope* scope) {
  for (size_t k = dims.size(); k-- > 0;) {
    const int64_t d = dims[k];
    if (!cut.IsTiled() || cut.tiles[d] == 1) continue;
    AllGatherAttrs attrs;
    attrs.channel_id = next_channel_++;
    attrs.replica_groups = InModule(GroupsAlong(cut, {d}), *scope);
    attrs.dimensions = {d};
    attrs.use_global_device_ids = true;
    Shape shape = x->shape();
    shape.dims[d] *= cut.tiles[d];
    x = w_.rewriter().Add(Opcode::kAllGather, shape, {x}, std::move(attrs));
  }
  return x;
}

Instruction* ShardWriter::AllToAll(Instruction* x, const DeviceGroups& groups, int64_t dimension,
                                   DeviceScope* scope) {
  AllToAllAttrs attrs;
  attrs.channel_id = next_channel_++;
  attrs.replica_groups = InModule(groups, *scope);
  attrs.dimensions = DimVector{dimension};
  return w_.rewriter().Add(Opcode::kAllToAll, x->shape(), {x}, std::move(attrs));
}

Instruction* ShardWriter::Permute(Instruction* x, const IntPairs& pairs, DeviceScope* scope) {
  if (pairs.empty()) return w_.FillInteger(x->shape(), 0);
  CollectivePermuteAttrs attrs;
  attrs.channel_id = next_channel_;
  bool moves = false;
  for (const Devices& outer : scope->groups)
    for (const auto& [from, to] : pairs) {
      attrs.source_target_pairs.push_back({outer[from], outer[to]});
      moves |= from != to;
    }
  if (!moves && static_cast<int64_t>(attrs.source_target_pairs.size()) == partitions_) return x;
  ++next_channel_;
  return w_.rewriter().Add(Opcode::kCollectivePermute, x->shape(), {x}, std::move(attrs));
}

namespace {

// Which dimensions of a reshape's result hold the same along them, where the operand does along
// `same`: those that are made of nothing but these.
std::vector<int64_t> SameOfReshape(const Shape& from, const Shape& to,
                                   absl::Span<const int64_t> same) {
  std::vector<int64_t> dims;
  if (same.empty()) return dims;
  int64_t end = to.ElementCount();
  const auto divide = [](int64_t a, int64_t b) { return std::max(a, b) % std::min(a, b) == 0; };
  for (int64_t d = 0; d < to.rank() && end > 0; ++d) {
    const int64_t begin = end / to.dims[d];
    bool only = to.dims[d] > 1;  // a single row may be another on the next device
    int64_t high = from.ElementCount();
    for (int64_t k = 0; k < from.rank(); ++k) {
      const int64_t low = high / from.dims[k];
      if (low < end && high > begin && low < high)
        only &= absl::c_linear_search(same, k) && divide(low, begin) && divide(high, end);
      high = low;
    }
    if (only) dims.push_back(d);
    end = begin;
  }
  return dims;
}

}  // namespace

std::vector<int64_t> ShardWriter::BroadcastDims(const Instruction* x, int depth) const {
  constexpr int kDeepest = 6;
  if (depth > kDeepest) return {};
  const int64_t rank = x->shape().rank();
  std::vector<int64_t> dims;
  if (x->opcode() == Opcode::kBroadcast) {
    for (int64_t d = 0; d < rank; ++d)
      if (!absl::c_linear_search(x->attr<BroadcastAttrs>().dimensions, d)) dims.push_back(d);
    return dims;
  }
  if (x->opcode() == Opcode::kTranspose) {
    const DimVector& from = x->attr<DimensionsAttrs>().dimensions;
    const std::vector<int64_t> inner = BroadcastDims(x->operand(0), depth + 1);
    for (int64_t d = 0; d < rank; ++d)
      if (absl::c_linear_search(inner, from[d])) dims.push_back(d);
    return dims;
  }
  if (x->opcode() == Opcode::kReshape)
    return SameOfReshape(x->operand(0)->shape(), x->shape(),
                         BroadcastDims(x->operand(0), depth + 1));
  if (x->opcode() == Opcode::kSlice || x->opcode() == Opcode::kDynamicSlice)
    return BroadcastDims(x->operand(0), depth + 1);
  if (!HasTrait(x->opcode(), kElementwise) || x->operand_count() == 0 || !x->shape().IsArray())
    return dims;
  dims = BroadcastDims(x->operand(0), depth + 1);
  for (int64_t k = 1; k < x->operand_count(); ++k) {
    const std::vector<int64_t> other = BroadcastDims(x->operand(k), depth + 1);
    std::erase_if(dims, [&](int64_t d) { return !absl::c_linear_search(other, d); });
  }
  return dims;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
