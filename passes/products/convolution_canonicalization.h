// convolution-canonicalization: convolutions over batch, space, features.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches f16 and f32 convolutions over one to three spatial dimensions whose dimensions are not in
// the order b01f_01io->b01f (b0f, b012f); leaves one in that order, with transposes of its operands
// and of its result. Cost: linear.
std::unique_ptr<Pass> CreateConvolutionCanonicalization();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
