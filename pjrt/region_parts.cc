// The markers of regions that run on each device's part, taken away where both sides are cut alike.
//
// Example: shard_map of `x + 1` over x = f32[8] on eight devices.
//   before  parameter f32[8], GlobalToLocalShape f32[1], add, LocalToGlobalShape f32[8]
//   after   parameter f32[1], add
// A run of the first joins the eight parts of x for each device, and waits for all devices to give
// each of them the whole result, of which it gets one part. The second touches a part alone.
// A parameter loses its marker only if all its users are such markers, and a marker only if all its
// operands do; so both are struck from a list until nothing changes. Cost: a look at the entry.
#include "pjrt/region_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ops/collective/manual_region.h"
#include "ops/collective/shards.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool SameCut(const Tiling& a, const Tiling& b) {
  return a.tiles == b.tiles && a.tile_of == b.tile_of;
}

bool CutsEvenly(const Shape& whole, const Tiling& cut) {
  for (int d = 0; d < whole.rank(); ++d)
    if (whole.dims[d] % cut.tiles[d] != 0) return false;
  return true;
}

std::vector<const Shape*> ArraysIn(const Shape& shape) {
  std::vector<const Shape*> arrays;
  if (!shape.IsTuple()) arrays.push_back(&shape);
  for (const Shape& element : shape.elements) arrays.push_back(&element);
  return arrays;
}

bool IsShardyMarker(const Instruction& i, absl::string_view target) {
  return i.opcode() == Opcode::kCustomCall && i.attr<CustomCallAttrs>().target == target;
}

class KeepingParts {
 public:
  KeepingParts(Module& module, PjrtPartitions& cuts)
      : module_(module), entry_(*module.entry()), cuts_(cuts) {}

  absl::Status Run() {
    cuts_.parameter_is_part.assign(cuts_.parameter_cuts.size(), false);
    cuts_.result_is_part.assign(cuts_.result_cuts.size(), false);
    RETURN_IF_ERROR(KeepResults());
    RETURN_IF_ERROR(FindEntrances());
    StrikeOut();
    KeepParameters();
    DropAliases();
    return absl::OkStatus();
  }

 private:
  // ---- results ----

  // The value of result `k`, and the marker's operand that stands for it where the value leaves a
  // region in the result's own cut; null: it does not.
  absl::StatusOr<Instruction*> PartOf(Instruction* value, const Tiling& cut) const {
    while (IsShardyMarker(*value, "xla.sdy.FuncResultSharding") && value->operand_count() == 1)
      value = value->operand(0);
    Instruction* marker = value;
    int64_t index = 0;
    if (value->opcode() == Opcode::kGetTupleElement) {
      marker = value->operand(0);
      index = value->tuple_index();
    }
    if (!IsShardyMarker(*marker, "xla.sdy.LocalToGlobalShape") || !value->shape().IsArray() ||
        !CutsEvenly(value->shape(), cut))
      return nullptr;
    ASSIGN_OR_RETURN(
        const std::vector<Tiling> stated,
        StatedTilings(*marker, "xla.sdy.out_shardings", ArraysIn(marker->shape()), cuts_.count));
    if (!SameCut(stated[static_cast<size_t>(index)], cut)) return nullptr;
    Instruction* part = marker->operand(index);
    return SameDims(part->shape(), ShardShape(value->shape(), cut)) ? part : nullptr;
  }

  absl::Status KeepResults() {
    Instruction* const root = entry_.root();
    const bool is_tuple = root->shape().IsTuple();
    if (is_tuple && root->opcode() != Opcode::kTuple) return absl::OkStatus();
    std::vector<Instruction*> values(1, root);
    if (is_tuple) values.assign(root->operands().begin(), root->operands().end());
    for (size_t k = 0; k < values.size(); ++k) {
      ASSIGN_OR_RETURN(Instruction* const part, PartOf(values[k], cuts_.result_cuts[k]));
      if (part == nullptr) continue;
      values[k] = part;
      cuts_.result_is_part[k] = true;
    }
    const auto& kept = cuts_.result_is_part;
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) return absl::OkStatus();
    Instruction* made = values[0];
    if (is_tuple) {
      std::vector<Shape> shapes;
      for (const Instruction* value : values) shapes.push_back(value->shape());
      made = entry_.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), values);
    }
    entry_.set_root(made);
    RemoveUnused(root);
    if (auto& layout = module_.header().entry_layout; layout.has_value())
      layout->result = made->shape();
    return absl::OkStatus();
  }

  // The instruction and those that it alone used, as far as they are markers and their elements.
  void RemoveUnused(Instruction* i) {
    std::vector<Instruction*> pending = {i};
    while (!pending.empty()) {
      Instruction* const unused = pending.back();
      pending.pop_back();
      const bool may_go = unused->opcode() == Opcode::kTuple ||
                          unused->opcode() == Opcode::kGetTupleElement ||
                          IsShardyMarker(*unused, "xla.sdy.FuncResultSharding") ||
                          IsShardyMarker(*unused, "xla.sdy.LocalToGlobalShape");
      if (!may_go || !unused->users().empty() || unused == entry_.root()) continue;
      const std::set<Instruction*> operands(unused->operands().begin(), unused->operands().end());
      entry_.Remove(unused);
      pending.insert(pending.end(), operands.begin(), operands.end());
    }
  }

  // ---- parameters ----

  // The markers of the entry whose parts are those of its cuts, as far as the shapes tell.
  absl::Status FindEntrances() {
    for (Instruction* i : entry_.PostOrder()) {
      if (!IsShardyMarker(*i, "xla.sdy.GlobalToLocalShape")) continue;
      std::vector<const Shape*> wholes;
      for (const Instruction* operand : i->operands()) wholes.push_back(&operand->shape());
      const std::vector<const Shape*> parts = ArraysIn(i->shape());
      ASSIGN_OR_RETURN(std::vector<Tiling> stated,
                       StatedTilings(*i, "xla.sdy.in_shardings", wholes, cuts_.count));
      bool fits = parts.size() == wholes.size();
      for (size_t k = 0; fits && k < wholes.size(); ++k)
        fits = wholes[k]->IsArray() && CutsEvenly(*wholes[k], stated[k]) &&
               SameDims(*parts[k], ShardShape(*wholes[k], stated[k]));
      if (fits) entrances_.emplace(i->id(), Entrance{i, std::move(stated)});
    }
    return absl::OkStatus();
  }

  // A marker that may go, with what it states of its operands.
  struct Entrance {
    Instruction* marker;
    std::vector<Tiling> stated;
  };

  // Whether operand `k` of a marker is, or can become, the part itself.
  bool MayPass(const Entrance& entrance, int64_t k) const {
    const Tiling& stated = entrance.stated[static_cast<size_t>(k)];
    if (stated.IsTrivial()) return true;
    const Instruction& operand = *entrance.marker->operand(k);
    return operand.opcode() == Opcode::kParameter && apart_[operand.parameter_number()] &&
           SameCut(stated, cuts_.parameter_cuts[static_cast<size_t>(operand.parameter_number())]);
  }

  bool MayGo(const Entrance& entrance) const {
    for (int64_t k = 0; k < entrance.marker->operand_count(); ++k)
      if (!MayPass(entrance, k)) return false;
    return true;
  }

  // Whether all that reads the parameter are markers that go and take its part.
  bool IsReadByPartsAlone(const Instruction& parameter) const {
    if (&parameter == entry_.root()) return false;
    for (const Instruction* user : parameter.users()) {
      const auto found = entrances_.find(user->id());
      if (found == entrances_.end()) return false;
      for (int64_t k = 0; k < user->operand_count(); ++k)
        if (user->operand(k) == &parameter &&
            found->second.stated[static_cast<size_t>(k)].IsTrivial())
          return false;
    }
    return true;
  }

  void StrikeOut() {
    const auto count = static_cast<int64_t>(cuts_.parameter_cuts.size());
    apart_.assign(cuts_.parameter_cuts.size(), true);
    for (int64_t p = 0; p < count; ++p) apart_[p] = !cuts_.parameter_cuts[p].IsTrivial();
    bool changed = true;
    while (changed) {
      const size_t before = entrances_.size();
      std::erase_if(entrances_, [this](const auto& entry) { return !MayGo(entry.second); });
      changed = entrances_.size() != before;
      for (int64_t p = 0; p < count; ++p) {
        if (!apart_[p] || IsReadByPartsAlone(*entry_.parameter(p))) continue;
        apart_[p] = false;
        changed = true;
      }
    }
  }

  void KeepParameters() {
    for (const auto& [id, entrance] : entrances_) {
      Instruction* const marker = entrance.marker;
      std::vector<Instruction*> parts(marker->operands().begin(), marker->operands().end());
      Instruction* made = parts[0];
      if (marker->shape().IsTuple()) made = entry_.Add(Opcode::kTuple, marker->shape(), parts);
      marker->ReplaceAllUsesWith(made);
      entry_.Remove(marker);
    }
    for (size_t p = 0; p < apart_.size(); ++p) {
      if (!apart_[p]) continue;
      Instruction& parameter = *entry_.parameter(static_cast<int64_t>(p));
      const Shape part = ShardShape(parameter.shape(), cuts_.parameter_cuts[p]);
      parameter.set_shape(part);
      InstructionExtras& extras = parameter.mutable_extras();
      extras.sharding = nullptr;
      std::erase_if(extras.frontend_attributes,
                    [](const auto& attribute) { return attribute.first == "xla.sdy.sharding"; });
      if (auto& layout = module_.header().entry_layout; layout.has_value())
        layout->parameters[p] = part;
      cuts_.parameter_is_part[p] = true;
    }
  }

  // A result that is a part no longer lies in the memory of an argument that is whole, or the other
  // way round; the argument is still given away.
  void DropAliases() {
    ModuleHeader& header = module_.header();
    const auto differ = [this](const InputOutputAlias& alias) {
      const size_t result = alias.output.empty() ? 0 : static_cast<size_t>(alias.output[0]);
      return cuts_.parameter_is_part[static_cast<size_t>(alias.parameter)] !=
             cuts_.result_is_part[result];
    };
    for (const InputOutputAlias& alias : header.aliases)
      if (differ(alias)) header.donors.push_back({alias.parameter, alias.parameter_index});
    std::erase_if(header.aliases, differ);
  }

  Module& module_;
  Computation& entry_;
  PjrtPartitions& cuts_;
  std::map<int64_t, Entrance> entrances_;  // by the marker's id
  std::vector<bool> apart_;                // by parameter
};

}  // namespace

absl::Status KeepParts(Module& module, PjrtPartitions& cuts) {
  if (cuts.count == 1 || cuts.alike) return absl::OkStatus();
  return KeepingParts(module, cuts).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
