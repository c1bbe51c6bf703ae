// For tests of scalar operations: element values as bit patterns, run through compiled loops.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "codegen/math/jit_internal.h"
#include "codegen/scalars/ops.h"

namespace hlokit {

using T = ElementType;
using Patterns = std::vector<uint64_t>;  // one bit pattern an element, as in memory
using Emit =
    std::function<ScalarValue(llvm::IRBuilderBase&, const ScalarValue&, const ScalarValue&)>;

inline constexpr T kNarrowFloats[] = {
    T::kF16,           T::kBF16,       T::kF8E5M2,     T::kF8E4M3FN, T::kF8E4M3,   T::kF8E3M4,
    T::kF8E4M3B11FNUZ, T::kF8E5M2FNUZ, T::kF8E4M3FNUZ, T::kF4E2M1FN, T::kF8E8M0FNU};
inline constexpr T kIntegers[] = {T::kS1, T::kS2, T::kS4, T::kS8, T::kS16, T::kS32, T::kS64,
                                  T::kU1, T::kU2, T::kU4, T::kU8, T::kU16, T::kU32, T::kU64};

std::string Name(T type);

// The bits of one value as another type, zero-extended or cut.
template <typename To, typename From>
To Cast(From from) {
  To to{};
  std::memcpy(&to, &from, sizeof to < sizeof from ? sizeof to : sizeof from);
  return to;
}

// out[i] = emit(x[i], y[i]) through compiled code.
Patterns RunLoop(T x_type, T y_type, T out_type, const Emit& emit, const Patterns& x,
                 const Patterns& y);
Patterns RunUnary(Opcode opcode, T type, const Patterns& x);
Patterns RunBinary(Opcode opcode, T type, const Patterns& x, const Patterns& y);
Patterns RunConvert(T from, T to, const Patterns& x);

// Every pattern of a type of up to 16 bits.
Patterns AllPatterns(T type);
// Floats from everywhere: random patterns, values near those of narrow formats, ties among them.
std::vector<double> ManyFloats();
// All pairs of small integer types, special and random pairs of large ones.
void IntegerPairs(T type, Patterns& x, Patterns& y);

// The mathematical value of an integer pattern, and back by wrapping.
__int128 ValueOf(T type, uint64_t bits);
uint64_t PatternOf(T type, __int128 value);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
