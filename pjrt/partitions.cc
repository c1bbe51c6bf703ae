// Programs of several partitions on whole arrays.
//
// Example: jit of `x + 1` over x = f32[8] cut in two runs once, on f32[8] that is joined from both
// devices' halves; each device gets its half of the sum. Where partitions differ (a shard_map, a
// collective, partition-id), as many runs as partitions go on at once and exchange values; arrays
// that only such regions read or make stay in parts (region_parts.h).
// Limits: all memory is the host's, so nothing is gained by giving each device less to compute.
#include "pjrt/partitions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/op_facts.h"
#include "ops/collective/shards.h"
#include "pjrt/chosen_cuts.h"
#include "support/status.h"

namespace hlokit {
namespace {

const std::string* Attribute(const std::vector<std::pair<std::string, std::string>>& attributes,
                             absl::string_view name) {
  for (const auto& [key, value] : attributes)
    if (key == name) return &value;
  return nullptr;
}

// Whether Shardy puts the instruction on one device, by a mesh of no axes, as JAX does with
// callbacks outside of manual regions: `<@maximal_mesh_0, []>`.
bool IsOnOneDevice(const Instruction& i) {
  constexpr absl::string_view kOneDevice = "mesh<[], device_ids=[";
  const std::string* sharding = Attribute(i.extras().frontend_attributes, "xla.sdy.sharding");
  const std::string* meshes = Attribute(i.module()->header().frontend_attributes, "xla.sdy.meshes");
  if (sharding == nullptr) return false;
  const size_t at = sharding->find('@');
  if (at == std::string::npos || meshes == nullptr) return absl::StrContains(*sharding, kOneDevice);
  const size_t end = sharding->find(',', at);
  const std::string name = sharding->substr(at + 1, end - at - 1);
  return absl::StrContains(*meshes, absl::StrCat(name, " = #sdy.", kOneDevice));
}

// Whether an instruction may give another value, or do something else, on another partition.
bool KnowsItsPartition(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return Facts(i.opcode()).family == Family::kCommunication;
  const CustomCallAttrs& call = i.attr<CustomCallAttrs>();
  if (call.target == "xla.sdy.FuncResultSharding" || call.target == "xla.sdy.ShardingGroup")
    return false;
  return call.has_side_effect && !IsOnOneDevice(i);
}

bool PartitionsAreAlike(const Module& module) {
  if (HasManualRegions(module)) return false;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions())
      if (KnowsItsPartition(*i)) return false;
  return true;
}

// The array whose parts the devices from `first` on have of argument `number`.
absl::StatusOr<std::shared_ptr<GlobalData>> Join(const PjrtModule& module,
                                                 const std::vector<Values>& parts, size_t first,
                                                 size_t number) {
  const PjrtPartitions& cuts = module.partitions;
  std::vector<Literal> shards;
  for (int64_t p = 0; p < cuts.count; ++p) {
    ASSIGN_OR_RETURN(shards.emplace_back(),
                     module.client->Transfer(*parts[first + static_cast<size_t>(p)][number]));
  }
  std::vector<const Literal*> pointers;
  for (const Literal& shard : shards) pointers.push_back(&shard);
  Literal whole = JoinShards(cuts.parameters[number], cuts.parameter_cuts[number], pointers);
  ASSIGN_OR_RETURN(auto data, module.client->TransferToServer(std::move(whole)));
  return std::shared_ptr<GlobalData>(std::move(data));
}

}  // namespace

absl::StatusOr<PjrtPartitions> PartitionsOf(const Module& module,
                                            const PjrtCompileOptions& options) {
  PjrtPartitions cuts;
  const int64_t count = options.partitions;
  cuts.count = count;
  if (count == 1) return cuts;
  std::vector<Shape> parameters;
  for (const Instruction* parameter : module.entry()->parameters()) {
    if (!parameter->shape().IsArray())
      return Unimplemented("parameter ", parameter->name(), " of a program of ", count,
                           " partitions is no array");
    parameters.push_back(parameter->shape());
  }
  ASSIGN_OR_RETURN(cuts, StatedPartitions(module, count));
  cuts.count = count;
  cuts.parameters = std::move(parameters);
  const Shape& result = module.entry()->root()->shape();
  cuts.results = result.IsTuple() ? result.elements : std::vector<Shape>{result};
  if (cuts.result_cuts.size() != cuts.results.size())
    return Unimplemented("a result that is no array or tuple of arrays, of a program of ", count,
                         " partitions");
  ChooseCuts(module, options, cuts);
  cuts.alike = PartitionsAreAlike(module);
  return cuts;
}

absl::StatusOr<std::vector<Values>> WholeArguments(const PjrtModule& module,
                                                   const std::vector<Values>& parts) {
  const PjrtPartitions& cuts = module.partitions;
  std::vector<Values> wholes;
  const auto count = static_cast<size_t>(cuts.count);
  for (size_t first = 0; first < parts.size(); first += count) {
    const size_t runs = cuts.alike ? 1 : count;
    const size_t begin = wholes.size();
    for (size_t run = 0; run < runs; ++run) wholes.push_back(parts[first + run]);
    for (size_t i = 0; i < cuts.parameter_cuts.size(); ++i) {
      if (cuts.parameter_cuts[i].IsTrivial() || cuts.TakesPart(i)) continue;
      ASSIGN_OR_RETURN(const auto whole, Join(module, parts, first, i));
      for (size_t run = 0; run < runs; ++run) wholes[begin + run][i] = whole;
    }
  }
  return wholes;
}

absl::StatusOr<std::vector<Values>> PartsOfResults(const PjrtModule& module,
                                                   const std::vector<Values>& wholes) {
  const PjrtPartitions& cuts = module.partitions;
  const auto count = static_cast<size_t>(cuts.count);
  const size_t runs = cuts.alike ? 1 : count;
  std::vector<Values> parts;
  for (size_t first = 0; first < wholes.size(); first += runs) {
    for (size_t p = 0; p < count; ++p) {
      parts.push_back(wholes[first + (cuts.alike ? 0 : p)]);
      for (size_t i = 0; i < cuts.result_cuts.size(); ++i) {
        if (cuts.result_cuts[i].IsTrivial() || cuts.GivesPart(i)) continue;
        ASSIGN_OR_RETURN(const Literal whole, module.client->Transfer(*parts.back()[i]));
        ASSIGN_OR_RETURN(auto part, module.client->TransferToServer(ShardOf(
                                        whole, cuts.result_cuts[i], static_cast<int64_t>(p))));
        parts.back()[i] = std::move(part);
      }
    }
  }
  return parts;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
