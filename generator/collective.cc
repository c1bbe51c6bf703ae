// Steps that meet other devices, on a module of one device: groups of one, in all their spellings.
#include <algorithm>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

// No groups (all devices), or the one device spelled out.
ReplicaGroups Alone(GeneratedCode& s) {
  ReplicaGroups groups;
  const int64_t form = s.random().Between(0, 2);
  if (form == 1) groups.lists = {{0}};
  if (form == 2) {
    groups.form = ReplicaGroups::Form::kIota;
    groups.iota_dims = {1, 1};
    groups.reshape_dims = {1};
  }
  return groups;
}

// A channel, and whether ids then count devices.
template <typename A>
A WithGroups(GeneratedCode& s) {
  A attributes;
  attributes.replica_groups = Alone(s);
  if (s.random().Chance(0.5)) attributes.channel_id = ++s.state().channels;
  if constexpr (requires { attributes.use_global_device_ids; })
    attributes.use_global_device_ids = attributes.channel_id.has_value() &&
                                       !attributes.replica_groups.empty() && s.random().Chance(0.5);
  return attributes;
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
  const RandomValue first = s.Plain(s.Any());
  if (first.type() == ElementType::kF8E8M0FNU) return;
  Values given = {first};
  if (s.random().Chance(0.3)) given.push_back(s.Plain(s.Get(first.type(), s.AnyDims())));
  const Opcode reducer = IsPred(first.type()) ? Opcode::kOr
                         : IsComplex(first.type())
                             ? Opcode::kAdd
                             : s.random().OneOf({Opcode::kAdd, Opcode::kMaximum});
  const bool split = s.random().Chance(0.3);
  Instruction* made =
      s.MakeCalling(split ? Opcode::kAllReduceStart : Opcode::kAllReduce, InstructionsOf(given),
                    {s.ScalarFunction(reducer, first.type())}, WithGroups<AllReduceAttrs>(s));
  KeepSame(s, split ? Finished(s, made, Opcode::kAllReduceDone) : made, given);
}

void AllGatherValues(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  const std::optional<int64_t> dimension = SomeDimension(s, x);
  if (!dimension) return;
  AllGatherAttrs attributes = WithGroups<AllGatherAttrs>(s);
  attributes.dimensions = {*dimension};
  const bool split = s.random().Chance(0.4);
  Instruction* made =
      s.Make(split ? Opcode::kAllGatherStart : Opcode::kAllGather, {x.instruction}, attributes);
  KeepSame(s, split ? Finished(s, made, Opcode::kAllGatherDone) : made, {x});
}

void ReduceScatterValues(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  const std::optional<int64_t> dimension = SomeDimension(s, x);
  if (!dimension || IsPred(x.type()) || x.type() == ElementType::kF8E8M0FNU) return;
  ReduceScatterAttrs attributes = WithGroups<ReduceScatterAttrs>(s);
  attributes.dimensions = {*dimension};
  KeepSame(s,
           s.MakeCalling(Opcode::kReduceScatter, {x.instruction},
                         {s.ScalarFunction(Opcode::kAdd, x.type())}, attributes),
           {x});
}

void AllToAllValues(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  AllToAllAttrs attributes = WithGroups<AllToAllAttrs>(s);
  const std::optional<int64_t> dimension = SomeDimension(s, x);
  if (dimension && s.random().Chance(0.6)) attributes.dimensions = DimVector{*dimension};
  KeepSame(s, s.Make(Opcode::kAllToAll, {x.instruction}, attributes), {x});
}

void PermuteDevices(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  CollectivePermuteAttrs attributes;
  if (s.random().Chance(0.5)) attributes.channel_id = ++s.state().channels;
  const bool reached = s.random().Chance(0.7);
  if (reached) attributes.source_target_pairs.push_back({0, 0});
  const bool split = s.random().Chance(0.4);
  Instruction* made = s.Make(split ? Opcode::kCollectivePermuteStart : Opcode::kCollectivePermute,
                             {x.instruction}, attributes);
  RandomValue given = x;
  if (!reached) given.bounds = {0, 0, 0};  // who is no target gets zeros
  KeepSame(s, split ? Finished(s, made, Opcode::kCollectivePermuteDone) : made, {given});
}

void BroadcastToDevices(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  CollectiveBroadcastAttrs attributes;
  attributes.replica_groups.lists = {{0}};
  if (s.random().Chance(0.5)) attributes.channel_id = ++s.state().channels;
  KeepSame(s, s.Make(Opcode::kCollectiveBroadcast, {x.instruction}, attributes), {x});
}

// One piece, from an offset of the input to one of the output.
void RaggedAllToAllValues(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  if (x.shape().rank() == 0) return;
  DimVector dims = x.shape().dims;
  dims[0] = s.random().Between(0, 6);
  const RandomValue output = s.Plain(s.Get(x.type(), dims));
  const int64_t size = s.random().Between(0, std::min(x.shape().dims[0], dims[0]));
  const int64_t from = s.random().Between(0, x.shape().dims[0] - size);
  const int64_t to = s.random().Between(0, dims[0] - size);
  const ElementType type = s.random().OneOf({ElementType::kS32, ElementType::kS64});
  const auto number = [&](int64_t value) {
    Literal literal(Shape::Array(type, {1}));
    literal.SetInt(0, value);
    return s.Constant(std::move(literal));
  };
  Instruction* made = s.Make(
      Opcode::kRaggedAllToAll,
      {x.instruction, output.instruction, number(from), number(size), number(to), number(size)},
      WithGroups<RaggedAllToAllAttrs>(s));
  s.Keep(made, Join(x.bounds, output.bounds));
}

void DeviceNumber(GeneratedCode& s) {
  s.Keep(s.Make(s.random().OneOf({Opcode::kPartitionId, Opcode::kReplicaId}), {}));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
