// bitcast_dtypes_expander: bitcast-converts between types of different widths as shifts.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// To a narrower type: each element is shifted right by a multiple of the width along a new last
// dimension and masked. To a wider one: the last dimension's elements are shifted left and joined
// by a reduce with or. Bitcasts of one width, of complex numbers and of sub-byte types stay. Exact.
std::unique_ptr<Pass> CreateBitcastDtypesExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
