// Operations that combine elements by a region: reductions, windows, sorts, maps.
//
// Each becomes an instruction that calls the computation made from its region:
//   stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1]
//   ->  region { a = parameter(0)  b = parameter(1)  ROOT s = add(a, b) }
//       reduce(x, zero), dimensions={1}, to_apply=region
// Windows are lists of numbers a dimension in MLIR (sizes, strides, dilations, pairs of padding)
// and one record a dimension in HLO; an absent list means 1, or no padding.
// A sort along dimension -1 counts from the end.
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// One instruction with the operation's operands, which calls its region.
template <typename A>
absl::Status ConvertCalling(BodyConverter& body, const MlirOperation& op, Opcode opcode,
                            A attributes) {
  RETURN_IF_ERROR(CheckRegions(op, 1));
  RETURN_IF_ERROR(CheckOperands(op, 1));
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  if (opcode == Opcode::kReduce || opcode == Opcode::kReduceWindow)
    RETURN_IF_ERROR(Promote(body, op, op.regions[0], 0, 0, absl::MakeSpan(operands)));
  ASSIGN_OR_RETURN(Computation * called, body.Region(op.regions[0]));
  Instruction* made = body.Add(opcode, body.ShapeOf(op), operands, std::move(attributes));
  made->set_called({called});
  body.SetResults(op, made);
  return absl::OkStatus();
}

// The window of reduce_window and select_and_scatter; what is absent is 1 and no padding.
absl::StatusOr<Window> WindowOf(const MlirOperation& op) {
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const DimVector size, attributes.Ints("window_dimensions"));
  ASSIGN_OR_RETURN(const DimVector stride, attributes.OptionalInts("window_strides"));
  ASSIGN_OR_RETURN(const DimVector base, attributes.OptionalInts("base_dilations"));
  ASSIGN_OR_RETURN(const DimVector dilation, attributes.OptionalInts("window_dilations"));
  ASSIGN_OR_RETURN(const DimVector padding, attributes.OptionalInts("padding"));
  Window window(size.size());
  for (const DimVector* part : {&stride, &base, &dilation})
    if (!part->empty() && part->size() != size.size())
      return InvalidArgument(op.name, ": the parts of the window differ in number");
  if (!padding.empty() && padding.size() != 2 * size.size())
    return InvalidArgument(op.name, ": expected two numbers of padding a dimension");
  for (size_t d = 0; d < size.size(); ++d) {
    window[d].size = size[d];
    if (!stride.empty()) window[d].stride = stride[d];
    if (!base.empty()) window[d].base_dilation = base[d];
    if (!dilation.empty()) window[d].window_dilation = dilation[d];
    if (!padding.empty()) window[d].pad_low = padding[2 * d];
    if (!padding.empty()) window[d].pad_high = padding[2 * d + 1];
  }
  return window;
}

// The region that chooses among the operand's elements, of `narrow` type, as one of elements of
// `wide` type, which are the same numbers.
absl::StatusOr<Computation*> SelectionOf(BodyConverter& body, const MlirRegion& region,
                                         const Shape& narrow, const Shape& wide) {
  ASSIGN_OR_RETURN(Computation * own, body.Region(region));
  if (narrow.type == wide.type) return own;
  Computation* computation = body.module().module().AddComputation("region");
  BodyConverter inside(body.module(), computation, nullptr);
  std::vector<Instruction*> elements;
  for (int64_t i = 0; i < 2; ++i)
    elements.push_back(
        inside.Add(Opcode::kConvert, Shape::Scalar(narrow.type).WithDefaultLayout(),
                   {computation->AddParameter(i, Shape::Scalar(wide.type).WithDefaultLayout())}));
  Instruction* call = inside.Add(
      Opcode::kCall, Shape::Scalar(ElementType::kPred).WithDefaultLayout(), elements, CallAttrs());
  call->set_called({own});
  inside.Return({call});
  return computation;
}

}  // namespace

absl::Status ConvertReduce(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(DimVector dimensions, OpAttributes(op).Ints("dimensions"));
  return ConvertCalling(body, op, Opcode::kReduce, DimensionsAttrs{std::move(dimensions)});
}

absl::Status ConvertReduceWindow(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(Window window, WindowOf(op));
  return ConvertCalling(body, op, Opcode::kReduceWindow, WindowAttrs{std::move(window)});
}

absl::Status ConvertSort(BodyConverter& body, const MlirOperation& op) {
  const OpAttributes attributes(op);
  SortAttrs sort;
  ASSIGN_OR_RETURN(int64_t dimension, attributes.Int("dimension", -1));
  ASSIGN_OR_RETURN(sort.is_stable, attributes.Bool("is_stable", false));
  RETURN_IF_ERROR(CheckOperands(op, 1));
  if (dimension < 0) dimension += op.operands[0]->type->shape.rank();
  sort.dimensions = {dimension};
  return ConvertCalling(body, op, Opcode::kSort, std::move(sort));
}

// Operands are the arrays, then the first values of what is carried.
absl::Status ConvertScan(BodyConverter& body, const MlirOperation& op) {
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const DimVector segments, attributes.Ints("operandSegmentSizes"));
  ScanAttrs scan;
  ASSIGN_OR_RETURN(const int64_t dimension, attributes.Int("dimension"));
  scan.dimensions = {dimension};
  if (segments.size() != 2 ||
      segments[0] + segments[1] != static_cast<int64_t>(op.operands.size()) || segments[1] < 0)
    return InvalidArgument(op.name, ": operandSegmentSizes do not fit the operands");
  scan.num_carries = segments[1];
  ASSIGN_OR_RETURN(scan.is_reverse, attributes.Bool("is_reverse", false));
  // HLO text says no where it says nothing.
  ASSIGN_OR_RETURN(scan.is_associative, attributes.Bool("is_associative", false));
  RETURN_IF_ERROR(CheckRegions(op, 1));
  RETURN_IF_ERROR(BlockOf(op, 0, op.operands.size()).status());
  return ConvertCalling(body, op, Opcode::kScan, std::move(scan));
}

absl::Status ConvertMap(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(DimVector dimensions, OpAttributes(op).Ints("dimensions"));
  return ConvertCalling(body, op, Opcode::kMap, MapAttrs{std::move(dimensions)});
}

absl::Status ConvertSelectAndScatter(BodyConverter& body, const MlirOperation& op) {
  RETURN_IF_ERROR(CheckRegions(op, 2));
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 3) return InvalidArgument(op.name, ": expected three operands");
  ASSIGN_OR_RETURN(Window window, WindowOf(op));
  const Shape narrow = operands[0]->shape();
  // Sums in a wider type; those of the numbers and the choice among them are the same there.
  RETURN_IF_ERROR(Promote(body, op, op.regions[1], 0, 1, absl::MakeSpan(operands).subspan(1)));
  RETURN_IF_ERROR(Promote(body, op, op.regions[1], 0, 0, absl::MakeSpan(operands).first(1)));
  ASSIGN_OR_RETURN(Computation * select,
                   SelectionOf(body, op.regions[0], narrow, operands[0]->shape()));
  ASSIGN_OR_RETURN(Computation * scatter, body.Region(op.regions[1]));
  Instruction* made = body.Add(Opcode::kSelectAndScatter, body.ShapeOf(op), operands,
                               WindowAttrs{std::move(window)});
  made->set_called({select, scatter});
  body.SetResults(op, made);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
