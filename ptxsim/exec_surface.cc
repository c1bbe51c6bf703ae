// suld, sust and sured: ISA, "Surface Instructions".
//
//   suld.b.2d.v2.b32.clamp {a,b}, [surface, {x,y}]   x counts bytes, y rows
//
// .b moves bytes as they are; .p (sust, sured) counts texels and writes a word each in the
// surface's format. Outside: .trap stops the kernel, .clamp takes the nearest place, .zero reads
// zeros and writes nothing.
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/block.h"
#include "ptxsim/rounding.h"
#include "ptxsim/texture_internal.h"

namespace hlokit::ptx {
namespace {

enum class Outside : uint8_t { kTrap, kClamp, kZero };
enum class SurfaceAction : uint8_t { kLoad, kStore, kStoreTexel, kReduce };

struct SurfaceForm {
  ObjectOperand surface;
  Geometry geometry;
  Outside outside = Outside::kTrap;
  SurfaceAction action = SurfaceAction::kLoad;
  bool counts_texels = false;  // .p: x, too
  Type type = Type::kB32;
  uint32_t coordinates = 0, values = 0, value_count = 0;
  Combine combine = nullptr;
};

// The bytes that a lane names; null: none, or a fault, which is told.
std::byte* PlaceOf(const Op& op, Warp& warp, int lane, const SurfaceForm& form, const Texture& t,
                   int64_t bytes, bool& faulted) {
  const std::byte* frame = warp.frame();
  const Slot* at = &warp.code().slots[form.coordinates];
  int64_t place[3] = {0, 0, 0};
  int64_t sizes[3] = {int64_t{t.width} * t.TexelBytes(), std::max<int64_t>(1, t.height),
                      std::max<int64_t>(1, t.depth)};
  if (form.geometry.is_layered) {
    // Without a sign: one below 0 lies beyond the last layer.
    place[2] = WordAt(frame, *at++, lane);
    if (form.outside == Outside::kTrap) place[2] = std::min(place[2], sizes[2] - 1);
  }
  for (int d = 0; d < form.geometry.dims; ++d)
    place[d] = static_cast<int32_t>(WordAt(frame, at[d], lane));
  if (form.counts_texels) place[0] *= t.TexelBytes();
  const int64_t most[3] = {sizes[0] - bytes, sizes[1] - 1, sizes[2] - 1};
  bool inside = true;
  for (int d = 0; d < 3; ++d) inside &= place[d] >= 0 && place[d] <= most[d];
  const auto fault = [&](const std::string& what) {
    faulted = true;
    warp.block().Fault(warp, op, lane, what);
    return nullptr;
  };
  if (!inside && form.outside == Outside::kTrap)
    return fault(absl::StrCat("out-of-bounds surface access of ", bytes, " bytes at byte ",
                              place[0], ", row ", place[1], ", slice ", place[2], " (of ", sizes[0],
                              ", ", sizes[1], ", ", sizes[2], ")"));
  if (!inside && form.outside == Outside::kZero) return nullptr;
  if (place[0] % bytes != 0)
    return fault(absl::StrCat("misaligned surface access of ", bytes, " bytes at byte ", place[0]));
  for (int d = 0; d < 3; ++d)
    place[d] = std::clamp<int64_t>(place[d], 0, std::max<int64_t>(0, most[d]));
  std::byte* const host = warp.block().launch().memory->Host(
      t.data + static_cast<uint64_t>(place[0]) + static_cast<uint64_t>(place[1]) * t.row_bytes +
          static_cast<uint64_t>(place[2]) * t.slice_bytes,
      bytes);
  return host != nullptr ? host : fault("the surface's memory is gone");
}

// A word of sust.p as a channel of the surface's format: integers saturate, f16 is rounded towards
// zero.
uint32_t ChannelOf(TexelFormat format, uint32_t word) {
  const auto within = [&](int64_t value, int64_t least, int64_t most) {
    return static_cast<uint32_t>(std::clamp(value, least, most));
  };
  switch (format) {
    case TexelFormat::kHalf:
      return RoundToFormat(std::bit_cast<float>(word), kFormatF16, Rounding::kZero, false);
    case TexelFormat::kU8:
      return within(word, 0, 255);
    case TexelFormat::kU16:
      return within(word, 0, 65535);
    case TexelFormat::kS8:
      return within(static_cast<int32_t>(word), -128, 127);
    case TexelFormat::kS16:
      return within(static_cast<int32_t>(word), -32768, 32767);
    default:
      return word;
  }
}

void StoreChannel(const Texture& t, std::byte* to, uint32_t word) {
  const uint32_t bits = ChannelOf(t.format, word);
  std::memcpy(to, &bits, static_cast<size_t>(FormatBytes(t.format)));
}

void AccessLane(const Op& op, Warp& warp, int lane, const SurfaceForm& form, const Texture& t,
                bool& faulted) {
  std::byte* frame = warp.frame();
  const Slot* values = &warp.code().slots[form.values];
  const int unit = BytesOf(form.type);
  const bool texel = form.action == SurfaceAction::kStoreTexel;
  const int64_t bytes = texel ? t.TexelBytes() : int64_t{unit} * form.value_count;
  std::byte* const host = PlaceOf(op, warp, lane, form, t, bytes, faulted);
  if (faulted) return;
  for (uint32_t k = 0; k < form.value_count; ++k) {
    const Slot slot = values[k];
    if (slot.at == kNoSlot) continue;
    std::byte* const own = frame + slot.at + lane * slot.bytes;
    if (form.action == SurfaceAction::kLoad) {
      std::memset(own, 0, slot.bytes);
      if (host != nullptr) std::memcpy(own, host + k * unit, std::min<size_t>(unit, slot.bytes));
    } else if (host == nullptr) {
      continue;
    } else if (texel) {
      uint32_t word = 0;
      std::memcpy(&word, own, std::min<size_t>(4, slot.bytes));
      if (k < t.channels) StoreChannel(t, host + k * FormatBytes(t.format), word);
    } else if (form.action == SurfaceAction::kStore) {
      std::memcpy(host + k * unit, own, static_cast<size_t>(unit));
    } else {
      form.combine(host, own);
    }
  }
}

void RunSurface(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const SurfaceForm*>(warp.code().forms[op.list].get());
  bool faulted = false;
  for (int lane = 0; lane < kLanes && !faulted; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const Texture* t = ObjectAt(op, warp, lane, form.surface, ObjectKind::kSurface);
    if (t == nullptr) return;
    if (t->dims != form.geometry.dims || (t->is_layered != 0) != form.geometry.is_layered)
      return warp.block().Fault(
          warp, op, lane,
          absl::StrCat("a surface of ", t->dims, " dimensions, the instruction asks for another"));
    AccessLane(op, warp, lane, form, *t, faulted);
  }
}

// [surface, {x,y}]
bool TakeSurface(Binder& b, const Operand& operand, SurfaceForm& form) {
  if (operand.kind != Operand::kAddress || operand.parts.size() != 2) {
    b.Error(operand.place, "expected [surface, {coordinates}]");
    return false;
  }
  if (!TakeObject(b, operand.parts[0], form.surface)) return false;
  uint32_t count = 0;
  form.coordinates = b.SourceList(operand.parts[1], Type::kS32, count);
  if (b.failed()) return false;
  if (static_cast<int>(count) >= form.geometry.Coordinates()) return true;
  b.Error(operand.place, absl::StrCat("expected ", form.geometry.Coordinates(), " coordinates"));
  return false;
}

void BindSurface(Binder& b, SurfaceAction action) {
  auto form = std::make_shared<SurfaceForm>();
  if (!GeometryOf(b, form->geometry) || b.size() != 2) return b.Unsupported();
  form->action = action;
  form->type = b.type(0);
  form->counts_texels = b.Has("p");
  if (action == SurfaceAction::kStore && form->counts_texels)
    form->action = SurfaceAction::kStoreTexel;
  form->outside = b.Has("clamp")  ? Outside::kClamp
                  : b.Has("zero") ? Outside::kZero
                                  : Outside::kTrap;
  const bool loads = action == SurfaceAction::kLoad;
  if (!TakeSurface(b, b.operand(loads ? 1 : 0), *form)) return;
  form->values = loads ? b.ResultList(b.operand(0), form->value_count)
                       : b.SourceList(b.operand(1), form->type, form->value_count);
  if (action == SurfaceAction::kReduce) {
    form->combine = CombineOf(b, form->type);
    if (form->combine == nullptr) return b.Unsupported();
  }
  if (!loads) b.OrderMatters();
  if (b.failed()) return;
  Op op = b.MakeExec(&RunSurface);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

}  // namespace

void BindSuld(Binder& b) { BindSurface(b, SurfaceAction::kLoad); }
void BindSust(Binder& b) { BindSurface(b, SurfaceAction::kStore); }
void BindSured(Binder& b) { BindSurface(b, SurfaceAction::kReduce); }

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
