// Matrices in shared memory that a 64-bit descriptor names: operands of wgmma and tcgen05.
//
//   bits 0-13 where the matrix begins, 16-29 leading offset, 32-45 stride offset, all / 16;
//   wgmma: 62-63 how rows are swizzled: 0 not, 1 over 128 bytes, 2 over 64, 3 over 32;
//   tcgen05: 61-63: 0 not, 2 over 128 bytes, 4 over 64, 6 over 32.
#pragma once

#include <bit>
#include <cstdint>

#include "ptxsim/block.h"
#include "ptxsim/types.h"

namespace hlokit::ptx {

// Its atoms are 8 rows of `width` bytes; a row holds neighbours along k or, where it is `mn` major,
// along m or n.
struct SharedMatrix {
  uint64_t start = 0, leading = 0, stride = 0, width = 16;
  bool mn = false;
  // Bits of an element in memory where they are not the type's: 8 of .kind::f8f6f4's narrow types,
  // whose 16 neighbours lie packed at the beginning of 16 bytes.
  bool padded = false;

  static SharedMatrix OfWgmma(uint64_t descriptor, bool mn_major);
  static SharedMatrix OfTcgen05(uint64_t descriptor, bool mn_major);

  // Bytes `begin` to begin + bytes - 1, multiples of 16, of `rows` rows from `first` on as the
  // matrix is stored, one row behind the other; false after a fault.
  bool CopyRows(const Op& op, Warp& warp, int first, int rows, int begin, int bytes,
                uint8_t* to) const;
  // Whether CopyRows would give the bytes `like`, of rows from 0 on; false where loads are watched.
  bool HasRows(Warp& warp, int rows, int bytes, const uint8_t* like) const;
  // Of byte `along` of row `row` of the matrix as it is stored.
  uint64_t AddressOf(uint64_t row, uint64_t along) const {
    return Swizzled(UnswizzledAddressOf(row, along));
  }
  // Element (i, k), i counting along m or n; false after a fault.
  bool Load(const Op& op, Warp& warp, Type type, int i, int k, double& value) const;

 private:
  // The two offsets change places where nothing is swizzled and m or n is contiguous.
  bool IsExchanged() const { return mn && width == 16; }
  // From atom to atom along the rows.
  uint64_t NextAtom() const { return IsExchanged() ? stride : leading; }
  uint64_t UnswizzledAddressOf(uint64_t row, uint64_t along) const {
    const int shift = std::countr_zero(width);
    const uint64_t across = IsExchanged() ? leading : stride;
    return start + (along & (width - 1)) + (row % 8 << shift) + (along >> shift) * NextAtom() +
           row / 8 * across;
  }
  uint64_t Swizzled(uint64_t address) const { return address ^ (address >> 3 & (width - 16)); }
  uint64_t LimitOf(int rows, int bytes) const;
  // f(where the chunk is) for each 16 bytes of CopyRows, until it is false; false then, and where
  // loads are watched or go past shared memory.
  template <typename F>
  bool ForChunks(Warp& warp, int first, int rows, int begin, int bytes, F f) const;
  bool CopyRowsByChunks(const Op& op, Warp& warp, int first, int rows, int begin, int bytes,
                        uint8_t* to) const;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
