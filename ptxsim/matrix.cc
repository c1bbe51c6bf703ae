// Elements and products of matrix instructions (mma, wgmma, tcgen05): types read into floats or
// integers, products summed as the tensor cores do.
//
// Sparse operands hold two elements of four, or one of two, and metadata says which: they are
// spread out first, so that one loop serves both.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/binder.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/profile.h"

namespace hlokit::ptx {

bool ParseMatrixShape(absl::string_view text, MatrixShape& shape) {
  int used = 0;
  const std::string word(text);
  return std::sscanf(word.c_str(), "m%dn%dk%d%n", &shape.m, &shape.n, &shape.k, &used) == 3 &&
         used == static_cast<int>(word.size());
}

int ElementBits(Type type) { return type == Type::kTF32 ? 32 : BitsOf(type); }

double ElementValue(Type type, uint64_t bits) {
  switch (type) {
    case Type::kF16:
      return F16Value(static_cast<uint16_t>(bits));
    case Type::kBF16:
      return BF16Value(static_cast<uint16_t>(bits));
    case Type::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    // The lower 13 bits of a tf32 register are not looked at.
    case Type::kTF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits) & 0xffffe000u);
    case Type::kF64:
      return std::bit_cast<double>(bits);
    case Type::kE4M3:
      return ValueOfFormat(static_cast<uint32_t>(bits & 0xff), kFormatE4M3);
    case Type::kE5M2:
      return ValueOfFormat(static_cast<uint32_t>(bits & 0xff), kFormatE5M2);
    case Type::kE3M2:
      return ValueOfFormat(static_cast<uint32_t>(bits & 0x3f), kFormatE3M2);
    case Type::kE2M3:
      return ValueOfFormat(static_cast<uint32_t>(bits & 0x3f), kFormatE2M3);
    case Type::kE2M1:
      return ValueOfFormat(static_cast<uint32_t>(bits & 15), kFormatE2M1);
    case Type::kS8:
      return static_cast<int8_t>(bits);
    case Type::kU8:
      return static_cast<uint8_t>(bits);
    case Type::kS4:
      return static_cast<int8_t>(bits << 4) >> 4;
    case Type::kU4:
      return static_cast<double>(bits & 15);
    case Type::kB1:
      return static_cast<double>(bits & 1);
    default:
      return static_cast<int32_t>(bits);
  }
}

double ScaleValue(Type type, uint32_t byte) {
  if (type == Type::kUE4M3) return ValueOfFormat(byte & 0x7f, kFormatE4M3);
  return byte == 0xff ? NAN : std::ldexp(1.0, static_cast<int>(byte) - 127);
}

uint64_t ElementOf(Type type, double value) {
  switch (type) {
    case Type::kF16:
      return RoundToF16(value);
    case Type::kBF16:
      return RoundToBF16(value);
    case Type::kF32:
      return std::bit_cast<uint32_t>(CanonicalNan(static_cast<float>(value)));
    case Type::kF64:
      return std::bit_cast<uint64_t>(value);
    default:
      return static_cast<uint32_t>(static_cast<int64_t>(value));
  }
}

void MultiplyMatrices(const Matrix& a, const Matrix& b, Matrix& c, Type accumulator,
                      bool saturate) {
  for (int r = 0; r < c.rows; ++r) {
    double* row = &c.at(r, 0);
    for (int k = 0; k < a.cols; ++k) {
      const double x = a.at(r, k);
      const double* other = &b.values[static_cast<size_t>(k) * b.cols];
      if (accumulator == Type::kF64) {
        for (int j = 0; j < c.cols; ++j) row[j] = std::fma(x, other[j], row[j]);
      } else {
        for (int j = 0; j < c.cols; ++j) row[j] += x * other[j];
      }
    }
    if (!saturate) continue;
    for (int j = 0; j < c.cols; ++j) row[j] = std::clamp(row[j], -2147483648.0, 2147483647.0);
  }
}

namespace {

// The nibble of metadata for chunk `j` of row `r`; `chunks` of a row.
uint32_t NibbleOf(const SparseRows& sparse, const std::byte* frame, int r, int j, int chunks) {
  const bool wide = ElementBits(sparse.type) >= 16;
  const int per_word = wide ? 4 : 8, words = chunks / per_word, part = j / per_word;
  const int lane = wide ? (words == 1 ? sparse.selector : 2 * sparse.selector + part)
                        : (words == 1 ? 2 * sparse.selector : 2 * part) + r / 8;
  const int shift = 4 * (j % per_word) + (wide ? r / 8 * 16 : 0);
  return In<uint32_t>(frame, sparse.metadata)[4 * (r % 8) + lane] >> shift & 15;
}

// Neighbours of a chunk that go together. Types of four bits fill a byte in .kind::f8f6f4, whose
// products have 64 columns.
int SparseRun(Type type, int k) {
  return ElementBits(type) == 4 && (!IsFloat(type) || k == 128) ? 2 : 1;
}
int SparseWidth(Type type, int k) { return type == Type::kTF32 ? 2 : 4 * SparseRun(type, k); }

}  // namespace

int SparseChunks(Type type, int k) { return k / SparseWidth(type, k); }

Matrix ExpandSparse(Type type, int k, const Matrix& packed,
                    absl::FunctionRef<uint32_t(int row, int j)> nibble) {
  Matrix a(packed.rows, k);
  if (IsFloat(type))
    std::fill(a.values.begin(), a.values.end(), std::bit_cast<double>(kAbsentBits));
  const bool single = type == Type::kTF32;  // one of two
  const int run = SparseRun(type, k), width = SparseWidth(type, k), kept = width / 2;
  for (int r = 0; r < packed.rows; ++r)
    for (int j = 0; j < k / width; ++j) {
      const uint32_t bits = nibble(r, j);
      for (int i = 0; i < kept; ++i) {
        const auto index = static_cast<int>(single ? bits >> 1 & 1 : bits >> i / run * 2 & 3);
        a.at(r, j * width + index * run + i % run) = packed.at(r, j * kept + i);
      }
    }
  return a;
}

Matrix ExpandSparse(const SparseRows& sparse, const std::byte* frame, const Matrix& packed) {
  const int chunks = SparseChunks(sparse.type, sparse.k);
  return ExpandSparse(sparse.type, sparse.k, packed,
                      [&](int r, int j) { return NibbleOf(sparse, frame, r, j, chunks); });
}

void MultiplyBits(const Matrix& a, const Matrix& b, Matrix& c, bool is_xor) {
  for (int r = 0; r < c.rows; ++r)
    for (int j = 0; j < c.cols; ++j)
      for (int k = 0; k < a.cols; ++k) {
        const bool x = a.at(r, k) != 0, y = b.at(k, j) != 0;
        c.at(r, j) += is_xor ? x != y : x && y;
      }
}

uint64_t ReadElement(const std::byte* frame, const Slot* slots, int bits, int lane, int i) {
  const int per_register = 8 * slots[0].bytes / bits;
  uint64_t word = 0;
  const Slot slot = slots[i / per_register];
  std::memcpy(&word, frame + slot.at + lane * slot.bytes, slot.bytes);
  word >>= i % per_register * bits;
  return bits == 64 ? word : word & ((uint64_t{1} << bits) - 1);
}
void WriteElement(std::byte* frame, const Slot* slots, int bits, int lane, int i, uint64_t value) {
  const int per_register = 8 * slots[0].bytes / bits;
  const Slot slot = slots[i / per_register];
  std::byte* at = frame + slot.at + lane * slot.bytes;
  uint64_t word = 0;
  std::memcpy(&word, at, slot.bytes);
  const int shift = i % per_register * bits;
  const uint64_t field = bits == 64 ? ~uint64_t{0} : ((uint64_t{1} << bits) - 1) << shift;
  word = (word & ~field) | (value << shift & field);
  std::memcpy(at, &word, slot.bytes);
}

Place PlaceInA(int m, int p, int lane, int i) {
  const int part = i / p, rows = m / 8;
  return {lane / 4 + 8 * (part % rows), lane % 4 * p + i % p + 4 * p * (part / rows)};
}
Place PlaceInB(int p, int lane, int i) {
  return {lane % 4 * p + i % p + 4 * p * (i / p), lane / 4};
}
Place PlaceInC(int lane, int i) {
  return {lane / 4 + 8 * (i / 2 % 2), i / 4 * 8 + lane % 4 * 2 + i % 2};
}

void CountProduct(Warp& warp, Type type, int m, int n, int k) {
  Profile* const profile = warp.block().profile();
  if (profile == nullptr) return;
  const int bits = ElementBits(type);
  const ProductKind kind = type == Type::kF64 ? ProductKind::kDouble
                           : bits == 32       ? ProductKind::kTf32
                           : bits == 16       ? ProductKind::kHalf
                           : bits >= 6        ? ProductKind::kByte
                                              : ProductKind::kNibble;
  profile->Product(kind, static_cast<double>(m) * n * k);
}

// Results of matrix instructions are registers of exactly `bytes` bytes.
bool CheckRegisters(Binder& b, uint32_t list, uint32_t count, int bytes) {
  for (uint32_t i = list; i < list + count && !b.failed(); ++i) {
    const Slot slot = b.code().slots[i];
    if (slot.at != kNoSlot && slot.bytes == bytes) continue;
    b.Error(b.operand(0).place, absl::StrCat("expected registers of ", 8 * bytes, " bits"));
  }
  return !b.failed();
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
