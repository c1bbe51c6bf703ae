// Convolutions in the forms that targets have.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// convolution-group-converter: a convolution in batch groups becomes one of all pairs of groups, of
// which those that belong together are kept. With the option `features`, one in feature groups
// becomes one of all features with a kernel that is zero between groups: infinities and NaNs of a
// group then reach the others.
std::unique_ptr<Pass> CreateConvolutionGroupConverter(PassArguments& arguments);

// convolution_4d_expander: spatial dimensions in which nothing happens (one element, a window of
// one, no padding) are left out. Exact.
std::unique_ptr<Pass> CreateConvolution4dExpander();

// convolution-pred-expander: convolutions of pred are computed in f32 and converted.
std::unique_ptr<Pass> CreateConvolutionPredExpander();

// ConvolutionTypeCanonicalizer: operands get the type of the result.
std::unique_ptr<Pass> CreateConvolutionTypeCanonicalizer();

// conv-padding-legalization: windows that pad a dimension by less than nothing, or its ends
// differently, get an input that is padded and cropped before. Exact.
std::unique_ptr<Pass> CreateConvPaddingLegalization();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
