// The table of platforms.
#include "backends/platforms/platforms.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/reference/reference_backend.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

constexpr absl::string_view kCpuAliases[] = {"host"};           // XLA's own name for it
constexpr absl::string_view kReferenceAliases[] = {"default"};  // what run_hlo_module compares with
constexpr absl::string_view kCudaAliases[] = {"gpu"};

std::unique_ptr<Backend> MakeCpu(const BackendOptions& options) {
  return options.warm_up ? MakeWarmCpuBackend() : MakeCpuBackend();
}
std::unique_ptr<Backend> MakeReference(const BackendOptions&) { return MakeReferenceBackend(); }
// Their libraries are loaded when something is compiled.
std::unique_ptr<Backend> MakePtxSim(const BackendOptions&) { return MakePtxSimBackend(); }
std::unique_ptr<Backend> MakeCuda(const BackendOptions&) { return MakeCudaBackend(); }

constexpr int64_t kHostDevices = 64;  // a thread each, all in the host's memory

const Platform kPlatforms[] = {
    {"cpu", kCpuAliases, kCpuCapabilities, kHostDevices, MakeCpu},
    {"interpreter", kReferenceAliases, kReferenceCapabilities, kHostDevices, MakeReference},
    {"ptx-sim", {}, kCudaCapabilities, kHostDevices, MakePtxSim},
    {"cuda", kCudaAliases, kCudaCapabilities, kHostDevices, MakeCuda},
};

std::string NamesText(absl::Span<const absl::string_view> names) {
  return absl::StrJoin(names, " and ");
}

}  // namespace

absl::Span<const Platform> Platforms() { return kPlatforms; }

std::vector<absl::string_view> PlatformNames() {
  std::vector<absl::string_view> names;
  for (const Platform& platform : kPlatforms)
    if (platform.make != nullptr) names.push_back(platform.name);
  return names;
}

std::string PlatformsWith(bool Capabilities::*capability) {
  std::vector<absl::string_view> names;
  for (const Platform& platform : kPlatforms)
    if (platform.make != nullptr && platform.capabilities.*capability)
      names.push_back(platform.name);
  return NamesText(names);
}

const Platform* FindPlatform(absl::string_view name) {
  const std::string wanted = absl::AsciiStrToLower(name);
  for (const Platform& platform : kPlatforms) {
    const auto& aliases = platform.aliases;
    if (platform.name == wanted ||
        std::find(aliases.begin(), aliases.end(), wanted) != aliases.end())
      return &platform;
  }
  return nullptr;
}

absl::StatusOr<const Platform*> PlatformNamed(absl::string_view name) {
  const Platform* const found = FindPlatform(name);
  const std::vector<absl::string_view> names = PlatformNames();
  if (found == nullptr)
    return InvalidArgument("no platform ", name, DidYouMean(absl::AsciiStrToLower(name), names),
                           "; there are ", NamesText(names));
  if (found->make == nullptr)
    return Unimplemented("platform ", name, " is not in this build; there are ", NamesText(names));
  return found;
}

absl::StatusOr<std::unique_ptr<Backend>> MakeBackend(absl::string_view name,
                                                     const BackendOptions& options) {
  ASSIGN_OR_RETURN(const Platform* const platform, PlatformNamed(name));
  return platform->make(options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
