// Dots whose sides keep the summed dimensions in different orders.
#pragma once

#include "runtime/dot/dot_desc.h"

namespace hlokit {

// Whether either side's fastest dimension is summed, and the two are not each other's: in any order
// of the sums one side is read element by element.
bool HasCrossedSums(const HlokitDotDesc& desc);

// Runs `dot` (a description, lhs, rhs) on a copy of the smaller side that can be copied, its summed
// dimensions ordered as the other's; false (nothing done) where neither can, or it would not pay.
using DotFunction = void (*)(void* ctx, const HlokitDotDesc& desc, const char* lhs, const char* rhs,
                             char* out);
bool RunUncrossed(void* ctx, const HlokitDotDesc& desc, const char* lhs, const char* rhs, char* out,
                  DotFunction dot);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
