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
// computation. Empty where nothing differs.
std::string TextReport(const Comparison& comparison);

// An object: equal, same, removed, added, changed (a list each) and header.
std::string JsonReport(const Comparison& comparison);

// A page that stands alone: the counts, and both modules side by side, partners in one row.
std::string HtmlReport(const Comparison& comparison);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
