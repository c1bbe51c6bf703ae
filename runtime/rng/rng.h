// Random bits and numbers.
#pragma once

#include <stdint.h>

#include "runtime/element.h"

#ifdef __cplusplus
extern "C" {
#endif

enum HlokitRngAlgorithm { HLOKIT_RNG_DEFAULT = 0, HLOKIT_RNG_THREE_FRY = 1, HLOKIT_RNG_PHILOX = 2 };
enum { HLOKIT_MAX_RNG_DIMS = 32 };

typedef struct HlokitRngBitsDesc {
  int64_t algorithm;      // HlokitRngAlgorithm; the default is Philox, as on XLA's CPU
  int64_t state_words;    // u64 words of the state: 2, or 3 (Philox with a 128-bit counter)
  int64_t element_bytes;  // of the result: 1, 2, 4 or 8
  int64_t rank;
  int64_t dims[HLOKIT_MAX_RNG_DIMS];  // of the result, which is dense and row-major
} HlokitRngBitsDesc;

// rng-bit-generator, bit for bit as XLA: state[0] is the key, the rest the counter; new_state (may
// be state) counts on. Elements of 1 and 2 bytes are the low bits of 32-bit ones. Errors: a
// descriptor out of the ranges above.
void hlokit_rng_bits(void* ctx, const HlokitRngBitsDesc* desc, const uint64_t* state,
                     uint64_t* new_state, void* out);

enum HlokitRngDistribution { HLOKIT_RNG_UNIFORM = 0, HLOKIT_RNG_NORMAL = 1 };

// rng: `count` numbers of `type` (HlokitType: floats, integers or pred), uniform in [a, b) or
// normal with mean a and deviation b (floats only); a and b point at one element each. Draws from
// the context's own state, which counts on. Equal to XLA in distribution, not in bits. Errors: a
// type or distribution not listed.
void hlokit_rng(void* ctx, int64_t distribution, int64_t type, int64_t count, const void* a,
                const void* b, void* out);

// rng-get-and-update-state: copies the process's 128-bit state (low word first), which starts as
// XLA's, and adds `delta` to it. Safe in any thread.
void hlokit_rng_get_and_update_state(void* ctx, int64_t delta, uint64_t* state);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
