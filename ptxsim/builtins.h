// Functions that kernels call and that no PTX file defines: printf, assert, malloc.
#pragma once

#include "absl/strings/string_view.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

// The built-in function `name`; op.list is the call. Null where there is none.
Exec BuiltinNamed(absl::string_view name);
// Whether the function changes the allocations of device memory: malloc, free.
bool IsDeviceHeap(absl::string_view name);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
