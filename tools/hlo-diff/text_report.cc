// Text and JSON.
#include <map>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "printer/printer.h"
#include "tools/hlo-diff/report.h"

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

}  // namespace

std::string TextReport(const Comparison& c) {
  if (c.difference.empty()) return "";
  const PrintOptions options = LineOptions(c);
  std::string text = absl::StrCat("--- ", c.before_name, "\n+++ ", c.after_name, "\n");
  for (const std::string& line : c.difference.header) absl::StrAppend(&text, "! ", line, "\n");
  for (const auto& [name, lines] : ByComputation(c)) {
    absl::StrAppend(&text, "@@ ", name, " @@\n");
    for (const Instruction* i : lines.removed)
      absl::StrAppend(&text, "- ", Print(*i, options), "\n");
    for (const Instruction* i : lines.changed) {
      const Instruction* after = c.match.AfterOf(i);
      absl::StrAppend(&text, "~ ", AspectsText(c.match.Aspects(i) & ~c.ignored), "\n  - ",
                      Print(*i, options), "\n  + ", Print(*after, options), "\n");
    }
    for (const Instruction* i : lines.added) absl::StrAppend(&text, "+ ", Print(*i, options), "\n");
  }
  return text + CountsLine(c);
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
