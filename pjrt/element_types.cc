// Element types: the interface numbers them in the order in which it took them up.
//
// kTypes[n] is the type that the interface calls n (PRED is 1, S8 is 2, ...). The numbers are part
// of a binary interface, so the list only ever grows at its end; a type of ours without a number is
// INVALID there.
#include <array>

#include "pjrt/objects.h"
#include "support/status.h"

namespace hlokit {
namespace {

using enum ElementType;
constexpr std::array kTypes = {
    kInvalid,       kPred,       kS8,         kS16, kS32,  kS64,   kU8,   kU16,    kU32,
    kU64,           kF16,        kF32,        kF64, kBF16, kC64,   kC128, kF8E5M2, kF8E4M3FN,
    kF8E4M3B11FNUZ, kF8E5M2FNUZ, kF8E4M3FNUZ, kS4,  kU4,   kToken, kS2,   kU2,     kF8E4M3,
    kF8E3M4,        kF8E8M0FNU,  kF4E2M1FN,   kS1,  kU1};

}  // namespace

PJRT_Buffer_Type TypeToPjrt(ElementType type) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i] == type) return static_cast<PJRT_Buffer_Type>(i);
  return PJRT_Buffer_Type_INVALID;
}

absl::StatusOr<ElementType> TypeFromPjrt(PJRT_Buffer_Type type) {
  const auto number = static_cast<size_t>(type);
  if (number == 0 || number >= kTypes.size())
    return InvalidArgument("there is no element type ", number);
  return kTypes[number];
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
