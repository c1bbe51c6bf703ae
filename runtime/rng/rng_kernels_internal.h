// Philox and Threefry over batches of counters, as loops that vectorize; the including file defines
// HLOKIT_ISA. Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (constants and
// rounds).
#pragma once

#include "runtime/element.h"
#include "runtime/rng/rng_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

constexpr int64_t kBatch = 32;

HLOKIT_INLINE uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
HLOKIT_INLINE uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

struct PhiloxBatch {
  uint32_t x[4][kBatch];
};

// One round of Philox-4x32: two 32 x 32 -> 64 bit products, whose high halves are mixed with the
// key.
HLOKIT_INLINE void PhiloxRound(PhiloxBatch& b, uint32_t key0, uint32_t key1) {
  for (int64_t i = 0; i < kBatch; ++i) {
    const uint64_t product0 = uint64_t{b.x[0][i]} * 0xd2511f53u;
    const uint64_t product1 = uint64_t{b.x[2][i]} * 0xcd9e8d57u;
    b.x[0][i] = High(product1) ^ b.x[1][i] ^ key0;
    b.x[1][i] = Low(product1);
    b.x[2][i] = High(product0) ^ b.x[3][i] ^ key1;
    b.x[3][i] = Low(product0);
  }
}

void Philox(uint64_t key, uint64_t low, uint64_t high, int64_t blocks, uint32_t* out) {
  for (int64_t first = 0; first < blocks; first += kBatch) {
    PhiloxBatch b;
    for (int64_t i = 0; i < kBatch; ++i) {
      const uint64_t counter = low + first + i;
      b.x[0][i] = Low(counter);
      b.x[1][i] = High(counter);
      b.x[2][i] = Low(high);
      b.x[3][i] = High(high);
    }
    uint32_t key0 = Low(key), key1 = High(key);
    for (int round = 0; round < 10; ++round) {
      PhiloxRound(b, key0, key1);
      key0 += 0x9e3779b9u;
      key1 += 0xbb67ae85u;
    }
    const int64_t count = blocks - first < kBatch ? blocks - first : kBatch;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t w = 0; w < 4; ++w) out[(first + i) * 4 + w] = b.x[w][i];
    }
  }
}

HLOKIT_INLINE uint32_t RotateLeft(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

template <int kA, int kB, int kC, int kD>
HLOKIT_INLINE void FourRounds(uint32_t* x0, uint32_t* x1, uint32_t key0, uint32_t key1) {
  constexpr int kRotations[4] = {kA, kB, kC, kD};
  for (int r = 0; r < 4; ++r) {
    for (int64_t i = 0; i < kBatch; ++i) {
      x0[i] += x1[i];
      x1[i] = RotateLeft(x1[i], kRotations[r]) ^ x0[i];
    }
  }
  for (int64_t i = 0; i < kBatch; ++i) {
    x0[i] += key0;
    x1[i] += key1;
  }
}

void ThreeFry(uint64_t key, uint64_t counter, int64_t count, uint32_t* first, uint32_t* second) {
  const uint32_t k0 = Low(key), k1 = High(key), k2 = k0 ^ k1 ^ 0x1bd11bdau;
  for (int64_t start = 0; start < count; start += kBatch) {
    uint32_t x0[kBatch], x1[kBatch];
    for (int64_t i = 0; i < kBatch; ++i) {
      x0[i] = Low(counter + start + i) + k0;
      x1[i] = High(counter + start + i) + k1;
    }
    FourRounds<13, 15, 26, 6>(x0, x1, k1, k2 + 1);
    FourRounds<17, 29, 16, 24>(x0, x1, k2, k0 + 2);
    FourRounds<13, 15, 26, 6>(x0, x1, k0, k1 + 3);
    FourRounds<17, 29, 16, 24>(x0, x1, k1, k2 + 4);
    FourRounds<13, 15, 26, 6>(x0, x1, k2, k0 + 5);
    const int64_t length = count - start < kBatch ? count - start : kBatch;
    for (int64_t i = 0; i < length; ++i) {
      first[start + i] = x0[i];
      second[start + i] = x1[i];
    }
  }
}

}  // namespace

constexpr RngKernels kRng = {&Philox, &ThreeFry};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
