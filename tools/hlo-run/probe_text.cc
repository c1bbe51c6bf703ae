// Lines on standard output, places in the source.
#include "tools/hlo-run/probe_text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/source_line.h"
#include "support/diagnostics.h"
#include "tools/common/report.h"
#include "types/literal_text.h"

namespace hlokit {

void PrintOut(absl::string_view text) {
  ClearProgress();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string PlaceText(const Instruction& instruction) {
  const auto& source = instruction.module()->source();
  if (source == nullptr || !instruction.place().valid()) return "";
  const LineColumn at = source->Locate(instruction.place().offset);
  return absl::StrCat(source->name(), ":", at.line, ":", at.column, ": ");
}

std::string OriginText(const Instruction& instruction) {
  std::vector<std::string> parts;
  if (std::string line = SourceLine(instruction); !line.empty()) parts.push_back(std::move(line));
  const absl::string_view name = instruction.metadata().op_name;
  if (!name.empty()) parts.push_back(absl::StrCat("op_name ", name));
  return parts.empty() ? "" : absl::StrCat("  from ", absl::StrJoin(parts, ", "), "\n");
}

std::string OperandsText(const Instruction& instruction, absl::Span<const Literal> inputs,
                         absl::Span<const int64_t> index) {
  std::vector<std::string> parts;
  std::vector<const Instruction*> operands;  // each once, as the inputs are
  for (const Instruction* operand : instruction.operands())
    if (std::find(operands.begin(), operands.end(), operand) == operands.end())
      operands.push_back(operand);
  if (!HasTrait(instruction.opcode(), kElementwise) || operands.size() != inputs.size()) return "";
  for (size_t k = 0; k < operands.size(); ++k) {
    const Shape& shape = inputs[k].shape();
    if (!shape.IsArray() || shape.rank() != static_cast<int64_t>(index.size())) continue;
    bool inside = true;
    for (size_t d = 0; d < index.size(); ++d) inside &= index[d] < shape.dims[d];
    if (!inside) continue;
    Shape one;
    one.type = shape.type;
    Literal element(one);
    const int64_t bytes = element.byte_size();
    std::memcpy(element.data(), inputs[k].data() + inputs[k].LinearIndex(index) * bytes,
                static_cast<size_t>(bytes));
    std::string text;
    AppendText(text, element, LiteralTextOptions());
    parts.push_back(absl::StrCat("%", operands[k]->name(), " = ", text));
  }
  return parts.empty() ? "" : absl::StrCat("  there: ", absl::StrJoin(parts, ", "), "\n");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
