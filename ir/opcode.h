// Opcodes and what the table ops.def says of each.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace hlokit {

enum class Opcode : uint8_t {
#define HLO_OP(enumerator, ...) k##enumerator,
#include "ir/ops.def"
#undef HLO_OP
};

inline constexpr int kOpcodeCount = 0
#define HLO_OP(enumerator, ...) +1
#include "ir/ops.def"
#undef HLO_OP
    ;

// How the computations that an instruction calls are named in text, in printing order.
enum class CallForm : uint8_t {
  kNoCalls,
  kToApply,        // to_apply=%f (optional on ops such as call without one)
  kCondBody,       // condition=%c, body=%b
  kBranches,       // branch_computations={%a, %b}; two branches with a pred: true_computation=,
                   // false_computation=
  kSelectScatter,  // select=%s, scatter=%a
  kFusionCalls,    // calls=%f
  kAsyncCalls,     // calls=%f, or the sugared form all-reduce-start(...) etc.
  kCustomCalls,    // called_computations={%a, %b} (to_apply=/calls= are read too)
};

enum Trait : uint16_t {
  kNoTraits = 0,
  kElementwise = 1,  // each result element depends on the operands' elements at the same index
  kCommutative = 2,
  kMovesData = 4,    // results are operand elements (or a padding value), unchanged
  kCalls = 8,        // runs computations
  kSideEffect = 16,  // may not be removed or duplicated
  kCollective = 32,  // talks to other devices
  kAsyncStart = 64,
  kAsyncDone = 128,
  kExact = 256,  // of values of their types it makes one of its type: nothing is left to round
  kTranscendental = 512,      // a root, power, logarithm, or function of angles and the like
  kLayoutInsensitive = 1024,  // operand and result elements are named by index: any layouts will do
  kPicksElements = 2048,      // each result element is one of the operands', or its negative
  kVectorForm = 4096,         // elementwise; its emitter writes vectors as it writes single elements
  // The layout of the result, where none is stated, is that of the first or the second operand.
  kLayoutOfFirst = 8192,
  kLayoutOfSecond = 16384,
};

struct OpInfo {
  const char* text;
  int min_operands;
  bool exact;  // exactly min_operands
  CallForm calls;
  uint16_t traits;
};

const OpInfo& Info(Opcode opcode);
inline absl::string_view Text(Opcode opcode) { return Info(opcode).text; }
inline bool HasTrait(Opcode opcode, Trait trait) { return (Info(opcode).traits & trait) != 0; }
std::optional<Opcode> OpcodeFromText(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
