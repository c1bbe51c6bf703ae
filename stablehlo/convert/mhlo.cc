// Operations of mhlo that StableHLO has not: what jaxlib writes of a module that a compiler has
// optimized already (fusion, bitcast, copy), and of XLA's own instructions.
//
//   %0 = "mhlo.fusion"(%x) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({ ... }) : ...   a fusion of
//     that kind, its region the fused computation; several results are a tuple's elements
//   %1 = mhlo.bitcast %0 {result_layout = dense<[0, 1]>, source_layout = dense<[1, 0]>} : ...
// MLIR's types have no layouts, so a bitcast names those between which the bytes keep their places.
// Where the elements keep their order it is HLO's bitcast: between default layouts, from f32[6]{0}
// to f32[6,1]{0,1}, from f32[2,4,1,1]{0,1,3,2} to f32[2,4]{0,1}. Between others it moves elements:
// XLA's conversion drops the layouts there and gives other values; here transposes and a reshape
// give those meant.
// Cost: one instruction, or four.
#include <algorithm>

#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// The dimensions from the slowest to the fastest that a layout of a bitcast lists from the fastest
// on; the default order where there is no such attribute.
absl::StatusOr<DimVector> MemoryOrder(const MlirOperation& op, absl::string_view name,
                                      const Shape& shape) {
  const MlirAttribute* stated = op.Find(name);
  const Shape plain = shape.WithDefaultLayout();
  if (stated == nullptr) {
    DimVector order;
    for (int64_t d = 0; d < shape.rank(); ++d) order.push_back(d);
    return order;
  }
  ASSIGN_OR_RETURN(const Shape laid_out, WithLayout(plain, *stated));
  const auto& minor_to_major = laid_out.layout.minor_to_major;
  return DimVector(minor_to_major.rbegin(), minor_to_major.rend());
}

// What decides the places of elements: the dimensions that are not of size 1, their sizes and their
// order in memory from the slowest to the fastest.
struct Placement {
  DimVector sizes, order;
  bool IsRowMajor() const { return std::is_sorted(order.begin(), order.end()); }
};

Placement PlacementOf(const Shape& shape, absl::Span<const int64_t> order) {
  Placement placement;
  DimVector number(shape.dims.size());
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    number[d] = static_cast<int64_t>(placement.sizes.size());
    if (shape.dims[d] != 1) placement.sizes.push_back(shape.dims[d]);
  }
  for (const int64_t d : order)
    if (shape.dims[d] != 1) placement.order.push_back(number[d]);
  return placement;
}

// Whether the array itself lies in memory by rows.
bool LiesByRows(const Shape& shape) {
  const auto& minor_to_major = shape.MinorToMajor();
  return PlacementOf(shape, DimVector(minor_to_major.rbegin(), minor_to_major.rend())).IsRowMajor();
}

Instruction* Transposed(BodyConverter& body, Instruction* value, DimVector dimensions) {
  if (std::is_sorted(dimensions.begin(), dimensions.end())) return value;
  Shape shape = value->shape();
  for (size_t d = 0; d < dimensions.size(); ++d) shape.dims[d] = value->shape().dims[dimensions[d]];
  return body.Add(Opcode::kTranspose, shape.WithDefaultLayout(), {value},
                  DimensionsAttrs{std::move(dimensions)});
}

}  // namespace

absl::Status ConvertFusion(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckRegions(op, 1));
  RETURN_IF_ERROR(BlockOf(op, 0, operands.size()).status());
  FusionAttrs fusion;
  ASSIGN_OR_RETURN(fusion.kind, OpAttributes(op).Enum<FusionKind>("fusion_kind", "kLoop"));
  ASSIGN_OR_RETURN(fusion.output_to_operand_aliasing, OutputAliasesOf(op));
  ASSIGN_OR_RETURN(Computation * fused, body.Region(op.regions[0]));
  const Shape& shape = fused->root()->shape();  // with its layout, which a transpose may have moved
  if (!SameIgnoringLayout(shape, body.ShapeOf(op)))
    return InvalidArgument(op.name, ": the region returns ", Text(shape), ", but the results are ",
                           Text(body.ShapeOf(op)));
  Instruction* made = body.Add(Opcode::kFusion, shape, operands, std::move(fusion));
  made->set_called({fused});
  body.SetResults(op, made);
  return absl::OkStatus();
}

absl::Status ConvertBitcast(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(CheckOperands(op, 1));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  Instruction* value = operands[0];
  const Shape shape = body.ShapeOf(op);
  if (!shape.IsArray() || !value->shape().IsArray())
    return InvalidArgument(op.name, ": expected an array and an array as its result");
  ASSIGN_OR_RETURN(const DimVector from, MemoryOrder(op, "source_layout", value->shape()));
  ASSIGN_OR_RETURN(const DimVector to, MemoryOrder(op, "result_layout", shape));
  const Placement before = PlacementOf(value->shape(), from), after = PlacementOf(shape, to);
  const bool keeps_order = (before.IsRowMajor() && after.IsRowMajor()) ||
                           (before.sizes == after.sizes && before.order == after.order);
  if (!keeps_order || !LiesByRows(value->shape())) {
    if (BitWidth(shape.type) != BitWidth(value->shape().type) ||
        shape.ElementCount() != value->shape().ElementCount())
      return Unimplemented(op.name, ": between these layouts the elements must stay as wide");
    if (shape.type != value->shape().type)
      value = body.Add(Opcode::kBitcastConvert, value->shape().WithType(shape.type), {value});
    Shape in_memory = shape;
    DimVector back(to.size());
    for (size_t d = 0; d < to.size(); ++d) {
      in_memory.dims[d] = shape.dims[to[d]];
      back[to[d]] = static_cast<int64_t>(d);
    }
    value = body.Add(Opcode::kReshape, in_memory.WithDefaultLayout(),
                     {Transposed(body, value, from)});
    value = Transposed(body, value, back);
  } else {
    value = body.Add(Opcode::kBitcast, shape, {value});
  }
  body.SetResults(op, value);
  return absl::OkStatus();
}

absl::Status ConvertRngState(BodyConverter& body, const MlirOperation& op) {
  RngStateAttrs state;
  ASSIGN_OR_RETURN(state.delta, OpAttributes(op).Int("delta"));
  body.SetResults(op, body.Add(Opcode::kRngGetAndUpdateState, body.ShapeOf(op), {}, state));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
