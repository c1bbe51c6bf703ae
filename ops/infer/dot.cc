// Inference of dot, ragged-dot and scaled-dot.
//   dot f32[8,3,4] x f32[8,4,5], batch 0, contracting 2 x 1   ->   f32[8,3,5]
// The result has the batch dimensions, then the free ones of the left side, then those of the
// right. Its element type is the stated one where products of the operands' types may be summed in
// it.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

struct DotDims {
  const DimVector& lhs_batch;
  const DimVector& lhs_contracting;
  const DimVector& rhs_batch;
  const DimVector& rhs_contracting;
};

// c2: batch and contracting dimensions of one side are distinct and in range.
absl::Status CheckSide(const OpView& op, const Shape& side, const DimVector& batch,
                       const DimVector& contracting) {
  DimVector all = batch;
  all.insert(all.end(), contracting.begin(), contracting.end());
  if (DistinctBelow(all, side.rank())) return absl::OkStatus();
  return Fail(op, 2, "batch ", ListText(batch), " and contracting ", ListText(contracting),
              " are not distinct dimensions of ", Text(side));
}

// c3: both sides name as many dimensions; c4: of the same sizes.
absl::Status CheckPairs(const OpView& op, absl::string_view what, const DimVector& lhs_dims,
                        const DimVector& rhs_dims) {
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  if (lhs_dims.size() != rhs_dims.size())
    return Fail(op, 3, "sides differ in the number of ", what, " dimensions: ", ListText(lhs_dims),
                " and ", ListText(rhs_dims));
  for (size_t i = 0; i < lhs_dims.size(); ++i)
    if (!SizesAgree(lhs.dims[lhs_dims[i]], rhs.dims[rhs_dims[i]]))
      return Fail(op, 4, what, " dimension ", lhs_dims[i], " of ", Text(lhs),
                  " differs from dimension ", rhs_dims[i], " of ", Text(rhs));
  return absl::OkStatus();
}

absl::Status CheckDot(const OpView& op, const DotDims& dims) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  RETURN_IF_ERROR(ExpectArray(op, 1));
  RETURN_IF_ERROR(CheckSide(op, op.operand(0), dims.lhs_batch, dims.lhs_contracting));
  RETURN_IF_ERROR(CheckSide(op, op.operand(1), dims.rhs_batch, dims.rhs_contracting));
  RETURN_IF_ERROR(CheckPairs(op, "batch", dims.lhs_batch, dims.rhs_batch));
  return CheckPairs(op, "contracting", dims.lhs_contracting, dims.rhs_contracting);
}

void AppendDim(Shape& result, const Shape& from, int64_t d) {
  result.SetDynamic(result.rank(), from.IsDynamic(static_cast<int>(d)));
  result.dims.push_back(from.dims[d]);
}

// c5: the stated type can hold sums of products; c6: the result has no more than 64 dimensions.
absl::StatusOr<Shape> DotResult(const OpView& op, const DotDims& dims,
                                absl::Span<const int64_t> also_gone) {
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  ASSIGN_OR_RETURN(const ElementType type, AccumulationType(op, lhs.type, rhs.type, 5));
  if (lhs.rank() + rhs.rank() > kMaxRank)
    return Fail(op, 6, "the operands have too many dimensions in all");
  Shape result = Shape::Scalar(type);
  for (int64_t d : dims.lhs_batch) AppendDim(result, lhs, d);
  for (int d = 0; d < lhs.rank(); ++d)
    if (!Contains(dims.lhs_batch, d) && !Contains(dims.lhs_contracting, d))
      AppendDim(result, lhs, d);
  for (int d = 0; d < rhs.rank(); ++d)
    if (!Contains(dims.rhs_batch, d) && !Contains(dims.rhs_contracting, d) &&
        !Contains(also_gone, d))
      AppendDim(result, rhs, d);
  return result;
}

}  // namespace

absl::StatusOr<Shape> InferDot(const OpView& op) {
  const auto& attr = op.attr<DotAttrs>();
  const DotDims dims{attr.lhs_batch_dims, attr.lhs_contracting_dims, attr.rhs_batch_dims,
                     attr.rhs_contracting_dims};
  RETURN_IF_ERROR(CheckDot(op, dims));
  return DotResult(op, dims, {});
}

namespace {

// c9: a scale has its operand's rank, and each operand dimension is a multiple of the scale's; or
// it is a scalar.
absl::Status CheckScale(const OpView& op, const Shape& operand, const Shape& scale) {
  if (scale.IsScalar()) return absl::OkStatus();
  bool fits = scale.rank() == operand.rank();
  for (int d = 0; fits && d < scale.rank(); ++d) {
    const int64_t size = scale.dims[d];
    fits = size == kUnbounded || operand.dims[d] == kUnbounded ||
           (size > 0 && operand.dims[d] % size == 0) || size == operand.dims[d];
  }
  if (fits) return absl::OkStatus();
  return Fail(op, 9, "scale does not divide its operand: ", Text(scale), " and ", Text(operand));
}

}  // namespace

// c7: operands lhs, rhs and their two scales; c8: not both scales are scalars.
absl::StatusOr<Shape> InferScaledDot(const OpView& op) {
  const auto& attr = op.attr<DotAttrs>();
  const DotDims dims{attr.lhs_batch_dims, attr.lhs_contracting_dims, attr.rhs_batch_dims,
                     attr.rhs_contracting_dims};
  RETURN_IF_ERROR(ExpectArrays(op));
  if (op.operand_count() != 4)
    return Fail(op, 7, "expects lhs, rhs and their two scales, found ", op.operand_count(),
                " operands");
  RETURN_IF_ERROR(CheckDot(op, dims));
  if (op.operand(2).IsScalar() && op.operand(3).IsScalar())
    return Fail(op, 8, "both scales are scalars");
  RETURN_IF_ERROR(CheckScale(op, op.operand(0), op.operand(2)));
  RETURN_IF_ERROR(CheckScale(op, op.operand(1), op.operand(3)));
  return DotResult(op, dims, {});
}

namespace {

// How the ragged dimension of the lhs takes part; it decides where the groups are.
enum class RaggedMode { kFree, kContracting, kBatch };

// c7: one ragged dimension, which exists.
absl::StatusOr<RaggedMode> RaggedModeOf(const OpView& op) {
  const auto& attr = op.attr<RaggedDotAttrs>();
  const Shape& lhs = op.operand(0);
  if (attr.lhs_ragged_dims.size() != 1 || !DistinctBelow(attr.lhs_ragged_dims, lhs.rank()))
    return Fail(op, 7, "lhs_ragged_dims=", ListText(attr.lhs_ragged_dims),
                " is not one dimension of ", Text(lhs));
  if (Contains(attr.lhs_batch_dims, attr.lhs_ragged_dims[0])) return RaggedMode::kBatch;
  if (Contains(attr.lhs_contracting_dims, attr.lhs_ragged_dims[0])) return RaggedMode::kContracting;
  return RaggedMode::kFree;
}

// c8: a group dimension of the rhs in the free mode only, neither batch nor contracting, as long as
// there are groups.
absl::Status CheckGroupDims(const OpView& op, RaggedMode mode, int64_t groups) {
  const auto& attr = op.attr<RaggedDotAttrs>();
  const Shape& rhs = op.operand(1);
  const DimVector& dims = attr.rhs_group_dims;
  if (dims.size() != (mode == RaggedMode::kFree ? 1u : 0u) || !DistinctBelow(dims, rhs.rank()))
    return Fail(op, 8, "rhs_group_dims=", ListText(dims), " does not fit ", Text(rhs),
                " and the ragged dimension");
  if (dims.empty()) return absl::OkStatus();
  if (Contains(attr.rhs_batch_dims, dims[0]) || Contains(attr.rhs_contracting_dims, dims[0]))
    return Fail(op, 8, "group dimension ", dims[0], " is a batch or contracting dimension as well");
  if (!SizesAgree(rhs.dims[dims[0]], groups))
    return Fail(op, 8, "group dimension ", dims[0], " of ", Text(rhs), " is not ", groups);
  return absl::OkStatus();
}

// The lhs dimensions that a list of group sizes may be given for each index of: batch dimensions,
// then those of the ragged one's own kind before it.
DimVector DimsBeforeRagged(const OpView& op, RaggedMode mode) {
  const auto& attr = op.attr<RaggedDotAttrs>();
  const int64_t ragged = attr.lhs_ragged_dims[0];
  DimVector before;
  auto until_ragged = [&](const DimVector& dims) {
    for (auto d = dims.begin(); d != dims.end() && *d != ragged; ++d) before.push_back(*d);
  };
  until_ragged(attr.lhs_batch_dims);
  if (mode == RaggedMode::kContracting) until_ragged(attr.lhs_contracting_dims);
  for (int64_t d = 0; mode == RaggedMode::kFree && d < ragged; ++d)
    if (!Contains(attr.lhs_batch_dims, d) && !Contains(attr.lhs_contracting_dims, d))
      before.push_back(d);
  return before;
}

// c9: group sizes are integers, [groups] or with the dimensions before the ragged one in front.
absl::StatusOr<int64_t> GroupCount(const OpView& op, RaggedMode mode) {
  const Shape& sizes = op.operand(2);
  if (!IsInteger(sizes.type) || sizes.rank() == 0)
    return Fail(op, 9, "expects integer group sizes of rank 1 or more, found ", Text(sizes));
  const DimVector before = DimsBeforeRagged(op, mode);
  bool fits = sizes.rank() == static_cast<int>(before.size()) + 1;
  for (size_t i = 0; fits && i < before.size(); ++i)
    fits = SizesAgree(sizes.dims[i], op.operand(0).dims[before[i]]);
  if (sizes.rank() > 1 && !fits)
    return Fail(op, 9, "expects group sizes for each index of the dimensions ", ListText(before),
                " of ", Text(op.operand(0)), ", found ", Text(sizes));
  return sizes.dims.back();
}

}  // namespace

absl::StatusOr<Shape> InferRaggedDot(const OpView& op) {
  const auto& attr = op.attr<RaggedDotAttrs>();
  const DotDims dims{attr.lhs_batch_dims, attr.lhs_contracting_dims, attr.rhs_batch_dims,
                     attr.rhs_contracting_dims};
  RETURN_IF_ERROR(ExpectArrays(op));
  RETURN_IF_ERROR(CheckDot(op, dims));
  ASSIGN_OR_RETURN(const RaggedMode mode, RaggedModeOf(op));
  ASSIGN_OR_RETURN(const int64_t groups, GroupCount(op, mode));
  RETURN_IF_ERROR(CheckGroupDims(op, mode, groups));
  ASSIGN_OR_RETURN(Shape result, DotResult(op, dims, attr.rhs_group_dims));
  if (mode != RaggedMode::kContracting) return result;
  Shape grouped = Shape::Scalar(result.type);
  AppendDim(grouped, op.operand(2), op.operand(2).rank() - 1);
  for (int d = 0; d < result.rank(); ++d) AppendDim(grouped, result, d);
  return grouped;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
