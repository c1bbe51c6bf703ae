// Operations and attributes of Shardy's dialect, sdy: how values are divided among partitions.
//
// XLA's conversion hands them on as custom calls and frontend attributes, from which its
// partitioner makes them again: `%1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]>` becomes
//   c = f32[8] custom-call(x), custom_call_target="Sharding", sharding={devices=[2]<=[2]},
//       frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>"}
// and a manual computation becomes a call between GlobalToLocalShape and LocalToGlobalShape.
// Shardy's own collectives (sdy.all_gather, sdy.all_slice and so on) leave the whole value as it
// is and change its sharding, so they are constraints to their `out_sharding`.
// In a program of one partition a hint means nothing, and uses of its result become uses of its
// operand. In portable artifacts builtin.unrealized_conversion_cast stands around hints, between
// the types of vhlo and those of sdy: one array under two names of its type.
// A group of values that are to be cut alike becomes a call without a result for each of them.
// Limit: a barrier to propagation is dropped; values do not change by it.
#include "absl/strings/str_cat.h"
#include "ops/collective/shards.h"
#include "stablehlo/convert/converter_internal.h"
#include "stablehlo/ir/print.h"

namespace hlokit {
namespace {

constexpr char kShardingKey[] = "xla.sdy.sharding";

// `#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>` of an attribute that holds one sharding or a list;
// nothing where it could not be read.
absl::StatusOr<std::string> PerValue(const MlirOperation& op, absl::string_view name) {
  const MlirAttribute* attribute = op.Find(name);
  if (attribute == nullptr || attribute->kind != MlirAttribute::Kind::kOpaque ||
      attribute->text.empty())
    return InvalidArgument(op.name, ": no ", name);
  const bool list = attribute->text.front() == '[';
  return absl::StrCat("#sdy.sharding_per_value<", list ? "" : "[<", attribute->text,
                      list ? "" : ">]", ">");
}

// Values of sdy operations in the types of their results, which are shaped.
absl::StatusOr<std::vector<Shape>> ResultShapes(const MlirOperation& op) {
  std::vector<Shape> shapes;
  for (const MlirValue& result : op.results) {
    if (!result.type->HasShape())
      return Unimplemented(op.name, ": the type ", Text(*result.type), " has no equal in HLO");
    shapes.push_back(BodyConverter::ShapeOf(*result.type));
  }
  return shapes;
}

Shape TupleIfSeveral(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}

// The values of a region or marker that gives `count`; an error where it gives another number.
absl::StatusOr<std::vector<Instruction*>> Parts(BodyConverter& body, Instruction* value,
                                                size_t count) {
  if (count == 1) return std::vector<Instruction*>{value};
  if (!value->shape().IsTuple() || value->shape().elements.size() != count)
    return InvalidArgument("a region returns ", Text(value->shape()), ", expected ", count,
                           " values");
  std::vector<Instruction*> parts;
  for (size_t i = 0; i < count; ++i) parts.push_back(body.Element(value, static_cast<int64_t>(i)));
  return parts;
}

Instruction* AddMarker(BodyConverter& body, const char* target, Shape shape,
                       absl::Span<Instruction* const> operands) {
  CustomCallAttrs call;
  call.target = target;
  call.has_side_effect = call.target != "Sharding";
  return body.Add(Opcode::kCustomCall, std::move(shape), operands, std::move(call));
}

// The partitions of the program.
int64_t Partitions(const Instruction& instruction) {
  return instruction.parent()->module()->header().num_partitions;
}

absl::Status CheckSameTypes(const MlirOperation& op, absl::Span<Instruction* const> operands) {
  if (operands.size() != 1 || op.results.size() > 1)
    return InvalidArgument(op.name, ": expected one operand and no more than one result");
  for (const MlirValue& result : op.results)
    if (!result.type->HasShape() ||
        BodyConverter::ShapeOf(*result.type) != operands[0]->shape().WithDefaultLayout())
      return InvalidArgument(op.name, ": the result's type is not the operand's");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Sharding> StatedSharding(const Instruction& instruction) {
  const Shape* const shapes[] = {&instruction.shape()};
  ASSIGN_OR_RETURN(const std::vector<Tiling> tilings,
                   StatedTilings(instruction, kShardingKey, shapes, Partitions(instruction)));
  return ShardingOf(tilings[0]);
}

absl::Status ConvertMeshes(const MlirModule& program, ModuleHeader& header) {
  if (header.num_partitions == 1) return absl::OkStatus();
  std::string meshes;
  for (const auto& op : program.top().regions[0].blocks[0]->operations) {
    if (op->name != "sdy.mesh") continue;
    const MlirAttribute* name = op->Find("sym_name");
    const MlirAttribute* mesh = op->Find("mesh");
    if (name == nullptr || mesh == nullptr || mesh->text.empty())
      return WithPlace(InvalidArgument("sdy.mesh has no name or no mesh"), op->place);
    absl::StrAppend(&meshes, meshes.empty() ? "" : ", ", name->text, " = #sdy.mesh<", mesh->text,
                    ">");
  }
  if (!meshes.empty())
    header.frontend_attributes.emplace_back("xla.sdy.meshes", absl::StrCat("{", meshes, "}"));
  return absl::OkStatus();
}

absl::StatusOr<Instruction*> MarkResult(BodyConverter& body, const MlirAttribute& sharding,
                                        Instruction* value) {
  if (!value->shape().IsArray() || sharding.kind != MlirAttribute::Kind::kOpaque ||
      sharding.text.empty())
    return value;
  Instruction* marker = AddMarker(body, "xla.sdy.FuncResultSharding", value->shape(), {value});
  AddFrontendAttribute(*marker, kShardingKey,
                       absl::StrCat("#sdy.sharding_per_value<[<", sharding.text, ">]>"));
  return marker;
}

// `sdy.sharding_group %0 group_id=3` as the call that XLA's partitioner reads.
absl::Status AddShardingGroup(BodyConverter& body, const MlirOperation& op, Instruction* member) {
  const MlirAttribute* group = op.Find("group_id");
  if (group == nullptr || group->kind != MlirAttribute::Kind::kInt)
    return InvalidArgument(op.name, ": no group_id");
  Instruction* marker = AddMarker(body, "xla.sdy.ShardingGroup", Shape::Tuple({}), {member});
  AddFrontendAttribute(*marker, "xla.sdy.sharding_group_id",
                       absl::StrCat(group->integer, " : i64"));
  return absl::OkStatus();
}

absl::Status ConvertShardingHint(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckSameTypes(op, operands));
  const bool one = body.module().module().header().num_partitions == 1;
  if (op.name == "sdy.sharding_group" && !one) return AddShardingGroup(body, op, operands[0]);
  if (op.results.empty()) return absl::OkStatus();
  const bool constraint = op.name == "sdy.sharding_constraint" || op.name == "sdy.reshard";
  const bool cuts = constraint || op.Find("out_sharding") != nullptr;
  if (!cuts || one) {
    body.Set(op.results[0], operands[0]);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string sharding,
                   PerValue(op, constraint ? "sharding" : "out_sharding"));
  Instruction* marker = AddMarker(body, "Sharding", operands[0]->shape(), operands);
  AddFrontendAttribute(*marker, kShardingKey, sharding);
  ASSIGN_OR_RETURN(Sharding stated, StatedSharding(*marker));
  marker->mutable_extras().sharding = std::make_unique<Sharding>(std::move(stated));
  body.Set(op.results[0], marker);
  return absl::OkStatus();
}

// The arrays go into the region by GlobalToLocalShape, which cuts them along the manual axes, and
// come out by LocalToGlobalShape.
absl::Status ConvertManualComputation(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const MlirBlock* block, BlockOf(op, 0, op.operands.size()));
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(std::vector<Shape> results, ResultShapes(op));
  ASSIGN_OR_RETURN(const std::string in, PerValue(op, "in_shardings"));
  ASSIGN_OR_RETURN(const std::string out, PerValue(op, "out_shardings"));
  const MlirAttribute* axes = op.Find("manual_axes");
  if (axes == nullptr || axes->text.empty()) return InvalidArgument(op.name, ": no manual_axes");
  const std::string manual = absl::StrCat("#sdy<manual_axes", axes->text, ">");
  if (!operands.empty()) {
    std::vector<Shape> local;
    for (const MlirValue& argument : block->arguments) {
      if (!argument.type->HasShape())
        return Unimplemented(op.name, ": the type ", Text(*argument.type), " has no equal in HLO");
      local.push_back(BodyConverter::ShapeOf(*argument.type));
    }
    Instruction* enter =
        AddMarker(body, "xla.sdy.GlobalToLocalShape", TupleIfSeveral(std::move(local)), operands);
    AddFrontendAttribute(*enter, "xla.sdy.in_shardings", in);
    AddFrontendAttribute(*enter, "xla.sdy.manual_axes", manual);
    ASSIGN_OR_RETURN(operands, Parts(body, enter, operands.size()));
  }
  ASSIGN_OR_RETURN(Computation * region, body.Region(op.regions[0]));
  region->set_name("xla.sdy.manual_computation_body");
  Instruction* call = body.Add(Opcode::kCall, region->root()->shape(), operands, CallAttrs());
  call->set_called({region});
  AddFrontendAttribute(*call, "inlineable", "false");
  if (results.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Instruction*> locals, Parts(body, call, results.size()));
  Instruction* leave =
      AddMarker(body, "xla.sdy.LocalToGlobalShape", TupleIfSeveral(std::move(results)), locals);
  AddFrontendAttribute(*leave, "xla.sdy.manual_axes", manual);
  AddFrontendAttribute(*leave, "xla.sdy.out_shardings", out);
  ASSIGN_OR_RETURN(const std::vector<Instruction*> parts, Parts(body, leave, op.results.size()));
  for (size_t i = 0; i < parts.size(); ++i) body.Set(op.results[i], parts[i]);
  return absl::OkStatus();
}

// A call of the region by its name.
absl::Status ConvertNamedComputation(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(BlockOf(op, 0, op.operands.size()).status());
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(Computation * region, body.Region(op.regions[0]));
  Instruction* call = body.Add(Opcode::kCall, region->root()->shape(), operands, CallAttrs());
  call->set_called({region});
  ASSIGN_OR_RETURN(const std::vector<Instruction*> parts, Parts(body, call, op.results.size()));
  for (size_t i = 0; i < op.results.size(); ++i) body.Set(op.results[i], parts[i]);
  return absl::OkStatus();
}

absl::Status ConvertTypeCast(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != op.results.size())
    return Unimplemented(op.name, " is supported with as many results as operands");
  for (size_t i = 0; i < operands.size(); ++i) {
    const MlirValue& result = op.results[i];
    // A transpose has a layout of its own, which types do not say.
    if (!result.type->HasShape() ||
        !Compatible(BodyConverter::ShapeOf(*result.type), operands[i]->shape()))
      return Unimplemented(op.name, " is supported between names of one type");
    body.Set(result, operands[i]);
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
