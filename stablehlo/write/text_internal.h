// Types, values and attributes as MLIR's text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/attribute_types.h"
#include "types/literal.h"

namespace hlokit {

// `tensor<2x?xf32, #stablehlo.bounds<?, 4>>`, `!stablehlo.token`, `tuple<...>`.
std::string StablehloType(const Shape& shape);
// `a, b`.
std::string StablehloTypes(absl::Span<const Shape> shapes);
// `dense<...> : tensor<...>`.
std::string DenseText(const Literal& literal);
// `dense<[1, 0]> : tensor<2xindex>`: dimensions from minor to major.
std::string LayoutAttribute(const Shape& shape);
std::string QuotedMlir(absl::string_view text);
// `@name`, quoted where it has to be.
std::string SymbolText(absl::string_view name);

// The fields of an operation: `{a = 1 : i64, b = array<i64: 1, 2>}`.
class AttributeText {
 public:
  AttributeText& Add(absl::string_view name, absl::string_view value);
  AttributeText& Int(absl::string_view name, int64_t value);
  AttributeText& Ints(absl::string_view name, absl::Span<const int64_t> values);
  AttributeText& Bools(absl::string_view name, const std::vector<bool>& values);
  AttributeText& Flag(absl::string_view name, bool value);  // `true` or `false`
  // `name = #stablehlo<kind WORD>`.
  AttributeText& Enum(absl::string_view name, absl::string_view kind, absl::string_view word);
  // A table of numbers with rows of equal length, `columns` each.
  AttributeText& Table(absl::string_view name, const std::vector<std::vector<int64_t>>& rows,
                       int64_t columns);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// `[1, 2]`.
std::string MlirListText(absl::Span<const int64_t> values);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
