// Textures, samplers and surfaces: what their objects (64-bit handles) stand for.
//
// A handle is the device address of a Texture, 256 bytes of simulated memory that the driver writes
// (cuTexObjectCreate, cuSurfObjectCreate) and tex, tld4, txq, suld, sust, sured and suq read. A
// module's .texref, .samplerref or .surfref variable is such a Texture itself, so that its address
// is its handle; cuTexRefSetArray and its like fill it.
//
//   tex.2d.v4.f32.f32 {r,g,b,a}, [handle, {x,y}]   x = 2.75, linear filter, T = texels of a row:
//   position x - 0.5 = 2.25, weight 0.25 in 1/256ths: 0.75 * T[2] + 0.25 * T[3]
//
// Rules: CUDA Programming Guide, "Texture Fetching"; ISA, "Texture Instructions".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace hlokit::ptx {

class Memory;

enum class ObjectKind : uint8_t { kNone, kTexture, kSampler, kSurface };
// "texref", "samplerref", "surfref"; kNone for other words.
ObjectKind ObjectNamed(absl::string_view word);

// CUarray_format.
enum class TexelFormat : uint8_t {
  kU8 = 1,
  kU16 = 2,
  kU32 = 3,
  kS8 = 8,
  kS16 = 9,
  kS32 = 10,
  kHalf = 16,
  kFloat = 32,
};
// Bytes of a channel; 0 for other numbers.
int FormatBytes(TexelFormat format);

// CUaddress_mode.
enum class AddressMode : uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Texture {
  static constexpr uint64_t kMagic = 0x747865746b6f6c68;  // "hloktext"

  uint64_t magic = kMagic;
  ObjectKind kind = ObjectKind::kNone;
  TexelFormat format = TexelFormat::kFloat;
  uint8_t channels = 1;
  uint8_t dims = 0;        // 1, 2 or 3; 0: nothing is bound
  uint8_t is_layered = 0;  // depth counts layers, six a cube
  uint8_t is_cube = 0;
  uint8_t is_linear = 0;   // of device memory, not of an array
  uint8_t normalized = 0;  // coordinates of [0, 1)
  uint8_t as_integer = 0;  // integers are not scaled to [0, 1] or [-1, 1]
  uint8_t srgb = 0;
  uint8_t is_filtered = 0;    // linear filter, else the nearest texel
  uint8_t mips_filtered = 0;  // likewise between levels
  AddressMode address[3] = {};
  uint8_t unnormalize = 0;                    // of a sampler: force_unnormalized_coords
  uint32_t width = 0, height = 0, depth = 0;  // texels, of level 0; what a texture has not is 0
  uint32_t levels = 1;
  uint64_t data = 0;                        // device address of level 0
  uint64_t row_bytes = 0, slice_bytes = 0;  // of level 0; further levels are packed behind it
  float border[4] = {};
  float bias = 0, least_level = 0, most_level = 0;
  uint8_t unused[160] = {};

  int TexelBytes() const { return FormatBytes(format) * channels; }
};
static_assert(sizeof(Texture) == 256);

// Level `level` of a texture: sizes (at least 1), and where it lies.
struct TextureLevel {
  int64_t width, height, depth;
  uint64_t data, row_bytes, slice_bytes;
};
TextureLevel LevelOf(const Texture& texture, int level);

// What an instruction asks of a texture.
struct TextureQuery {
  float at[3] = {};       // coordinates; of a cube, the direction
  int64_t index[3] = {};  // the same of .s32: texels, not filtered
  bool is_integer = false;
  int64_t layer = 0;
  int offset[3] = {};  // texels
  float level = 0;
};

// Four 32-bit words: f32, or integers as they are; channels that the texture lacks are 0, 0 and 1.
using Texels = std::array<uint32_t, 4>;
Texels Sample(Memory& memory, const Texture& texture, const TextureQuery& query);
// tld4: component `channel` of the four texels that a linear filter would use, in the order
// lower left, lower right, upper right, upper left (rows grow downwards: the lower is the later).
Texels Gather(Memory& memory, const Texture& texture, const TextureQuery& query, int channel);
// The level that derivatives of the coordinates ask for: log2 of the longer one, in texels.
float LevelOfGradients(const Texture& texture, const float dx[3], const float dy[3]);

// txq and suq: a property by its name, of `level`; -1 where there is none of that name.
int64_t PropertyOf(const Texture& texture, absl::string_view name, int level);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
