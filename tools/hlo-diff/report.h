// What hlo-diff tells of two modules.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "analysis/module_match.h"

namespace hlokit {

// Two modules, how they match, and what differs.
struct Comparison {
  std::string before_name, after_name;  // of the files
  const Module& before;
  const Module& after;
  const ModuleMatch& match;
  const ModuleDifference& difference;
  uint32_t ignored;  // aspects that do not count
};

// First a summary: counts, in all and by opcode, source line and scope. Then removed instructions
// after `-`, added ones after `+`, changed ones as both with a line that says in what; by
// computation, those of one form (as of the copies of a repeated block) three times at most. Empty
// where nothing differs.
std::string TextReport(const Comparison& comparison);

// An object: equal, same, removed, added, changed (a list each) and header.
std::string JsonReport(const Comparison& comparison);

// A page that stands alone: the summary, both modules as graphs side by side, coloured, a click on
// a box leading to its partner, then as text, partners in one row.
std::string HtmlReport(const Comparison& comparison);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
