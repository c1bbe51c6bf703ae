// Every limit on what a text may hold, in one place; docs/limits.md explains them to users. Texts
// beyond one are refused with a message that names it.
#pragma once

#include <cstdint>

namespace hlokit {

// Of a text.
inline constexpr int64_t kMaxTextBytes = (int64_t{1} << 32) - 2;  // places are 32-bit offsets
inline constexpr int64_t kMaxWordBytes = int64_t{1} << 20;  // of a name, a number, any other word
// Brackets of every kind: tuple shapes, literals, bodies in place, shardings, bracketed values.
inline constexpr int kMaxNesting = 200;

// Of a shape.
// The dimensions of an array: kMaxRank in types/shape.h.
// Parts of tuples that the text does not spell out but implies (`t = tuple(s, s)`), in all of a
// module: thirty such lines would otherwise double a tuple to a billion parts.
inline constexpr int64_t kMaxImpliedParts = int64_t{1} << 19;

// Of a computation.
inline constexpr int64_t kMaxParameters = int64_t{1} << 20;  // numbers of parameters

// Of literals.
inline constexpr int64_t kMaxLiteralBytes = int64_t{4} << 30;
// Constants that a short text blows up (one number for an array of many), all of a module together.
inline constexpr int64_t kMaxFilledBytes = int64_t{512} << 20;

// Of attributes.
inline constexpr int64_t kMaxUnknownAttributes = 1000;    // of one instruction, kept as text
inline constexpr int64_t kMaxDevices = int64_t{1} << 20;  // of a sharding, a mesh, device groups

// Of messages.
inline constexpr int kMaxDiagnostics = 20;          // of each severity; later ones are only counted
inline constexpr int kMaxLineShown = 160;           // bytes of a source line around the column
inline constexpr int kMaxPartShown = 480;           // bytes of a name, a shape or other text quoted
inline constexpr int kMaxMessage = 2000;            // bytes of a message
inline constexpr int kMaxSuggestionTries = 10'000;  // names that are compared letter by letter
inline constexpr int kMaxSuggestionLength = 100;    // longer names get no "did you mean"

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
