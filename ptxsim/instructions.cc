// The table of instructions.
#include <iterator>

#include "absl/container/flat_hash_map.h"
#include "ptxsim/bind_internal.h"

namespace hlokit::ptx {
namespace {

constexpr InstructionRow kRows[] = {
#define HLOKIT_PTX_INSTRUCTION(mnemonic, bind, least, most, modifiers, types) \
  {#mnemonic, &bind, least, most, modifiers, types},
#include "ptxsim/instructions.def"
#undef HLOKIT_PTX_INSTRUCTION
};

}  // namespace

const InstructionRow* FindInstruction(absl::string_view mnemonic) {
  static const auto& table = *[] {
    auto* rows = new absl::flat_hash_map<absl::string_view, const InstructionRow*>();
    for (const InstructionRow& row : kRows) rows->emplace(row.mnemonic, &row);
    return rows;
  }();
  const auto found = table.find(mnemonic);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
