// Recipes of collectives, in all spellings of their groups: none (all devices), lists, and iota
// forms; by replica, by partition or by global id. Groups all have the same size, since shapes
// depend on it. On one device each group holds one member.
#include <algorithm>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

// Who meets at a collective.
struct Meeting {
  ReplicaGroups groups;
  std::optional<int64_t> channel_id;
  bool use_global_device_ids = false;
  int64_t participants = 1;  // of each group
};

// Groups of equal size of the numbers below `ids`: none (all in one), lists, or a range.
ReplicaGroups PickGroups(GeneratedCode& s, int64_t ids, int64_t& size) {
  ReplicaGroups groups;
  size = ids;
  const int64_t form = s.random().Between(0, 2);
  if (form == 0) return groups;
  if (s.random().Chance(0.4))
    size = ids % 2 == 0 ? s.random().OneOf({int64_t{1}, ids / 2}) : int64_t{1};
  if (form == 2) {
    groups.form = ReplicaGroups::Form::kIota;
    groups.iota_dims = {ids / size, size};
    groups.reshape_dims = {ids};
    return groups;
  }
  std::vector<int64_t> order;
  for (int64_t id = 0; id < ids; ++id) order.push_back(id);
  s.random().Shuffle(order);
  for (int64_t first = 0; first < ids; first += size)
    groups.lists.emplace_back(order.begin() + first, order.begin() + first + size);
  return groups;
}

// Ids are replicas where there is no channel. Where there is one: of `flagged` operations devices,
// or replicas that come with all of their partitions; partitions of the others.
Meeting PickMeeting(GeneratedCode& s, bool flagged) {
  const ModuleHeader& header = s.module().header();
  Meeting meeting;
  int64_t ids = header.replica_count, each = 1;
  if (s.random().Chance(0.5)) {
    meeting.channel_id = ++s.state().channels;
    meeting.use_global_device_ids = flagged && s.random().Chance(0.5);
    if (meeting.use_global_device_ids) {
      ids = header.replica_count * header.num_partitions;
    } else if (flagged) {
      each = header.num_partitions;
    } else {
      ids = header.num_partitions;
    }
  }
  meeting.groups = PickGroups(s, ids, meeting.participants);
  meeting.participants *= each;
  if (meeting.groups.empty()) meeting.use_global_device_ids = false;
  return meeting;
}

template <typename A>
A WithGroups(GeneratedCode& s, int64_t& participants) {
  A attributes;
  constexpr bool kFlagged = requires { attributes.use_global_device_ids; };
  Meeting meeting = PickMeeting(s, kFlagged);
  attributes.replica_groups = std::move(meeting.groups);
  attributes.channel_id = meeting.channel_id;
  if constexpr (kFlagged) attributes.use_global_device_ids = meeting.use_global_device_ids;
  participants = meeting.participants;
  return attributes;
}

// Devices that take different branches never meet, nor do those that a partitioner has yet to make.
bool MayMeet(GeneratedCode& s) {
  return s.state().divergent == 0 ||
         s.module().header().replica_count * s.module().header().num_partitions == 1;
}

// What `participants` of equal bounds come to.
Bounds Combined(ElementType type, Opcode reducer, const Bounds& x, int64_t participants) {
  if (reducer != Opcode::kAdd || participants == 1 || !(IsFloat(type) || IsComplex(type))) return x;
  return SumBounds(type, x, {1, 1, 0}, participants);
}

// An array with a dimension, and which.
std::optional<int64_t> SomeDimension(GeneratedCode& s, const RandomValue& x) {
  if (x.shape().rank() == 0) return std::nullopt;
  return s.random().Between(0, x.shape().rank() - 1);
}

// Of one device: what goes in comes out.
void KeepSame(GeneratedCode& s, Instruction* result, const Values& given) {
  if (result == nullptr) return;
  if (!result->shape().IsTuple()) return s.Keep(result, given[0].bounds);
  s.KeepElements(result, BoundsOf(given));
}

// `start` with its done op, which gives `result`.
Instruction* Finished(GeneratedCode& s, Instruction* start, Opcode done) {
  return start == nullptr ? nullptr : s.Make(done, {start});
}

}  // namespace

void AllReduceValues(GeneratedCode& s) {
  if (!MayMeet(s)) return;
  const RandomValue first = s.Plain(s.Any());
  if (first.type() == ElementType::kF8E8M0FNU) return;
  Values given = {first};
  if (s.random().Chance(0.3)) given.push_back(s.Plain(s.Get(first.type(), s.AnyDims())));
  const Opcode reducer = IsPred(first.type()) ? Opcode::kOr
                         : IsComplex(first.type())
                             ? Opcode::kAdd
                             : s.random().OneOf({Opcode::kAdd, Opcode::kMaximum});
  const bool split = s.random().Chance(0.3);
  int64_t participants = 1;
  Instruction* made = s.MakeCalling(
      split ? Opcode::kAllReduceStart : Opcode::kAllReduce, InstructionsOf(given),
      {s.ScalarFunction(reducer, first.type())}, WithGroups<AllReduceAttrs>(s, participants));
  for (RandomValue& value : given)
    value.bounds = Combined(value.type(), reducer, value.bounds, participants);
  KeepSame(s, split ? Finished(s, made, Opcode::kAllReduceDone) : made, given);
}

void AllGatherValues(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  const std::optional<int64_t> dimension = SomeDimension(s, x);
  if (!dimension || !MayMeet(s)) return;
  int64_t participants = 1;
  AllGatherAttrs attributes = WithGroups<AllGatherAttrs>(s, participants);
  attributes.dimensions = {*dimension};
  const bool split = s.random().Chance(0.4);
  Shape declared = x.shape().WithoutLayout();
  declared.dims[*dimension] *= participants;
  if (split) declared = Shape::Tuple({x.shape().WithoutLayout(), declared});
  Instruction* made = s.Make(split ? Opcode::kAllGatherStart : Opcode::kAllGather, {x.instruction},
                             attributes, &declared);
  KeepSame(s, split ? Finished(s, made, Opcode::kAllGatherDone) : made, {x});
}

void ReduceScatterValues(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  const std::optional<int64_t> dimension = SomeDimension(s, x);
  if (!dimension || IsPred(x.type()) || x.type() == ElementType::kF8E8M0FNU || !MayMeet(s)) return;
  int64_t participants = 1;
  ReduceScatterAttrs attributes = WithGroups<ReduceScatterAttrs>(s, participants);
  attributes.dimensions = {*dimension};
  Shape declared = x.shape().WithoutLayout();
  if (declared.dims[*dimension] % participants != 0) return;
  declared.dims[*dimension] /= participants;
  RandomValue sum = x;
  sum.bounds = Combined(x.type(), Opcode::kAdd, x.bounds, participants);
  KeepSame(s,
           s.MakeCalling(Opcode::kReduceScatter, {x.instruction},
                         {s.ScalarFunction(Opcode::kAdd, x.type())}, attributes, &declared),
           {sum});
}

void AllToAllValues(GeneratedCode& s) {
  if (!MayMeet(s)) return;
  const RandomValue x = s.Plain(s.Any());
  int64_t participants = 1;
  AllToAllAttrs attributes = WithGroups<AllToAllAttrs>(s, participants);
  const std::optional<int64_t> dimension = SomeDimension(s, x);
  Values given = {x};
  if (dimension && s.random().Chance(0.6)) {
    if (x.shape().dims[*dimension] % participants != 0) return;
    attributes.dimensions = DimVector{*dimension};
  } else {  // operand i goes to participant i
    while (static_cast<int64_t>(given.size()) < participants)
      given.push_back(s.Plain(s.Get(x.type(), x.shape().dims)));
    Bounds all = x.bounds;
    for (const RandomValue& value : given) all = Join(all, value.bounds);
    for (RandomValue& value : given) value.bounds = all;
  }
  KeepSame(s, s.Make(Opcode::kAllToAll, InstructionsOf(given), attributes), given);
}

// Pairs of a permutation, some left out: who is no target gets zeros.
void PermuteDevices(GeneratedCode& s) {
  if (!MayMeet(s)) return;
  const RandomValue x = s.Plain(s.Any());
  CollectivePermuteAttrs attributes;
  int64_t ids = s.module().header().replica_count;
  if (s.random().Chance(0.5)) {
    attributes.channel_id = ++s.state().channels;
    ids = s.module().header().num_partitions;
  }
  std::vector<int64_t> targets;
  for (int64_t id = 0; id < ids; ++id) targets.push_back(id);
  s.random().Shuffle(targets);
  for (int64_t id = 0; id < ids; ++id)
    if (s.random().Chance(0.7)) attributes.source_target_pairs.push_back({id, targets[id]});
  const bool split = s.random().Chance(0.4);
  Instruction* made = s.Make(split ? Opcode::kCollectivePermuteStart : Opcode::kCollectivePermute,
                             {x.instruction}, attributes);
  RandomValue given = x;
  if (attributes.source_target_pairs.empty()) {
    given.bounds = {0, 0, 0};  // who is no target gets zeros
  } else if (static_cast<int64_t>(attributes.source_target_pairs.size()) < ids) {
    given.bounds = Join(given.bounds, {0, 0, 0});
  }
  KeepSame(s, split ? Finished(s, made, Opcode::kCollectivePermuteDone) : made, {given});
}

void BroadcastToDevices(GeneratedCode& s) {
  if (!MayMeet(s)) return;
  const RandomValue x = s.Plain(s.Any());
  int64_t participants = 1;
  CollectiveBroadcastAttrs attributes = WithGroups<CollectiveBroadcastAttrs>(s, participants);
  if (attributes.replica_groups.empty()) return;
  KeepSame(s, s.Make(Opcode::kCollectiveBroadcast, {x.instruction}, attributes), {x});
}

// One piece, from an offset of the input to one of the output.
void RaggedAllToAllValues(GeneratedCode& s) {
  const ModuleHeader& header = s.module().header();
  if (header.replica_count * header.num_partitions > 1) return;
  const RandomValue x = s.Plain(s.Any());
  if (x.shape().rank() == 0) return;
  DimVector dims = x.shape().dims;
  dims[0] = s.random().Between(0, 6);
  const RandomValue output = s.Plain(s.Get(x.type(), dims));
  const int64_t size = s.random().Between(0, std::min(x.shape().dims[0], dims[0]));
  const int64_t from = s.random().Between(0, x.shape().dims[0] - size);
  const int64_t to = s.random().Between(0, dims[0] - size);
  const ElementType type = s.random().OneOf({ElementType::kS32, ElementType::kS64});
  int64_t participants = 1;
  const auto number = [&](int64_t value) {
    Literal literal(Shape::Array(type, {1}));
    literal.SetInt(0, value);
    return s.Constant(std::move(literal));
  };
  Instruction* made = s.Make(
      Opcode::kRaggedAllToAll,
      {x.instruction, output.instruction, number(from), number(size), number(to), number(size)},
      WithGroups<RaggedAllToAllAttrs>(s, participants));
  s.Keep(made, Join(x.bounds, output.bounds));
}

// partition-id and replica-id.
void DeviceNumber(GeneratedCode& s) {
  if (!MayMeet(s)) return;  // a program on whole arrays asks for no number
  s.Keep(s.Make(s.random().OneOf({Opcode::kPartitionId, Opcode::kReplicaId}), {}));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
