// Lines on standard output, places in the source.
#include "tools/hlo-run/probe_text.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "support/diagnostics.h"
#include "tools/common/report.h"

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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
