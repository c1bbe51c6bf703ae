// The PTX of what a program hands to cuModuleLoadData.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hlokit::cuda {

// A text, ended by a zero byte, is PTX. Of a cubin (machine code, which the simulator does not run)
// the PTX that Triton keeps beside it in its cache: TRITON_CACHE_DIR, or $HOME/.triton/cache.
// Errors: NotFound for machine code without PTX.
absl::StatusOr<std::string> PtxOfImage(const void* image);

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
