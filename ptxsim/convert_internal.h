// What conversions of single values and of packs share: their modifiers.
#pragma once

#include "ptxsim/bind_internal.h"
#include "ptxsim/rounding.h"

namespace hlokit::ptx {

enum ConvertFlags : uint32_t { kFtz = 1, kSat = 2, kRelu = 4, kToIntegral = 8, kSatFinite = 16 };

inline Rounding RoundingOf(const Binder& b) {
  if (b.Has("rz") || b.Has("rzi")) return Rounding::kZero;
  if (b.Has("rm") || b.Has("rmi")) return Rounding::kDown;
  if (b.Has("rp") || b.Has("rpi")) return Rounding::kUp;
  if (b.Has("rna")) return Rounding::kNearestAway;
  return Rounding::kNearest;
}
inline bool HasIntegral(const Binder& b) {
  return b.Has("rni") || b.Has("rzi") || b.Has("rmi") || b.Has("rpi");
}
inline uint32_t FlagsOf(const Binder& b) {
  return When(b.Has("ftz"), kFtz) | When(b.Has("sat"), kSat) | When(b.Has("relu"), kRelu) |
         When(HasIntegral(b), kToIntegral) | When(b.Has("satfinite"), kSatFinite);
}

// Conversions to and from packs, and to tf32; false where the instruction has none.
bool BindPackedCvt(Binder& b);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
