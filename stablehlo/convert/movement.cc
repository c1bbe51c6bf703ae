// Operations that move elements: constants, reshapes, broadcasts, slices, gathers and scatters.
//
// Most are one instruction of the same meaning under another name for its numbers. Three need more:
// - broadcast_in_dim may stretch a dimension of size 1, which HLO's broadcast may not. It becomes
//   what XLA makes of it: broadcast with that dimension kept, reshape without it, broadcast.
//     tensor<3x1> -> tensor<3x4>:  broadcast f32[3,1], reshape f32[3], broadcast f32[3,4]
//   A broadcast that only inserts dimensions of size 1 is a reshape, one of a splat a splat.
// - dynamic_slice with constant starts is a slice; the starts are clamped to the array first, as
// the
//   dynamic one would clamp them.
// - A scatter's region may combine several arrays: its operands are the arrays, the indices, then
//   the updates, as in HLO.
#include <algorithm>
#include <numeric>

#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

bool IsIota(absl::Span<const int64_t> dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<int64_t>(i)) return false;
  return true;
}

absl::StatusOr<std::vector<Instruction*>> OperandsOf(BodyConverter& body, const MlirOperation& op,
                                                     size_t count) {
  if (op.operands.size() != count)
    return InvalidArgument(op.name, ": expected ", count, " operands, found ", op.operands.size());
  if (op.results.size() != 1) return InvalidArgument(op.name, ": expected one result");
  return body.Operands(op);
}

// The scalar of which all elements of a constant are copies; null where they differ.
const Literal* SplatConstant(const Instruction& i) {
  const Instruction& source = i.opcode() == Opcode::kBroadcast ? *i.operand(0) : i;
  return source.IsConstant() && source.shape().ElementCount() == 1 ? source.literal() : nullptr;
}

}  // namespace

std::optional<std::vector<int64_t>> ConstantInts(const Instruction& instruction) {
  const bool splat = instruction.opcode() == Opcode::kBroadcast;
  const Instruction& source = splat ? *instruction.operand(0) : instruction;
  constexpr int64_t kMaxInts = 1 << 16;
  if (!source.IsConstant() || source.literal() == nullptr || !IsInteger(source.shape().type) ||
      instruction.shape().ElementCount() > kMaxInts)
    return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < instruction.shape().ElementCount(); ++i)
    ints.push_back(source.literal()->GetInt(splat ? 0 : i));
  return ints;
}

absl::Status ConvertConstant(BodyConverter& body, const MlirOperation& op) {
  const MlirAttribute* value = op.Find("value");
  if (value == nullptr || value->kind != MlirAttribute::Kind::kDense || op.results.size() != 1)
    return InvalidArgument(op.name, ": expected a dense value");
  if (!SameIgnoringLayout(value->type->shape, op.results[0].type->shape))
    return InvalidArgument(op.name, ": the value has another shape than the result");
  const Shape shape = BodyConverter::ShapeOf(op);
  Instruction* made = nullptr;
  if (value->literal->shape().IsScalar()) {
    made = body.Splat(*value->literal, shape);
  } else {
    made = body.Constant(value->literal, shape);
  }
  body.SetResults(op, made);
  return absl::OkStatus();
}

absl::Status ConvertReshape(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 1));
  const Shape shape = body.ShapeOf(op);
  if (SameIgnoringLayout(shape, operands[0]->shape())) {
    body.Set(op.results[0], operands[0]);
  } else {
    body.SetResults(op, body.Add(Opcode::kReshape, shape, operands));
  }
  return absl::OkStatus();
}

absl::Status ConvertTranspose(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 1));
  ASSIGN_OR_RETURN(DimVector permutation, OpAttributes(op).Ints("permutation"));
  if (IsIota(permutation) && SameIgnoringLayout(body.ShapeOf(op), operands[0]->shape())) {
    body.Set(op.results[0], operands[0]);
    return absl::OkStatus();
  }
  body.SetResults(op, body.Add(Opcode::kTranspose, body.ShapeOf(op), operands,
                               DimensionsAttrs{std::move(permutation)}));
  return absl::OkStatus();
}

// XLA spreads a dimension of size 1 in three steps: broadcast with that dimension kept, reshape
// without it, broadcast.
absl::StatusOr<Instruction*> BroadcastInto(BodyConverter& body, Instruction* operand,
                                           const Shape& shape,
                                           absl::Span<const int64_t> dimensions) {
  const Shape& from = operand->shape();
  if (!from.IsArray() || !shape.IsArray() || static_cast<int>(dimensions.size()) != from.rank())
    return InvalidArgument("broadcast_in_dim: expected a dimension of the result for each of ",
                           Text(from));
  Shape kept = shape, dropped = from;
  dropped.dims.clear();
  dropped.dynamic_mask = 0;
  DimVector rest;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t d = dimensions[i];
    if (d < 0 || d >= shape.rank())
      return InvalidArgument("broadcast_in_dim: there is no dimension ", d, " in ", Text(shape));
    if (from.dims[i] == shape.dims[d]) {
      dropped.dims.push_back(from.dims[i]);
      dropped.SetDynamic(dropped.rank() - 1, from.IsDynamic(static_cast<int>(i)));
      rest.push_back(d);
    } else if (from.dims[i] == 1) {
      kept.dims[d] = 1;
      kept.SetDynamic(static_cast<int>(d), false);
    } else {
      return InvalidArgument("broadcast_in_dim: dimension ", i, " of ", Text(from),
                             " does not fit dimension ", d, " of ", Text(shape));
    }
  }
  Instruction* first = body.Add(Opcode::kBroadcast, kept, {operand},
                                BroadcastAttrs{DimVector(dimensions.begin(), dimensions.end())});
  if (kept == shape) return first;
  Shape squeezed = kept;
  squeezed.dims.clear();
  squeezed.dynamic_mask = 0;
  DimVector places;
  for (int d = 0; d < shape.rank(); ++d)
    if (kept.dims[d] == shape.dims[d]) {
      squeezed.dims.push_back(kept.dims[d]);
      squeezed.SetDynamic(squeezed.rank() - 1, kept.IsDynamic(d));
      places.push_back(d);
    }
  Instruction* reshaped = body.Add(Opcode::kReshape, squeezed.WithDefaultLayout(), {first});
  return body.Add(Opcode::kBroadcast, shape, {reshaped}, BroadcastAttrs{places});
}

namespace {

// What a broadcast is of, where that is broadcast in its turn: with the places of its dimensions.
Instruction* WithoutBroadcast(Instruction* operand, DimVector& dimensions) {
  const Shape& from = operand->shape();
  if (operand->opcode() != Opcode::kBroadcast || SplatConstant(*operand) != nullptr ||
      from.HasDynamicDims() || static_cast<int>(dimensions.size()) != from.rank())
    return operand;
  DimVector composed = operand->attr<BroadcastAttrs>().dimensions;
  for (int64_t& d : composed) d = dimensions[d];
  dimensions = std::move(composed);
  return operand->operand(0);
}

// A broadcast that changes the order of dimensions transposes first: the operand with its
// dimensions in the order of the result's, which `dimensions` then is in.
Instruction* InOrder(BodyConverter& body, Instruction* operand, DimVector& dimensions) {
  const Shape& from = operand->shape();
  if (static_cast<int>(dimensions.size()) != from.rank()) return operand;
  DimVector permutation(dimensions.size()), sizes;
  std::iota(permutation.begin(), permutation.end(), 0);
  std::stable_sort(permutation.begin(), permutation.end(),
                   [&](int64_t a, int64_t b) { return dimensions[a] < dimensions[b]; });
  for (const int64_t d : permutation) sizes.push_back(from.dims[d]);
  std::sort(dimensions.begin(), dimensions.end());
  Instruction* made = body.Add(Opcode::kTranspose, Shape::Array(from.type, sizes), {operand},
                               DimensionsAttrs{std::move(permutation)});
  PermuteLayout(*made);
  return made;
}

}  // namespace

absl::Status ConvertBroadcastInDim(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, OperandsOf(body, op, 1));
  ASSIGN_OR_RETURN(DimVector dimensions, OpAttributes(op).Ints("broadcast_dimensions"));
  operands[0] = WithoutBroadcast(operands[0], dimensions);
  if (const Shape& given = operands[0]->shape();
      given.IsArray() && !given.HasDynamicDims() && SplatConstant(*operands[0]) == nullptr &&
      !std::is_sorted(dimensions.begin(), dimensions.end()))
    operands[0] = InOrder(body, operands[0], dimensions);
  const Shape shape = body.ShapeOf(op);
  const Shape& from = operands[0]->shape();
  Instruction* made = nullptr;
  if (const Literal* scalar = SplatConstant(*operands[0]);
      scalar && shape.IsArray() && !shape.HasDynamicDims()) {
    made = body.Splat(*scalar, shape);
  } else if (SameIgnoringLayout(from, shape) && IsIota(dimensions)) {
    made =
        operands[0]->opcode() == Opcode::kTranspose ? Simplified(body, operands[0]) : operands[0];
    body.Set(op.results[0], made);
    return absl::OkStatus();
  } else if (shape.IsArray() && from.IsArray() && !shape.HasDynamicDims() &&
             shape.ElementCount() == from.ElementCount() && shape.ElementCount() != 0) {
    made = body.Add(Opcode::kReshape, shape, operands);
  } else {
    ASSIGN_OR_RETURN(made, BroadcastInto(body, operands[0], shape, dimensions));
  }
  body.SetResults(op, made);
  return absl::OkStatus();
}

// The old form: the sizes stand before the operand's dimensions.
absl::Status ConvertBroadcast(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 1));
  ASSIGN_OR_RETURN(const DimVector sizes, OpAttributes(op).Ints("broadcast_sizes"));
  DimVector dimensions(operands[0]->shape().rank());
  std::iota(dimensions.begin(), dimensions.end(), static_cast<int64_t>(sizes.size()));
  ASSIGN_OR_RETURN(Instruction * made,
                   BroadcastInto(body, operands[0], body.ShapeOf(op), dimensions));
  body.SetResults(op, made);
  return absl::OkStatus();
}

absl::Status ConvertIota(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(OperandsOf(body, op, 0).status());
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("iota_dimension"));
  body.SetResults(op, body.Add(Opcode::kIota, body.ShapeOf(op), {}, IotaAttrs{dimension}));
  return absl::OkStatus();
}

absl::Status ConvertSlice(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 1));
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const DimVector start, attributes.Ints("start_indices"));
  ASSIGN_OR_RETURN(const DimVector limit, attributes.Ints("limit_indices"));
  ASSIGN_OR_RETURN(DimVector strides, attributes.OptionalInts("strides"));
  if (strides.empty()) strides.assign(start.size(), 1);
  if (limit.size() != start.size() || strides.size() != start.size())
    return InvalidArgument(op.name, ": starts, limits and strides differ in number");
  SliceAttrs slice;
  for (size_t i = 0; i < start.size(); ++i) slice.slice.push_back({start[i], limit[i], strides[i]});
  body.SetResults(op, body.Add(Opcode::kSlice, body.ShapeOf(op), operands, std::move(slice)));
  return absl::OkStatus();
}

absl::Status ConvertPad(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 2));
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const DimVector low, attributes.Ints("edge_padding_low"));
  ASSIGN_OR_RETURN(const DimVector high, attributes.Ints("edge_padding_high"));
  ASSIGN_OR_RETURN(DimVector interior, attributes.OptionalInts("interior_padding"));
  if (interior.empty()) interior.assign(low.size(), 0);
  if (high.size() != low.size() || interior.size() != low.size())
    return InvalidArgument(op.name, ": low, high and interior padding differ in number");
  PadAttrs pad;
  for (size_t i = 0; i < low.size(); ++i) pad.padding.push_back({low[i], high[i], interior[i]});
  body.SetResults(op, body.Add(Opcode::kPad, body.ShapeOf(op), operands, std::move(pad)));
  return absl::OkStatus();
}

absl::Status ConvertConcatenate(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(CheckOperands(op, 1));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("dimension"));
  if (operands.size() == 1) {
    body.Set(op.results[0], operands[0]);
    return absl::OkStatus();
  }
  body.SetResults(
      op, body.Add(Opcode::kConcatenate, body.ShapeOf(op), operands, DimensionsAttrs{{dimension}}));
  return absl::OkStatus();
}

absl::Status ConvertReverse(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 1));
  ASSIGN_OR_RETURN(DimVector dimensions, OpAttributes(op).Ints("dimensions"));
  body.SetResults(op, body.Add(Opcode::kReverse, body.ShapeOf(op), operands,
                               DimensionsAttrs{std::move(dimensions)}));
  return absl::OkStatus();
}

// With constant starts a slice, as XLA's canonical form has it.
absl::Status ConvertDynamicSlice(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(CheckOperands(op, 1));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(DimVector sizes, OpAttributes(op).Ints("slice_sizes"));
  const Shape& from = operands[0]->shape();
  SliceAttrs slice;
  for (size_t i = 1; i < operands.size() && i <= sizes.size() && i <= from.dims.size(); ++i) {
    const auto start = ConstantInts(*operands[i]);
    if (!start || start->size() != 1 || from.HasDynamicDims()) break;
    const int64_t last = std::max<int64_t>(from.dims[i - 1] - sizes[i - 1], 0);
    const int64_t at = std::clamp<int64_t>(start->front(), 0, last);
    slice.slice.push_back({at, at + sizes[i - 1], 1});
  }
  const Shape shape = body.ShapeOf(op);
  if (from.IsArray() && slice.slice.size() == from.dims.size() && !from.dims.empty()) {
    body.SetResults(op, body.Add(Opcode::kSlice, shape, {operands[0]}, std::move(slice)));
  } else {
    body.SetResults(
        op, body.Add(Opcode::kDynamicSlice, shape, operands, DynamicSliceAttrs{std::move(sizes)}));
  }
  return absl::OkStatus();
}

absl::Status ConvertDynamicUpdateSlice(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(CheckOperands(op, 2));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  body.SetResults(op, body.Add(Opcode::kDynamicUpdateSlice, body.ShapeOf(op), operands));
  return absl::OkStatus();
}

absl::Status ConvertGather(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 2));
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const OpAttributes numbers, attributes.FieldsOrOwn("dimension_numbers"));
  GatherAttrs gather;
  ASSIGN_OR_RETURN(gather.offset_dims, numbers.OptionalInts("offset_dims"));
  ASSIGN_OR_RETURN(gather.collapsed_slice_dims, numbers.OptionalInts("collapsed_slice_dims"));
  ASSIGN_OR_RETURN(gather.start_index_map, numbers.OptionalInts("start_index_map"));
  ASSIGN_OR_RETURN(gather.operand_batching_dims, numbers.OptionalInts("operand_batching_dims"));
  ASSIGN_OR_RETURN(gather.start_indices_batching_dims,
                   numbers.OptionalInts("start_indices_batching_dims"));
  ASSIGN_OR_RETURN(gather.index_vector_dim, numbers.Int("index_vector_dim", 0));
  ASSIGN_OR_RETURN(gather.slice_sizes, attributes.Ints("slice_sizes"));
  ASSIGN_OR_RETURN(gather.indices_are_sorted, attributes.Bool("indices_are_sorted", false));
  body.SetResults(op, body.Add(Opcode::kGather, body.ShapeOf(op), operands, std::move(gather)));
  return absl::OkStatus();
}

absl::Status ConvertScatter(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(CheckOperands(op, 3));
  RETURN_IF_ERROR(CheckRegions(op, 1));
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  // Inputs, indices, updates.
  const size_t inputs = operands.size() / 2;
  RETURN_IF_ERROR(Promote(body, op, op.regions[0], 0, 0, absl::MakeSpan(operands).first(inputs)));
  RETURN_IF_ERROR(Promote(body, op, op.regions[0], inputs, operands.size() - inputs,
                          absl::MakeSpan(operands).last(inputs)));
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const OpAttributes numbers, attributes.FieldsOrOwn("scatter_dimension_numbers"));
  ScatterAttrs scatter;
  ASSIGN_OR_RETURN(scatter.update_window_dims, numbers.OptionalInts("update_window_dims"));
  ASSIGN_OR_RETURN(scatter.inserted_window_dims, numbers.OptionalInts("inserted_window_dims"));
  ASSIGN_OR_RETURN(scatter.scatter_dims_to_operand_dims,
                   numbers.OptionalInts("scatter_dims_to_operand_dims"));
  ASSIGN_OR_RETURN(scatter.input_batching_dims, numbers.OptionalInts("input_batching_dims"));
  ASSIGN_OR_RETURN(scatter.scatter_indices_batching_dims,
                   numbers.OptionalInts("scatter_indices_batching_dims"));
  ASSIGN_OR_RETURN(scatter.index_vector_dim, numbers.Int("index_vector_dim", 0));
  ASSIGN_OR_RETURN(scatter.indices_are_sorted, attributes.Bool("indices_are_sorted", false));
  ASSIGN_OR_RETURN(scatter.unique_indices, attributes.Bool("unique_indices", false));
  ASSIGN_OR_RETURN(Computation * combine, body.Region(op.regions[0]));
  Instruction* made = body.Add(Opcode::kScatter, body.ShapeOf(op), operands, std::move(scatter));
  made->set_called({combine});
  body.SetResults(op, made);
  return absl::OkStatus();
}

absl::Status ConvertGetDimensionSize(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 1));
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("dimension"));
  const Shape& from = operands[0]->shape();
  if (from.IsArray() && dimension >= 0 && dimension < from.rank() &&
      !from.IsDynamic(static_cast<int>(dimension)) && from.dims[dimension] <= INT32_MAX) {
    body.SetResults(op, body.Splat(static_cast<double>(from.dims[dimension]), body.ShapeOf(op)));
    return absl::OkStatus();
  }
  body.SetResults(op, body.Add(Opcode::kGetDimensionSize, body.ShapeOf(op), operands,
                               DimensionsAttrs{{dimension}}));
  return absl::OkStatus();
}

absl::Status ConvertSetDimensionSize(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, OperandsOf(body, op, 2));
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("dimension"));
  body.SetResults(op, body.Add(Opcode::kSetDimensionSize, body.ShapeOf(op), operands,
                               DimensionsAttrs{{dimension}}));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
