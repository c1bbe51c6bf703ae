// Attributes as the operations of StableHLO print them.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "stablehlo/ir/print.h"
#include "stablehlo/write/pretty_attributes_internal.h"
#include "stablehlo/write/text_internal.h"

namespace hlokit {

std::string TypeText(const MlirType& type) {
  if (type.kind == MlirType::Kind::kScalar || type.is_index || !type.HasShape())
    return PrintMlir(type);
  return StablehloType(type.shape);
}

std::string NumbersOf(const MlirAttribute* list) {
  if (list == nullptr) return "";
  if (list->kind == MlirAttribute::Kind::kInts) return absl::StrJoin(list->ints, ", ");
  return absl::StrJoin(list->elements, ", ", [](std::string* out, const MlirAttribute* element) {
    absl::StrAppend(out, element->integer);
  });
}

std::string AttributeOf(const MlirAttribute& a) {
  const auto list = [](std::string* out, const MlirAttribute* element) {
    absl::StrAppend(out, AttributeOf(*element));
  };
  if (a.kind == MlirAttribute::Kind::kArray)
    return absl::StrCat("[", absl::StrJoin(a.elements, ", ", list), "]");
  absl::string_view word = a.tag;
  if (a.kind == MlirAttribute::Kind::kEnum && absl::ConsumePrefix(&word, "stablehlo."))
    return absl::StrCat("#stablehlo<", word, " ", a.text, ">");
  if (a.kind != MlirAttribute::Kind::kDict) return PrintMlir(a);
  std::vector<std::string> fields;
  for (const auto& [name, value] : a.fields) {
    const bool empty = (value->kind == MlirAttribute::Kind::kArray && value->elements.empty()) ||
                       (value->kind == MlirAttribute::Kind::kInts && value->ints.empty());
    if (empty && !a.tag.empty() && a.tag != "stablehlo.output_operand_alias") continue;
    if (name == "index_vector_dim" && value->integer == 0) continue;
    const bool numbers = !a.tag.empty() && (value->kind == MlirAttribute::Kind::kInts ||
                                            value->kind == MlirAttribute::Kind::kArray);
    const bool number = !a.tag.empty() && value->kind == MlirAttribute::Kind::kInt;
    fields.push_back(value->kind == MlirAttribute::Kind::kUnit ? name
                     : numbers ? absl::StrCat(name, " = [", NumbersOf(value), "]")
                     : number  ? absl::StrCat(name, " = ", value->integer)
                               : absl::StrCat(name, " = ", AttributeOf(*value)));
  }
  if (a.tag.empty()) std::sort(fields.begin(), fields.end());
  const std::string all = absl::StrJoin(fields, ", ");
  return a.tag.empty() ? absl::StrCat("{", all, "}") : absl::StrCat("#", a.tag, "<", all, ">");
}

std::string ConvolutionLabels(const MlirAttribute& numbers, absl::string_view part,
                              const DimensionNames& named) {
  std::map<int64_t, std::string> labels;
  for (const auto& [field, label] : named)
    if (const MlirAttribute* at = numbers.Field(absl::StrCat(part, "_", field, "_dimension")))
      labels[at->integer] = std::string(label);
  const MlirAttribute* spatial = numbers.Field(absl::StrCat(part, "_spatial_dimensions"));
  int64_t next = 0;
  if (spatial != nullptr && spatial->kind == MlirAttribute::Kind::kInts)
    for (const int64_t d : spatial->ints) labels[d] = absl::StrCat(next++);
  if (spatial != nullptr && spatial->kind == MlirAttribute::Kind::kArray)
    for (const MlirAttribute* d : spatial->elements) labels[d->integer] = absl::StrCat(next++);
  const auto label = [](std::string* out, const auto& one) { absl::StrAppend(out, one.second); };
  return absl::StrCat("[", absl::StrJoin(labels, ", ", label), "]");
}

std::string WindowPart(const MlirAttribute& value, absl::string_view part) {
  std::vector<std::string> rows;
  if (value.kind != MlirAttribute::Kind::kDense) {
    for (const int64_t number : value.ints)
      rows.push_back(part != "reverse" ? absl::StrCat(number) : number != 0 ? "true" : "false");
    return absl::StrCat("[", absl::StrJoin(rows, ", "), "]");
  }
  const Literal& literal = *value.literal;
  const auto at = [&](int64_t i) {
    return literal.shape().IsScalar() ? literal.GetInt(0) : literal.GetInt(i);
  };
  const int64_t count = value.type->shape.ElementCount();
  for (int64_t i = 0; i + 1 < count; i += 2)
    rows.push_back(absl::StrCat("[", at(i), ", ", at(i + 1), "]"));
  return absl::StrCat("[", absl::StrJoin(rows, ", "), "]");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
