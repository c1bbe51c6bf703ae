// The element types of MLIR by their spelling.
#include "stablehlo/ir/element_types.h"

#include "absl/container/flat_hash_map.h"

namespace hlokit {

ElementType MlirElementType(absl::string_view text) {
  using E = ElementType;
  static const auto& kTypes = *new absl::flat_hash_map<absl::string_view, ElementType>{
      {"i1", E::kPred},
      {"i2", E::kS2},
      {"i4", E::kS4},
      {"i8", E::kS8},
      {"i16", E::kS16},
      {"i32", E::kS32},
      {"i64", E::kS64},
      {"si2", E::kS2},
      {"si4", E::kS4},
      {"si8", E::kS8},
      {"si16", E::kS16},
      {"si32", E::kS32},
      {"si64", E::kS64},
      {"ui2", E::kU2},
      {"ui4", E::kU4},
      {"ui8", E::kU8},
      {"ui16", E::kU16},
      {"ui32", E::kU32},
      {"ui64", E::kU64},
      {"f16", E::kF16},
      {"bf16", E::kBF16},
      {"f32", E::kF32},
      {"f64", E::kF64},
      {"f8E5M2", E::kF8E5M2},
      {"ui1", E::kU1},
      {"f8E4M3FN", E::kF8E4M3FN},
      {"si1", E::kS1},
      {"f8E4M3B11FNUZ", E::kF8E4M3B11FNUZ},
      {"f8E4M3", E::kF8E4M3},
      {"f8E5M2FNUZ", E::kF8E5M2FNUZ},
      {"f8E3M4", E::kF8E3M4},
      {"f8E4M3FNUZ", E::kF8E4M3FNUZ},
      {"f8E8M0FNU", E::kF8E8M0FNU},
      {"f4E2M1FN", E::kF4E2M1FN},
  };
  const auto found = kTypes.find(text);
  return found == kTypes.end() ? ElementType::kInvalid : found->second;
}

void SetStorageRange(QuantizedElement& element, ElementType storage) {
  const bool is_signed = IsSigned(storage);
  const int bits = BitWidth(storage) - (is_signed ? 1 : 0);
  element.greatest = (int64_t{1} << bits) - 1;
  element.least = is_signed ? -element.greatest - 1 : 0;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
