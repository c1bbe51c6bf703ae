// Layouts: the memory order of an array's dimensions, and what accelerators add to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "types/element_type.h"

namespace hlokit {

struct Shape;

// The parts of a layout that few shapes have; text form in XLA's `{1,0:T(8,128)E(4)S(1)}`.
struct LayoutExtras {
  // One tile: sizes; kCombine stands for `*`.
  static constexpr int64_t kCombine = INT64_MIN;
  std::vector<absl::InlinedVector<int64_t, 2>> tiles;  // T(..)(..)
  int64_t tail_padding_alignment = 1;                  // L(n), in elements
  ElementType index_type = ElementType::kInvalid;      // #(u32)
  ElementType pointer_type = ElementType::kInvalid;    // *(u32)
  int64_t element_size_in_bits = 0;                    // E(n); 0: not given
  int64_t memory_space = 0;                            // S(n)
  struct Split {
    int64_t dimension = 0;
    std::vector<int64_t> indices;
    bool operator==(const Split&) const = default;
  };
  std::vector<Split> splits;              // SC(d:i,j)
  int64_t dynamic_metadata_bytes = 0;     // M(n)
  std::vector<std::string> dim_levels;    // D(D,C~): older XLA's dimension level types, as text
  std::shared_ptr<const Shape> physical;  // P(shape)
  bool operator==(const LayoutExtras& other) const;
};

// minor_to_major[0] is the dimension that varies fastest in memory.
struct Layout {
  absl::InlinedVector<uint8_t, 16> minor_to_major;
  std::shared_ptr<const LayoutExtras> extras;  // null where all defaults

  static Layout Default(int rank);  // rank-1, ..., 1, 0
  bool IsDefaultOrder() const;
  int64_t memory_space() const { return extras ? extras->memory_space : 0; }
  bool operator==(const Layout& other) const;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
