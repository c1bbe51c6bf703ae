// What hlo-opt --stage=buffer-assignment prints.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

// Sizes; what lives at the peak, by source line and one by one; a line an array with its place and
// the instruction that makes it. Errors: as BufferAssignment::Make.
absl::StatusOr<std::string> BufferText(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
