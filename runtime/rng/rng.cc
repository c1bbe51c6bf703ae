// Random bits: distributes counters to the generators (rng_kernels_internal.h) and lays their words
// out as XLA does, bit for bit.
//
// Both generators are functions of a key and a counter, so any part of the result can be computed
// by any thread without state:
// - Philox: counter c gives words 4c to 4c + 3 of the stream;
// - Threefry: a counter gives two words, which XLA places in two halves of the result along one
// dimension: for u32[4] counters 0 and 1 give elements (0, 1) and (2, 3). The new state is the
// counter behind the last one used. Cost: about 10 rounds (Philox) or 20 (Threefry) of integer
// operations per counter, vectorized over counters.
#include "runtime/rng/rng.h"

#include <math.h>

#include <algorithm>
#include <mutex>
#include <type_traits>

#include "runtime/context.h"
#include "runtime/cpu_features.h"
#include "runtime/parallel.h"
#include "runtime/rng/rng_internal.h"

namespace hlokit {
namespace {

const RngKernels& Kernels() { return HLOKIT_OF_BEST_ISA(kRng); }

constexpr int64_t kChunk = 256;  // counters drawn at once
constexpr int64_t kGrain = 64 * kChunk;

// A 128-bit counter.
struct Counter {
  uint64_t low, high;
  Counter operator+(uint64_t n) const { return {low + n, high + (low + n < low)}; }
};

void PhiloxBlocks(uint64_t key, Counter counter, int64_t blocks, uint32_t* words) {
  const uint64_t before_wrap = 0 - counter.low;  // 0: 2^64
  const int64_t first =
      before_wrap != 0 && before_wrap < static_cast<uint64_t>(blocks) ? before_wrap : blocks;
  Kernels().philox(key, counter.low, counter.high, first, words);
  if (first < blocks) Kernels().philox(key, 0, counter.high + 1, blocks - first, words + 4 * first);
}

// Calls use(first word's number, words, count) with the stream of 32-bit Philox words [0, count).
template <typename Use>
void ForPhiloxWords(void* ctx, uint64_t key, Counter counter, int64_t count, const Use& use) {
  const int64_t blocks = (count + 3) / 4;
  ParallelFor(ctx, blocks, kGrain, [&](int64_t begin, int64_t end) {
    uint32_t words[4 * kChunk];
    for (int64_t b = begin; b < end; b += kChunk) {
      const int64_t chunk = std::min(kChunk, end - b);
      PhiloxBlocks(key, counter + b, chunk, words);
      use(4 * b, words, std::min(4 * chunk, count - 4 * b));
    }
  });
}

void StoreWords(int64_t bytes, int64_t at, const uint32_t* words, int64_t count, void* out) {
  switch (bytes) {
    case 1:
      std::copy_n(words, count, static_cast<uint8_t*>(out) + at);
      break;
    case 2:
      std::copy_n(words, count, static_cast<uint16_t*>(out) + at);
      break;
    default:
      std::copy_n(words, count, static_cast<uint32_t*>(out) + at);
      break;  // two words make one of 8 bytes
  }
}

// --- Threefry: XLA computes the two words of a counter as halves of the result along one dimension
// ---

// The result as [outer][size][inner]; counter (o, i, j) gives elements (o, 2 i, j) and (o, 2 i + 1,
// j).
struct Halves {
  int64_t outer = 1, size = 1, inner = 1;
  int64_t HalfSize() const { return (size + 1) / 2; }
  int64_t Counters() const { return outer * HalfSize() * inner; }
};

// Along the first even dimension, or else the first of the largest.
Halves SplitIntoHalves(const HlokitRngBitsDesc& d) {
  const int64_t* end = d.dims + d.rank;
  const int64_t* split = std::find_if(d.dims, end, [](int64_t size) { return size % 2 == 0; });
  if (split == end) split = std::max_element(d.dims, end);
  Halves halves;
  if (d.rank == 0) return halves;
  for (const int64_t* p = d.dims; p < split; ++p) halves.outer *= *p;
  halves.size = *split;
  for (const int64_t* p = split + 1; p < end; ++p) halves.inner *= *p;
  return halves;
}

template <typename T>
void Interleave(const uint32_t* first, const uint32_t* second, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[2 * i] = static_cast<T>(first[i]);
    to[2 * i + 1] = static_cast<T>(second[i]);
  }
}

// Neighbours in the result are the two words of one counter.
void StorePairs(int64_t bytes, int64_t counter, int64_t count, const uint32_t* first,
                const uint32_t* second, void* out) {
  switch (bytes) {
    case 1:
      return Interleave(first, second, count, static_cast<uint8_t*>(out) + 2 * counter);
    case 2:
      return Interleave(first, second, count, static_cast<uint16_t*>(out) + 2 * counter);
    default:
      return Interleave(first, second, count, static_cast<uint32_t*>(out) + 2 * counter);
  }
}

void StoreHalves(const Halves& h, int64_t bytes, int64_t counter, int64_t count,
                 const uint32_t* first, const uint32_t* second, void* out) {
  if (h.inner == 1 && h.size % 2 == 0) return StorePairs(bytes, counter, count, first, second, out);
  for (int64_t done = 0; done < count;) {
    const int64_t pair = (counter + done) / h.inner, j = (counter + done) % h.inner;
    const int64_t run = std::min(h.inner - j, count - done);
    const int64_t i = 2 * (pair % h.HalfSize());
    const int64_t at = (pair / h.HalfSize() * h.size + i) * h.inner + j;
    StoreWords(bytes, at, first + done, run, out);
    if (i + 1 < h.size) StoreWords(bytes, at + h.inner, second + done, run, out);
    done += run;
  }
}

int64_t ThreeFryBits(void* ctx, const HlokitRngBitsDesc& d, int64_t elements, uint64_t key,
                     uint64_t counter, void* out) {
  const Halves halves = SplitIntoHalves(d);
  const int64_t counters = d.element_bytes == 8 ? elements : halves.Counters();
  ParallelFor(ctx, counters, kGrain, [&](int64_t begin, int64_t end) {
    uint32_t first[kChunk], second[kChunk];
    for (int64_t c = begin; c < end; c += kChunk) {
      const int64_t chunk = std::min(kChunk, end - c);
      Kernels().three_fry(key, counter + c, chunk, first, second);
      if (d.element_bytes < 8) {
        StoreHalves(halves, d.element_bytes, c, chunk, first, second, out);
        continue;
      }
      uint64_t* to = static_cast<uint64_t*>(out) + c;
      for (int64_t i = 0; i < chunk; ++i) to[i] = first[i] | uint64_t{second[i]} << 32;
    }
  });
  return counters;
}

void RngBits(void* ctx, const HlokitRngBitsDesc& d, const uint64_t* state, uint64_t* new_state,
             void* out) {
  int64_t elements = 1;
  for (int64_t i = 0; i < d.rank; ++i) elements *= d.dims[i];
  const uint64_t key = state[0];
  if (d.algorithm == HLOKIT_RNG_THREE_FRY) {
    const uint64_t counter = state[1];
    new_state[1] = counter + ThreeFryBits(ctx, d, elements, key, counter, out);
    new_state[0] = key;
    return;
  }
  const int64_t words = elements * (d.element_bytes == 8 ? 2 : 1);
  const Counter counter{state[1],
                        d.state_words == 3 ? state[2] : key};  // two words: the key counts, too
  ForPhiloxWords(ctx, key, counter, words, [&](int64_t at, const uint32_t* drawn, int64_t count) {
    StoreWords(d.element_bytes, at, drawn, count, out);
  });
  const Counter next = counter + (words + 3) / 4;
  new_state[0] = key;
  new_state[1] = next.low;
  if (d.state_words == 3) new_state[2] = next.high;
}

// --- distributions ---

constexpr uint64_t kInitialState = 0x7012395;  // of a context whose state is zero; XLA's own
constexpr uint64_t kStreamKey = 0x9d39247e33776d41;

Counter TakeState(void* ctx, uint64_t count) {
  static HlokitRunContext shared = {};
  auto* run = ctx == nullptr ? &shared : static_cast<HlokitRunContext*>(ctx);
  const Counter stored{run->rng_state[0], run->rng_state[1]};
  const Counter next = stored + count;
  run->rng_state[0] = next.low;
  run->rng_state[1] = next.high;
  return stored + kInitialState;
}

double UnitInterval(uint32_t high, uint32_t low) {  // [0, 1) in steps of 2^-53
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

template <typename T>
// Draws are computed in f64 and rounded once to the type.
struct Numbers {
  static double Read(const void* from) {
    if constexpr (std::is_same_v<T, Bfloat16> || std::is_same_v<T, Half>) {
      return ToFloat(*static_cast<const T*>(from));
    } else {
      return static_cast<double>(*static_cast<const T*>(from));
    }
  }
  static T Round(double value) {
    if constexpr (std::is_same_v<T, Bfloat16>)
      return ToBfloat16(static_cast<float>(value));
    else if constexpr (std::is_same_v<T, Half>)
      return ToHalf(static_cast<float>(value));
    else
      return static_cast<T>(value);
  }

  static T Uniform(const T& a, const T& b, uint32_t high, uint32_t low) {
    if constexpr (std::is_integral_v<T>) {
      const uint64_t span = static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
      const auto scaled = static_cast<unsigned __int128>(uint64_t{high} << 32 | low) * span >> 64;
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(scaled));
    } else {
      const double from = Read(&a), to = Read(&b);
      const T drawn = Round(from + (to - from) * UnitInterval(high, low));
      return Read(&drawn) < to ? drawn : a;  // rounded up to the open end
    }
  }
  static T Normal(const T& mean, const T& deviation, uint32_t high,
                  uint32_t low) {  // Box and Muller
    const double radius = sqrt(-2 * log((high + 1.0) * 0x1p-32));
    return Round(Read(&mean) + Read(&deviation) * radius * cos(low * (2 * M_PI * 0x1p-32)));
  }
};

template <typename T>
void Fill(void* ctx, int64_t distribution, int64_t count, const void* a_data, const void* b_data,
          void* out_data) {
  const T a = *static_cast<const T*>(a_data), b = *static_cast<const T*>(b_data);
  const Counter counter = TakeState(ctx, (count + 1) / 2);
  const bool uniform = distribution == HLOKIT_RNG_UNIFORM;
  ForPhiloxWords(ctx, kStreamKey, counter, 2 * count,
                 [&](int64_t at, const uint32_t* words, int64_t word_count) {
                   T* out = static_cast<T*>(out_data) + at / 2;
                   for (int64_t i = 0; i < word_count / 2; ++i) {
                     out[i] = uniform ? Numbers<T>::Uniform(a, b, words[2 * i], words[2 * i + 1])
                                      : Numbers<T>::Normal(a, b, words[2 * i], words[2 * i + 1]);
                   }
                 });
}

}  // namespace
}  // namespace hlokit

extern "C" {

void hlokit_rng_bits(void* ctx, const HlokitRngBitsDesc* desc, const uint64_t* state,
                     uint64_t* new_state, void* out) {
  const int64_t bytes = desc->element_bytes;
  const bool known = (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
                     desc->rank <= HLOKIT_MAX_RNG_DIMS && desc->algorithm >= HLOKIT_RNG_DEFAULT &&
                     desc->algorithm <= HLOKIT_RNG_PHILOX && desc->state_words >= 2 &&
                     desc->state_words <= (desc->algorithm == HLOKIT_RNG_THREE_FRY ? 2 : 3);
  if (!known)
    return hlokit_set_error(ctx,
                            "rng-bit-generator of an unknown algorithm, state or element size");
  hlokit::RngBits(ctx, *desc, state, new_state, out);
}

void hlokit_rng(void* ctx, int64_t distribution, int64_t type, int64_t count, const void* a,
                const void* b, void* out) {
  const bool known = distribution == HLOKIT_RNG_UNIFORM ||
                     (distribution == HLOKIT_RNG_NORMAL && hlokit::IsFloatType(type));
  if (!known)
    return hlokit_set_error(ctx, "rng of an unknown distribution, or a normal one of integers");
  switch (type) {
    case HLOKIT_F16:
      return hlokit::Fill<hlokit::Half>(ctx, distribution, count, a, b, out);
    case HLOKIT_BF16:
      return hlokit::Fill<hlokit::Bfloat16>(ctx, distribution, count, a, b, out);
    case HLOKIT_F32:
      return hlokit::Fill<float>(ctx, distribution, count, a, b, out);
    case HLOKIT_F64:
      return hlokit::Fill<double>(ctx, distribution, count, a, b, out);
    case HLOKIT_PRED:
    case HLOKIT_U8:
      return hlokit::Fill<uint8_t>(ctx, distribution, count, a, b, out);
    case HLOKIT_S8:
      return hlokit::Fill<int8_t>(ctx, distribution, count, a, b, out);
    case HLOKIT_U16:
      return hlokit::Fill<uint16_t>(ctx, distribution, count, a, b, out);
    case HLOKIT_S16:
      return hlokit::Fill<int16_t>(ctx, distribution, count, a, b, out);
    case HLOKIT_U32:
      return hlokit::Fill<uint32_t>(ctx, distribution, count, a, b, out);
    case HLOKIT_S32:
      return hlokit::Fill<int32_t>(ctx, distribution, count, a, b, out);
    case HLOKIT_U64:
      return hlokit::Fill<uint64_t>(ctx, distribution, count, a, b, out);
    case HLOKIT_S64:
      return hlokit::Fill<int64_t>(ctx, distribution, count, a, b, out);
    default:
      hlokit_set_error(ctx, "rng of an element type that is neither real nor integer");
  }
}

void hlokit_rng_get_and_update_state(void*, int64_t delta, uint64_t* state) {
  static std::mutex mutex;
  static hlokit::Counter next{hlokit::kInitialState, 0};
  const std::lock_guard<std::mutex> hold(mutex);
  state[0] = next.low;
  state[1] = next.high;
  next = next + static_cast<uint64_t>(delta);
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
