// Layout values: defaults and orders.
#include "types/layout.h"

namespace hlokit {

Layout Layout::Default(int rank) {
  Layout layout;
  layout.minor_to_major.resize(rank);
  for (int i = 0; i < rank; ++i) layout.minor_to_major[i] = static_cast<uint8_t>(rank - 1 - i);
  return layout;
}

bool Layout::IsDefaultOrder() const {
  const int rank = static_cast<int>(minor_to_major.size());
  for (int i = 0; i < rank; ++i)
    if (minor_to_major[i] != rank - 1 - i) return false;
  return true;
}

bool Layout::operator==(const Layout& o) const {
  return minor_to_major == o.minor_to_major &&
         (extras == o.extras || (extras && o.extras && *extras == *o.extras));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
