// The table of platforms.
#include "tools/hlo-run/platforms.h"

#include "absl/strings/ascii.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference_backend.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

struct Platform {
  absl::string_view name;
  std::unique_ptr<Backend> (*make)();  // null: not in this build
};
constexpr Platform kPlatforms[] = {
    {"cpu", MakeWarmCpuBackend},
    {"host", MakeWarmCpuBackend},  // XLA's own name for it
    {"interpreter", MakeReferenceBackend},
    {"default", MakeReferenceBackend},  // what run_hlo_module compares with
    {"ptx-sim", nullptr},
    {"cuda", nullptr},
    {"gpu", nullptr},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> MakeBackend(const std::string& platform) {
  const std::string wanted = absl::AsciiStrToLower(platform);
  for (const Platform& known : kPlatforms) {
    if (known.name != wanted) continue;
    if (known.make != nullptr) return known.make();
    return Unimplemented("platform ", platform,
                         " is not in this build; there are cpu and interpreter");
  }
  constexpr absl::string_view kNames[] = {"cpu", "interpreter"};
  return InvalidArgument("no platform ", platform, DidYouMean(wanted, kNames),
                         "; there are cpu and interpreter");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
