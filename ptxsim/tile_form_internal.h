// Which matrix instructions the vector kernels of product_tile_internal.h take, and the steps that
// mma and wgmma share: fragments to tiles of floats and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxsim/matrix_internal.h"
#include "ptxsim/product_tile_internal.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

// How a product by tiles goes; not `is_taken`: by products.cc.
struct TileForm {
  bool is_taken = false, is_integer = false;
  TileElement a = TileElement::kF16, b = TileElement::kF16;
  const float *a_table = nullptr, *b_table = nullptr;  // values of bytes
  bool half_c = false, half_d = false;                 // accumulators of f16
  TileRule rule;
};
// Of a dense product of 16 rows.
TileForm TileFormOf(const ProductRule& rule, int columns, int depth);

// Accumulators of `columns` columns, from and to the registers of `slots`.
void UnpackAccumulators(const TileForm& form, const std::byte* frame, const Slot* slots,
                        int columns, float* c);
void PackAccumulators(const TileForm& form, const float* c, int columns, std::byte* frame,
                      const Slot* slots);
// The `count` registers of a's fragment.
void UnpackRows(const TileForm& form, const std::byte* frame, const Slot* slots, int count,
                float* a);
// c += a * b; false where products.cc must do it, with c as it was in the registers.
bool MultiplyTile(const TileForm& form, const ProductTile& tile, bool saturate);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
