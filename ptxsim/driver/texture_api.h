// Arrays, textures and surfaces of the driver: names, values and layouts of NVIDIA's "CUDA Driver
// API" ("Unified Addressing", "Texture Object Management", "Surface Object Management", "Texture
// Reference Management").
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxsim/driver/client_api.h"

namespace hlokit::cuda {

using Array = struct ArrayHandle*;
using MipmappedArray = struct MipmappedArrayHandle*;
using TexRef = struct TexRefHandle*;
using SurfRef = struct SurfRefHandle*;
using ObjectHandle = uint64_t;

struct ArrayDescriptor {  // CUDA_ARRAY_DESCRIPTOR
  size_t width, height;
  int format;
  unsigned channels;
};
struct Array3DDescriptor {  // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
inline constexpr unsigned kArrayLayered = 1, kArrayCubemap = 4;

// CUmemorytype.
inline constexpr int kHostMemory = 1, kDeviceMemoryType = 2, kArrayMemory = 3, kUnifiedMemory = 4;

struct Memcpy2D {  // CUDA_MEMCPY2D
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  DeviceAddress from_device;
  Array from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  DeviceAddress to_device;
  Array to_array;
  size_t to_pitch;
  size_t width_bytes, height;
};
struct Memcpy3D {  // CUDA_MEMCPY3D
  size_t from_x, from_y, from_z, from_level;
  int from_type;
  const void* from_host;
  DeviceAddress from_device;
  Array from_array;
  void* reserved0;
  size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_level;
  int to_type;
  void* to_host;
  DeviceAddress to_device;
  Array to_array;
  void* reserved1;
  size_t to_pitch, to_height;
  size_t width_bytes, height, depth;
};

struct ResourceDescriptor {  // CUDA_RESOURCE_DESC
  int type;                  // 0 array, 1 mipmapped array, 2 linear, 3 pitched
  union {
    Array array;
    MipmappedArray mipmapped;
    struct {
      DeviceAddress address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      DeviceAddress address;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};
struct TextureDescriptor {  // CUDA_TEXTURE_DESC
  int address[3];
  int filter;
  unsigned flags;
  unsigned anisotropy;
  int mip_filter;
  float bias, least_level, most_level;
  float border[4];
  int reserved[12];
};
inline constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 16;

extern "C" {
#define HLOKIT_CUDA_FUNCTION(name, parameters) Result name parameters;
#include "ptxsim/driver/texture_functions.def"
#undef HLOKIT_CUDA_FUNCTION
}

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
