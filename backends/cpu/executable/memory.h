// Memory that a compiled program works on.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "absl/status/statusor.h"

namespace hlokit {

struct FreeBytes {
  void operator()(char* p) const { std::free(p); }
};
// Aligned as support/allocate.h says, uninitialised; null for no bytes.
using Bytes = std::unique_ptr<char[], FreeBytes>;

// Bytes that this process may hold: of the machine, or of the container around it if that has less.
int64_t MemoryLimit();

// Errors: ResourceExhausted, naming the figure, if the machine has not that much.
absl::StatusOr<Bytes> AllocateBytes(int64_t size);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
