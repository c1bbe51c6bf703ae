// Allocation that refuses what this machine has not got.
#include "backends/cpu/executable/memory.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "support/allocate.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

// What the control group allows; none where the file is missing or says "max".
int64_t GroupLimit() {
  const auto text = ReadFile("/sys/fs/cgroup/memory.max");
  int64_t bytes = 0;
  return text.ok() && absl::SimpleAtoi(*text, &bytes) && bytes > 0 ? bytes : INT64_MAX;
}

}  // namespace

int64_t MemoryLimit() {
  static const int64_t limit =
      std::min(GroupLimit(), static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                                 static_cast<int64_t>(sysconf(_SC_PAGESIZE)));
  return limit;
}

absl::StatusOr<Bytes> AllocateBytes(int64_t size) {
  if (size == 0) return Bytes();
  if (size > MemoryLimit())
    return ResourceExhausted("the program needs ", size, " bytes at once; this machine has ",
                             MemoryLimit());
  void* const raw = AllocateBlock(static_cast<size_t>(size));
  if (raw == nullptr) return ResourceExhausted("cannot allocate ", size, " bytes");
  return Bytes(static_cast<char*>(raw));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
