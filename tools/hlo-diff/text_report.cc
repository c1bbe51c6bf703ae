// Text and JSON.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "analysis/source_line.h"
#include "nlohmann/json.hpp"
#include "printer/printer.h"
#include "tools/hlo-diff/folding.h"
#include "tools/hlo-diff/report_internal.h"

namespace hlokit {
namespace {

struct Lines {
  std::vector<const Instruction*> removed, changed, added;
};

// Computations in the order of the first module, those that only the second has after them.
std::vector<std::pair<std::string, Lines>> ByComputation(const Comparison& c) {
  std::vector<std::pair<std::string, Lines>> groups;
  std::map<const Computation*, size_t> position;  // of either module; partners share a place
  const auto place = [&](const Computation* before, const Computation* after) -> Lines& {
    const Computation* key = before != nullptr ? before : after;
    const auto [at, fresh] = position.emplace(key, groups.size());
    if (fresh) groups.emplace_back(key->name(), Lines());
    return groups[at->second].second;
  };
  for (const Instruction* i : c.difference.removed)
    place(i->parent(), nullptr).removed.push_back(i);
  for (const Instruction* i : c.difference.changed)
    place(i->parent(), nullptr).changed.push_back(i);
  for (const Instruction* i : c.difference.added)
    place(c.match.BeforeOf(i->parent()), i->parent()).added.push_back(i);
  return groups;
}

PrintOptions LineOptions(const Comparison& c) {
  PrintOptions options;
  options.metadata = (c.ignored & kMetadataAspect) == 0;
  return options;
}

std::string CountsLine(const Comparison& c) {
  const ModuleDifference& d = c.difference;
  return absl::StrCat(d.same, " the same, ", d.changed.size(), " changed, ", d.removed.size(),
                      " removed, ", d.added.size(), " added\n");
}

// ` opcode: 3 multiply, 1 add`: the most frequent first, at most six; nothing where all are empty.
template <typename Key>
std::string GroupLine(const Comparison& c, absl::string_view title, const Key& key) {
  std::map<std::string, int64_t> counts;
  for (const auto* list : {&c.difference.removed, &c.difference.changed, &c.difference.added})
    for (const Instruction* i : *list)
      if (std::string group = key(*i); !group.empty()) ++counts[group];
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [group, count] : counts) order.emplace_back(-count, group);
  std::sort(order.begin(), order.end());
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t k = 0; k < std::min(order.size(), kShown); ++k)
    absl::StrAppend(&text, k > 0 ? ", " : "", -order[k].first, " ", order[k].second);
  if (order.size() > kShown) absl::StrAppend(&text, ", ", order.size() - kShown, " more");
  return text.empty() ? "" : absl::StrCat("  ", title, ": ", text, "\n");
}

// The instructions of a list that are printed, and a line for the others of each form.
template <typename Fn>
void EachFolded(const Folding& folding, const std::vector<const Instruction*>& list,
                std::string& text, Fn print) {
  std::string more;
  for (const Instruction* i : list) {
    if (!folding.IsFolded(i)) print(*i);
    if (const Folding::Form* form = folding.MoreAfter(i))
      absl::StrAppend(&more, "  ", Folding::MoreText(*form), "\n");
  }
  text += more;
}

}  // namespace

// What a reader wants to know first.
std::string DiffSummary(const Comparison& c) {
  return absl::StrCat(
      CountsLine(c),
      GroupLine(c, "by opcode", [](const Instruction& i) { return std::string(Text(i.opcode())); }),
      GroupLine(c, "by source line", SourceLine), GroupLine(c, "by scope", OuterScope));
}

std::string TextReport(const Comparison& c) {
  if (c.difference.empty()) return "";
  const PrintOptions options = LineOptions(c);
  const Folding folding(c);
  std::string text =
      absl::StrCat("--- ", c.before_name, "\n+++ ", c.after_name, "\n", DiffSummary(c));
  for (const std::string& line : c.difference.header) absl::StrAppend(&text, "! ", line, "\n");
  for (const auto& [name, lines] : ByComputation(c)) {
    std::string told;
    EachFolded(folding, lines.removed, told, [&, &text = told](const Instruction& i) {
      absl::StrAppend(&text, "- ", Print(i, options), "\n");
    });
    EachFolded(folding, lines.changed, told, [&, &text = told](const Instruction& i) {
      absl::StrAppend(&text, "~ ", AspectsText(c.match.Aspects(&i) & ~c.ignored), "\n  - ",
                      Print(i, options), "\n  + ", Print(*c.match.AfterOf(&i), options), "\n");
    });
    EachFolded(folding, lines.added, told, [&, &text = told](const Instruction& i) {
      absl::StrAppend(&text, "+ ", Print(i, options), "\n");
    });
    if (!told.empty()) absl::StrAppend(&text, "@@ ", name, " @@\n", told);
  }
  return text;
}

std::string JsonReport(const Comparison& c) {
  using nlohmann::json;
  const PrintOptions options = LineOptions(c);
  const auto entry = [&](const Instruction* i) {
    return json{
        {"name", i->name()}, {"computation", i->parent()->name()}, {"text", Print(*i, options)}};
  };
  const Folding folding(c);
  // Of a form with many, the first ones; the last of these names the others.
  const auto list = [&](const std::vector<const Instruction*>& all, const auto& make) {
    json shown = json::array();
    for (const Instruction* i : all) {
      if (folding.IsFolded(i)) continue;
      shown.push_back(make(i));
      const Folding::Form* form = folding.MoreAfter(i);
      if (form == nullptr) continue;
      for (size_t k = Folding::kShown; k < form->size(); ++k)
        shown.back()["more_like_it"].push_back((*form)[k]->name());
    }
    return shown;
  };
  const json removed = list(c.difference.removed, entry), added = list(c.difference.added, entry);
  const json changed = list(c.difference.changed, [&](const Instruction* i) {
    return json{{"before", entry(i)},
                {"after", entry(c.match.AfterOf(i))},
                {"differs", AspectsText(c.match.Aspects(i) & ~c.ignored)}};
  });
  const json whole = {{"equal", c.difference.empty()},
                      {"same", c.difference.same},
                      {"counts",
                       {{"removed", c.difference.removed.size()},
                        {"added", c.difference.added.size()},
                        {"changed", c.difference.changed.size()}}},
                      {"header", c.difference.header},
                      {"removed", removed},
                      {"added", added},
                      {"changed", changed}};
  return whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
