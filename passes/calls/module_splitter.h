// hlo-module-splitter and hlo-module-stitcher: parts of a module that could be modules.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// hlo-module-splitter. What each call marked with a compilation unit (the frontend attribute
// compilation_unit, or inlineable="xla_late") calls becomes a part of the module by itself: with
// its own copies of all computations that it needs and something else needs too, and marked with
// its name (frontend attribute hlokit_module of the call). hlo-opt
// --split-to writes marked parts as modules. Errors: ResourceExhausted where more than a million
// instructions would have to be copied.
std::unique_ptr<Pass> CreateHloModuleSplitter();

// hlo-module-stitcher. The marks go, and computations of equal meaning become one again. Cost:
// computation-deduplicator's.
std::unique_ptr<Pass> CreateHloModuleStitcher();

// The mark.
inline constexpr char kModuleMark[] = "hlokit_module";

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
