// Explorer pages of what the command line names: a module, or a dump folder.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tools/common/load.h"
#include "tools/hlo-viz/dump.h"
#include "tools/hlo-viz/explorer/page.h"
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

// Where a page opens, by --computation, --instruction, --from and --to, --color-by: a fragment of
// page/state.js; empty where none is given.
std::string StartOf(const VizOptions& options);

// The page of one module. `revision`: for a served page, else negative. Errors: those of Select.
absl::StatusOr<std::string> ModulePage(const Module& module, const VizOptions& options,
                                       const SideInputs& side, int64_t revision = -1);

// Pages of the folder options.input, made again as it changes: what has not changed since the last
// page is not read again.
class DumpPages {
 public:
  DumpPages(const VizOptions& options, const SideInputs& side) : options_(options), side_(side) {}

  // The page of all modules and passes; each version is compared with the one before it. Files that
  // cannot be read are told of on standard error and on the page, and left out. `revision`: for a
  // served page, else negative. Errors: NotFound where nothing can be read.
  absl::StatusOr<std::string> Make(int64_t revision = -1);

 private:
  // A version as it was made, and of what.
  struct Kept {
    uint64_t stamp = 0;
    std::string before;  // the file that it was compared with; empty: none
    bool readable = false;
    PackedVersion version;
  };
  // What a module's stages have come to so far.
  struct Walk {
    std::string before_path;
    std::unique_ptr<Module> before;  // null where nothing or only what was kept came before
    uint64_t stamp = 0;              // of all files so far
  };
  absl::StatusOr<const Kept*> Version(const DumpStage& stage, Walk& walk);
  absl::StatusOr<PackedVersion> PackStage(const DumpStage& stage, const Module& module,
                                          Walk& walk) const;

  const VizOptions& options_;
  const SideInputs& side_;
  absl::flat_hash_map<std::string, Kept> kept_;  // by path
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
