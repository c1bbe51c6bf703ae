// Inference of fft.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// c2: complex numbers, but f32 or f64 for RFFT.
absl::Status CheckType(const OpView& op, FftType kind) {
  const Shape& operand = op.operand(0);
  const bool real = kind == FftType::kRfft;
  if (real ? ComplexOf(operand.type) != ElementType::kInvalid : IsComplex(operand.type))
    return absl::OkStatus();
  return Fail(op, 2, Text(kind), " expects ", real ? "f32 or f64" : "complex numbers", ", found ",
              Text(operand));
}

// The size that the operand must have in transformed dimension i of n: half as many for the input
// of an IRFFT.
int64_t ExpectedSize(FftType kind, const DimVector& length, size_t i) {
  return kind == FftType::kIrfft && i + 1 == length.size() ? length[i] / 2 + 1 : length[i];
}

}  // namespace

// c3: one to three lengths, none negative, no more than dimensions; c4: the operand's last
// dimensions have them.
absl::StatusOr<Shape> InferFft(const OpView& op) {
  RETURN_IF_ERROR(ExpectArray(op, 0));
  const Shape& operand = op.operand(0);
  const auto& [kind, length] = op.attr<FftAttrs>();
  RETURN_IF_ERROR(CheckType(op, kind));
  if (length.empty() || length.size() > 3 || static_cast<int>(length.size()) > operand.rank())
    return Fail(op, 3, "fft_length=", ListText(length), " does not fit ", Text(operand));
  Shape result = operand.WithoutLayout();
  const int first = operand.rank() - static_cast<int>(length.size());
  for (size_t i = 0; i < length.size(); ++i) {
    const int d = first + static_cast<int>(i);
    if (length[i] < 0) return Fail(op, 3, "fft_length=", ListText(length), " is negative");
    if (!SizesAgree(operand.dims[d], ExpectedSize(kind, length, i)) &&
        !(operand.dims[d] == 0 && length[i] == 0))
      return Fail(op, 4, "dimension ", d, " of ", Text(operand), " is not ",
                  ExpectedSize(kind, length, i), ", as ", Text(kind),
                  " of fft_length=", ListText(length), " needs");
  }
  if (kind == FftType::kRfft) {
    result.type = ComplexOf(operand.type);
    if (length.back() > 0) result.dims.back() = length.back() / 2 + 1;
  } else if (kind == FftType::kIrfft) {
    result.type = RealComponent(operand.type);
    result.dims.back() = length.back();
  }
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
