// Rows in shared memory that one kernel makes and multiplies.
#pragma once

#include "codegen/llvm.h"
#include "types/element_type.h"

namespace hlokit {

// The left side of a product as lines of shared memory, aligned to 16 bytes: row by row from the
// tile's first on, all terms, and zeros up to a multiple of 64 bytes.
struct SharedRows {
  llvm::Value* base = nullptr;
  int64_t line_bytes = 0;
  ElementType type = ElementType::kInvalid;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
