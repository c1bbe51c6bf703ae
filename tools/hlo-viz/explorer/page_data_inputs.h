// What the explorer shows of a module beside the module itself.
#pragma once

#include "analysis/module_match.h"
#include "tools/hlo-viz/explorer/kernel_code.h"
#include "tools/hlo-viz/graph/overlay.h"

namespace hlokit {

struct PageDataInputs {
  const TimeByName* times = nullptr;  // a profile
  // The module before this one, matched with it: what was added, changed and removed.
  const Module* before = nullptr;
  const ModuleMatch* match = nullptr;
  std::vector<KernelCode> code;  // of instructions of the module
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
