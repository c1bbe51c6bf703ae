// The table of facts, and the opcodes that names relate.
#include "ir/op_facts.h"

#include <array>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hlokit {
namespace {

constexpr std::array<OpFacts, kOpcodeCount> kFacts = {{
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, emit, cost, family, \
               operands)                                                                           \
  {CostClass::k##cost, Family::k##family, operands},
#include "ir/ops.def"
#undef HLO_OP
}};

constexpr absl::string_view kStart = "-start", kDone = "-done";

// Of each opcode, the other one that `name` makes of its text.
using Related = std::array<std::optional<Opcode>, kOpcodeCount>;

Related RelatedBy(std::string (*name)(absl::string_view text)) {
  Related related;
  for (int i = 0; i < kOpcodeCount; ++i) {
    const absl::string_view text = Text(static_cast<Opcode>(i));
    if (const std::string other = name(text); other != text) related[i] = OpcodeFromText(other);
  }
  return related;
}

// all-gather-start; send, which has no such form.
bool IsStart(absl::string_view text) {
  return absl::EndsWith(text, kStart) || !OpcodeFromText(absl::StrCat(text, kStart));
}

std::string DoneName(absl::string_view text) {
  if (!IsStart(text)) return std::string(text);
  return absl::StrCat(absl::StripSuffix(text, kStart), kDone);
}

std::string StartName(absl::string_view text) {
  if (!absl::ConsumeSuffix(&text, kDone)) return std::string(text);
  std::string start = absl::StrCat(text, kStart);
  return OpcodeFromText(start) ? start : std::string(text);
}

std::string WholeName(absl::string_view text) {
  return std::string(absl::StripSuffix(text, kStart));
}

}  // namespace

const OpFacts& Facts(Opcode opcode) { return kFacts[static_cast<size_t>(opcode)]; }

std::optional<Opcode> DoneOf(Opcode start) {
  static const Related* const table = new Related(RelatedBy(DoneName));
  return (*table)[static_cast<size_t>(start)];
}

std::optional<Opcode> StartOf(Opcode done) {
  static const Related* const table = new Related(RelatedBy(StartName));
  return (*table)[static_cast<size_t>(done)];
}

std::optional<Opcode> WholeOf(Opcode start) {
  static const Related* const table = new Related(RelatedBy(WholeName));
  return (*table)[static_cast<size_t>(start)];
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
