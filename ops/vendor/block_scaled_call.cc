// Reads calls on blocks with scales.
//
//   "__cudnn$blockScaledDot"(f8e4m3fn[128,256] a, [64,256] b, f8e8m0fnu[128,8], [128,8])
// A block's size follows from the type of the scales in cuDNN's calls (f8e8m0fnu: 32 elements, else
// 16), and from the quotient of the last dimensions in the framework's own (`__op$...`). cuDNN pads
// scales to full tiles of 128 rows and 4 columns; the array itself is never padded.
#include "ops/vendor/block_scaled_call.h"

#include <cmath>

#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr absl::string_view kCudnnTarget = "__cudnn$blockScaledDot";

absl::Status Misfit(absl::string_view target, const Shape& x, const Shape& scale) {
  return InvalidArgument("custom-call ", target, ": ", Text(scale), " does not fit ", Text(x));
}

// cuDNN's blocks follow from the type of the scales: MXFP8 and NVFP4.
int64_t CudnnBlock(const Shape& scale) { return scale.type == ElementType::kF8E8M0FNU ? 32 : 16; }

// Scales may be padded where the block's size is known.
absl::Status CheckPadded(absl::string_view target, const Shape& x, const Shape& scale,
                         int64_t block, bool swizzled) {
  const int64_t rank = x.rank();
  if (scale.rank() != rank || (rank == 3 && scale.dims[0] != x.dims[0]) ||
      scale.dims[rank - 2] < x.dims[rank - 2] ||
      scale.dims[rank - 1] < (x.dims[rank - 1] + block - 1) / block ||
      (swizzled && (scale.dims[rank - 2] % 128 != 0 || scale.dims[rank - 1] % 4 != 0)))
    return Misfit(target, x, scale);
  return absl::OkStatus();
}

absl::Status CheckMatrices(absl::string_view target, absl::Span<const Shape* const> operands,
                           const Shape& result) {
  for (const Shape* operand : operands)
    if (!operand->IsArray()) return InvalidArgument("custom-call ", target, " of ", Text(*operand));
  const Shape &lhs = *operands[0], &rhs = *operands[1];
  const int64_t rank = lhs.rank();
  if ((rank != 2 && rank != 3) || rhs.rank() != rank || lhs.dims.back() != rhs.dims.back() ||
      (rank == 3 && lhs.dims[0] != rhs.dims[0]))
    return Misfit(target, lhs, rhs);
  DimVector dims = lhs.dims;
  dims.back() = rhs.dims[rank - 2];
  if (!result.IsArray() || !IsFloat(result.type) || result.dims != dims)
    return InvalidArgument("custom-call ", target, " of ", Text(lhs), " and ", Text(rhs), " gives ",
                           Text(result));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> BlockOf(absl::string_view target, const Shape& x, const Shape& scale) {
  DimVector others = x.dims;
  if (!x.IsArray() || !scale.IsArray() || x.rank() == 0 || scale.rank() != x.rank() ||
      scale.dims.back() == 0 || x.dims.back() % scale.dims.back() != 0)
    return Misfit(target, x, scale);
  others.back() = scale.dims.back();
  if (others != scale.dims) return Misfit(target, x, scale);
  return x.dims.back() / scale.dims.back();
}

absl::StatusOr<BlockScaledDot> ReadBlockScaledDot(absl::string_view target,
                                                  const ConfigValue& config,
                                                  absl::Span<const Shape* const> operands,
                                                  const Shape& result) {
  if (operands.size() < 3 || operands.size() > 5)
    return InvalidArgument("custom-call ", target, " of ", operands.size(), " operands");
  RETURN_IF_ERROR(CheckMatrices(target, operands, result));
  BlockScaledDot dot;
  dot.swizzled = target == kCudnnTarget;
  if (operands.size() > 4) dot.factor_operand = 4;
  if (dot.factor_operand != 0 && operands[4]->ElementCount() != 1)
    return InvalidArgument("custom-call ", target, " with a factor of ", Text(*operands[4]));
  const ConfigValue* own = config.Find("block_scaled_dot_backend_config");
  const auto stated =
      static_cast<int64_t>((own != nullptr ? *own : config).NumberOr("block_size", 0));
  for (int side = 0; side < (operands.size() > 3 ? 2 : 1); ++side) {
    const Shape &x = *operands[side], &scale = *operands[side + 2];
    int64_t block = dot.swizzled ? CudnnBlock(scale) : stated;
    if (block <= 0) {
      ASSIGN_OR_RETURN(block, BlockOf(target, x, scale));
    }
    RETURN_IF_ERROR(CheckPadded(target, x, scale, block, dot.swizzled));
    (side == 0 ? dot.lhs_block : dot.rhs_block) = block;
  }
  return dot;
}

DimVector SwizzledDims(const DimVector& scale_dims) {
  const size_t rank = scale_dims.size();
  const int64_t rows = scale_dims[rank - 2], columns = scale_dims[rank - 1];
  return {rank == 3 ? scale_dims[0] : 1, rows / 128, columns / 4, 32, 4, 4};
}

double QuantizationLimit(ElementType type) {
  const FloatFormat& format = FormatOf(type);
  const int largest = (1 << format.exponent_bits) - 1 - (format.has_infinity ? 1 : 0) - format.bias;
  return std::ldexp(1.0, largest);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
