// The table of architectures. LLVM 19 knows them up to sm_90a; PTX for sm_90 runs on all later
// devices, so that is what those get. What ends in `a` runs on that device alone.
#include "backends/cuda/gpu_arch.h"

#include "absl/strings/str_join.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

constexpr GpuArch kArchs[] = {
    {"sm_70", 70, "sm_70", "+ptx60"},   {"sm_75", 75, "sm_75", "+ptx63"},
    {"sm_80", 80, "sm_80", "+ptx70"},   {"sm_86", 86, "sm_86", "+ptx71"},
    {"sm_87", 87, "sm_87", "+ptx74"},   {"sm_89", 89, "sm_89", "+ptx78"},
    {"sm_90", 90, "sm_90", "+ptx78"},   {"sm_90a", 90, "sm_90a", "+ptx80"},
    {"sm_100", 100, "sm_90", "+ptx78"},
};

}  // namespace

absl::StatusOr<GpuArch> GpuArchNamed(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const GpuArch& arch : kArchs) {
    if (arch.name == name) return arch;
    names.push_back(arch.name);
  }
  return InvalidArgument("no GPU architecture ", name, DidYouMean(name, names), "; there are ",
                         absl::StrJoin(names, ", "));
}

absl::StatusOr<GpuArch> GpuArchOfDevice(int number) {
  const GpuArch* newest = nullptr;
  for (const GpuArch& arch : kArchs)
    if (arch.number <= number && (arch.name.back() != 'a' || arch.number == number)) newest = &arch;
  if (newest != nullptr) return *newest;
  return Unimplemented("the device is sm_", number, "; hlokit needs ", kArchs[0].name, " or later");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
