// Forms that XLA's importer writes otherwise than JAX: precisions always, no order of comparisons
// that the type tells, and beside them layouts that are not row-major.
#include "absl/strings/str_cat.h"
#include "stablehlo/write/forms_internal.h"

namespace hlokit {
namespace {

void AddDefaultPrecision(WrittenForm& form) {
  constexpr absl::string_view kDefault = "#stablehlo<precision DEFAULT>";
  if (form.attributes.find("precision_config") != std::string::npos) return;
  absl::StrAppend(&form.attributes, form.attributes.empty() ? "" : ", ", "precision_config = [",
                  kDefault, ", ", kDefault, "]");
}

void LeaveOutOrder(const Instruction& i, WrittenForm& form) {
  const auto& compare = i.attr<CompareAttrs>();
  if (compare.type == ComparisonType::kTotalOrder && IsFloat(i.operand(0)->shape().type)) return;
  form.attributes =
      AttributeText()
          .Enum("comparison_direction", "comparison_direction", Text(compare.direction))
          .text();
}

}  // namespace

void AsImporterWrites(const Instruction& i, WrittenForm& form) {
  if (i.opcode() == Opcode::kCompare) {
    LeaveOutOrder(i, form);
  } else if (i.opcode() == Opcode::kDot || i.opcode() == Opcode::kConvolution) {
    AddDefaultPrecision(form);
  } else if (i.opcode() == Opcode::kAfterAll && i.operand_count() == 0) {
    form.name = "stablehlo.create_token";
  }
}

std::string ImporterExtras(const Instruction& i) {
  AttributeText text;
  const Shape& shape = i.shape();
  const bool own_layout =
      shape.IsArray() && shape.MinorToMajor() != shape.WithDefaultLayout().MinorToMajor();
  if (own_layout) text.Add("result_layout", LayoutAttribute(shape));
  if (own_layout || shape.IsToken())
    text.Add("xla_shape", QuotedMlir(Text(shape, /*with_layout=*/own_layout)));
  return text.text();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
