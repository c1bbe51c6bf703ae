// Text and JSON.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "analysis/source_line.h"
#include "nlohmann/json.hpp"
#include "printer/printer.h"
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

// The two outermost parts of op_name: `jit(f)/while`.
std::string ScopeOf(const Instruction& i) {
  const absl::string_view name = absl::string_view(i.metadata().op_name);
  const size_t first = name.find('/');
  const size_t second = first == name.npos ? name.npos : name.find('/', first + 1);
  return std::string(name.substr(0, second));
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

// An instruction's text without names and metadata, by which the copies of a repeated block are
// alike.
std::string FormOf(const Instruction& i) {
  PrintOptions options;
  options.metadata = false;
  const std::string text = Print(i, options);
  std::string form;
  for (size_t k = 0; k < text.size(); ++k) {
    form += text[k];
    if (text[k] != '%') continue;
    while (k + 1 < text.size() && text.find_first_of(" ,)", k + 1) != k + 1) ++k;
  }
  return form;
}

// The instructions of a list that are printed, the first kShown of each form, and a line for the
// others: 32 layers that changed alike are told once.
template <typename Fn>
void EachFolded(const std::vector<const Instruction*>& list, std::string& text, Fn print) {
  constexpr int64_t kShown = 3;
  std::map<std::string, int64_t> counts;
  std::vector<const Instruction*> last;  // of each form that has more
  for (const Instruction* i : list) {
    const int64_t count = ++counts[FormOf(*i)];
    if (count <= kShown) print(*i);
    if (count == kShown + 1) last.push_back(i);
  }
  for (const Instruction* i : last)
    absl::StrAppend(&text, "  and ", counts[FormOf(*i)] - kShown, " more like %", i->name(), "\n");
}

}  // namespace

// What a reader wants to know first.
std::string DiffSummary(const Comparison& c) {
  return absl::StrCat(
      CountsLine(c),
      GroupLine(c, "by opcode", [](const Instruction& i) { return std::string(Text(i.opcode())); }),
      GroupLine(c, "by source line", SourceLine), GroupLine(c, "by scope", ScopeOf));
}

std::string TextReport(const Comparison& c) {
  if (c.difference.empty()) return "";
  const PrintOptions options = LineOptions(c);
  std::string text =
      absl::StrCat("--- ", c.before_name, "\n+++ ", c.after_name, "\n", DiffSummary(c));
  for (const std::string& line : c.difference.header) absl::StrAppend(&text, "! ", line, "\n");
  for (const auto& [name, lines] : ByComputation(c)) {
    absl::StrAppend(&text, "@@ ", name, " @@\n");
    EachFolded(lines.removed, text, [&, &text = text](const Instruction& i) {
      absl::StrAppend(&text, "- ", Print(i, options), "\n");
    });
    EachFolded(lines.changed, text, [&, &text = text](const Instruction& i) {
      absl::StrAppend(&text, "~ ", AspectsText(c.match.Aspects(&i) & ~c.ignored), "\n  - ",
                      Print(i, options), "\n  + ", Print(*c.match.AfterOf(&i), options), "\n");
    });
    EachFolded(lines.added, text, [&, &text = text](const Instruction& i) {
      absl::StrAppend(&text, "+ ", Print(i, options), "\n");
    });
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
  json removed = json::array(), added = json::array(), changed = json::array();
  for (const Instruction* i : c.difference.removed) removed.push_back(entry(i));
  for (const Instruction* i : c.difference.added) added.push_back(entry(i));
  for (const Instruction* i : c.difference.changed)
    changed.push_back({{"before", entry(i)},
                       {"after", entry(c.match.AfterOf(i))},
                       {"differs", AspectsText(c.match.Aspects(i) & ~c.ignored)}});
  const json whole = {{"equal", c.difference.empty()},
                      {"same", c.difference.same},
                      {"header", c.difference.header},
                      {"removed", removed},
                      {"added", added},
                      {"changed", changed}};
  return whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
