// Where names stand in HLO text: computations, definitions, uses. Everything is read off the text
// as it is typed, so that it works in a text that does not parse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hlokit {

struct TextSpan {
  uint32_t begin = 0, end = 0;  // bytes
  bool operator==(const TextSpan&) const = default;
};

struct ComputationSpan {
  std::string name;    // without %
  TextSpan name_span;  // without %
  uint32_t begin = 0;  // of the line of its name
  uint32_t body = 0;   // after the opening brace
  uint32_t end = 0;    // after the closing one, or the text's end
  bool is_entry = false;
  bool operator==(const ComputationSpan&) const = default;
};

// All computations of a text, in order.
std::vector<ComputationSpan> FindComputations(absl::string_view text);
// The one whose lines hold `offset`; null where none does.
const ComputationSpan* ComputationAt(const std::vector<ComputationSpan>& spans, uint32_t offset);

enum class NameKind : uint8_t { kInstruction, kComputation, kOther };
struct NameAt {
  NameKind kind = NameKind::kOther;
  TextSpan span;  // without %
  std::string name;
};
// The name at `offset` (or ending there); nullopt where there is none: blanks, strings, comments.
std::optional<NameAt> FindName(absl::string_view text, uint32_t offset,
                               const std::vector<ComputationSpan>& spans);

// Where an instruction is defined; nullopt where it is not.
std::optional<TextSpan> FindDefinition(absl::string_view text, const ComputationSpan& in,
                                       absl::string_view name);
// All places of an instruction's name in its computation, its definition among them.
std::vector<TextSpan> InstructionPlaces(absl::string_view text, const ComputationSpan& in,
                                        absl::string_view name);
// All places of a computation's name, its head among them.
std::vector<TextSpan> ComputationPlaces(absl::string_view text,
                                        const std::vector<ComputationSpan>& spans,
                                        absl::string_view name);

// A line that defines an instruction: its name, and its opcode where one can be seen.
struct DefinitionLine {
  TextSpan name, opcode;
  bool is_root = false;
};
// The definition that begins on this line, whose first byte is `offset`.
std::optional<DefinitionLine> ReadDefinition(absl::string_view line, uint32_t offset);

bool IsNameByte(char c);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
