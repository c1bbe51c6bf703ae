// despecializer: hlo-descheduler, control-dep-remover, defuser, sub-byte-size-removal and
// ReduceWindowToReduceAndBroadcast, one after the other.
#include "passes/expanders/whole_windows.h"
#include "passes/fusions/defuser.h"
#include "passes/movement/sub_byte_size.h"
#include "passes/scheduling/schedulers.h"
#include "support/status.h"

namespace hlokit {
namespace {

class Despecializer final : public Pass {
 public:
  absl::string_view name() const override { return "despecializer"; }
  bool handles_schedules() const override { return true; }
  absl::StatusOr<bool> Run(Module& module) override {
    bool changed = false;
    for (auto make : {CreateHloDescheduler, CreateControlDepRemover, CreateDefuser,
                      CreateSubByteSizeRemoval, CreateReduceWindowToReduceAndBroadcast}) {
      const std::unique_ptr<Pass> pass = make();
      pass->set_control(&control());
      ASSIGN_OR_RETURN(const bool here, pass->Run(module));
      changed |= here;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> CreateDespecializer() { return std::make_unique<Despecializer>(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
