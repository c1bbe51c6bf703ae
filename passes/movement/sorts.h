// simplify-sorts and permutation_sort_simplifier: sorts that carry too much, or sort what is known.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// simplify-sorts. Matches sorts with operands that the comparison does not look at and whose sorted
// form nobody reads; leaves a sort without them. Cost: linear.
std::unique_ptr<Pass> CreateSimplifySorts();

// permutation_sort_simplifier. Matches ascending sorts of vectors by a permutation of 0 .. n-1,
// which an earlier sort made of an iota; leaves the iota for the keys, and scatters of the other
// operands to the places that the permutation names. Cost: linear.
std::unique_ptr<Pass> CreatePermutationSortSimplifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
