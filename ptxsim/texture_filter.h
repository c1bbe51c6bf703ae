// The arithmetic of linear filters, with the bits of an H200.
//
// A corner's weight is a whole number of 1/256ths: of two dimensions the product of both is rounded
// and the others are what is left, so that all make 256. Texels of integers become 16 bits wide
// (255 becomes 65535), and their weighted sum is rounded to 16 bits. Floats are cut to 28 bits
// (f16: to 15) below the largest exponent that counts, and their exact sum is rounded, ties away
// from zero, to the format.
//
//   u8 texels 2 and 0, weights 176 and 80: 2 * 257 * 176 / 256 = 353.4, 353 / 65535 = 0x3bb080b1
//
// Cost: some operations a corner and channel.
#pragma once

namespace hlokit::ptx {

inline constexpr int kFilterCorners = 8;

// What texels are to a filter: integers of 8 and 16 bits scaled to 1, or floats.
enum class FilterOf { kFloat, kHalf, kU8, kU16, kS8, kS16 };

// Weights of 2, 4 or 8 corners, the first dimension's changing fastest, from those of the second
// texel of each dimension.
void CornerWeights(const int* seconds, int dims, int* weights);

// The weighted sum of a channel's values, as a texture without a filter gives them.
float FilterChannel(FilterOf texels, const float* values, const int* weights, int corners);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
