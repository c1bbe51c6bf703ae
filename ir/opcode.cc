// The opcode table and look-up by text.
#include "ir/opcode.h"

#include <array>

#include "support/text.h"

namespace hlokit {
namespace {

struct Arity {
  int min;
  bool exact;
};
constexpr Arity Exactly(int n) { return {n, true}; }
constexpr Arity AtLeast(int n) { return {n, false}; }

constexpr std::array<OpInfo, kOpcodeCount> kInfos = {{
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  {text, (arity).min, (arity).exact, CallForm::k##calls, static_cast<uint16_t>(traits)},
#include "ir/ops.def"
#undef HLO_OP
}};

// From text to opcode: each line of a module asks once.
class TextTable {
 public:
  TextTable() {
    slots_.fill(kNone);
    for (int i = 0; i < kOpcodeCount; ++i) {
      size_t at = HashText(kInfos[i].text) % kSlots;
      while (slots_[at] != kNone) at = (at + 1) % kSlots;
      slots_[at] = static_cast<uint8_t>(i);
      texts_[i] = kInfos[i].text;
    }
  }
  std::optional<Opcode> Find(absl::string_view text) const {
    size_t at = HashText(text) % kSlots;
    for (; slots_[at] != kNone; at = (at + 1) % kSlots)
      if (texts_[slots_[at]] == text) return static_cast<Opcode>(slots_[at]);
    return std::nullopt;
  }

 private:
  static constexpr size_t kSlots = 1024;
  static constexpr uint8_t kNone = 0xFF;
  static_assert(kOpcodeCount < kNone);
  std::array<uint8_t, kSlots> slots_;
  std::array<absl::string_view, kOpcodeCount> texts_;
};

}  // namespace

const OpInfo& Info(Opcode opcode) { return kInfos[static_cast<size_t>(opcode)]; }

std::optional<Opcode> OpcodeFromText(absl::string_view text) {
  static const TextTable* const table = new TextTable;
  return table->Find(text);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
