// What a module's own attributes say of its header, which XLA writes there when it makes StableHLO
// of HLO:
//
//   mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>,
//                                        parameter_number = 0 : i64}, output_index = array<i64:
//                                        1>}]
//     -> input_output_alias={ {1}: (0, {}, may-alias) }
//   mhlo.xla_entry_computation_parameter_layouts = [dense<[0, 1]> : tensor<2xindex>], and
//   mhlo.xla_entry_computation_result_layout
//     -> entry_computation_layout={(f32[2,3]{0,1})->...}
//   mhlo.frontend_attributes = {a = "b"}
//     -> frontend_attributes={a="b"}
#include <algorithm>

#include "stablehlo/convert/converter_internal.h"
#include "stablehlo/ir/print.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::StatusOr<InputOutputAlias> AliasOf(const MlirAttribute& row, const Module& module) {
  const OpAttributes attributes("module", row.fields);
  ASSIGN_OR_RETURN(const OpAttributes inner, attributes.OptionalFields("alias"));
  InputOutputAlias alias;
  ASSIGN_OR_RETURN(const DimVector output, attributes.OptionalInts("output_index"));
  ASSIGN_OR_RETURN(const DimVector inside, inner.OptionalInts("parameter_index"));
  ASSIGN_OR_RETURN(alias.parameter, inner.Int("parameter_number"));
  ASSIGN_OR_RETURN(const std::string kind, inner.Word("kind", "may_alias"));
  alias.output.assign(output.begin(), output.end());
  alias.parameter_index.assign(inside.begin(), inside.end());
  alias.must_alias = kind == "must_alias";
  if (alias.parameter < 0 || alias.parameter >= module.entry()->parameter_count())
    return InvalidArgument("mhlo.input_output_alias: there is no parameter ", alias.parameter);
  return alias;
}

absl::Status ConvertAliases(const MlirAttribute& rows, Module& module) {
  std::vector<InputOutputAlias>& aliases = module.header().aliases;
  for (const MlirAttribute* row : rows.elements) {
    ASSIGN_OR_RETURN(InputOutputAlias alias, AliasOf(*row, module));
    if (std::find(aliases.begin(), aliases.end(), alias) == aliases.end())
      aliases.push_back(std::move(alias));
  }
  return absl::OkStatus();
}

// A layout for each of the shapes; those of tuples are lists of layouts.
absl::Status SetLayouts(absl::Span<const MlirAttribute* const> layouts, absl::Span<Shape> shapes) {
  if (layouts.size() != shapes.size())
    return InvalidArgument("the module has ", layouts.size(), " layouts for ", shapes.size(),
                           " values");
  for (size_t i = 0; i < layouts.size(); ++i) {
    if (shapes[i].IsTuple()) {
      RETURN_IF_ERROR(SetLayouts(layouts[i]->elements, absl::MakeSpan(shapes[i].elements)));
      continue;
    }
    ASSIGN_OR_RETURN(shapes[i], WithLayout(shapes[i], *layouts[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertModuleAttributes(const MlirOperation& top, Module& module) {
  ModuleHeader& header = module.header();
  if (const MlirAttribute* aliases = top.Find("mhlo.input_output_alias"))
    RETURN_IF_ERROR(ConvertAliases(*aliases, module));
  EntryLayout& entry = *header.entry_layout;
  if (const MlirAttribute* all = top.Find("mhlo.xla_entry_computation_parameter_layouts"))
    RETURN_IF_ERROR(SetLayouts(all->elements, absl::MakeSpan(entry.parameters)));
  if (const MlirAttribute* all = top.Find("mhlo.xla_entry_computation_result_layout")) {
    const bool tuple = entry.result.IsTuple();
    RETURN_IF_ERROR(SetLayouts(all->elements, tuple ? absl::MakeSpan(entry.result.elements)
                                                    : absl::MakeSpan(&entry.result, 1)));
  }
  if (const MlirAttribute* all = top.Find("mhlo.frontend_attributes"))
    for (const auto& [name, value] : all->fields)
      header.frontend_attributes.emplace_back(
          name, value->kind == MlirAttribute::Kind::kString ? value->text : PrintMlir(*value));
  std::sort(header.frontend_attributes.begin(), header.frontend_attributes.end());
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
