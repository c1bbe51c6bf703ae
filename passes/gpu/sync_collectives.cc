// gpu-convert-async-collectives-to-sync: convert-async-collectives-to-sync, and a note for the
// GPU's runtime that the collective was asynchronous.
//   all-gather-done(all-gather-start(x))
//     ->  all-gather(x), backend_config={"collective_backend_config":{"is_sync":true}}
// What the start's backend_config says stays. Exact.
#include "absl/strings/str_cat.h"
#include "passes/collectives/async_collectives.h"
#include "passes/gpu/backend_config.h"

namespace hlokit {
namespace {
// {"is_sync":true} before what the object says already.
std::string WithSync(absl::string_view object) {
  const size_t end = object.rfind('}');
  absl::string_view rest = end == absl::string_view::npos ? "" : object.substr(1, end - 1);
  return absl::StrCat("{\"is_sync\":true", rest.empty() ? "" : ",", rest, "}");
}

absl::StatusOr<bool> ConvertToSync(Computation& c, RewriteControl& control) {
  return MakeAllSync(c, control, "gpu-convert-async-collectives-to-sync",
                     [](const Instruction& start, Instruction& made) {
                       BackendConfig config = BackendConfig::Of(start);
                       config.SetRaw(kCollectiveConfig, WithSync(config.Raw(kCollectiveConfig)));
                       config.WriteTo(made);
                     });
}

}  // namespace

std::unique_ptr<Pass> CreateGpuConvertAsyncCollectivesToSync() {
  return MakeComputationPass("gpu-convert-async-collectives-to-sync", ConvertToSync);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
