// What inference functions share: errors with rule numbers, common expectations, signatures of
// called computations.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/dim_lists.h"
#include "ops/infer/infer.h"
#include "ops/rules.h"
#include "support/status.h"
#include "types/shape.h"

namespace hlokit {

// An error with the label <op>-c<rule>.
template <typename... Parts>
absl::Status Fail(const OpView& op, int rule, const Parts&... parts) {
  const std::string label = absl::StrCat(Text(op.opcode()), "-c", rule);
  DCHECK(FindRule(label) != nullptr);
  return op.Error(label, parts...);
}

// Equal, or both floats: where XLA allows f32 and bf16 and the like to meet.
bool SameTypeOrFloats(ElementType a, ElementType b);
// Equal sizes, or one of them unbounded.
inline bool SizesAgree(int64_t a, int64_t b) {
  return a == b || a == kUnbounded || b == kUnbounded;
}
// The size that says more: the bounded one.
inline int64_t MoreSpecific(int64_t a, int64_t b) { return a == kUnbounded ? b : a; }
// True if dimension d is at most `bound`-sized as far as is known: an unbounded size exceeds
// nothing.
inline bool Exceeds(int64_t size, int64_t bound) { return bound != kUnbounded && size > bound; }

// Rule 1: the operand (every operand) is an array.
absl::Status ExpectArray(const OpView& op, int64_t i);
absl::Status ExpectArrays(const OpView& op);
// The operand is a scalar of an integer type.
absl::Status ExpectIntegerScalar(const OpView& op, int64_t i, int rule);
// Rule 1: the operand is a token.
absl::Status ExpectToken(const OpView& op, int64_t i);
// The shape that the text states; ops whose operands do not determine it.
absl::StatusOr<Shape> ExpectDeclared(const OpView& op);
// The stated shape is an array.
absl::StatusOr<Shape> ExpectDeclaredArray(const OpView& op, int rule);
// A stated array of the operand's type (rule 2) with as many elements (rule 3).
absl::StatusOr<Shape> ExpectReshaped(const OpView& op);
// The single entry of dimensions={d}, in [0, rank).
absl::StatusOr<int> ExpectOneDimension(const OpView& op, absl::Span<const int64_t> dimensions,
                                       int64_t rank, int rule);

// Operands a and b have the same dimensions; the result has the more specific sizes, dynamic where
// either is.
absl::StatusOr<Shape> MergeDims(const OpView& op, const Shape& a, const Shape& b, int rule);

// Parameters and result of a called computation.
struct Signature {
  const Computation* computation;
  std::vector<const Shape*> parameters;
  const Shape* result;
};
// module-c6: the op has `called()[i]`, with parameters numbered without gaps and a root.
absl::StatusOr<Signature> SignatureOf(const OpView& op, size_t i);
// The parameters are `expected` (layouts ignored), one each.
absl::Status ExpectParameters(const OpView& op, const Signature& signature,
                              absl::Span<const Shape* const> expected, int rule);
// A reducer of N values: (accumulators, elements) -> accumulators, all scalars; floats may differ
// in width. Returns the accumulators' types; `inits` and `elements` are the N types it is used
// with.
absl::StatusOr<std::vector<ElementType>> ExpectReducer(const OpView& op, const Signature& reducer,
                                                       absl::Span<const ElementType> inits,
                                                       absl::Span<const ElementType> elements,
                                                       int rule);

// The operands of a reduction: N arrays, N initial scalars, a reducer. Rules 2 (an even number), 3
// (arrays of one set of dimensions), 4 (scalars), 6 (the reducer takes 2N scalars and returns N).
struct Reduction {
  std::vector<ElementType> types;  // of the N results
  bool tuple;                      // the reducer returns a tuple, so the op does
};
absl::StatusOr<Reduction> ExpectReduction(const OpView& op);
// The results' shape, each with the dimensions of `shape`.
Shape ReductionResult(const Reduction& reduction, const Shape& shape);

// One shape as itself, several as a tuple.
Shape OneOrTuple(std::vector<Shape> shapes);

// The dimensions that `window` makes of `dims`. Rules 91 (one entry a dimension), 92 (size, stride
// and dilations positive), 93 (padding leaves a size that is not negative and can be counted).
absl::StatusOr<DimVector> WindowedDims(const OpView& op, absl::Span<const int64_t> dims,
                                       const Window& window);

// A dot's or convolution's type: the stated one where `operand` types may accumulate into it, else
// theirs.
absl::StatusOr<ElementType> AccumulationType(const OpView& op, ElementType lhs, ElementType rhs,
                                             int rule);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
