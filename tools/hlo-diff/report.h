// What hlo-diff tells of two modules.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "tools/hlo-diff/comparison.h"

namespace hlokit {

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
