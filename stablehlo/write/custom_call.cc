// Custom calls: targets, configurations, layouts and aliases.
//
//   custom-call(x), custom_call_target="f", api_version=API_VERSION_TYPED_FFI, backend_config={a =
// 1}
//   ->  "stablehlo.custom_call"(%0) <{api_version = 4 : i32, backend_config = {a = 1}, ...}>
// A configuration that reads as an MLIR dictionary is written as fields: as the call's own for
// typed calls, else as the frontend's attribute mhlo.backend_config (ExtraAttributes). Any other is
// a string. A call may have parts that StableHLO has no words for (windows, literals, schedules):
// what can be written is copied into a fresh CustomCallAttrs, and a call that differs from it is
// refused. So an attribute that HLO gets one day is refused too, not lost.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "stablehlo/text/text_reader.h"
#include "stablehlo/write/forms_internal.h"
#include "stablehlo/write/text_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

std::string LayoutsText(absl::Span<const Shape> shapes) {
  return absl::StrCat("[",
                      absl::StrJoin(shapes, ", ",
                                    [](std::string* out, const Shape& shape) {
                                      absl::StrAppend(out, LayoutAttribute(shape));
                                    }),
                      "]");
}

std::string AliasesText(const std::vector<OutputAlias>& aliases) {
  return absl::StrCat(
      "[",
      absl::StrJoin(aliases, ", ",
                    [](std::string* out, const OutputAlias& alias) {
                      absl::StrAppend(
                          out, "#stablehlo.output_operand_alias<output_tuple_indices = [",
                          absl::StrJoin(alias.output, ", "), "], operand_index = ", alias.operand,
                          ", operand_tuple_indices = [", absl::StrJoin(alias.operand_index, ", "),
                          "]>");
                    }),
      "]");
}

}  // namespace

std::string FieldsOfConfig(const Instruction& i) {
  if (!i.extras().backend_config_is_raw) return "";
  const absl::string_view config = i.backend_config();
  MlirModule owner;
  const auto read = ReadMlirAttribute(config, owner);
  const bool fields = read.ok() && (*read)->kind == MlirAttribute::Kind::kDict;
  return fields ? std::string(config.data(), config.size()) : "";
}

absl::StatusOr<AttributeText> WrittenCustomCall(const Instruction& i) {
  const auto& call = i.attr<CustomCallAttrs>();
  CustomCallAttrs known;  // what has an equal
  known.target = call.target;
  known.operand_layout_constraints = call.operand_layout_constraints;
  known.has_side_effect = call.has_side_effect;
  known.output_to_operand_aliasing = call.output_to_operand_aliasing;
  known.api_version = call.api_version;
  if (!(known == call))
    return Unimplemented("custom-call: windows, literals and schedules have no equal in StableHLO");
  AttributeText text;
  text.Add("api_version", absl::StrCat(static_cast<int>(call.api_version), " : i32"));
  const std::string config(i.backend_config().data(), i.backend_config().size());
  const std::string fields = FieldsOfConfig(i);
  if (call.api_version == CustomCallApiVersion::kTypedFfi && !fields.empty()) {
    text.Add("backend_config", fields);
  } else if (!config.empty() && fields.empty()) {
    text.Add("backend_config", QuotedMlir(config));
  }
  text.Add("call_target_name", QuotedMlir(call.target));
  text.Flag("has_side_effect", call.has_side_effect);
  if (call.operand_layout_constraints) {
    text.Add("operand_layouts", LayoutsText(*call.operand_layout_constraints));
    const Shape& shape = i.shape();
    text.Add("result_layouts", LayoutsText(shape.IsTuple() ? absl::MakeConstSpan(shape.elements)
                                                           : absl::MakeConstSpan(&shape, 1)));
  }
  if (!call.output_to_operand_aliasing.empty())
    text.Add("output_operand_aliases", AliasesText(call.output_to_operand_aliasing));
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
