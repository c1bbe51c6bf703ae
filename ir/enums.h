// Enumerations that attributes use, each with the spellings of HLO text.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace hlokit {

// One row an enumeration: HLO_ENUM(Name, ENUMERATOR("text")...); values are those of XLA's protobuf
// enums.
#define HLOKIT_ENUMS(ENUM)                                                                        \
  ENUM(ComparisonDirection,                                                                       \
       X(kEq, "EQ") X(kNe, "NE") X(kGe, "GE") X(kGt, "GT") X(kLe, "LE") X(kLt, "LT"))             \
  ENUM(ComparisonType, X(kDefault, "") X(kFloat, "FLOAT") X(kTotalOrder, "TOTALORDER")            \
                           X(kSigned, "SIGNED") X(kUnsigned, "UNSIGNED"))                         \
  ENUM(ConvolutionKind,                                                                           \
       X(kUnset, "unset") X(kFprop, "fprop") X(kDgrad, "dgrad") X(kWgrad, "wgrad"))               \
  ENUM(FftType, X(kFft, "FFT") X(kIfft, "IFFT") X(kRfft, "RFFT") X(kIrfft, "IRFFT"))              \
  ENUM(FusionKind,                                                                                \
       X(kLoop, "kLoop") X(kInput, "kInput") X(kOutput, "kOutput") X(kCustom, "kCustom"))         \
  ENUM(Precision, X(kDefault, "default") X(kHigh, "high") X(kHighest, "highest")                  \
                      X(kPackedNibble, "packed_nibble"))                                          \
  ENUM(RngDistribution,                                                                           \
       X(kInvalid, "rng_invalid") X(kUniform, "rng_uniform") X(kNormal, "rng_normal"))            \
  ENUM(RngAlgorithm,                                                                              \
       X(kDefault, "rng_default") X(kThreeFry, "rng_three_fry") X(kPhilox, "rng_philox"))         \
  ENUM(TriangularTranspose, X(kInvalid, "TRANSPOSE_INVALID") X(kNone, "NO_TRANSPOSE")             \
                                X(kTranspose, "TRANSPOSE") X(kAdjoint, "ADJOINT"))                \
  ENUM(CustomCallSchedule,                                                                        \
       X(kNone, "SCHEDULE_NONE") X(kLatest, "SCHEDULE_LATEST") X(kEarliest, "SCHEDULE_EARLIEST")) \
  ENUM(CustomCallApiVersion,                                                                      \
       X(kUnspecified, "API_VERSION_UNSPECIFIED") X(kOriginal, "API_VERSION_ORIGINAL")            \
           X(kStatusReturning, "API_VERSION_STATUS_RETURNING")                                    \
               X(kStatusReturningUnified, "API_VERSION_STATUS_RETURNING_UNIFIED")                 \
                   X(kTypedFfi, "API_VERSION_TYPED_FFI"))                                         \
  ENUM(PaddingType,                                                                               \
       X(kInvalid, "PADDING_INVALID") X(kValid, "PADDING_VALID") X(kSame, "PADDING_SAME"))

#define X(enumerator, text) enumerator,
#define HLOKIT_DECLARE_ENUM(name, rows) \
  enum class name : uint8_t { rows };   \
  absl::string_view Text(name value);   \
  bool EnumFromText(absl::string_view text, name& value);
HLOKIT_ENUMS(HLOKIT_DECLARE_ENUM)
#undef HLOKIT_DECLARE_ENUM
#undef X

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
