// Layouts are listed from the fastest dimension in memory to the slowest, as in HLO, and only where
// one is not row-major.
#include "stablehlo/write/module_attributes_internal.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "stablehlo/write/body_writer_internal.h"
#include "stablehlo/write/text_internal.h"

namespace hlokit {
namespace {

std::string FrontendFields(const Module& module) {
  AttributeText fields;
  for (const auto& [key, value] : module.header().frontend_attributes)
    fields.Add(QuotedMlir(key), QuotedMlir(value));
  return absl::StrCat("{", fields.text(), "}");
}

std::string AliasText(const InputOutputAlias& alias) {
  AttributeText inner, row;
  inner.Add("kind", QuotedMlir(alias.must_alias ? "must_alias" : "may_alias"))
      .Ints("parameter_index", alias.parameter_index)
      .Int("parameter_number", alias.parameter);
  row.Add("alias", absl::StrCat("{", inner.text(), "}")).Ints("output_index", alias.output);
  return absl::StrCat("{", row.text(), "}");
}

bool HasOwnLayout(const Shape& shape) {
  const std::vector<Shape> leaves = LeavesOf(shape);
  return std::any_of(leaves.begin(), leaves.end(), [](const Shape& leaf) {
    const DimVector order = leaf.MinorToMajor();
    return leaf.IsArray() && !std::is_sorted(order.rbegin(), order.rend());
  });
}

// One for each array, in lists for tuples.
std::string LayoutTree(const Shape& shape) {
  if (shape.IsTuple())
    return absl::StrCat("[",
                        absl::StrJoin(shape.elements, ", ",
                                      [](std::string* out, const Shape& element) {
                                        out->append(LayoutTree(element));
                                      }),
                        "]");
  return LayoutAttribute(shape);
}

// No tiles for each array.
std::string TilesTree(const Shape& shape) {
  if (!shape.IsTuple()) return "[]";
  return absl::StrCat("[",
                      absl::StrJoin(shape.elements, ", ",
                                    [](std::string* out, const Shape& element) {
                                      out->append(TilesTree(element));
                                    }),
                      "]");
}

// What layouts and tiles are of: a tuple of the parameters and one of the results.
void AddLayouts(AttributeText& text, absl::string_view of, absl::string_view plural,
                const Shape& shapes) {
  text.Add(absl::StrCat("mhlo.xla_entry_computation_", of, "_layout", plural), LayoutTree(shapes));
  text.Add(absl::StrCat("mhlo.xla_entry_computation_", of, "_tiles"), TilesTree(shapes));
}

}  // namespace

std::string ProgramAttributes(const Module& module) {
  AttributeText text;
  if (!module.header().frontend_attributes.empty())
    text.Add("mhlo.frontend_attributes", FrontendFields(module));
  text.Add("mhlo.num_partitions", absl::StrCat(module.header().num_partitions, " : i32"));
  text.Add("mhlo.num_replicas", absl::StrCat(module.header().replica_count, " : i32"));
  return text.text();
}

std::string ImporterAttributes(const Module& module, bool flatten) {
  const ModuleHeader& header = module.header();
  AttributeText text;
  text.Add("mhlo.cross_program_prefetches", "[]");
  if (!header.frontend_attributes.empty())
    text.Add("mhlo.frontend_attributes", FrontendFields(module));
  text.Add("mhlo.input_output_alias",
           absl::StrCat("[",
                        absl::StrJoin(header.aliases, ", ",
                                      [](std::string* out, const InputOutputAlias& alias) {
                                        out->append(AliasText(alias));
                                      }),
                        "]"));
  text.Flag("mhlo.is_dynamic", false).Flag("mhlo.use_auto_spmd_partitioning", false);
  if (!header.entry_layout) return text.text();
  Shape parameters = Shape::Tuple(header.entry_layout->parameters);
  Shape results = header.entry_layout->result;
  if (flatten) parameters = Shape::Tuple(LeavesOf(parameters));
  if (flatten || !results.IsTuple()) results = Shape::Tuple(LeavesOf(results));
  if (HasOwnLayout(parameters)) AddLayouts(text, "parameter", "s", parameters);
  if (HasOwnLayout(results)) AddLayouts(text, "result", "", results);
  return text.text();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
