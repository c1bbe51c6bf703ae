// Texture and surface objects, and references of a module: each is a ptx::Texture in device memory,
// which is written anew when a property changes (texture.h).
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "ptxsim/driver/arrays.h"

namespace hlokit::cuda {

struct TexRefHandle {
  DeviceAddress at = 0;  // of the module's variable
  ptx::Texture texture;
  Array array = nullptr;
};
struct SurfRefHandle {
  DeviceAddress at = 0;
  ptx::Texture texture;
  Array array = nullptr;
};

namespace {

struct ObjectRecord {
  ResourceDescriptor resource = {};
  TextureDescriptor texture = {};
};
std::mutex objects_mutex;
std::map<ObjectHandle, ObjectRecord>& Objects() {
  static auto* const objects = new std::map<ObjectHandle, ObjectRecord>();
  return *objects;
}

bool IsChannels(unsigned channels) { return channels == 1 || channels == 2 || channels == 4; }

// A level of a mipmapped array alone.
ptx::Texture OfArray(const ArrayHandle& array) {
  ptx::Texture t = array.texture;
  if (!array.is_level) return t;
  const ptx::TextureLevel level = LevelOf(t, array.level);
  t.data = level.data;
  t.row_bytes = level.row_bytes;
  t.slice_bytes = level.slice_bytes;
  t.width = static_cast<uint32_t>(level.width);
  if (t.height != 0) t.height = static_cast<uint32_t>(level.height);
  if (t.depth != 0) t.depth = static_cast<uint32_t>(level.depth);
  t.levels = 1;
  return t;
}

// Device memory as a texture: one row, or rows `pitch` bytes apart.
Result OfMemory(DeviceAddress address, int format, unsigned channels, size_t width, size_t height,
                size_t pitch, ptx::Texture& t) {
  t.format = static_cast<ptx::TexelFormat>(format);
  if (format <= 0 || format > 32 || ptx::FormatBytes(t.format) == 0 || !IsChannels(channels) ||
      address % 16 != 0)
    return kInvalidValue;
  t.channels = static_cast<uint8_t>(channels);
  t.dims = height == 0 ? 1 : 2;
  t.is_linear = 1;
  t.width = static_cast<uint32_t>(width);
  t.height = static_cast<uint32_t>(height);
  t.data = address;
  t.row_bytes = pitch;
  t.slice_bytes = pitch * std::max<size_t>(1, height);
  return kSuccess;
}

Result OfResource(const ResourceDescriptor& r, ptx::Texture& t) {
  switch (r.type) {
    case 0:
      if (r.array == nullptr) return kInvalidValue;
      t = OfArray(*r.array);
      return kSuccess;
    case 1:
      if (r.mipmapped == nullptr) return kInvalidValue;
      t = r.mipmapped->texture;
      return kSuccess;
    case 2: {
      const int bytes = ptx::FormatBytes(static_cast<ptx::TexelFormat>(r.linear.format));
      if (bytes == 0 || !IsChannels(r.linear.channels)) return kInvalidValue;
      return OfMemory(r.linear.address, r.linear.format, r.linear.channels,
                      r.linear.bytes / (static_cast<size_t>(bytes) * r.linear.channels), 0,
                      r.linear.bytes, t);
    }
    case 3:
      if (r.pitched.pitch % 32 != 0) return kInvalidValue;
      return OfMemory(r.pitched.address, r.pitched.format, r.pitched.channels, r.pitched.width,
                      r.pitched.height, r.pitched.pitch, t);
    default:
      return kInvalidValue;
  }
}

void SetFlags(ptx::Texture& t, unsigned flags) {
  t.as_integer = (flags & kReadAsInteger) != 0;
  t.normalized = (flags & kNormalizedCoordinates) != 0;
  t.srgb = (flags & kSrgb) != 0;
}

// Wrapping and mirroring need normalized coordinates; without them they clamp.
void Settle(ptx::Texture& t) {
  if (t.normalized != 0 || t.is_cube != 0) return;
  for (ptx::AddressMode& mode : t.address)
    if (mode == ptx::AddressMode::kWrap || mode == ptx::AddressMode::kMirror)
      mode = ptx::AddressMode::kClamp;
}

Result SetSampler(const TextureDescriptor& d, ptx::Texture& t) {
  for (int k = 0; k < 3; ++k) {
    if (d.address[k] < 0 || d.address[k] > 3) return kInvalidValue;
    t.address[k] = static_cast<ptx::AddressMode>(d.address[k]);
  }
  SetFlags(t, d.flags);
  t.is_filtered = d.filter != 0;
  t.mips_filtered = d.mip_filter != 0;
  t.bias = d.bias;
  t.least_level = d.least_level;
  t.most_level = d.most_level;
  std::memcpy(t.border, d.border, sizeof t.border);
  Settle(t);
  return kSuccess;
}

Result Create(ObjectHandle* object, const ptx::Texture& t, const ObjectRecord& record) {
  DeviceAddress address = 0;
  if (const Result result = cuMemAlloc_v2(&address, sizeof t); result != kSuccess) return result;
  if (const Result result = cuMemcpyHtoD_v2(address, &t, sizeof t); result != kSuccess)
    return result;
  *object = address;
  const std::lock_guard<std::mutex> lock(objects_mutex);
  Objects()[address] = record;
  return kSuccess;
}

Result Destroy(ObjectHandle object) {
  {
    const std::lock_guard<std::mutex> lock(objects_mutex);
    if (Objects().erase(object) == 0) return kInvalidValue;
  }
  return cuMemFree_v2(object);
}

bool FindObject(ObjectHandle object, ObjectRecord& record) {
  const std::lock_guard<std::mutex> lock(objects_mutex);
  const auto found = Objects().find(object);
  if (found == Objects().end()) return false;
  record = found->second;
  return true;
}

// A reference of a module, as its variable has it now. One a variable, kept for good.
template <typename Handle>
Result FindReference(Handle** reference, Module module, const char* name, ptx::ObjectKind kind) {
  static auto* const made = new std::map<DeviceAddress, std::unique_ptr<Handle>>();
  DeviceAddress address = 0;
  size_t bytes = 0;
  if (const Result result = cuModuleGetGlobal_v2(&address, &bytes, module, name);
      result != kSuccess)
    return result;
  auto handle = std::make_unique<Handle>();
  handle->at = address;
  if (bytes != sizeof(ptx::Texture) ||
      cuMemcpyDtoH_v2(&handle->texture, address, sizeof(ptx::Texture)) != kSuccess ||
      handle->texture.magic != ptx::Texture::kMagic || handle->texture.kind != kind)
    return kNotFound;
  const std::lock_guard<std::mutex> lock(objects_mutex);
  std::unique_ptr<Handle>& slot = (*made)[address];
  slot = std::move(handle);
  *reference = slot.get();
  return kSuccess;
}

// What the reference says of sampling, on the texels of `texels`.
Result Bind(TexRef reference, const ptx::Texture& texels) {
  ptx::Texture t = texels;
  const ptx::Texture& old = reference->texture;
  t.kind = ptx::ObjectKind::kTexture;
  t.as_integer = old.as_integer;
  t.normalized = old.normalized;
  t.srgb = old.srgb;
  t.is_filtered = old.is_filtered;
  t.mips_filtered = old.mips_filtered;
  std::memcpy(t.address, old.address, sizeof t.address);
  std::memcpy(t.border, old.border, sizeof t.border);
  t.bias = old.bias;
  t.least_level = old.least_level;
  t.most_level = old.most_level;
  reference->texture = t;
  return kSuccess;
}

// Writes the variable after a change.
Result Write(TexRef reference) {
  ptx::Texture t = reference->texture;
  Settle(t);
  return cuMemcpyHtoD_v2(reference->at, &t, sizeof t);
}

}  // namespace

extern "C" {

Result cuTexObjectCreate(ObjectHandle* object, const ResourceDescriptor* resource,
                         const TextureDescriptor* texture, const void* view) {
  if (object == nullptr || resource == nullptr || texture == nullptr) return kInvalidValue;
  if (view != nullptr) return kNotSupported;
  ptx::Texture t;
  if (const Result result = OfResource(*resource, t); result != kSuccess) return result;
  if (const Result result = SetSampler(*texture, t); result != kSuccess) return result;
  t.kind = ptx::ObjectKind::kTexture;
  return Create(object, t, {*resource, *texture});
}
Result cuTexObjectDestroy(ObjectHandle object) { return Destroy(object); }
Result cuTexObjectGetResourceDesc(ResourceDescriptor* resource, ObjectHandle object) {
  ObjectRecord record;
  if (!FindObject(object, record)) return kInvalidValue;
  *resource = record.resource;
  return kSuccess;
}
Result cuTexObjectGetTextureDesc(TextureDescriptor* texture, ObjectHandle object) {
  ObjectRecord record;
  if (!FindObject(object, record)) return kInvalidValue;
  *texture = record.texture;
  return kSuccess;
}
Result cuSurfObjectCreate(ObjectHandle* object, const ResourceDescriptor* resource) {
  if (object == nullptr || resource == nullptr || resource->type != 0) return kInvalidValue;
  ptx::Texture t;
  if (const Result result = OfResource(*resource, t); result != kSuccess) return result;
  t.kind = ptx::ObjectKind::kSurface;
  return Create(object, t, {*resource, {}});
}
Result cuSurfObjectDestroy(ObjectHandle object) { return Destroy(object); }
Result cuSurfObjectGetResourceDesc(ResourceDescriptor* resource, ObjectHandle object) {
  return cuTexObjectGetResourceDesc(resource, object);
}

Result cuModuleGetTexRef(TexRef* reference, Module module, const char* name) {
  return FindReference(reference, module, name, ptx::ObjectKind::kTexture);
}
Result cuTexRefSetArray(TexRef reference, Array array, unsigned) {
  if (reference == nullptr || array == nullptr) return kInvalidValue;
  if (const Result result = Bind(reference, OfArray(*array)); result != kSuccess) return result;
  return Write(reference);
}
Result cuTexRefSetMipmappedArray(TexRef reference, MipmappedArray array, unsigned) {
  if (reference == nullptr || array == nullptr) return kInvalidValue;
  if (const Result result = Bind(reference, array->texture); result != kSuccess) return result;
  return Write(reference);
}
Result cuTexRefSetAddress_v2(size_t* offset, TexRef reference, DeviceAddress address,
                             size_t bytes) {
  if (reference == nullptr) return kInvalidValue;
  const ptx::Texture& old = reference->texture;
  ptx::Texture t;
  const auto texel = static_cast<size_t>(old.TexelBytes());
  if (const Result result = OfMemory(address, static_cast<int>(old.format), old.channels,
                                     bytes / std::max<size_t>(1, texel), 0, bytes, t);
      result != kSuccess)
    return result;
  if (offset != nullptr) *offset = 0;
  if (const Result result = Bind(reference, t); result != kSuccess) return result;
  return Write(reference);
}
Result cuTexRefSetAddress2D_v3(TexRef reference, const ArrayDescriptor* d, DeviceAddress address,
                               size_t pitch) {
  if (reference == nullptr || d == nullptr) return kInvalidValue;
  ptx::Texture t;
  if (const Result result =
          OfMemory(address, d->format, d->channels, d->width, d->height, pitch, t);
      result != kSuccess)
    return result;
  if (const Result result = Bind(reference, t); result != kSuccess) return result;
  return Write(reference);
}
Result cuTexRefSetFormat(TexRef reference, int format, int channels) {
  if (reference == nullptr || !IsChannels(static_cast<unsigned>(channels))) return kInvalidValue;
  reference->texture.format = static_cast<ptx::TexelFormat>(format);
  reference->texture.channels = static_cast<uint8_t>(channels);
  return Write(reference);
}
Result cuTexRefSetAddressMode(TexRef reference, int dim, int mode) {
  if (reference == nullptr || dim < 0 || dim > 2 || mode < 0 || mode > 3) return kInvalidValue;
  reference->texture.address[dim] = static_cast<ptx::AddressMode>(mode);
  return Write(reference);
}
Result cuTexRefSetFilterMode(TexRef reference, int filter) {
  if (reference == nullptr) return kInvalidValue;
  reference->texture.is_filtered = filter != 0;
  return Write(reference);
}
Result cuTexRefSetMipmapFilterMode(TexRef reference, int filter) {
  if (reference == nullptr) return kInvalidValue;
  reference->texture.mips_filtered = filter != 0;
  return Write(reference);
}
Result cuTexRefSetMipmapLevelBias(TexRef reference, float bias) {
  if (reference == nullptr) return kInvalidValue;
  reference->texture.bias = bias;
  return Write(reference);
}
Result cuTexRefSetMipmapLevelClamp(TexRef reference, float least, float most) {
  if (reference == nullptr) return kInvalidValue;
  reference->texture.least_level = least;
  reference->texture.most_level = most;
  return Write(reference);
}
Result cuTexRefSetMaxAnisotropy(TexRef reference, unsigned) {
  return reference == nullptr ? kInvalidValue : kSuccess;
}
Result cuTexRefSetBorderColor(TexRef reference, float* color) {
  if (reference == nullptr || color == nullptr) return kInvalidValue;
  std::memcpy(reference->texture.border, color, sizeof reference->texture.border);
  return Write(reference);
}
Result cuTexRefSetFlags(TexRef reference, unsigned flags) {
  if (reference == nullptr) return kInvalidValue;
  SetFlags(reference->texture, flags);
  return Write(reference);
}

Result cuModuleGetSurfRef(SurfRef* reference, Module module, const char* name) {
  return FindReference(reference, module, name, ptx::ObjectKind::kSurface);
}
Result cuSurfRefSetArray(SurfRef reference, Array array, unsigned) {
  if (reference == nullptr || array == nullptr) return kInvalidValue;
  reference->texture = OfArray(*array);
  reference->texture.kind = ptx::ObjectKind::kSurface;
  reference->array = array;
  return cuMemcpyHtoD_v2(reference->at, &reference->texture, sizeof(ptx::Texture));
}
Result cuSurfRefGetArray(Array* array, SurfRef reference) {
  if (reference == nullptr || reference->array == nullptr) return kInvalidValue;
  *array = reference->array;
  return kSuccess;
}

}  // extern "C"

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
