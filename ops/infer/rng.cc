// Inference of rng, rng-bit-generator and rng-get-and-update-state.
#include "ops/infer/infer_internal.h"

namespace hlokit {

// c2: an array is stated; c3: two scalar parameters of its type; c4: the distribution takes that
// type.
absl::StatusOr<Shape> InferRng(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  ASSIGN_OR_RETURN(Shape result, ExpectDeclaredArray(op, 2));
  if (op.operand_count() != 2)
    return Fail(op, 3, "expects two parameters, found ", op.operand_count());
  for (int i : {0, 1})
    if (!op.operand(i).IsScalar() || op.operand(i).type != result.type)
      return Fail(op, 3, "parameter ", i, " is ", Text(op.operand(i)), ", expected ",
                  Text(result.type), "[]");
  const RngDistribution distribution = op.attr<RngAttrs>().distribution;
  const bool normal = distribution == RngDistribution::kNormal;
  if (distribution == RngDistribution::kInvalid || IsComplex(result.type) ||
      (normal && !IsFloat(result.type)))
    return Fail(op, 4, Text(distribution), " does not give ", Text(result));
  return result;
}

// c2: the state is an array of unsigned integers; c3: the state's shape and integers are stated as
// result; c4: the state has the bits that the algorithm needs: a key of 64, a counter of 64 or 128.
absl::StatusOr<Shape> InferRngBitGenerator(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  ASSIGN_OR_RETURN(Shape declared, ExpectDeclared(op));
  const Shape& state = op.operand(0);
  if (!IsUnsigned(state.type))
    return Fail(op, 2, "expects unsigned integers as state, found ", Text(state));
  if (!declared.IsTuple() || declared.elements.size() != 2 || !IsInteger(declared.elements[1].type))
    return Fail(op, 3, "expects (", Text(state), ", random integers) as result, found ",
                Text(declared));
  const bool three_fry = op.attr<RngBitGeneratorAttrs>().algorithm == RngAlgorithm::kThreeFry;
  const int64_t bits = state.ElementCount() * BitWidth(state.type);
  if (bits != 128 && (three_fry || bits != 192))
    return Fail(op, 4, "expects a state of 128 ", three_fry ? "" : "or 192 ", "bits, found ",
                Text(state));
  return Shape::Tuple({state.WithoutLayout(), declared.elements[1]});
}

absl::StatusOr<Shape> InferRngGetAndUpdateState(const OpView&) {
  return Shape::Array(ElementType::kU64, {2});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
