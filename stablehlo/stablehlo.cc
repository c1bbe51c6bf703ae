// The front door for StableHLO.
#include "stablehlo/stablehlo.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "stablehlo/bytecode/bytecode_reader.h"
#include "stablehlo/convert/converter.h"
#include "stablehlo/text/text_reader.h"
#include "support/status.h"

namespace hlokit {
namespace {

// What follows spaces and comments.
absl::string_view Start(absl::string_view text) {
  while (!text.empty()) {
    if (absl::StartsWith(text, "//")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (absl::StartsWith(text, " ") || absl::StartsWith(text, "\n") ||
               absl::StartsWith(text, "\t") || absl::StartsWith(text, "\r")) {
      text.remove_prefix(1);
    } else {
      break;
    }
  }
  return text;
}

// An operation of bytecode has an offset and no text.
absl::Status InByte(const absl::Status& status) {
  const SourcePlace place = PlaceOf(status);
  const absl::Status bare(status.code(), status.message());
  return place.valid() ? Annotate(bare, absl::StrCat("byte ", place.offset)) : bare;
}

}  // namespace

bool IsMlirBytecode(absl::string_view bytes) { return absl::StartsWith(bytes, "ML\xefR"); }

// HLO text may begin with a computation called `module`; MLIR goes on with a symbol or a brace, HLO
// with parentheses, and computations without any have instructions, not operations, inside.
bool IsMlir(absl::string_view bytes) {
  if (IsMlirBytecode(bytes)) return true;
  absl::string_view text = Start(bytes);
  for (const char* first : {"#loc", "func.func", "\"builtin.module\"", "\"func.func\"",
                            "builtin.module", "sdy.mesh", "#map", "!"})
    if (absl::StartsWith(text, first)) return true;
  if (absl::ConsumePrefix(&text, "module")) {
    text = Start(text);
    if (absl::StartsWith(text, "@") || absl::StartsWith(text, "attributes")) return true;
    if (!absl::ConsumePrefix(&text, "{")) return false;
    text = Start(text);
    for (const char* first : {"func", "}", "sdy.", "\"func", "#"})
      if (absl::StartsWith(text, first)) return true;
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Module>> ReadStablehlo(
    const std::shared_ptr<const SourceFile>& file) {
  if (IsMlirBytecode(file->text())) {
    ASSIGN_OR_RETURN(const auto program, ReadMlirBytecode(file->text()));
    absl::StatusOr<std::unique_ptr<Module>> module = ConvertMlir(*program);
    if (!module.ok()) return InByte(module.status());
    return module;
  }
  ASSIGN_OR_RETURN(const auto program, ReadMlirText(file->text()));
  ASSIGN_OR_RETURN(auto module, ConvertMlir(*program));
  module->set_source(file);
  return module;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
