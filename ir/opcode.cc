// The opcode table and look-up by text.
#include "ir/opcode.h"

#include <array>

#include "absl/container/flat_hash_map.h"

namespace hlokit {
namespace {

struct Arity {
  int min;
  bool exact;
};
constexpr Arity Exactly(int n) { return {n, true}; }
constexpr Arity AtLeast(int n) { return {n, false}; }

constexpr std::array<OpInfo, kOpcodeCount> kInfos = {{
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate) \
  {text, (arity).min, (arity).exact, CallForm::k##calls, static_cast<uint16_t>(traits)},
#include "ir/ops.def"
#undef HLO_OP
}};

}  // namespace

const OpInfo& Info(Opcode opcode) { return kInfos[static_cast<size_t>(opcode)]; }

std::optional<Opcode> OpcodeFromText(absl::string_view text) {
  static const auto* const by_text = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, Opcode>;
    for (int i = 0; i < kOpcodeCount; ++i) (*map)[kInfos[i].text] = static_cast<Opcode>(i);
    return map;
  }();
  auto found = by_text->find(text);
  if (found == by_text->end()) return std::nullopt;
  return found->second;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
