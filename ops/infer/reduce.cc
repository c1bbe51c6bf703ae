// Inference of reduce, map and scan.
//   reduce f32[2,3], f32[] over {1}                   ->   f32[2]
//   scan of f32[5,3] along 0, carrying f32[3]         ->   (a slice of each result by step, the
//   carry)
// A variadic reduce gives a tuple, whose element types the reducer says.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// The shape left when the dimensions in `gone` go away.
Shape WithoutDims(const Shape& shape, absl::Span<const int64_t> gone) {
  Shape result = Shape::Scalar(shape.type);
  for (int d = 0; d < shape.rank(); ++d) {
    if (Contains(gone, d)) continue;
    result.SetDynamic(result.rank(), shape.IsDynamic(d));
    result.dims.push_back(shape.dims[d]);
  }
  return result;
}

}  // namespace

absl::StatusOr<Reduction> ExpectReduction(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  if (op.operand_count() % 2 != 0)
    return Fail(op, 2, "expects as many initial values as operands, found ", op.operand_count(),
                " in all");
  const int64_t n = op.operand_count() / 2;
  std::vector<ElementType> inits, elements;
  for (int64_t i = 0; i < n; ++i) {
    const Shape& init = op.operand(n + i);
    if (!SameDims(op.operand(i), op.operand(0)))
      return Fail(op, 3, "operands differ in dimensions: ", Text(op.operand(0)), " and ",
                  Text(op.operand(i)));
    if (!init.IsScalar()) return Fail(op, 4, "initial value ", i, " is not a scalar: ", Text(init));
    inits.push_back(init.type);
    elements.push_back(op.operand(i).type);
  }
  ASSIGN_OR_RETURN(Signature reducer, SignatureOf(op, 0));
  ASSIGN_OR_RETURN(std::vector<ElementType> types, ExpectReducer(op, reducer, inits, elements, 6));
  return Reduction{std::move(types), reducer.result->IsTuple()};
}

Shape ReductionResult(const Reduction& reduction, const Shape& shape) {
  std::vector<Shape> results;
  for (ElementType type : reduction.types) results.push_back(shape.WithType(type));
  return reduction.tuple ? Shape::Tuple(std::move(results)) : std::move(results[0]);
}

// c2, c3, c4, c6: ExpectReduction; c5: dimensions are distinct and in range.
absl::StatusOr<Shape> InferReduce(const OpView& op) {
  ASSIGN_OR_RETURN(Reduction reduction, ExpectReduction(op));
  const DimVector& dimensions = op.attr<DimensionsAttrs>().dimensions;
  if (!DistinctBelow(dimensions, op.operand(0).rank()))
    return Fail(op, 5, "dimensions=", ListText(dimensions), " are not distinct dimensions of ",
                Text(op.operand(0)));
  return ReductionResult(reduction, WithoutDims(op.operand(0), dimensions));
}

// c2: at least one operand, all of one set of dimensions; c3: dimensions={0,1,...}; c4: to_apply
// takes a scalar of each operand and returns one.
absl::StatusOr<Shape> InferMap(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  if (op.operand_count() == 0) return Fail(op, 2, "expects at least one operand");
  Shape result = op.operand(0).WithoutLayout();
  std::vector<Shape> scalars;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    RETURN_IF_ERROR(MergeDims(op, result, op.operand(i), 2).status());
    scalars.push_back(Shape::Scalar(op.operand(i).type));
  }
  const DimVector& dimensions = op.attr<MapAttrs>().dimensions;
  if (!AscendingBelow(dimensions, result.rank()) ||
      static_cast<int>(dimensions.size()) != result.rank())
    return Fail(op, 3, "dimensions=", ListText(dimensions), " are not all dimensions of ",
                Text(result), " in order");
  ASSIGN_OR_RETURN(Signature mapped, SignatureOf(op, 0));
  std::vector<const Shape*> expected;
  for (const Shape& scalar : scalars) expected.push_back(&scalar);
  RETURN_IF_ERROR(ExpectParameters(op, mapped, expected, 4));
  if (!mapped.result->IsScalar())
    return Fail(op, 4, mapped.computation->name(), " returns ", Text(*mapped.result),
                ", expected a scalar");
  return result.WithType(mapped.result->type);
}

namespace {

// What a scan steps over: its first operands are sliced along `dimension`, the last ones carried.
struct ScanParts {
  int64_t inputs;
  int64_t carries;
  int64_t dimension;
  int64_t length = kUnbounded;  // steps
  bool dynamic = false;
};

// c3: the scanned dimension exists in each input, with one size.
absl::Status FindScanLength(const OpView& op, ScanParts& parts) {
  for (int64_t i = 0; i < parts.inputs; ++i) {
    RETURN_IF_ERROR(ExpectArray(op, i));
    const Shape& input = op.operand(i);
    if (parts.dimension < 0 || parts.dimension >= input.rank())
      return Fail(op, 3, "dimension ", parts.dimension, " is not in ", Text(input));
    if (!SizesAgree(parts.length, input.dims[parts.dimension]))
      return Fail(op, 3, "scanned sizes differ: ", parts.length, " and ",
                  input.dims[parts.dimension]);
    parts.length = MoreSpecific(parts.length, input.dims[parts.dimension]);
    parts.dynamic |= input.IsDynamic(static_cast<int>(parts.dimension));
  }
  if (parts.inputs > 0 || op.declared() == nullptr) return absl::OkStatus();
  const Shape& declared = *op.declared();
  const Shape* first =
      declared.IsTuple() && !declared.elements.empty() ? &declared.elements[0] : &declared;
  if (first->IsArray() && parts.dimension >= 0 && parts.dimension < first->rank())
    parts.length = first->dims[parts.dimension];
  return absl::OkStatus();
}

absl::StatusOr<Shape> Stacked(const OpView& op, const Shape& element, const ScanParts& parts) {
  if (!element.IsArray() || parts.dimension > element.rank() || parts.dimension < 0 ||
      element.rank() == kMaxRank)
    return Fail(op, 5, "cannot stack ", Text(element), " along dimension ", parts.dimension);
  Shape stacked = Shape::Scalar(element.type);
  for (int d = 0; d <= element.rank(); ++d) {
    const int from = d > parts.dimension ? d - 1 : d;
    const bool scanned = d == parts.dimension;
    stacked.dims.push_back(scanned ? parts.length : element.dims[from]);
    stacked.SetDynamic(
        d, scanned ? parts.dynamic || parts.length == kUnbounded : element.IsDynamic(from));
  }
  return stacked;
}

// c4: to_apply takes a slice of each input and the carries.
absl::StatusOr<Signature> ExpectScanStep(const OpView& op, const ScanParts& parts) {
  ASSIGN_OR_RETURN(Signature step, SignatureOf(op, 0));
  std::vector<Shape> slices;
  for (int64_t i = 0; i < parts.inputs; ++i)
    slices.push_back(WithoutDims(op.operand(i), {parts.dimension}));
  std::vector<const Shape*> expected;
  for (int64_t i = 0; i < op.operand_count(); ++i)
    expected.push_back(i < parts.inputs ? &slices[i] : &op.operand(i));
  RETURN_IF_ERROR(ExpectParameters(op, step, expected, 4));
  return step;
}

}  // namespace

// c2: one dimension, and num_carries of the operands are carried; c3, c4: above; c5: to_apply
// returns elements to stack, then the carries as they came.
absl::StatusOr<Shape> InferScan(const OpView& op) {
  const auto& attr = op.attr<ScanAttrs>();
  if (attr.dimensions.size() != 1 || attr.num_carries < 0 || attr.num_carries > op.operand_count())
    return Fail(op, 2, "dimensions=", ListText(attr.dimensions), ", num_carries=", attr.num_carries,
                " do not fit ", op.operand_count(), " operands");
  ScanParts parts{op.operand_count() - attr.num_carries, attr.num_carries, attr.dimensions[0]};
  RETURN_IF_ERROR(FindScanLength(op, parts));
  ASSIGN_OR_RETURN(Signature step, ExpectScanStep(op, parts));
  std::vector<Shape> results =
      step.result->IsTuple() ? step.result->elements : std::vector<Shape>{*step.result};
  const int64_t outputs = static_cast<int64_t>(results.size()) - parts.carries;
  if (parts.inputs == 0 && outputs == 0) return Fail(op, 2, "nothing is scanned, and nothing made");
  if (outputs < 0)
    return Fail(op, 5, step.computation->name(), " returns ", Text(*step.result),
                ", too few carries");
  for (int64_t i = 0; i < static_cast<int64_t>(results.size()); ++i) {
    if (i < outputs) {
      ASSIGN_OR_RETURN(results[i], Stacked(op, results[i], parts));
    } else if (const Shape& carry = op.operand(parts.inputs + i - outputs);
               !Compatible(results[i], carry)) {
      return Fail(op, 5, "carry ", i - outputs, " is ", Text(carry), " before and ",
                  Text(results[i]), " after a step");
    }
    results[i] = results[i].WithoutLayout();
  }
  return step.result->IsTuple() ? Shape::Tuple(std::move(results)) : std::move(results[0]);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
