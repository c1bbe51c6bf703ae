// Broadcasting by dimensions, by shapes, and by a builder's broadcast_dimensions.
//
// Two sizes agree where they are equal or one of them is 1. An array of lower rank is first
// expanded by broadcast_dimensions: f32[4] with {1} beside f32[2,4] becomes f32[1,4]. The builder,
// StableHLO's conversion and shape inference share these rules, which are XLA's.
#include "ops/broadcastable.h"

#include <algorithm>

#include "ops/dim_lists.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool IsUnknown(int64_t size) { return size == kUnbounded; }

std::string DimText(int64_t size) { return IsUnknown(size) ? "?" : absl::StrCat(size); }

std::string DimsText(absl::Span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    absl::StrAppend(&text, i == 0 ? "" : ",", DimText(dims[i]));
  return text + "]";
}

}  // namespace

absl::StatusOr<int64_t> InferBroadcastDim(int64_t a, int64_t b) {
  if (a == b) return a;
  if (IsUnknown(a)) return b == 1 ? a : b;
  if (IsUnknown(b)) return a == 1 ? b : a;
  if (a == 1) return b;
  if (b == 1) return a;
  return InvalidArgument("sizes ", a, " and ", b, " differ, and neither is 1");
}

DimVector ExpandRank(absl::Span<const int64_t> dims, int rank) {
  DimVector expanded(dims.begin(), dims.end());
  if (static_cast<int>(dims.size()) < rank)
    expanded.insert(expanded.begin(), rank - dims.size(), 1);
  return expanded;
}

absl::StatusOr<DimVector> InferBroadcastDims(absl::Span<const int64_t> a,
                                             absl::Span<const int64_t> b) {
  const int rank = static_cast<int>(std::max(a.size(), b.size()));
  DimVector result = ExpandRank(a, rank);
  const DimVector other = ExpandRank(b, rank);
  for (int d = 0; d < rank; ++d) {
    const absl::StatusOr<int64_t> size = InferBroadcastDim(result[d], other[d]);
    if (!size.ok())
      return InvalidArgument(DimsText(a), " and ", DimsText(b),
                             " do not broadcast: ", size.status().message());
    result[d] = *size;
  }
  return result;
}

absl::StatusOr<MaybeRanked> InferBroadcastResult(absl::Span<const MaybeRanked> operands) {
  MaybeRanked result;
  for (const MaybeRanked& operand : operands) {
    if (!operand) continue;
    if (!result) {
      result = operand;
    } else {
      ASSIGN_OR_RETURN(result, InferBroadcastDims(*result, *operand));
    }
  }
  return result;
}

absl::Status VerifyBroadcastResult(absl::Span<const MaybeRanked> operands,
                                   const MaybeRanked& result, BroadcastCheck check) {
  if (operands.empty()) return InvalidArgument("expects at least one operand");
  ASSIGN_OR_RETURN(const MaybeRanked inferred, InferBroadcastResult(operands));
  if (!inferred || !result) return absl::OkStatus();
  if (inferred->size() != result->size())
    return InvalidArgument("expects rank ", inferred->size(), " as result, found ",
                           DimsText(*result));
  for (size_t d = 0; d < result->size(); ++d) {
    const int64_t expected = (*inferred)[d], found = (*result)[d];
    const bool cast = IsUnknown(expected) && check == BroadcastCheck::kLenient;
    if (!IsUnknown(found) && found != expected && !cast)
      return InvalidArgument("expects ", DimText(expected), " as size of dimension ", d, ", found ",
                             DimsText(*result));
  }
  return absl::OkStatus();
}

namespace {

// Shapes of one rank.
absl::StatusOr<Shape> BroadcastEqualRanks(const Shape& lhs, const Shape& rhs) {
  Shape result = lhs.WithoutLayout();
  for (int d = 0; d < lhs.rank(); ++d) {
    const int64_t a = lhs.dims[d], b = rhs.dims[d];
    const absl::StatusOr<int64_t> size = InferBroadcastDim(a, b);
    if (!size.ok())
      return InvalidArgument("dimension ", d, " of ", Text(lhs), " and ", Text(rhs), ": ",
                             size.status().message());
    const bool from_lhs = *size == a, from_rhs = *size == b;
    result.dims[d] = *size;
    result.SetDynamic(d, (from_lhs && lhs.IsDynamic(d)) || (from_rhs && rhs.IsDynamic(d)));
  }
  return result;
}

// `lower` with a dimension for each one of `higher`, 1 where `map` names none for it.
absl::StatusOr<Shape> Spread(const Shape& lower, const Shape& higher,
                             absl::Span<const int64_t> map) {
  if (static_cast<int>(map.size()) != lower.rank() || !AscendingBelow(map, higher.rank()))
    return InvalidArgument("broadcast_dimensions=", ListText(map), " do not map ", Text(lower),
                           " into ", Text(higher));
  Shape spread = Shape::Array(lower.type, DimVector(higher.rank(), 1));
  for (int d = 0; d < lower.rank(); ++d) {
    spread.dims[map[d]] = lower.dims[d];
    spread.SetDynamic(static_cast<int>(map[d]), lower.IsDynamic(d));
  }
  return spread;
}

bool IsIdentity(absl::Span<const int64_t> map) {
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != static_cast<int64_t>(i)) return false;
  return true;
}

}  // namespace

absl::StatusOr<Shape> BroadcastOperands(const Shape& lhs, const Shape& rhs,
                                        absl::Span<const int64_t> broadcast_dimensions) {
  if (!lhs.IsArray() || !rhs.IsArray())
    return InvalidArgument("only arrays broadcast: ", Text(lhs), " and ", Text(rhs));
  if (lhs.rank() == rhs.rank()) {
    const bool identity = broadcast_dimensions.empty() ||
                          (static_cast<int>(broadcast_dimensions.size()) == lhs.rank() &&
                           IsIdentity(broadcast_dimensions));
    if (!identity)
      return InvalidArgument("broadcast_dimensions=", ListText(broadcast_dimensions),
                             " of operands of one rank: ", Text(lhs), " and ", Text(rhs));
    return BroadcastEqualRanks(lhs, rhs);
  }
  const bool lhs_is_lower = lhs.rank() < rhs.rank();
  const Shape& lower = lhs_is_lower ? lhs : rhs;
  const Shape& higher = lhs_is_lower ? rhs : lhs;
  ASSIGN_OR_RETURN(const Shape spread, Spread(lower, higher, broadcast_dimensions));
  ASSIGN_OR_RETURN(Shape result, BroadcastEqualRanks(spread, higher));
  return result.WithType(lhs.type);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
