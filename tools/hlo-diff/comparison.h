// Two modules side by side, as hlo-diff's reports take them.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
