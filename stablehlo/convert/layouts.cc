// The layouts of results, as XLA's builder infers them. MLIR's arrays have none, and all are by
// rows until a transpose, which moves no element: its result lies as its operand does, and so do
// the results of most operations on it.
//   t = transpose(x), {0,1}: t + y is {0,1}, y + t is {1,0}, sort(y, t) is ({1,0}, {0,1}), dot(t,
//   y) is {1,0}
// Cost: a look at the operand for each instruction.
#include "absl/algorithm/container.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// Beside what follows its first operand in HLO's text too (kLayoutOfFirst).
bool LiesAsFirst(Opcode opcode) {
  constexpr Opcode kOthers[] = {Opcode::kBatchNormGrad, Opcode::kBatchNormInference,
                                Opcode::kBatchNormTraining, Opcode::kFft,
                                Opcode::kSelectAndScatter};
  if (HasTrait(opcode, kCollective)) return opcode != Opcode::kAllToAll;
  return absl::c_linear_search(kOthers, opcode);
}

void SetOrder(Shape& shape, const DimVector& order) {
  Shape laid_out = Shape::ArrayWithLayout(shape.type, shape.dims, order);
  laid_out.dynamic_mask = shape.dynamic_mask;
  shape = std::move(laid_out);
}

void LieAs(const Shape& from, Shape& shape) {
  if (!from.IsArray() || !shape.IsArray() || from.rank() != shape.rank() || from.IsRowMajor())
    return;
  SetOrder(shape, from.MinorToMajor());
}

// Wider elements take the last dimension in, narrower ones add one, within the elements.
void LieAsBits(const Shape& from, Shape& shape) {
  const int last = from.rank() - 1;
  if (!from.IsArray() || from.IsRowMajor() || from.rank() == shape.rank())
    return LieAs(from, shape);
  DimVector order;
  if (shape.rank() > from.rank()) order.push_back(last + 1);
  for (const int64_t d : from.MinorToMajor())
    if (shape.rank() > from.rank() || d != last) order.push_back(d);
  if (static_cast<int>(order.size()) == shape.rank()) SetOrder(shape, order);
}

}  // namespace

void PermuteLayout(Instruction& transpose) {
  const DimVector& permutation = transpose.attr<DimensionsAttrs>().dimensions;
  const int rank = transpose.shape().rank();
  DimVector places(rank), order;
  for (int i = 0; i < rank; ++i) places[permutation[i]] = i;
  for (const int64_t d : transpose.operand(0)->shape().MinorToMajor()) order.push_back(places[d]);
  Shape permuted = transpose.shape();
  SetOrder(permuted, order);
  transpose.set_shape(std::move(permuted));
}

void TakeLayout(Instruction& made) {
  const Opcode opcode = made.opcode();
  if (made.operand_count() == 0) return;
  Shape shape = made.shape();
  if (opcode == Opcode::kBitcastConvert) {
    LieAsBits(made.operand(0)->shape(), shape);
  } else if (HasTrait(opcode, kLayoutOfSecond) && opcode != Opcode::kSelect) {
    if (made.operand_count() > 1) LieAs(made.operand(1)->shape(), shape);
  } else if (HasTrait(opcode, kElementwise) || HasTrait(opcode, kLayoutOfFirst) ||
             LiesAsFirst(opcode)) {
    if (!shape.IsTuple()) LieAs(made.operand(0)->shape(), shape);
    for (size_t i = 0; i < shape.elements.size() && i < made.operands().size(); ++i)
      LieAs(made.operand(i)->shape(), shape.elements[i]);
  } else {
    return;
  }
  if (shape != made.shape()) made.set_shape(std::move(shape));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
