// Explorer pages of what the command line names: a module, or a dump folder.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/common/load.h"
#include "tools/hlo-viz/graph/overlay.h"
#include "tools/hlo-viz/options.h"

namespace hlokit {

// Times and the other module that --color-by needs.
struct SideInputs {
  TimeByName times;
  std::unique_ptr<Module> other;
  OverlayInputs View() const { return {times.empty() ? nullptr : &times, other.get()}; }
};

LoadOptions LoadOptionsOf(const VizOptions& options);

// The page of one module.
absl::StatusOr<std::string> ModulePage(const Module& module, const VizOptions& options,
                                       const SideInputs& side);

// The page of all modules and passes of the folder options.input; each version is compared with the
// one before it. Files that cannot be read are told of on standard error and left out. `revision`:
// for a served page, else negative. Errors: NotFound where nothing can be read.
absl::StatusOr<std::string> DumpPage(const VizOptions& options, const SideInputs& side,
                                     int64_t revision = -1);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
