// Collectives and transfers as operations: their groups, channels and dimensions.
//
// Example: replica_groups={{0,1},{2}} is `dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>`. Groups in
// iota form and over meshes are spelled out.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "stablehlo/write/forms_internal.h"
#include "stablehlo/write/text_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// What a channel is between: devices, or the device and its host.
enum ChannelType : int { kNoType = 0, kDeviceToDevice = 1, kDeviceToHost = 2, kHostToDevice = 3 };

void AddChannel(AttributeText& text, const std::optional<int64_t>& channel, ChannelType type) {
  if (channel)
    text.Add("channel_handle", absl::StrCat("#stablehlo.channel_handle<handle = ", *channel,
                                            ", type = ", static_cast<int>(type), ">"));
}

void AddGroups(AttributeText& text, const ReplicaGroups& groups) {
  std::vector<std::vector<int64_t>> rows = groups.Expand();
  size_t members = 0;
  for (const auto& row : rows) members = std::max(members, row.size());
  for (auto& row : rows) row.resize(members, -1);
  text.Table("replica_groups", rows, static_cast<int64_t>(members));
}

template <typename A>
AttributeText Common(const A& attributes) {
  AttributeText text;
  AddChannel(text, attributes.channel_id, kDeviceToDevice);
  if constexpr (requires { attributes.replica_groups; }) AddGroups(text, attributes.replica_groups);
  if constexpr (requires { attributes.use_global_device_ids; })
    if (attributes.use_global_device_ids) text.Add("use_global_device_ids", "");
  return text;
}

AttributeText Transfer(const Instruction& i, ChannelType host) {
  const auto& transfer = i.attr<SendRecvAttrs>();
  AttributeText text;
  AddChannel(text, transfer.channel_id.value_or(0),
             transfer.is_host_transfer ? host : kDeviceToDevice);
  return text.Flag("is_host_transfer", transfer.is_host_transfer);
}

}  // namespace

absl::StatusOr<AttributeText> WrittenAllToAll(const Instruction& i) {
  const auto& attrs = i.attr<AllToAllAttrs>();
  const auto groups = attrs.replica_groups.Expand();
  if (!attrs.dimensions || groups.empty())
    return Unimplemented(
        "all-to-all: a tuple of parts, or all devices as one group, has no equal "
        "in StableHLO");
  const int64_t d = (*attrs.dimensions)[0];
  AttributeText text = Common(attrs);
  text.Int("concat_dimension", d);
  text.Int("split_count", static_cast<int64_t>(groups[0].size()));
  return text.Int("split_dimension", d);
}

absl::StatusOr<AttributeText> WrittenCollectivePermute(const Instruction& i) {
  const auto& permute = i.attr<CollectivePermuteAttrs>();
  if (i.operand_count() != 1 || !permute.slice_sizes.empty())
    return Unimplemented("collective-permute: one into slices has no equal in StableHLO");
  std::vector<std::vector<int64_t>> pairs;
  for (const auto& [source, target] : permute.source_target_pairs)
    pairs.push_back({source, target});
  return Common(permute).Table("source_target_pairs", pairs, 2);
}

absl::StatusOr<AttributeText> WrittenAllGather(const Instruction& i) {
  const auto& gather = i.attr<AllGatherAttrs>();
  return Common(gather).Int("all_gather_dim", gather.dimensions[0]);
}

absl::StatusOr<AttributeText> WrittenAllReduce(const Instruction& i) {
  return Common(i.attr<AllReduceAttrs>());
}

absl::StatusOr<AttributeText> WrittenReduceScatter(const Instruction& i) {
  const auto& scatter = i.attr<ReduceScatterAttrs>();
  if (i.operand_count() != 1)
    return Unimplemented("reduce-scatter of several operands has no equal in StableHLO");
  return Common(scatter).Int("scatter_dimension", scatter.dimensions[0]);
}

absl::StatusOr<AttributeText> WrittenCollectiveBroadcast(const Instruction& i) {
  return Common(i.attr<CollectiveBroadcastAttrs>());
}

absl::StatusOr<AttributeText> WrittenSend(const Instruction& i) {
  return Transfer(i, kDeviceToHost);
}

absl::StatusOr<AttributeText> WrittenRecv(const Instruction& i) {
  return Transfer(i, kHostToDevice);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
