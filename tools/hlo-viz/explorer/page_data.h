// What the explorer knows of one module, as JSON that page/model.js reads.
#pragma once

#include <string>

#include "analysis/module_match.h"
#include "tools/hlo-viz/graph/overlay.h"
#include "tools/hlo-viz/graph/scope_tree.h"

namespace hlokit {

struct PageDataInputs {
  const TimeByName* times = nullptr;  // a profile
  // The module before this one, matched with it: what was added, changed and removed.
  const Module* before = nullptr;
  const ModuleMatch* match = nullptr;
};

// Instructions are numbered in the order of the text; columns hold a value for each, or pairs of
// number and value where few have one.
std::string PageData(const ModuleIndex& index, const ScopeTree& tree, const PageDataInputs& inputs);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
