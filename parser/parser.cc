// The entry points: whole modules, and the small texts that stand alone.
#include "parser/parser.h"

#include <limits>

#include "parser/literals_internal.h"
#include "parser/module_parser_internal.h"
#include "parser/shapes_internal.h"
#include "parser/shardings_internal.h"

namespace hlokit {
namespace {

// Reads all of `text` with `read(reader, value)`.
template <typename T, typename Fn>
absl::StatusOr<T> ReadWhole(absl::string_view text, Fn read) {
  const std::string copy(text);  // ends in NUL
  Diagnostics diagnostics;
  Reader reader(copy, diagnostics);
  T value;
  if (read(reader, value) && !reader.AtEnd()) reader.Expected("the end of the text");
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return value;
}

bool RefuseElided(Reader& reader, bool elided) {
  return !elided || reader.Error(reader.begin(), "the values are elided: {...}");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ParseModule(std::shared_ptr<const SourceFile> file,
                                                    const ParseOptions& options,
                                                    Diagnostics& diagnostics) {
  if (file->text().size() >= std::numeric_limits<uint32_t>::max()) {
    diagnostics.Error(SourcePlace(), "", "the text is larger than 4 GiB");
    return diagnostics.ToStatus();
  }
  const int errors_before = diagnostics.error_count();
  std::unique_ptr<Module> module = ModuleParser(file, options, diagnostics).Run();
  if (module != nullptr && diagnostics.error_count() == errors_before) return module;
  return diagnostics.ToStatus();
}

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  return ReadWhole<Shape>(
      text, [](Reader& r, Shape& shape) { return ReadShape(r, shape, MissingLayout::kNone); });
}

absl::StatusOr<Literal> ParseLiteral(absl::string_view text) {
  return ReadWhole<Literal>(text, [](Reader& r, Literal& literal) {
    bool elided = false;
    return ReadTypedLiteral(r, literal, elided) && RefuseElided(r, elided);
  });
}

absl::StatusOr<Literal> ParseLiteral(absl::string_view text, const Shape& shape) {
  return ReadWhole<Literal>(text, [&](Reader& r, Literal& literal) {
    bool elided = false;
    return ReadLiteral(r, shape, literal, elided) && RefuseElided(r, elided);
  });
}

absl::StatusOr<Sharding> ParseSharding(absl::string_view text) {
  return ReadWhole<Sharding>(text, ReadSharding);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
