// The arrays and tokens inside a literal, in depth-first order.
#pragma once

#include <vector>

#include "types/literal.h"

namespace hlokit {

// Appends pointers to the leaves of `literal`, which may be a const Literal or a Literal.
template <typename L>
void CollectLeaves(L& literal, std::vector<L*>& out) {
  if (!literal.shape().IsTuple()) return out.push_back(&literal);
  for (auto& element : literal.elements()) CollectLeaves<L>(element, out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
