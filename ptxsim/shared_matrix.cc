// Addresses and elements of matrices in shared memory, by descriptor.
#include <bit>
#include <cstring>

#include "ptxsim/bind_internal.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/shared_matrix_internal.h"

namespace hlokit::ptx {
namespace {

constexpr int kChunk = 16, kMaxRowBytes = 512;

SharedMatrix WithOffsets(uint64_t descriptor, bool mn_major) {
  const auto field = [&](int shift) { return (descriptor >> shift & 0x3fff) << 4; };
  return {field(0), field(16), field(32), 16, mn_major};
}

}  // namespace

SharedMatrix SharedMatrix::OfWgmma(uint64_t descriptor, bool mn_major) {
  constexpr uint64_t kWidths[] = {16, 128, 64, 32};
  SharedMatrix matrix = WithOffsets(descriptor, mn_major);
  matrix.width = kWidths[descriptor >> 62];
  return matrix;
}

SharedMatrix SharedMatrix::OfTcgen05(uint64_t descriptor, bool mn_major) {
  constexpr uint64_t kWidths[] = {16, 128, 128, 128, 64, 64, 32, 32};
  SharedMatrix matrix = WithOffsets(descriptor, mn_major);
  matrix.width = kWidths[descriptor >> 61];
  return matrix;
}

// Beyond the last byte of rows below `rows` and bytes below `bytes` of them, wherever swizzles put
// it.
uint64_t SharedMatrix::LimitOf(int rows, int bytes) const {
  const auto row = static_cast<uint64_t>(rows - 1) | 7, along = static_cast<uint64_t>(bytes - 1);
  return (UnswizzledAddressOf(row, along | (width - 1)) | (width - 1)) + 1;
}

template <typename F>
bool SharedMatrix::ForChunks(Warp& warp, int first, int rows, int begin, int bytes, F f) const {
  Block& block = warp.block();
  if (block.IsWatched(/*is_store=*/false) ||
      LimitOf(first + rows, begin + bytes) > static_cast<uint64_t>(block.shared_bytes()))
    return false;
  const std::byte* const shared = block.shared();
  uint64_t offsets[kMaxRowBytes / kChunk];
  const int chunks = bytes / kChunk;
  const uint64_t origin = UnswizzledAddressOf(0, 0);
  for (int i = 0; i < chunks; ++i)
    offsets[i] = UnswizzledAddressOf(0, static_cast<uint64_t>(begin + i * kChunk)) - origin;
  for (int row = first; row < first + rows; ++row) {
    const uint64_t at = UnswizzledAddressOf(static_cast<uint64_t>(row), 0);
    for (int i = 0; i < chunks; ++i)
      if (!f(shared + Swizzled(at + offsets[i]))) return false;
  }
  return true;
}

bool SharedMatrix::CopyRows(const Op& op, Warp& warp, int first, int rows, int begin, int bytes,
                            uint8_t* to) const {
  uint8_t* next = to;
  return ForChunks(warp, first, rows, begin, bytes,
                   [&](const std::byte* chunk) {
                     std::memcpy(next, chunk, kChunk);
                     next += kChunk;
                     return true;
                   }) ||
         CopyRowsByChunks(op, warp, first, rows, begin, bytes, to);
}

bool SharedMatrix::HasRows(Warp& warp, int rows, int bytes, const uint8_t* like) const {
  return ForChunks(warp, 0, rows, 0, bytes, [&](const std::byte* chunk) {
    uint64_t there[2], wanted[2];
    std::memcpy(there, chunk, kChunk);
    std::memcpy(wanted, like, kChunk);
    like += kChunk;
    return ((there[0] ^ wanted[0]) | (there[1] ^ wanted[1])) == 0;
  });
}

bool SharedMatrix::CopyRowsByChunks(const Op& op, Warp& warp, int first, int rows, int begin,
                                    int bytes, uint8_t* to) const {
  for (int row = first; row < first + rows; ++row)
    for (int along = begin; along < begin + bytes; along += kChunk, to += kChunk) {
      const uint64_t address = AddressOf(static_cast<uint64_t>(row), static_cast<uint64_t>(along));
      const std::byte* const from =
          LaneMemory(op, warp, 0, address, kChunk, Space::kShared, "matrix load");
      if (from == nullptr) return false;
      std::memcpy(to, from, kChunk);
    }
  return true;
}

bool SharedMatrix::Load(const Op& op, Warp& warp, Type type, int i, int k, double& value) const {
  const auto row = static_cast<uint64_t>(mn ? k : i), along = static_cast<uint64_t>(mn ? i : k);
  const auto bits = static_cast<uint64_t>(ElementBits(type));
  // Elements below a byte: the bit where they begin, among 16 that share 16 bytes where padded.
  const uint64_t bit = padded ? along / 16 * 128 + along % 16 * bits : along * bits;
  uint64_t word = 0;
  const int64_t bytes = bits >= 8 ? static_cast<int64_t>(bits / 8) : 1;
  for (int64_t part = 0; part <= (bits < 8 && bit % 8 + bits > 8 ? 1 : 0); ++part) {
    const uint64_t address = AddressOf(row, bit / 8 + static_cast<uint64_t>(part));
    const std::byte* at = LaneMemory(op, warp, 0, address, bytes, Space::kShared, "matrix load");
    if (at == nullptr) return false;
    uint64_t loaded = 0;
    std::memcpy(&loaded, at, static_cast<size_t>(bytes));
    word |= loaded << 8 * part;
  }
  if (bits < 8) word = word >> bit % 8 & ((uint64_t{1} << bits) - 1);
  value = ElementValue(type, word);
  return true;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
