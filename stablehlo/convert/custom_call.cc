// Custom calls: targets, configurations, layouts and aliases.
//
//   stablehlo.custom_call @f(%x) {backend_config = {a = 1 : i64}, api_version = 4 : i32,
//     operand_layouts = [dense<[0, 1]> : tensor<2xindex>]}
//   ->  custom-call(x), custom_call_target="f", operand_layout_constraints={f32[2,3]{0,1}},
//       api_version=API_VERSION_TYPED_FFI, backend_config={a = 1 : i64}
// A configuration that is text is kept as it stands; a dictionary is printed as MLIR prints it,
// which is what typed handlers read. Portable artifacts carry operations of chlo as calls of
// `mhlo.NAME` or composites `chlo.NAME` with the attributes in a dictionary: those are converted as
// the operation that they stand for.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "stablehlo/convert/converter_internal.h"
#include "stablehlo/ir/print.h"

namespace hlokit {

absl::StatusOr<Shape> WithLayout(const Shape& shape, const MlirAttribute& layout) {
  const auto order = IntsOf(layout);
  if (!shape.IsArray()) return shape;
  if (!order || static_cast<int>(order->size()) != shape.rank())
    return InvalidArgument("a layout does not fit ", Text(shape));
  DimVector sorted(order->begin(), order->end()), all(shape.rank());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) return InvalidArgument("a layout of ", Text(shape), " is no permutation");
  Shape made = Shape::ArrayWithLayout(shape.type, shape.dims, *order);
  made.dynamic_mask = shape.dynamic_mask;
  return made;
}

namespace {

absl::StatusOr<std::vector<Shape>> WithLayouts(const MlirOperation& op, const MlirAttribute& all,
                                               std::vector<Shape> shapes) {
  if (all.kind != MlirAttribute::Kind::kArray || all.elements.size() != shapes.size())
    return InvalidArgument(op.name, ": expected a layout for each of ", shapes.size(), " values");
  for (size_t i = 0; i < shapes.size(); ++i) {
    ASSIGN_OR_RETURN(shapes[i], WithLayout(shapes[i], *all.elements[i]));
  }
  return shapes;
}

absl::StatusOr<Shape> ResultShape(const MlirOperation& op) {
  const Shape shape = BodyConverter::ShapeOf(op);
  const MlirAttribute* layouts = op.Find("result_layouts");
  if (layouts == nullptr) return shape;
  std::vector<Shape> parts = shape.IsTuple() ? shape.elements : std::vector<Shape>{shape};
  if (layouts->elements.empty()) return shape;
  ASSIGN_OR_RETURN(parts, WithLayouts(op, *layouts, std::move(parts)));
  return shape.IsTuple() ? Shape::Tuple(std::move(parts)) : parts[0];
}

absl::StatusOr<CustomCallApiVersion> ApiVersionOf(const MlirOperation& op) {
  const MlirAttribute* found = op.Find("api_version");
  if (op.Find("mhlo.backend_config") != nullptr) return CustomCallApiVersion::kTypedFfi;
  if (found == nullptr) return CustomCallApiVersion::kOriginal;
  if (found->kind == MlirAttribute::Kind::kInt && found->integer >= 0 && found->integer <= 4)
    return static_cast<CustomCallApiVersion>(found->integer);
  CustomCallApiVersion version;
  if (EnumFromText(found->text, version)) return version;
  return InvalidArgument(op.name, ": unknown API version ", PrintMlir(*found));
}

// Texts as they stand; dictionaries, of typed calls, as MLIR prints them.
std::string ConfigOf(const MlirOperation& op, bool& raw) {
  const MlirAttribute* config = op.Find("mhlo.backend_config");
  if (config == nullptr) config = op.Find("backend_config");
  if (config == nullptr) return "";
  raw = config->kind == MlirAttribute::Kind::kDict;
  return raw ? PrintMlir(*config) : config->text;
}

// The operation of chlo that portable artifacts carry as a call of `mhlo.topk` or a composite
// `chlo.top_k`, its attributes in one of the call's; empty where it is none that is known.
std::string CarriedOperation(absl::string_view name) {
  if (name == "mhlo.topk") return "chlo.top_k";
  if (!absl::ConsumePrefix(&name, "mhlo.") && !absl::ConsumePrefix(&name, "chlo.")) return "";
  std::string carried = absl::StrCat("chlo.", name);
  const bool known = SimpleOpcodeOf(carried) || ConvertFunctionOf(carried) != nullptr;
  return known ? carried : "";
}

}  // namespace

absl::StatusOr<bool> ConvertCarried(BodyConverter& body, const MlirOperation& op,
                                    absl::string_view name, absl::string_view attributes) {
  const std::string carried = CarriedOperation(name);
  if (carried.empty()) return false;
  ASSIGN_OR_RETURN(const OpAttributes fields, OpAttributes(op).OptionalFields(attributes));
  MlirOperation stands;
  stands.name = carried;
  stands.operands = op.operands;
  stands.attributes = fields.all();
  for (const MlirValue& result : op.results) stands.results.push_back({result.type});
  RETURN_IF_ERROR(body.ConvertSynthetic(stands));
  for (size_t i = 0; i < op.results.size(); ++i) {
    ASSIGN_OR_RETURN(Instruction * made, body.Value(stands.results[i]));
    body.Set(op.results[i], made);
  }
  return true;
}

absl::StatusOr<std::vector<OutputAlias>> OutputAliasesOf(const MlirOperation& op) {
  std::vector<OutputAlias> aliases;
  const MlirAttribute* all = op.Find("output_operand_aliases");
  if (all == nullptr) return aliases;
  for (const MlirAttribute* element : all->elements) {
    const OpAttributes fields(op.name, element->fields);
    OutputAlias alias;
    ASSIGN_OR_RETURN(const DimVector output, fields.OptionalInts("output_tuple_indices"));
    ASSIGN_OR_RETURN(const DimVector inside, fields.OptionalInts("operand_tuple_indices"));
    ASSIGN_OR_RETURN(alias.operand, fields.Int("operand_index", 0));
    alias.output.assign(output.begin(), output.end());
    alias.operand_index.assign(inside.begin(), inside.end());
    aliases.push_back(std::move(alias));
  }
  return aliases;
}

absl::Status ConvertCustomCall(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  const OpAttributes attributes(op);
  CustomCallAttrs call;
  ASSIGN_OR_RETURN(call.target, attributes.Word("call_target_name"));
  ASSIGN_OR_RETURN(const bool carried, ConvertCarried(body, op, call.target, "mhlo.attributes"));
  if (carried) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool dynamic, ConvertDynamicCall(body, op, call.target));
  if (dynamic) return absl::OkStatus();
  if (call.target == "ApproxTopK") {
    ASSIGN_OR_RETURN(const bool converted, ConvertApproxTopK(body, op));
    if (converted) return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(call.has_side_effect, attributes.Bool("has_side_effect", false));
  ASSIGN_OR_RETURN(call.api_version, ApiVersionOf(op));
  ASSIGN_OR_RETURN(call.output_to_operand_aliasing, OutputAliasesOf(op));
  if (const MlirAttribute* layouts = op.Find("operand_layouts")) {
    std::vector<Shape> shapes;
    for (const Instruction* operand : operands) shapes.push_back(operand->shape());
    // vhlo has an empty list where there are none; `={}` differs from none for no operands alone.
    if (!layouts->elements.empty() || shapes.empty()) {
      ASSIGN_OR_RETURN(call.operand_layout_constraints,
                       WithLayouts(op, *layouts, std::move(shapes)));
    }
  }
  ASSIGN_OR_RETURN(Shape shape, ResultShape(op));
  std::vector<Computation*> called;
  if (const MlirAttribute* names = op.Find("called_computations"))
    for (const MlirAttribute* name : names->elements) {
      ASSIGN_OR_RETURN(called.emplace_back(), body.module().Function(name->text));
    }
  Instruction* made = body.Add(Opcode::kCustomCall, std::move(shape), operands, std::move(call));
  made->set_called(std::move(called));
  bool raw = false;
  if (std::string config = ConfigOf(op, raw); !config.empty()) {
    made->mutable_extras().backend_config = SharedText(config);
    made->mutable_extras().backend_config_is_raw = raw;
  }
  body.SetResults(op, made);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
