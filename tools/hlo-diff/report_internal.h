// What the parts of hlo-diff's reports share.
#pragma once

#include <string>

#include "tools/hlo-diff/folding.h"
#include "tools/hlo-diff/report.h"

namespace hlokit {

// Counts in all, then by opcode, source line and scope: a line each.
std::string DiffSummary(const Comparison& comparison);

// A text with what HTML takes for its own escaped.
std::string EscapedHtml(absl::string_view text);

// Both modules drawn side by side, as HTML. Boxes have the ids of DiffNodeId, those of a pair name
// each other in `data-partner`.
std::string DiffGraphs(const Comparison& comparison, const Folding& folding);
std::string DiffNodeId(const Instruction& instruction, bool is_after);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
