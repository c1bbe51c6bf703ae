// Which text of a module keeps all of it.
#include "printer/whole_text.h"

#include "absl/strings/str_cat.h"
#include "printer/writer_internal.h"

namespace hlokit {
namespace {

// `copy-start` and the like are operations of their own.
bool SugarIsTaken(Opcode wrapped) {
  return OpcodeFromText(absl::StrCat(Text(wrapped), "-start")).has_value();
}

// Read back, the wrapped instruction takes the operands of the start, all and in their order.
bool SugarKeeps(const Instruction& wrapped) {
  if (wrapped.IsConstant() || SugarIsTaken(wrapped.opcode()) ||
      wrapped.operand_count() != wrapped.parent()->parameter_count())
    return false;
  for (int64_t k = 0; k < wrapped.operand_count(); ++k)
    if (wrapped.operand(k) != wrapped.parent()->parameter(k)) return false;
  return true;
}

}  // namespace

PrintOptions WholeOptions(const Module& module) {
  PrintOptions options;
  options.large_constants = true;
  for (const Computation* computation : module.Computations())
    computation->ForEach([&](const Instruction* i) {
      const Instruction* const wrapped = WrappedInstruction(*i);
      // The start's backend_config is the one that is printed, and read for both.
      if (wrapped != nullptr &&
          (!SugarKeeps(*wrapped) || wrapped->backend_config() != i->backend_config()))
        options.sugar_async = false;
    });
  return options;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
