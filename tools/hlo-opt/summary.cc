// Lines of shapes without layouts.
#include "tools/hlo-opt/summary.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "types/shape.h"

namespace hlokit {
namespace {

std::string Plain(const Shape& shape) { return Text(shape.WithoutLayout()); }

std::string SignatureOf(const Computation& computation) {
  const auto named = [](std::string* out, const Instruction* parameter) {
    absl::StrAppend(out, parameter->name(), ": ", Plain(parameter->shape()));
  };
  return absl::StrCat("(", absl::StrJoin(computation.parameters(), ", ", named), ") -> ",
                      Plain(computation.root()->shape()), "\n");
}

std::string OperationsOf(const Module& module) {
  const auto typed = [](std::string* out, const Instruction* operand) {
    absl::StrAppend(out, Plain(operand->shape()));
  };
  std::string out;
  for (const Computation* computation : module.ComputationsPostOrder())
    for (const Instruction* i : computation->PostOrder())
      absl::StrAppend(&out, Text(i->opcode()), " :: (", absl::StrJoin(i->operands(), ", ", typed),
                      ") -> ", Plain(i->shape()), " :: ", module.name(), "\n");
  return out;
}

}  // namespace

bool IsSummary(absl::string_view format) { return format == "signature" || format == "operations"; }

std::string SummaryOf(const Module& module, absl::string_view format) {
  return format == "signature" ? SignatureOf(*module.entry()) : OperationsOf(module);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
