// Categories and heat scales over a module's instructions.
//
// An overlay gives each instruction a colour and a text, by id:
//   categories   each distinct text (a sharding, a source file, ...) has the next colour of a list;
//                the first kLegendRows stand in the legend
//   heat         a number on a scale from 0 to the largest; shares are of what runs on its own, so
//                that the body of a fusion does not count twice
// Drawing knows overlays only as marks, so a new one is a function from instruction to text or
// number.
#include "tools/hlo-viz/graph/overlay.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/instruction_cost.h"
#include "analysis/module_match.h"
#include "passes/framework/pass.h"
#include "printer/printer.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/hlo-viz/graph/describe.h"

namespace hlokit {
namespace {

using Instructions = std::vector<const Instruction*>;

constexpr size_t kLegendRows = 12;

Instructions All(const ModuleIndex& index) {
  Instructions all;
  for (const Computation* computation : index.computations())
    for (const Instruction* i : index.Instructions(*computation)) all.push_back(i);
  return all;
}

Overlay EmptyOverlay(const ModuleIndex& index, Overlay::Kind kind) {
  Overlay overlay;
  overlay.kind = kind;
  overlay.marks.resize(index.module().id_bound());
  return overlay;
}

// A colour for each distinct text; what has none keeps its look.
Overlay ByCategory(const ModuleIndex& index,
                   const std::function<std::string(const Instruction&)>& text_of) {
  Overlay overlay = EmptyOverlay(index, Overlay::Kind::kCategories);
  absl::flat_hash_map<std::string, int64_t> number;
  for (const Instruction* i : All(index)) {
    const std::string text = text_of(*i);
    if (text.empty()) continue;
    const int64_t k = number.try_emplace(text, number.size()).first->second;
    overlay.marks[i->id()] = {Category(k), Shown(text, 80), true};
    if (static_cast<size_t>(k) < overlay.legend_titles.size() ||
        overlay.legend_titles.size() >= kLegendRows)
      continue;
    overlay.legend_titles.push_back(Shown(text, 60));
    overlay.legend_colours.push_back(Category(k));
  }
  return overlay;
}

std::string WithShare(const std::string& text, double value, double total) {
  return absl::StrCat(text, absl::StrFormat(" (%.1f%%)", 100 * value / total));
}

// A heat scale from 0 to the largest value. NaN: no value. Shares are of what runs on its own:
// bodies of fusions and reducers count with their callers.
Overlay ByHeat(const ModuleIndex& index, const std::function<double(const Instruction&)>& value_of,
               const std::function<std::string(double)>& text_of) {
  Overlay overlay = EmptyOverlay(index, Overlay::Kind::kHeat);
  overlay.weight_text = text_of;
  overlay.weights.resize(overlay.marks.size(), 0);
  const Instructions all = All(index);
  const std::vector<bool> runs = RunningComputations(index.module());
  double most = 0;
  for (const Instruction* i : all) {
    const double value = value_of(*i);
    if (!(value > 0)) continue;
    overlay.weights[i->id()] = value;
    most = std::max(most, value);
    if (runs[i->parent()->id()]) overlay.total += value;
  }
  for (const Instruction* i : all) {
    const double value = value_of(*i);
    if (!(value >= 0)) continue;
    overlay.marks[i->id()] = {Heat(most > 0 ? value / most : 0), "", true};
    if (value > 0)
      overlay.marks[i->id()].line =
          overlay.total > 0 ? WithShare(text_of(value), value, overlay.total) : text_of(value);
  }
  for (double share : kHeatLegendShares) {
    overlay.legend_titles.push_back(text_of(share * most));
    overlay.legend_colours.push_back(Heat(share));
  }
  return overlay;
}

std::string ShardingText(const Instruction& i) {
  return i.sharding() == nullptr ? "" : Text(*i.sharding());
}

std::string ScopeText(const Instruction& i) { return std::string(ScopeOf(i.metadata().op_name)); }

std::string MemorySpaceText(const Instruction& i) {
  if (!i.shape().IsArray()) return "";
  return absl::StrCat("memory space ", i.shape().layout.memory_space());
}

std::string SecondsText(double seconds) {
  if (seconds >= 1) return absl::StrFormat("%.2f s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.2f ms", seconds * 1e3);
  return absl::StrFormat("%.1f us", seconds * 1e6);
}

Overlay ByTime(const ModuleIndex& index, const TimeByName& times) {
  return ByHeat(
      index,
      [&times](const Instruction& i) {
        const auto it = times.find(i.name());
        return it == times.end() ? 0.0 : it->second;
      },
      SecondsText);
}

const Colours kAdded = {"#a5d6a7", "#2e7d32", "#000000"};
const Colours kChanged = {"#ffe082", "#f57f17", "#000000"};
const Colours kSame = {"#fafafa", "#bdbdbd", "#616161"};

Overlay ByDifference(const ModuleIndex& index, const Module& before) {
  const ModuleMatch match(before, index.module());
  Overlay overlay = EmptyOverlay(index, Overlay::Kind::kDifference);
  for (const Instruction* i : All(index)) {
    const Instruction* partner = match.BeforeOf(i);
    if (partner == nullptr) {
      overlay.marks[i->id()] = {kAdded, "added", true};
    } else if (const uint32_t aspects = match.Aspects(partner) & ~kMetadataAspect; aspects != 0) {
      overlay.marks[i->id()] = {kChanged, "changed: " + AspectsText(aspects), true};
    } else {
      overlay.marks[i->id()] = {kSame, "", true};
    }
  }
  const size_t removed = Difference(before, index.module(), match).removed.size();
  overlay.legend_titles = {"added", "changed", absl::StrCat("same; ", removed, " removed")};
  overlay.legend_colours = {kAdded, kChanged, kSame};
  return overlay;
}

Overlay::Mark SumOf(const Overlay& overlay, const Instructions& instructions) {
  double sum = 0;
  for (const Instruction* i : instructions) sum += overlay.weights[i->id()];
  if (overlay.total <= 0) return {Heat(0), "", true};
  return {Heat(sum / overlay.total), WithShare(overlay.weight_text(sum), sum, overlay.total), true};
}

Overlay::Mark ChangesOf(const Overlay& overlay, const Instructions& instructions) {
  int added = 0, changed = 0;
  for (const Instruction* i : instructions) {
    const Overlay::Mark& mark = overlay.marks[i->id()];
    added += mark.colours == kAdded;
    changed += mark.colours == kChanged;
  }
  if (added + changed == 0) return {kSame, "", true};
  return {changed == 0 && added == static_cast<int>(instructions.size()) ? kAdded : kChanged,
          absl::StrCat(added, " added, ", changed, " changed"), true};
}

// What most of them are.
Overlay::Mark MostFrequent(const Overlay& overlay, const Instructions& instructions) {
  absl::flat_hash_map<absl::string_view, int> counts;
  const Overlay::Mark* best = nullptr;
  int known = 0;
  for (const Instruction* i : instructions) {
    const Overlay::Mark& mark = overlay.marks[i->id()];
    if (!mark.present) continue;
    ++known;
    const int count = ++counts[mark.line];
    if (best == nullptr || count > counts[best->line]) best = &mark;
  }
  if (best == nullptr) return {};
  const int count = counts[best->line];
  return {best->colours,
          count == known ? best->line : absl::StrCat(best->line, " (", count, " of ", known, ")"),
          true};
}

}  // namespace

absl::string_view ScopeOf(absl::string_view op_name) {
  int depth = 0;
  for (size_t k = op_name.size(); k-- > 0;) {
    const char c = op_name[k];
    depth += (c == ')' || c == ']' || c == '}') - (c == '(' || c == '[' || c == '{');
    if (c == '/' && depth <= 0) return op_name.substr(0, k);
  }
  return "";
}

Overlay::Mark Overlay::OfScope(const Instructions& instructions) const {
  if (marks.empty()) return {};
  if (kind == Kind::kHeat) return SumOf(*this, instructions);
  return kind == Kind::kDifference ? ChangesOf(*this, instructions)
                                   : MostFrequent(*this, instructions);
}

absl::StatusOr<Overlay> MakeOverlay(const ModuleIndex& index, absl::string_view by,
                                    const OverlayInputs& inputs) {
  constexpr absl::string_view kKinds[] = {"opcode", "sharding", "op_name",      "time",
                                          "bytes",  "flops",    "memory-space", "diff"};
  if (by.empty() || by == "opcode") return Overlay{};
  if (by == "sharding") return ByCategory(index, ShardingText);
  if (by == "op_name" || by == "op-name") return ByCategory(index, ScopeText);
  if (by == "memory-space" || by == "memory_space") return ByCategory(index, MemorySpaceText);
  if (by == "bytes")
    return ByHeat(
        index, [](const Instruction& i) { return CostOf(i).bytes; }, BytesText);
  if (by == "flops")
    return ByHeat(
        index, [](const Instruction& i) { return CostOf(i).flops; },
        [](double flops) { return CountText(flops) + " flop"; });
  if (by == "time") {
    if (inputs.times == nullptr)
      return InvalidArgument(
          "--color-by=time needs --profile=FILE, which hlo-run --profile=FILE writes");
    return ByTime(index, *inputs.times);
  }
  if (by == "diff") {
    if (inputs.other == nullptr)
      return InvalidArgument("--color-by=diff needs --diff-with=FILE, the module before");
    return ByDifference(index, *inputs.other);
  }
  return InvalidArgument("--color-by knows no '", by, "'", DidYouMean(by, kKinds), "; it takes ",
                         absl::StrJoin(kKinds, ", "));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
