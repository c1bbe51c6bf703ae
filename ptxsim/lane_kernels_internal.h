// The loops of LaneKernels; the including file defines HLOKIT_ISA and HLOKIT_VECTOR_BYTES.
#pragma once

#include <string.h>

#include "ptxsim/lane_kernels.h"

namespace hlokit::ptx::HLOKIT_ISA {
namespace {

constexpr int kWarpLanes = 32;

#ifdef __FMA__
template <typename T, T (*fused)(T, T, T)>
void FuseLanes(const T* a, const T* b, const T* c, T* __restrict d) {
  for (int i = 0; i < kWarpLanes; ++i) d[i] = fused(a[i], b[i], c[i]);
}
inline float Fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double Fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
constexpr auto kFuseFloats = &FuseLanes<float, Fused>;
constexpr auto kFuseDoubles = &FuseLanes<double, Fused>;
#else
constexpr void (*kFuseFloats)(const float*, const float*, const float*, float*) = nullptr;
constexpr void (*kFuseDoubles)(const double*, const double*, const double*, double*) = nullptr;
#endif

bool ResolveWithin(const LaneAccess& access, const LanePiece& piece, std::byte** hosts) {
  // Addresses are below 2^63, so that a signed comparison tells what lies before the piece, too.
  const auto last = static_cast<int64_t>(piece.size - access.size);
  const uint64_t part = access.size - 1, host = reinterpret_cast<uint64_t>(piece.host);
  uint64_t places[kWarpLanes], wrong = 0;
  for (int i = 0; i < kWarpLanes; ++i) {
    const uint64_t address = access.addresses[i] + access.added, at = address - piece.address;
    const uint64_t outside = static_cast<uint64_t>((last - static_cast<int64_t>(at)) >> 63) |
                             static_cast<uint64_t>(static_cast<int64_t>(at) >> 63);
    const uint64_t in_mask = -static_cast<uint64_t>(access.mask >> i & 1);
    wrong |= in_mask & (outside | (address & part));
    places[i] = host + at;
  }
  memcpy(hosts, places, sizeof(places));
  return wrong == 0;
}

}  // namespace

const LaneKernels kLaneKernels = {kFuseFloats, kFuseDoubles, &ResolveWithin};

}  // namespace hlokit::ptx::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
