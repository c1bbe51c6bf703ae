// A module's text with an instruction a line, and where the lines are.
#pragma once

#include <string>
#include <vector>

#include "tools/hlo-viz/graph/module_index.h"

namespace hlokit {

struct ModuleText {
  std::string text;
  std::vector<int> first_line;  // of each computation in the index's order, 0-based: its heading
};

// As XLA prints it; instructions are in the index's order and take one line each.
ModuleText TextOf(const ModuleIndex& index);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
