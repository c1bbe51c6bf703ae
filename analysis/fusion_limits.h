// What fusions suit a target's kernels: figures that the fusion passes take as options and that the
// target's kernel strategies share.
#pragma once

#include <cstdint>

namespace hlokit {

// What vectors ask of rows.
struct RowLaneLimits {
  // Elements of the narrowest vectors in use: contiguous pieces of rows have to be multiples.
  int64_t lanes = 16;
  // The fewest contiguous columns that are worth vectors.
  int64_t min_columns = 8;
};

// The defaults are the CPU's.
struct FusionLimits {
  // Instructions in a fusion, and arrays that it reads.
  int64_t max_members = 200, max_inputs = 24;
  // LLVM operations that the code of one fusion may have, and copies of one instruction's code.
  int64_t max_code = 600, max_copies = 6;

  // Fusions of rows (analysis/row_form.h), each computed by one thread in several passes.
  int64_t max_row_members = 150;
  int64_t min_rows = 16;  // fewer keep too few threads busy
  int64_t min_row = 8, max_row = 16384;
  // Of columns: vectors to share among threads, the elements of one, and the longest columns, a
  // vector's width of which should stay in the second cache.
  int64_t min_tiles = 8, tile_columns = 16, max_column = 4096;
  RowLaneLimits lanes = {};
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
