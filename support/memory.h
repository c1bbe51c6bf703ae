// A heap that grows in huge pages.
#pragma once

#include <cstddef>

namespace hlokit {

// Tools call this before they build something of about `bytes` in many small pieces: the heap grows
// by that much at once, in huge pages. Without effect for less than a page's worth, and where
// malloc is not glibc's. Not for use once other threads run.
void ExpectHeapUse(size_t bytes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
