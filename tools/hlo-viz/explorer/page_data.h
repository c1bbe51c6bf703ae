// What the explorer knows of one module, as JSON that page/model.js reads.
#pragma once

#include <string>

#include "tools/hlo-viz/explorer/page_data_inputs.h"
#include "tools/hlo-viz/graph/scope_tree.h"

namespace hlokit {

// Instructions are numbered in the order of the text; columns hold a value for each, or pairs of
// number and value where few have one.
std::string PageData(const ModuleIndex& index, const ScopeTree& tree, const PageDataInputs& inputs);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
