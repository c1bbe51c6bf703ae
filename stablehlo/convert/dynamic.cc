// Operations whose sizes are operands, where the type of the result or constants say them;
// refine.cc has closed what it could of results of open sizes.
//   stablehlo.dynamic_reshape %x, %shape : -> tensor<6xf32>   ->   reshape to f32[6]
//   stablehlo.real_dynamic_slice with constant operands      ->   slice
// A size that is neither is refused by name.
#include <algorithm>

#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// The operation without the operands from `kept` on, of a name of its own and with more attributes.
absl::Status ConvertAs(BodyConverter& body, const MlirOperation& op, absl::string_view name,
                       size_t kept, MlirAttributes more) {
  if (op.results.size() != 1 || !op.results[0].type->shape.IsArray() ||
      (op.results[0].type->shape.HasDynamicDims() && more.empty()))
    return Unimplemented(op.name, ": the size of the result is known only at run time");
  RETURN_IF_ERROR(CheckOperands(op, kept));
  MlirOperation stands;
  stands.name = name;
  stands.operands.assign(op.operands.begin(), op.operands.begin() + kept);
  stands.attributes = op.attributes;
  // Old artifacts have a padding beside the one that is an operand; it means nothing.
  for (const auto& [attribute, value] : more)
    std::erase_if(stands.attributes,
                  [&name = attribute](const auto& own) { return own.first == name; });
  stands.attributes.insert(stands.attributes.end(), more.begin(), more.end());
  stands.results.push_back({op.results[0].type});
  RETURN_IF_ERROR(body.ConvertSynthetic(stands));
  ASSIGN_OR_RETURN(Instruction * made, body.Value(stands.results[0]));
  body.Set(op.results[0], made);
  return absl::OkStatus();
}

// Operands from `first` on as lists of integers called `names`, which have to be constants.
absl::Status ConvertWithConstants(BodyConverter& body, const MlirOperation& op,
                                  absl::string_view name, size_t first,
                                  std::initializer_list<const char*> names) {
  if (op.operands.size() != first + names.size())
    return InvalidArgument(op.name, ": expected ", first + names.size(), " operands");
  std::deque<MlirAttribute> lists;
  MlirAttributes more;
  for (const char* attribute : names) {
    ASSIGN_OR_RETURN(const Instruction* operand, body.Value(*op.operands[first + more.size()]));
    const auto ints = KnownInts(*operand);
    if (!ints) return Unimplemented(op.name, ": ", attribute, " is known only at run time");
    MlirAttribute& list = lists.emplace_back();
    list.kind = MlirAttribute::Kind::kInts;
    list.ints = *ints;
    more.emplace_back(attribute, &list);
  }
  return ConvertAs(body, op, name, first, std::move(more));
}

}  // namespace

absl::Status ConvertDynamicBroadcastInDim(BodyConverter& body, const MlirOperation& op) {
  return ConvertAs(body, op, "stablehlo.broadcast_in_dim", 1, {});
}

absl::Status ConvertDynamicIota(BodyConverter& body, const MlirOperation& op) {
  return ConvertAs(body, op, "stablehlo.iota", 0, {});
}

absl::Status ConvertDynamicReshape(BodyConverter& body, const MlirOperation& op) {
  return ConvertAs(body, op, "stablehlo.reshape", 1, {});
}

absl::Status ConvertDynamicPad(BodyConverter& body, const MlirOperation& op) {
  return ConvertWithConstants(body, op, "stablehlo.pad", 2,
                              {"edge_padding_low", "edge_padding_high", "interior_padding"});
}

namespace {

bool IsAllOnes(const std::optional<std::vector<int64_t>>& values) {
  return values && std::all_of(values->begin(), values->end(), [](int64_t v) { return v == 1; });
}

// The sizes of a slice from starts that are known only at run time to limits that are those starts
// plus constants, as JAX writes a dynamic slice of symbolic sizes; nothing for others.
std::optional<std::vector<int64_t>> SizesFromStarts(const Instruction& starts,
                                                    const Instruction& limits) {
  if (limits.opcode() != Opcode::kAdd) return std::nullopt;
  for (int side = 0; side < 2; ++side)
    if (limits.operand(side) == &starts) return KnownInts(*limits.operand(1 - side));
  return std::nullopt;
}

// Element `d` of a vector, as a scalar.
Instruction* ScalarAt(BodyConverter& body, Instruction* vector, int64_t d) {
  SliceAttrs slice;
  slice.slice = {{d, d + 1, 1}};
  const ElementType type = vector->shape().type;
  Instruction* one = body.Add(Opcode::kSlice, Shape::Array(type, {1}).WithDefaultLayout(), {vector},
                              std::move(slice));
  return body.Add(Opcode::kReshape, Shape::Scalar(type).WithDefaultLayout(), {one});
}

}  // namespace

absl::Status ConvertRealDynamicSlice(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() == 4 && !KnownInts(*operands[1]) && IsAllOnes(KnownInts(*operands[3]))) {
    const Shape& from = operands[0]->shape();
    const auto sizes = SizesFromStarts(*operands[1], *operands[2]);
    bool fits = sizes && from.IsArray() && static_cast<int>(sizes->size()) == from.rank();
    for (int d = 0; fits && d < from.rank(); ++d)
      fits = (*sizes)[d] >= 0 && (*sizes)[d] <= from.dims[d];
    if (fits) {
      const DimVector dims(sizes->begin(), sizes->end());
      std::vector<Instruction*> all = {operands[0]};
      for (int d = 0; d < from.rank(); ++d) all.push_back(ScalarAt(body, operands[1], d));
      body.SetResults(
          op, body.Add(Opcode::kDynamicSlice, Shape::Array(from.type, dims).WithDefaultLayout(),
                       all, DynamicSliceAttrs{dims}));
      return absl::OkStatus();
    }
  }
  return ConvertWithConstants(body, op, "stablehlo.slice", 1,
                              {"start_indices", "limit_indices", "strides"});
}

// The padding is the third operand: two numbers a dimension.
absl::Status ConvertDynamicConv(BodyConverter& body, const MlirOperation& op) {
  return ConvertWithConstants(body, op, "stablehlo.convolution", 2, {"padding"});
}

absl::Status ConvertDynamicGather(BodyConverter& body, const MlirOperation& op) {
  return ConvertWithConstants(body, op, "stablehlo.gather", 2, {"slice_sizes"});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
