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
  // Vectors of an element each of neighbouring rows: the longest rows, also where results of their
  // size are stored, and the fewest rows. Without functions of many steps the shortest rows and the
  // longest ones that lanes do not divide, and the longest of those that are only reduced, twice
  // (argmax).
  int64_t max_short_row = 63, max_stored_row = 31, min_short_rows = 64;
  int64_t min_plain_row = 8, max_plain_row = 15, max_twice_row = 23;
};

// The defaults are the CPU's.
struct FusionLimits {
  // Instructions in a fusion, and arrays that it reads.
  int64_t max_members = 200, max_inputs = 24;
  // LLVM operations that the code of one fusion may have, and copies of one instruction's code.
  int64_t max_code = 600, max_copies = 6;

  // What a loop of its own costs beside its elements, in simple operations: on a GPU, a launch and
  // what a result costs that goes through memory. Up to so much work is done again in several
  // loops, or for several elements, to save a loop. 0: the rules for a processor, where loops are
  // cheap, memory is cached, and a division or a branch for each element is not.
  int64_t launch_work = 0;
  // Elements of a reduction that a thread computes beside other work where loops are launches;
  // longer ones have kernels of their own.
  static constexpr int64_t kMaxShort = 32;

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
