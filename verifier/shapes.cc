// Shapes: sizes and layouts by themselves, and each instruction's inference against the shape that
// it states.
#include "ops/array_shape.h"
#include "ops/infer/op_table.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

void CheckShape(VerifyRun& run, const Instruction& i, const Shape& shape) {
  for (const Shape& element : shape.elements) CheckShape(run, i, element);
  const absl::Status status = CheckArrayShape(shape, run.options.allow_unbounded);
  if (!status.ok()) run.Error(i, LabelOf(status), status.message());
}

// The shape with each float type replaced by f32, which makes all of them one.
Shape WithOneFloat(const Shape& shape) {
  Shape one = IsFloat(shape.type) ? shape.WithType(ElementType::kF32) : shape;
  for (Shape& element : one.elements) element = WithOneFloat(element);
  return one;
}

// True if the shapes of `i` agree once all of its float types count as one. Operations whose result
// depends on the width of its type are not asked.
bool AgreesButForFloatTypes(const Instruction& i) {
  if (i.opcode() == Opcode::kBitcastConvert || i.opcode() == Opcode::kBitcast) return false;
  std::vector<Shape> shapes;
  for (const Instruction* operand : i.operands()) shapes.push_back(WithOneFloat(operand->shape()));
  std::vector<const Shape*> operands;
  for (const Shape& shape : shapes) operands.push_back(&shape);
  const Shape declared = WithOneFloat(i.shape());
  const absl::StatusOr<Shape> inferred =
      InferShape(OpView(i.opcode(), operands, i.attributes(), i.called(), &declared));
  return inferred.ok() && Compatible(WithOneFloat(*inferred), declared);
}

// True if both are arrays of one element type, or otherwise alike.
bool DifferInSizesAlone(const Shape& x, const Shape& y) {
  return Compatible(x, y) || (x.IsArray() && y.IsArray() && x.type == y.type);
}

// True if a product or a call states other sizes than follow from its operands: XLA's hlo-opt takes
// the result of these as it is written.
bool IsOfOtherSizes(const Instruction& i) {
  if (i.opcode() == Opcode::kDot || i.opcode() == Opcode::kConvolution) {
    const absl::StatusOr<Shape> inferred = InferShape(i);
    return inferred.ok() && DifferInSizesAlone(*inferred, i.shape());
  }
  if (i.opcode() != Opcode::kCall || i.called().size() != 1) return false;
  const Computation& callee = *i.to_apply();
  if (callee.parameter_count() != i.operand_count()) return false;
  for (int64_t k = 0; k < i.operand_count(); ++k)
    if (!DifferInSizesAlone(i.operand(k)->shape(), callee.parameter(k)->shape())) return false;
  const Shape &result = callee.root()->shape(), &stated = i.shape();
  if (!result.IsTuple() || !stated.IsTuple()) return DifferInSizesAlone(result, stated);
  if (result.elements.size() != stated.elements.size()) return false;
  for (size_t k = 0; k < result.elements.size(); ++k)
    if (!DifferInSizesAlone(result.elements[k], stated.elements[k])) return false;
  return true;
}

// True if rng has operands behind its bounds: older text gives the sizes of its result there.
bool IsRngOfSizes(const Instruction& i) {
  if (i.opcode() != Opcode::kRng || i.operand_count() < 3) return false;
  const Shape* bounds[] = {&i.operand(0)->shape(), &i.operand(1)->shape()};
  const absl::StatusOr<Shape> inferred =
      InferShape(OpView(i.opcode(), bounds, i.attributes(), i.called(), &i.shape()));
  return inferred.ok() && Compatible(*inferred, i.shape());
}

// True if an array is stated where inference makes a tuple: the random integers without the state,
// or the one output of a scan whose step returns a tuple of one; also where a state of random
// integers has a size that no algorithm takes.
bool IsLooseResult(const Instruction& i) {
  if (i.opcode() == Opcode::kRngBitGenerator) {
    const Shape &state = i.operand(0)->shape(), &result = i.shape();
    const bool whole = result.IsTuple() && result.elements.size() == 2 &&
                       Compatible(result.elements[0], state);
    const Shape& integers = whole ? result.elements[1] : result;
    return state.IsArray() && IsUnsigned(state.type) && IsInteger(integers.type);
  }
  if (i.opcode() != Opcode::kScan || !i.shape().IsArray()) return false;
  const absl::StatusOr<Shape> inferred = InferShape(i);
  return inferred.ok() && inferred->IsTuple() && inferred->elements.size() == 1 &&
         Compatible(inferred->elements[0], i.shape());
}

}  // namespace

void CheckShapes(VerifyRun& run) {
  run.ForEachInstruction([&](const Instruction& i) {
    CheckShape(run, i, i.shape());
    const absl::StatusOr<Shape> inferred = InferShape(i);
    if (inferred.ok() && Compatible(*inferred, i.shape())) return;
    if (run.options.for_passes && (IsLooseResult(i) || IsOfOtherSizes(i) || IsRngOfSizes(i) ||
                                   AgreesButForFloatTypes(i)))
      return;
    if (!inferred.ok()) {
      run.Error(i, inferred.status());
      run.broken[i.id()] = 1;
    } else {
      run.Error(i, absl::StrCat(Text(i.opcode()), "-c99"), "expects ", Text(*inferred),
                " as result, found ", Text(i.shape()));
      run.broken[i.id()] = 1;
    }
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
