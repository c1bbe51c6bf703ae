// sub-byte-size-setter and sub-byte-size-removal: whether layouts say that elements of less than a
// byte are packed.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// Every array of a 1-, 2- or 4-bit type other than pred says E(bits) in its layout, those of the
// entry's layout too. Cost: linear.
std::unique_ptr<Pass> CreateSubByteSizeSetter();
// No array does.
std::unique_ptr<Pass> CreateSubByteSizeRemoval();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
