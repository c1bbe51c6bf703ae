// Sampling: coordinates to texels (address modes), texels to values (formats), values to one
// result (filters). A linear filter weighs with 8 bits of fraction, as the hardware's does.
#include "ptxsim/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ptxsim/memory.h"
#include "ptxsim/rounding.h"
#include "ptxsim/texture_filter.h"

namespace hlokit::ptx {
namespace {

// What follows from a channel's format. The types are OpenCL's numbers, which the ISA refers to: of
// texels as they are, and of integers read as parts of 1.
struct TexelRow {
  TexelFormat format;
  int bytes;
  bool is_signed;
  FilterOf filter;
  int64_t type, scaled_type;
};
constexpr TexelRow kTexelRows[] = {
    {TexelFormat::kU8, 1, false, FilterOf::kU8, 0x10da, 0x10d2},
    {TexelFormat::kU16, 2, false, FilterOf::kU16, 0x10db, 0x10d3},
    {TexelFormat::kU32, 4, false, FilterOf::kFloat, 0x10dc, 0x10dc},
    {TexelFormat::kS8, 1, true, FilterOf::kS8, 0x10d7, 0x10d0},
    {TexelFormat::kS16, 2, true, FilterOf::kS16, 0x10d8, 0x10d1},
    {TexelFormat::kS32, 4, true, FilterOf::kFloat, 0x10d9, 0x10d9},
    {TexelFormat::kHalf, 2, true, FilterOf::kHalf, 0x10dd, 0x10dd},
    {TexelFormat::kFloat, 4, true, FilterOf::kFloat, 0x10de, 0x10de},
};

// Other numbers have 0 bytes.
const TexelRow& RowOf(TexelFormat format) {
  static constexpr TexelRow kNone = {TexelFormat::kFloat, 0,      false,
                                     FilterOf::kFloat,    0x10de, 0x10de};
  for (const TexelRow& row : kTexelRows)
    if (row.format == format) return row;
  return kNone;
}

// The largest integer of one or two bytes.
int32_t MaxOf(const TexelRow& row) { return (1 << (8 * row.bytes - (row.is_signed ? 1 : 0))) - 1; }

// The integer in the lowest bits.
int32_t SignExtended(uint32_t bits, const TexelRow& row) {
  const int unused = 32 - 8 * row.bytes;
  return static_cast<int32_t>(bits << unused) >> unused;
}

// A texel's place, -1 where the border stands for it.
int64_t Addressed(AddressMode mode, int64_t i, int64_t size) {
  switch (mode) {
    case AddressMode::kWrap:
      return ((i % size) + size) % size;
    case AddressMode::kMirror: {
      const int64_t period = 2 * size, at = ((i % period) + period) % period;
      return at < size ? at : period - 1 - at;
    }
    case AddressMode::kBorder:
      return i >= 0 && i < size ? i : -1;
    default:
      return std::clamp<int64_t>(i, 0, size - 1);
  }
}

float FromSrgb(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

// A channel as the 32 bits that tex returns, from its bytes; the least signed integer is below -1
// yet, as filters see it.
uint32_t ChannelBits(const Texture& t, const std::byte* from, int channel) {
  uint32_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(FormatBytes(t.format)));
  const auto scaled = [&](double value, double max) {
    auto result = static_cast<float>(value / max);
    if (t.srgb != 0 && channel < 3 && t.format == TexelFormat::kU8) result = FromSrgb(result);
    return std::bit_cast<uint32_t>(result);
  };
  if (t.format == TexelFormat::kHalf)
    return std::bit_cast<uint32_t>(static_cast<float>(F16Value(static_cast<uint16_t>(bits))));
  const TexelRow& row = RowOf(t.format);
  if (row.bytes == 4) return bits;
  if (!row.is_signed) return t.as_integer != 0 ? bits : scaled(bits, MaxOf(row));
  const int32_t value = SignExtended(bits, row);
  return t.as_integer != 0 ? static_cast<uint32_t>(value) : scaled(value, MaxOf(row));
}

bool GivesFloats(const Texture& t) {
  return t.format == TexelFormat::kFloat || t.format == TexelFormat::kHalf ||
         (t.as_integer == 0 && FormatBytes(t.format) < 4);
}

// A channel of the border in the texture's format: its bits where integers are read, else clamped
// to what the format holds and cut to its steps, as an H200 does.
uint32_t BorderBits(const Texture& t, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const TexelRow& row = RowOf(t.format);
  if (row.bytes == 4 || t.format == TexelFormat::kHalf) return bits;
  if (t.as_integer != 0)
    return row.is_signed ? static_cast<uint32_t>(SignExtended(bits, row))
                         : bits & static_cast<uint32_t>(MaxOf(row));
  const auto max = static_cast<float>(MaxOf(row));
  const float clamped = std::clamp(value, row.is_signed ? -1.0f : 0.0f, 1.0f);
  return std::bit_cast<uint32_t>(std::trunc(clamped * max) / max);
}

// Channels that the texture has not are 0, here and in its texels, also the fourth.
Texels BorderOf(const Texture& t) {
  Texels texels = {};
  for (int c = 0; c < t.channels; ++c) texels[static_cast<size_t>(c)] = BorderBits(t, t.border[c]);
  return texels;
}

// The texel at a place of a level; x, y or z of -1: the border.
Texels TexelAt(Memory& memory, const Texture& t, const TextureLevel& level, int64_t x, int64_t y,
               int64_t z) {
  if (x < 0 || y < 0 || z < 0) return BorderOf(t);
  const uint64_t address = level.data + static_cast<uint64_t>(x * t.TexelBytes()) +
                           static_cast<uint64_t>(y) * level.row_bytes +
                           static_cast<uint64_t>(z) * level.slice_bytes;
  const std::byte* from = memory.Host(address, t.TexelBytes());
  Texels texels = {};
  for (int c = 0; c < t.channels && from != nullptr; ++c)
    texels[static_cast<size_t>(c)] = ChannelBits(t, from + c * FormatBytes(t.format), c);
  return texels;
}

// Ends what ChannelBits began, where no filter does.
Texels Clamped(const Texture& t, Texels texels) {
  const bool is_signed = t.format == TexelFormat::kS8 || t.format == TexelFormat::kS16;
  if (!is_signed || t.as_integer != 0) return texels;
  for (uint32_t& bits : texels)
    bits = std::bit_cast<uint32_t>(std::max(std::bit_cast<float>(bits), -1.0f));
  return texels;
}

// One dimension's part of a filter: the two texels and the weight of the second, in 1/256ths.
struct Span {
  int64_t first = 0, second = 0;
  int weight = 0;
};

Span SpanOf(const Texture& t, int dim, int64_t size, double position, bool is_filtered,
            int offset) {
  if (!std::isfinite(position)) position = 0;
  position = std::clamp(position, -1e9, 1e9);
  Span span;
  int64_t i = 0;
  if (is_filtered) {
    const auto fixed = static_cast<int64_t>(std::floor((position - 0.5) * 256 + 0.5));
    i = fixed >> 8;
    span.weight = static_cast<int>(fixed & 255);
  } else {
    i = static_cast<int64_t>(std::floor(position));
  }
  const AddressMode mode = t.address[dim];
  span.first = Addressed(mode, i + offset, size);
  span.second = Addressed(mode, i + 1 + offset, size);
  return span;
}

FilterOf FilterOfTexels(const Texture& t) {
  return t.srgb != 0 ? FilterOf::kFloat : RowOf(t.format).filter;
}

// Weighs the floats of two levels channel by channel, as a filter's two texels.
Texels MixLevels(const Texture& t, const Texels& a, const Texels& b, int weight) {
  const int weights[] = {256 - weight, weight};
  Texels texels;
  for (size_t c = 0; c < 4; ++c) {
    const float values[] = {std::bit_cast<float>(a[c]), std::bit_cast<float>(b[c])};
    texels[c] = std::bit_cast<uint32_t>(FilterChannel(FilterOfTexels(t), values, weights, 2));
  }
  return texels;
}

// The face of a cube that a direction meets, and where on it, in [0, 1].
int FaceOf(const float at[3], double& s, double& t) {
  const double x = at[0], y = at[1], z = at[2];
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  int face = 0;
  double u = 0, v = 0, most = 0;
  if (ax >= ay && ax >= az) {
    face = x < 0 ? 1 : 0;
    most = ax;
    u = x < 0 ? z : -z;
    v = -y;
  } else if (ay >= az) {
    face = y < 0 ? 3 : 2;
    most = ay;
    u = x;
    v = y < 0 ? -z : z;
  } else {
    face = z < 0 ? 5 : 4;
    most = az;
    u = z < 0 ? -x : x;
    v = -y;
  }
  s = most == 0 ? 0.5 : (u / most + 1) / 2;
  t = most == 0 ? 0.5 : (v / most + 1) / 2;
  return face;
}

// The texels that a query touches on one level.
struct Footprint {
  TextureLevel level;
  Span span[3] = {};
  bool is_filtered = false;
};

Footprint FootprintOf(const Texture& t, const TextureQuery& query, int level, bool filters) {
  Footprint print{.level = LevelOf(t, level)};
  print.is_filtered = filters && !query.is_integer;
  double at[3] = {query.at[0], query.at[1], query.at[2]};
  int64_t layer = query.layer;
  if (t.is_cube != 0) {
    double s = 0, v = 0;
    layer = (t.is_layered != 0 ? 6 * query.layer : 0) + FaceOf(query.at, s, v);
    at[0] = s;
    at[1] = v;
  }
  const int64_t sizes[] = {print.level.width, print.level.height, print.level.depth};
  const int dims = t.dims;
  for (int d = 0; d < dims; ++d) {
    if (query.is_integer) {
      print.span[d].first =
          Addressed(t.is_linear != 0 && dims == 1 ? AddressMode::kBorder : t.address[d],
                    query.index[d] + query.offset[d], sizes[d]);
      continue;
    }
    const bool scales = t.normalized != 0 || t.is_cube != 0;
    const double position =
        scales ? static_cast<double>(static_cast<float>(at[d]) * static_cast<float>(sizes[d]))
               : at[d];
    print.span[d] = SpanOf(t, d, sizes[d], position, print.is_filtered, query.offset[d]);
  }
  if (t.is_layered != 0 || t.is_cube != 0)
    print.span[2].first = std::clamp<int64_t>(layer, 0, std::max<int64_t>(1, t.depth) - 1);
  return print;
}

Texels SampleLevel(Memory& memory, const Texture& t, const TextureQuery& query, int level) {
  const bool filters = t.is_filtered != 0 && GivesFloats(t);
  const Footprint print = FootprintOf(t, query, level, filters);
  const auto at = [&](int corner) {
    int64_t place[3];
    for (int d = 0; d < 3; ++d)
      place[d] = corner >> d & 1 ? print.span[d].second : print.span[d].first;
    return TexelAt(memory, t, print.level, place[0], place[1], place[2]);
  };
  if (!print.is_filtered) return Clamped(t, at(0));
  // A line is a row of a picture to the filter, sampled at its edge: half of it is the border
  // above.
  const bool has_border_above = t.dims == 1 && t.address[1] == AddressMode::kBorder;
  const int dims = has_border_above ? 2 : t.dims, corners = 1 << dims;
  const int seconds[] = {print.span[0].weight, has_border_above ? 128 : print.span[1].weight,
                         print.span[2].weight};
  int weights[kFilterCorners];
  CornerWeights(seconds, dims, weights);
  Texels texels[kFilterCorners], mixed;
  for (int i = 0; i < corners; ++i) texels[i] = has_border_above && i >= 2 ? BorderOf(t) : at(i);
  for (size_t c = 0; c < 4; ++c) {
    float values[kFilterCorners];
    for (int i = 0; i < corners; ++i) values[i] = std::bit_cast<float>(texels[i][c]);
    mixed[c] = std::bit_cast<uint32_t>(FilterChannel(FilterOfTexels(t), values, weights, corners));
  }
  return mixed;
}

uint32_t HalfLevel(uint32_t size, int level) { return std::max<uint32_t>(1, size >> level); }

}  // namespace

ObjectKind ObjectNamed(absl::string_view word) {
  return word == "texref"       ? ObjectKind::kTexture
         : word == "samplerref" ? ObjectKind::kSampler
         : word == "surfref"    ? ObjectKind::kSurface
                                : ObjectKind::kNone;
}

int FormatBytes(TexelFormat format) { return RowOf(format).bytes; }

TextureLevel LevelOf(const Texture& t, int level) {
  const bool layers = t.is_layered != 0 || t.is_cube != 0;
  TextureLevel at{std::max<int64_t>(1, t.width),
                  std::max<int64_t>(1, t.height),
                  std::max<int64_t>(1, t.depth),
                  t.data,
                  t.row_bytes,
                  t.slice_bytes};
  for (int l = 1; l <= level; ++l) {
    at.data += at.slice_bytes * static_cast<uint64_t>(at.depth);
    at.width = HalfLevel(t.width, l);
    at.height = HalfLevel(t.height, l);
    at.depth = layers ? at.depth : HalfLevel(t.depth, l);
    at.row_bytes = static_cast<uint64_t>(at.width * t.TexelBytes());
    at.slice_bytes = at.row_bytes * static_cast<uint64_t>(at.height);
  }
  return at;
}

Texels Sample(Memory& memory, const Texture& t, const TextureQuery& query) {
  if (t.levels <= 1) return SampleLevel(memory, t, query, 0);
  const float most = std::min(t.most_level, static_cast<float>(t.levels - 1));
  const float asked = query.is_integer ? query.level : query.level + t.bias;
  const float level = std::clamp(asked, t.least_level, std::max(t.least_level, most));
  if (t.mips_filtered == 0 || query.is_integer)
    return SampleLevel(memory, t, query,
                       std::min(static_cast<int>(level + 0.5f), static_cast<int>(t.levels) - 1));
  const auto fixed = static_cast<int>(std::floor(level * 256 + 0.5f));
  const int lower = fixed >> 8, upper = std::min(lower + 1, static_cast<int>(t.levels) - 1);
  const Texels first = SampleLevel(memory, t, query, lower);
  return (fixed & 255) == 0
             ? first
             : MixLevels(t, first, SampleLevel(memory, t, query, upper), fixed & 255);
}

Texels Gather(Memory& memory, const Texture& t, const TextureQuery& query, int channel) {
  const Footprint print = FootprintOf(t, query, 0, /*filters=*/true);
  constexpr int kCorners[] = {2, 3, 1, 0};
  Texels texels;
  for (size_t k = 0; k < 4; ++k) {
    const int64_t x = kCorners[k] & 1 ? print.span[0].second : print.span[0].first;
    const int64_t y = kCorners[k] & 2 ? print.span[1].second : print.span[1].first;
    texels[k] = Clamped(t, TexelAt(memory, t, print.level, x, y,
                                   print.span[2].first))[static_cast<size_t>(channel)];
  }
  return texels;
}

float LevelOfGradients(const Texture& t, const float dx[3], const float dy[3]) {
  const double sizes[] = {static_cast<double>(t.width), static_cast<double>(t.height),
                          static_cast<double>(t.depth)};
  const auto length = [&](const float* d) {
    double sum = 0;
    for (int k = 0; k < t.dims; ++k) {
      const double step = d[k] * (t.normalized != 0 ? sizes[k] : 1);
      sum += step * step;
    }
    return std::sqrt(sum);
  };
  const double longest = std::max(length(dx), length(dy));
  return longest > 0 ? static_cast<float>(std::log2(longest)) : -1000.0f;
}

int64_t PropertyOf(const Texture& t, absl::string_view name, int level) {
  const bool scaled = t.as_integer == 0 && t.kind == ObjectKind::kTexture;
  const TextureLevel at = LevelOf(t, std::clamp(level, 0, static_cast<int>(t.levels)));
  const bool layers = t.is_layered != 0;
  if (name == "width") return t.width == 0 ? 0 : at.width;
  if (name == "height") return t.height == 0 ? 0 : at.height;
  if (name == "depth") return t.depth == 0 || layers || t.is_cube != 0 ? 0 : at.depth;
  if (name == "channel_data_type")
    return scaled ? RowOf(t.format).scaled_type : RowOf(t.format).type;
  if (name == "channel_order") return t.channels == 1 ? 0x10b0 : t.channels == 2 ? 0x10b2 : 0x10b5;
  if (name == "normalized_coords") return t.normalized;
  if (name == "array_size") return layers ? t.depth / (t.is_cube != 0 ? 6 : 1) : 0;
  if (name == "num_mipmap_levels") return t.levels;
  if (name == "num_samples") return 1;
  if (name == "memory_layout") return t.is_linear != 0 ? 1 : 0;
  if (name == "filter_mode") return t.is_filtered;
  if (name == "addr_mode_0") return static_cast<int64_t>(t.address[0]);
  if (name == "addr_mode_1") return static_cast<int64_t>(t.address[1]);
  if (name == "addr_mode_2") return static_cast<int64_t>(t.address[2]);
  if (name == "force_unnormalized_coords") return t.unnormalize;
  return -1;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
