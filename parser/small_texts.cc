// The entry points that read a text as one value: shapes, literals, shardings, attribute values.
#include <algorithm>

#include "parser/extras_internal.h"
#include "parser/literals_internal.h"
#include "parser/metadata_internal.h"
#include "parser/origins_internal.h"
#include "parser/parser.h"
#include "parser/shapes_internal.h"
#include "parser/shardings_internal.h"
#include "parser/values_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Reads all of `text` with `read(reader, value)`.
template <typename T, typename Fn>
absl::StatusOr<T> ReadWhole(absl::string_view text, Fn read) {
  const std::string copy(text);  // ends in NUL
  Diagnostics diagnostics;
  Reader reader(copy, diagnostics);
  T value{};
  if (read(reader, value) && !reader.AtEnd()) reader.Expected("the end of the text");
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return value;
}

// As an attribute's value is read.
template <typename T>
absl::StatusOr<T> ReadAttributeValue(absl::string_view text) {
  return ReadWhole<T>(text, [](Reader& r, T& value) { return ReadValue(r, value); });
}

// `read(reader, literal, forms)`; elided values are an error.
template <typename Fn>
absl::StatusOr<Literal> ReadWholeLiteral(absl::string_view text, Fn read) {
  return ReadWhole<Literal>(text, [&](Reader& r, Literal& literal) {
    LiteralForms forms{.sizes = true};
    return read(r, literal, forms) &&
           (!forms.elided || r.Error(r.begin(), "the values are elided: {...}"));
  });
}

}  // namespace

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  return ReadWhole<Shape>(
      text, [](Reader& r, Shape& shape) { return ReadShape(r, shape, MissingLayout::kNone); });
}

absl::StatusOr<Layout> ParseLayout(absl::string_view text) {
  const absl::string_view order = text.substr(0, std::min(text.find(':'), text.find('}')));
  const bool empty = order.find_first_of("0123456789") == absl::string_view::npos;
  const auto rank = empty ? 0 : std::count(order.begin(), order.end(), ',') + 1;
  if (rank > kMaxRank) return InvalidArgument("a layout has at most ", kMaxRank, " dimensions");
  return ReadWhole<Layout>(text, [&](Reader& r, Layout& layout) {
    Shape shape = Shape::Array(ElementType::kF32, DimVector(rank, 1));
    if (!ReadLayout(r, shape)) return false;
    layout = std::move(shape.layout);
    return true;
  });
}

absl::StatusOr<EntryLayout> ParseEntryLayout(absl::string_view text) {
  return ReadWhole<EntryLayout>(text, [](Reader& r, EntryLayout& layout) {
    return r.Peek() == '{' ? r.Eat('{', "") && ReadEntryLayout(r, layout) &&
                                 r.Eat('}', "after the entry's layout")
                           : ReadEntryLayout(r, layout);
  });
}

absl::StatusOr<Literal> ParseLiteral(absl::string_view text) {
  return ReadWholeLiteral(text, ReadTypedLiteral);
}

absl::StatusOr<Literal> ParseLiteral(absl::string_view text, const Shape& shape) {
  return ReadWholeLiteral(text, [&](Reader& r, Literal& literal, LiteralForms& forms) {
    return ReadLiteral(r, shape, literal, forms);
  });
}

absl::StatusOr<Sharding> ParseSharding(absl::string_view text) {
  return ReadWhole<Sharding>(text, ReadSharding);
}

absl::StatusOr<ReplicaGroups> ParseReplicaGroups(absl::string_view text) {
  return ReadAttributeValue<ReplicaGroups>(text);
}

absl::StatusOr<RawText> ParseDotAlgorithm(absl::string_view text) {
  return ReadAttributeValue<RawText>(text);
}

absl::StatusOr<IntPairs> ParseSourceTargetPairs(absl::string_view text) {
  return ReadAttributeValue<IntPairs>(text);
}

absl::StatusOr<Window> ParseWindow(absl::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != absl::string_view::npos && text[first] == '{')
    return ReadAttributeValue<Window>(text);
  return ReadWhole<Window>(text, ReadWindowParts);
}

absl::StatusOr<ConvDims> ParseConvolutionDimensionNumbers(absl::string_view text) {
  return ReadAttributeValue<ConvDims>(text);
}

absl::StatusOr<PaddingConfig> ParsePaddingConfig(absl::string_view text) {
  return ReadAttributeValue<PaddingConfig>(text);
}

absl::StatusOr<SliceSpec> ParseSlice(absl::string_view text) {
  return ReadAttributeValue<SliceSpec>(text);
}

absl::StatusOr<ShapeIndex> ParseShapeIndex(absl::string_view text) {
  return ReadAttributeValue<ShapeIndex>(text);
}

absl::StatusOr<std::vector<OutputAlias>> ParseOutputAliases(absl::string_view text) {
  return ReadAttributeValue<std::vector<OutputAlias>>(text);
}

absl::StatusOr<std::vector<InputOutputAlias>> ParseInputOutputAliases(absl::string_view text) {
  return ReadWhole<std::vector<InputOutputAlias>>(text, ReadAliases);
}

absl::StatusOr<std::vector<BufferDonor>> ParseBufferDonors(absl::string_view text) {
  return ReadWhole<std::vector<BufferDonor>>(text, ReadDonors);
}

absl::StatusOr<SparsityConfig> ParseSparsityConfig(absl::string_view text) {
  return ReadAttributeValue<SparsityConfig>(text);
}

absl::StatusOr<std::string> ParseStatistics(absl::string_view text) {
  return ReadWhole<std::string>(text, ReadStatistics);
}

absl::StatusOr<std::string> ParseOrigin(absl::string_view text) {
  return ReadWhole<std::string>(text, ReadOrigin);
}

absl::StatusOr<std::vector<bool>> ParseBooleans(absl::string_view text) {
  return ReadAttributeValue<std::vector<bool>>(text);
}

absl::StatusOr<Domain> ParseDomain(absl::string_view text) {
  return ReadAttributeValue<Domain>(text);
}

absl::StatusOr<ResultAccuracy> ParseResultAccuracy(absl::string_view text) {
  return ReadAttributeValue<ResultAccuracy>(text);
}

absl::StatusOr<OpMetadata> ParseMetadata(absl::string_view text, const ParseOptions& options) {
  return ReadWhole<OpMetadata>(text, [&](Reader& r, OpMetadata& metadata) {
    SharedTextCache texts;
    return ReadMetadata(r, options.allow_unknown_attributes, texts, metadata);
  });
}

absl::StatusOr<FrontendAttributes> ParseFrontendAttributes(absl::string_view text) {
  return ReadWhole<FrontendAttributes>(text, ReadFrontendAttributes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
