// Arrays of the driver, and copies into, out of and between them. An array is packed device memory:
// rows, then slices or layers, then further levels of a mipmapped one, each half as large.
//   cuArrayCreate of 3 x 2 floats: 24 bytes, texel (x, y) at 12 * y + 4 * x
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "ptxsim/driver/arrays.h"

namespace hlokit::cuda {
namespace {

bool IsFormat(int format) {
  return format > 0 && format < 64 && ptx::FormatBytes(static_cast<ptx::TexelFormat>(format)) > 0;
}

// The texture's fields that an array's descriptor lays down.
bool Describe(const Array3DDescriptor& d, unsigned levels, ptx::Texture& t) {
  if (!IsFormat(d.format) || (d.channels != 1 && d.channels != 2 && d.channels != 4) ||
      d.width == 0 || d.width > 1 << 28 || d.height > 1 << 20 || d.depth > 1 << 20)
    return false;
  t.format = static_cast<ptx::TexelFormat>(d.format);
  t.channels = static_cast<uint8_t>(d.channels);
  t.width = static_cast<uint32_t>(d.width);
  t.height = static_cast<uint32_t>(d.height);
  t.depth = static_cast<uint32_t>(d.depth);
  t.is_layered = (d.flags & kArrayLayered) != 0;
  t.is_cube = (d.flags & kArrayCubemap) != 0;
  if (t.is_cube != 0 && (d.width != d.height || d.depth == 0 || d.depth % 6 != 0)) return false;
  if (t.is_layered != 0 && d.depth == 0) return false;
  const bool flat = t.is_layered != 0 || t.is_cube != 0 || d.depth == 0;
  t.dims = d.height == 0 ? 1 : flat ? 2 : 3;
  t.levels = levels;
  t.row_bytes = uint64_t{t.width} * static_cast<uint64_t>(t.TexelBytes());
  t.slice_bytes = t.row_bytes * std::max<uint32_t>(1, t.height);
  return true;
}

uint64_t BytesOf(const ptx::Texture& t) {
  const ptx::TextureLevel last = LevelOf(t, static_cast<int>(t.levels) - 1);
  return last.data - t.data + last.slice_bytes * static_cast<uint64_t>(last.depth);
}

Result CreateTexture(const Array3DDescriptor* descriptor, unsigned levels, ptx::Texture& t) {
  if (descriptor == nullptr || levels < 1 || levels > 16 || !Describe(*descriptor, levels, t))
    return kInvalidValue;
  DeviceAddress address = 0;
  const size_t bytes = BytesOf(t);
  if (const Result result = cuMemAlloc_v2(&address, bytes); result != kSuccess) return result;
  t.data = address;
  const std::vector<char> zeros(bytes);
  return cuMemcpyHtoD_v2(address, zeros.data(), bytes);
}

// One side of a copy: rows by number.
struct Side {
  int type;
  const char* host;
  DeviceAddress device;
  Array array;
  size_t x, y, z, pitch, height;

  // Where `bytes` of a row begin; false where they are not inside.
  bool Row(size_t row, size_t slice, size_t bytes, const char*& at_host,
           DeviceAddress& at_device) const {
    if (type == kArrayMemory) {
      if (array == nullptr) return false;
      const ptx::TextureLevel level = LevelOf(array->texture, array->level);
      if (x + bytes > level.row_bytes || static_cast<int64_t>(y + row) >= level.height ||
          static_cast<int64_t>(z + slice) >= level.depth)
        return false;
      at_device = level.data + (z + slice) * level.slice_bytes + (y + row) * level.row_bytes + x;
      return true;
    }
    const size_t offset = ((z + slice) * height + y + row) * pitch + x;
    at_host = host + offset;
    at_device = device + offset;
    return true;
  }
  bool IsHost() const { return type == kHostMemory; }
};

Result CopyBox(const Side& from, const Side& to, size_t bytes, size_t rows, size_t slices) {
  for (size_t z = 0; z < slices; ++z)
    for (size_t y = 0; y < rows; ++y) {
      const char *from_host = nullptr, *to_host = nullptr;
      DeviceAddress from_device = 0, to_device = 0;
      if (!from.Row(y, z, bytes, from_host, from_device) ||
          !to.Row(y, z, bytes, to_host, to_device))
        return kInvalidValue;
      auto* const target = const_cast<char*>(to_host);
      Result result = kSuccess;
      if (from.IsHost() && to.IsHost()) {
        std::memcpy(target, from_host, bytes);
      } else if (from.IsHost()) {
        result = cuMemcpyHtoD_v2(to_device, from_host, bytes);
      } else if (to.IsHost()) {
        result = cuMemcpyDtoH_v2(target, from_device, bytes);
      } else {
        result = cuMemcpyDtoD_v2(to_device, from_device, bytes);
      }
      if (result != kSuccess) return result;
    }
  return kSuccess;
}

// Bytes of a one-dimensional array from `offset` on.
Result InArray(Array array, size_t offset, size_t bytes, DeviceAddress& address) {
  if (array == nullptr) return kInvalidHandle;
  const ptx::TextureLevel level = LevelOf(array->texture, array->level);
  if (offset + bytes > level.slice_bytes * static_cast<uint64_t>(level.depth)) return kInvalidValue;
  address = level.data + offset;
  return kSuccess;
}

Array3DDescriptor DescriptorOf(const ArrayHandle& array) {
  const ptx::Texture& t = array.texture;
  const ptx::TextureLevel level = LevelOf(t, array.level);
  return {static_cast<size_t>(level.width),
          t.height == 0 ? 0 : static_cast<size_t>(level.height),
          t.depth == 0 ? 0 : static_cast<size_t>(level.depth),
          static_cast<int>(t.format),
          t.channels,
          (t.is_layered != 0 ? kArrayLayered : 0) | (t.is_cube != 0 ? kArrayCubemap : 0)};
}

}  // namespace

extern "C" {

Result cuArray3DCreate_v2(Array* array, const Array3DDescriptor* descriptor) {
  auto made = std::make_unique<ArrayHandle>();
  const Result result = CreateTexture(descriptor, 1, made->texture);
  if (result == kSuccess) *array = made.release();
  return result;
}
Result cuArrayCreate_v2(Array* array, const ArrayDescriptor* descriptor) {
  if (descriptor == nullptr) return kInvalidValue;
  const Array3DDescriptor full = {descriptor->width,  descriptor->height,   0,
                                  descriptor->format, descriptor->channels, 0};
  return cuArray3DCreate_v2(array, &full);
}
Result cuArray3DGetDescriptor_v2(Array3DDescriptor* descriptor, Array array) {
  if (array == nullptr) return kInvalidHandle;
  *descriptor = DescriptorOf(*array);
  return kSuccess;
}
Result cuArrayGetDescriptor_v2(ArrayDescriptor* descriptor, Array array) {
  if (array == nullptr) return kInvalidHandle;
  const Array3DDescriptor full = DescriptorOf(*array);
  *descriptor = {full.width, full.height, full.format, full.channels};
  return kSuccess;
}
Result cuArrayDestroy(Array array) {
  if (array == nullptr || array->is_level) return kInvalidHandle;
  const Result result = cuMemFree_v2(array->texture.data);
  delete array;
  return result;
}

Result cuMipmappedArrayCreate(MipmappedArray* array, const Array3DDescriptor* descriptor,
                              unsigned levels) {
  auto made = std::make_unique<MipmappedArrayHandle>();
  const Result result = CreateTexture(descriptor, levels, made->texture);
  if (result != kSuccess) return result;
  for (unsigned level = 0; level < levels; ++level)
    made->levels.push_back(std::make_unique<ArrayHandle>(
        ArrayHandle{made->texture, static_cast<int>(level), /*is_level=*/true}));
  *array = made.release();
  return kSuccess;
}
Result cuMipmappedArrayGetLevel(Array* array, MipmappedArray mipmapped, unsigned level) {
  if (mipmapped == nullptr) return kInvalidHandle;
  if (level >= mipmapped->levels.size()) return kInvalidValue;
  *array = mipmapped->levels[level].get();
  return kSuccess;
}
Result cuMipmappedArrayDestroy(MipmappedArray array) {
  if (array == nullptr) return kInvalidHandle;
  const Result result = cuMemFree_v2(array->texture.data);
  delete array;
  return result;
}

Result cuMemAllocPitch_v2(DeviceAddress* address, size_t* pitch, size_t width_bytes, size_t height,
                          unsigned) {
  constexpr size_t kPitch = 512;
  *pitch = (width_bytes + kPitch - 1) / kPitch * kPitch;
  return cuMemAlloc_v2(address, *pitch * height);
}

Result cuMemcpy2D_v2(const Memcpy2D* c) {
  if (c == nullptr) return kInvalidValue;
  const Side from = {c->from_type,
                     static_cast<const char*>(c->from_host),
                     c->from_device,
                     c->from_array,
                     c->from_x,
                     c->from_y,
                     0,
                     c->from_pitch,
                     0};
  const Side to = {c->to_type,
                   static_cast<const char*>(c->to_host),
                   c->to_device,
                   c->to_array,
                   c->to_x,
                   c->to_y,
                   0,
                   c->to_pitch,
                   0};
  return CopyBox(from, to, c->width_bytes, c->height, 1);
}
Result cuMemcpy2DUnaligned_v2(const Memcpy2D* copy) { return cuMemcpy2D_v2(copy); }
Result cuMemcpy2DAsync_v2(const Memcpy2D* copy, Stream) { return cuMemcpy2D_v2(copy); }
Result cuMemcpy3D_v2(const Memcpy3D* c) {
  if (c == nullptr || c->from_level != 0 || c->to_level != 0) return kInvalidValue;
  const Side from = {c->from_type,   static_cast<const char*>(c->from_host),
                     c->from_device, c->from_array,
                     c->from_x,      c->from_y,
                     c->from_z,      c->from_pitch,
                     c->from_height};
  const Side to = {c->to_type,   static_cast<const char*>(c->to_host),
                   c->to_device, c->to_array,
                   c->to_x,      c->to_y,
                   c->to_z,      c->to_pitch,
                   c->to_height};
  return CopyBox(from, to, c->width_bytes, c->height, c->depth);
}
Result cuMemcpy3DAsync_v2(const Memcpy3D* copy, Stream) { return cuMemcpy3D_v2(copy); }

Result cuMemcpyHtoA_v2(Array to, size_t offset, const void* from, size_t bytes) {
  DeviceAddress address = 0;
  const Result result = InArray(to, offset, bytes, address);
  return result != kSuccess ? result : cuMemcpyHtoD_v2(address, from, bytes);
}
Result cuMemcpyAtoH_v2(void* to, Array from, size_t offset, size_t bytes) {
  DeviceAddress address = 0;
  const Result result = InArray(from, offset, bytes, address);
  return result != kSuccess ? result : cuMemcpyDtoH_v2(to, address, bytes);
}
Result cuMemcpyDtoA_v2(Array to, size_t offset, DeviceAddress from, size_t bytes) {
  DeviceAddress address = 0;
  const Result result = InArray(to, offset, bytes, address);
  return result != kSuccess ? result : cuMemcpyDtoD_v2(address, from, bytes);
}
Result cuMemcpyAtoD_v2(DeviceAddress to, Array from, size_t offset, size_t bytes) {
  DeviceAddress address = 0;
  const Result result = InArray(from, offset, bytes, address);
  return result != kSuccess ? result : cuMemcpyDtoD_v2(to, address, bytes);
}

}  // extern "C"

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
