// Memory for arrays: aligned, and large blocks in large pages where the system has them.
#pragma once

#include <stddef.h>

namespace hlokit {

// The alignment, in bytes, that kernels and compiled code expect of arrays.
inline constexpr size_t kBlockAlignment = 64;

// `bytes` of uninitialised memory aligned so, to be freed with free(); null where there is not that
// much. From 2 MiB on it lies in huge pages where the system has some: its first use costs a page
// fault for five hundred, and kernels walk through packed matrices in all directions.
void* AllocateBlock(size_t bytes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
