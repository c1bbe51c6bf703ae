// Memory in huge pages: blocks, and a heap that grows in them.
#pragma once

#include <cstddef>

namespace hlokit {

// Tools call this before they build something of about `bytes` in many small pieces: the heap grows
// by that much at once, in huge pages. Without effect for less than a page's worth, and where
// malloc is not glibc's. Not for use once other threads run.
void ExpectHeapUse(size_t bytes);

// `bytes` of uninitialised memory, aligned to a cache line, for std::free; null where there is not
// as much. From 4 MiB on it lies in huge pages where the system has some.
void* AllocateAligned(size_t bytes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
