// Broadcasting as shapes alone tell it: MLIR's Broadcastable trait, and what XLA's builders do
// where operands differ in shape. HLO text itself never broadcasts, except the scalar bounds of
// clamp and the scalar selector of select.
//
// A dimension is a size or kUnbounded (`?`); an operand without dimensions at all is unranked.
// Sizes of 0 behave as any size other than 1. Sources: the Broadcastable trait (seed 002),
// "Broadcasting semantics" (seed 000), XLA's inference.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "types/shape.h"

namespace hlokit {

// The common size of two dimensions: 1 and ? give way to the other, except that ? with 1 stays ?.
// InvalidArgument where two known sizes other than 1 differ.
absl::StatusOr<int64_t> InferBroadcastDim(int64_t a, int64_t b);

// `dims` with 1s in front, up to `rank`; unchanged where it has as many already.
DimVector ExpandRank(absl::Span<const int64_t> dims, int rank);

// The dimensions that two ranked operands make, the shorter list expanded on the left.
absl::StatusOr<DimVector> InferBroadcastDims(absl::Span<const int64_t> a,
                                             absl::Span<const int64_t> b);

using MaybeRanked = std::optional<DimVector>;

// The same for any number of operands, from left to right; unranked ones do not count. Nothing
// where all of them are unranked.
absl::StatusOr<MaybeRanked> InferBroadcastResult(absl::Span<const MaybeRanked> operands);

// How a stated result is held against the inferred one. They differ where ? is inferred and a size
// is stated: kStrict refuses that, kLenient takes it for a cast, as the seed's table does.
enum class BroadcastCheck { kStrict, kLenient };

// Whether `result` may be the result of an op of the trait. A stated ? always may; so may any
// result where nothing is inferred, and an unranked one. The result itself is never broadcast.
// InvalidArgument where operands do not fit each other, or the result not them.
absl::Status VerifyBroadcastResult(absl::Span<const MaybeRanked> operands,
                                   const MaybeRanked& result, BroadcastCheck check);

// The dimensions that a builder gives a binary op: those of equal ranks pair up, a scalar goes with
// anything; else `broadcast_dimensions` names, strictly increasing, the dimension of the
// higher-ranked operand for each one of the lower-ranked, whose other dimensions then count as 1. A
// dimension is dynamic where an operand that decides its size is. The type is lhs's.
// InvalidArgument where sizes do not fit, or the ranks differ and the dimensions are not so named.
absl::StatusOr<Shape> BroadcastOperands(const Shape& lhs, const Shape& rhs,
                                        absl::Span<const int64_t> broadcast_dimensions);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
