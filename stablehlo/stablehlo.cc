// The front door for StableHLO.
//
// A file is recognized by its first bytes (bytecode) or first words, since MLIR and HLO text may
// both begin with `module`: MLIR goes on with a symbol, attributes or a brace and operations.
// A text may hold several programs, in parts between lines `// -----` or as several public
// functions that nobody calls, as the files of StableHLO's tests do. Each becomes a module of its
// own, or an error of its own, so that one refused program does not hide the others.
// Cost: reading, conversion, verification; a part is read once for all its functions.
#include "stablehlo/stablehlo.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  // A protobuf message of a module whose name has 33 letters begins with a line feed and "!".
  for (const char c : bytes.substr(0, 256))
    if (absl::ascii_iscntrl(c) && !absl::ascii_isspace(c)) return false;
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

namespace {

constexpr absl::string_view kSeparator = "// -----";

// Whether the separator at `at` has a line for itself.
bool IsLine(absl::string_view text, size_t at) {
  if (at > 0 && text[at - 1] != '\n') return false;
  const size_t end = std::min(text.find('\n', at), text.size());
  return absl::StripTrailingAsciiWhitespace(text.substr(at, end - at)) == kSeparator;
}

// Where the parts of a text between separators begin and end; those of comments alone are left out.
std::vector<std::pair<size_t, size_t>> PartsOf(absl::string_view text) {
  std::vector<std::pair<size_t, size_t>> parts;
  size_t begin = 0;
  const auto end_part = [&](size_t end) {
    if (!Start(text.substr(begin, end - begin)).empty()) parts.emplace_back(begin, end);
    begin = end;
  };
  for (size_t at = text.find(kSeparator); at != text.npos; at = text.find(kSeparator, at + 1))
    if (IsLine(text, at)) end_part(at);
  end_part(text.size());
  if (parts.empty()) parts.emplace_back(0, text.size());
  return parts;
}

// The program of the file's text from `begin` to `end`.
absl::StatusOr<std::unique_ptr<MlirModule>> ReadPart(const std::shared_ptr<const SourceFile>& file,
                                                     size_t begin, size_t end) {
  const absl::string_view text = file->text().substr(0, end);
  return IsMlirBytecode(text) ? ReadMlirBytecode(text, file) : ReadMlirText(text, begin);
}

// The programs of the text from `begin` to `end`.
void AddPrograms(const std::shared_ptr<const SourceFile>& file, size_t begin, size_t end,
                 absl::Span<const DimVector> sizes, std::vector<StablehloProgram>& all) {
  const std::string unknown = absl::StrCat("part ", all.size() + 1);
  const auto program = ReadPart(file, begin, end);
  if (!program.ok()) {
    all.push_back({unknown, program.status(), {}});
    return;
  }
  const auto entries = EntriesOf(**program);
  if (!entries.ok()) {
    all.push_back({unknown, entries.status(), {}});
    return;
  }
  const bool bytecode = IsMlirBytecode(file->text());
  for (const std::string& entry : *entries) {
    EntryWishes wishes;
    absl::StatusOr<std::unique_ptr<Module>> module = ConvertMlir(**program, entry, &wishes, sizes);
    if (!module.ok() && bytecode) module = InByte(module.status());
    if (module.ok() && !bytecode) (*module)->set_source(file);
    all.push_back({entry, std::move(module), std::move(wishes)});
  }
}

}  // namespace

std::vector<StablehloProgram> ReadStablehloPrograms(const std::shared_ptr<const SourceFile>& file,
                                                    absl::Span<const DimVector> sizes) {
  std::vector<StablehloProgram> all;
  const absl::string_view text = file->text();
  if (IsMlirBytecode(text)) {
    AddPrograms(file, 0, text.size(), sizes, all);
    return all;
  }
  for (const auto& [begin, end] : PartsOf(text)) AddPrograms(file, begin, end, sizes, all);
  return all;
}

absl::StatusOr<std::unique_ptr<Module>> ReadStablehlo(const std::shared_ptr<const SourceFile>& file,
                                                      EntryWishes* wishes) {
  std::vector<StablehloProgram> all = ReadStablehloPrograms(file);
  if (all.size() == 1 && wishes != nullptr) *wishes = std::move(all[0].wishes);
  if (all.size() == 1) return std::move(all[0].module);
  for (const StablehloProgram& program : all) RETURN_IF_ERROR(program.module.status());
  return InvalidArgument("this file has ", all.size(), " programs (",
                         absl::StrJoin(all, ", ",
                                       [](std::string* out, const StablehloProgram& program) {
                                         absl::StrAppend(out, program.name);
                                       }),
                         "); hlo-run and hlo-opt take all, here it has to be one");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
