// Custom calls of cuDNN that convolve.
#pragma once

#include <optional>
#include <string>

#include "ir/instruction.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

inline constexpr absl::string_view kConvForward = "__cudnn$convForward";
inline constexpr absl::string_view kConvBackwardInput = "__cudnn$convBackwardInput";
inline constexpr absl::string_view kConvBackwardFilter = "__cudnn$convBackwardFilter";
inline constexpr absl::string_view kConvBiasActivation = "__cudnn$convBiasActivationForward";

// activation(result_scale * conv(operand 0, operand 1) + side_scale * operand 3 + operand 2): what
// cudnn_conv_backend_config of a call says.
struct ConvolutionConfig {
  std::string activation = "kNone";
  double result_scale = 1, side_scale = 0, leaky_alpha = 0;
};
ConvolutionConfig ConvolutionConfigOf(const Instruction& call);
void WriteConvolutionConfig(const ConvolutionConfig& config, Instruction& call);

// The compute capability times ten from which on tensor cores have floats of 8 bits.
inline constexpr int64_t kFloat8Capability = 89;

// True for calls of a forward convolution, with or without what is fused into it.
bool IsForwardCall(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
