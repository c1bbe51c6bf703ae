// LLVM IR in files, for dumps.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "codegen/llvm.h"

namespace hlokit {

// Errors: those of AtomicWriteFile.
absl::Status WriteIr(const llvm::Module& module, const std::string& path);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
