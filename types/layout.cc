// Layout values: defaults and equality.
#include "types/layout.h"

#include "types/shape.h"

namespace hlokit {

bool LayoutExtras::operator==(const LayoutExtras& o) const {
  const bool same_physical =
      physical == o.physical || (physical && o.physical && *physical == *o.physical);
  return same_physical && tiles == o.tiles && tail_padding_alignment == o.tail_padding_alignment &&
         index_type == o.index_type && pointer_type == o.pointer_type &&
         element_size_in_bits == o.element_size_in_bits && memory_space == o.memory_space &&
         splits == o.splits && dynamic_metadata_bytes == o.dynamic_metadata_bytes &&
         dim_levels == o.dim_levels;
}

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
