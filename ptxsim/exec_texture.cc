// tex, tld4, txq and istypep: ISA, "Texture Instructions".
//
//   tex.level.2d.v4.f32.f32 {r,g,b,a}, [texture, {x,y}], lod;
//
// A lane makes a TextureQuery of its operands, texture.h answers it. Forms with a sampler of their
// own ([texture, sampler, {x,y}]) take addressing and filter from it. Limits: multisampled textures
// have one sample; a depth comparison gives 1 where the operand is at most the texel.
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/block.h"
#include "ptxsim/decoder_internal.h"
#include "ptxsim/rounding.h"
#include "ptxsim/texture_internal.h"

namespace hlokit::ptx {
namespace {

enum class LevelKind : uint8_t { kBase, kLevel, kGradients };

struct TexForm {
  ObjectOperand texture, sampler;
  bool has_sampler = false, is_integer = false;
  Geometry geometry;
  LevelKind level_kind = LevelKind::kBase;
  int channel = -1;  // of tld4
  Type result = Type::kF32;
  uint32_t results = 0, result_count = 0;  // lists
  uint32_t coordinates = 0, offsets = 0, dx = 0, dy = 0;
  uint32_t offset_count = 0, gradient_count = 0;
  uint32_t level = kNoSlot, depth = kNoSlot, resident = kNoSlot;
};

float FloatAt(const std::byte* frame, const Slot& slot, int lane) {
  return std::bit_cast<float>(WordAt(frame, slot, lane));
}

TextureQuery QueryOf(const TexForm& form, const Texture& texture, const Warp& warp,
                     const std::byte* frame, int lane) {
  const Slot* slots = warp.code().slots.data();
  const Slot* at = slots + form.coordinates;
  TextureQuery query;
  query.is_integer = form.is_integer;
  if (form.geometry.is_layered) query.layer = static_cast<int64_t>(WordAt(frame, *at++, lane));
  if (form.geometry.is_multisampled) ++at;
  for (int d = 0; d < (form.geometry.is_cube ? 3 : form.geometry.dims); ++d) {
    query.at[d] = FloatAt(frame, at[d], lane);
    query.index[d] = static_cast<int32_t>(WordAt(frame, at[d], lane));
  }
  for (uint32_t d = 0; d < std::min(form.offset_count, 3u); ++d)
    query.offset[d] = static_cast<int32_t>(WordAt(frame, slots[form.offsets + d], lane));
  if (form.level_kind == LevelKind::kLevel) {
    const Slot level{form.level, 4};
    query.level = form.is_integer
                      ? static_cast<float>(static_cast<int32_t>(WordAt(frame, level, lane)))
                      : FloatAt(frame, level, lane);
  } else if (form.level_kind == LevelKind::kGradients) {
    float dx[3] = {}, dy[3] = {};
    for (uint32_t d = 0; d < std::min(form.gradient_count, 3u); ++d) {
      dx[d] = FloatAt(frame, slots[form.dx + d], lane);
      dy[d] = FloatAt(frame, slots[form.dy + d], lane);
    }
    query.level = LevelOfGradients(texture, dx, dy);
  }
  return query;
}

// What a sampler says, in a copy of the texture.
Texture WithSampler(const Texture& texture, const Texture& sampler) {
  Texture both = texture;
  both.is_filtered = sampler.is_filtered;
  both.mips_filtered = sampler.mips_filtered;
  std::copy_n(sampler.address, 3, both.address);
  std::copy_n(sampler.border, 4, both.border);
  if (sampler.unnormalize != 0) both.normalized = 0;
  return both;
}

// Texels into the result's registers: .f16 and .f16x2 are rounded from f32.
void WriteTexels(const TexForm& form, const Warp& warp, std::byte* frame, int lane,
                 const Texels& texels) {
  const Slot* slots = &warp.code().slots[form.results];
  const auto half = [&](size_t c) {
    return uint32_t{RoundToF16(double{std::bit_cast<float>(texels[c])})};
  };
  for (uint32_t k = 0; k < form.result_count; ++k) {
    if (slots[k].at == kNoSlot) continue;
    uint32_t word = texels[std::min<size_t>(k, 3)];
    if (form.result == Type::kF16) word = half(k);
    if (form.result == Type::kF16x2) word = half(2 * k) | half(2 * k + 1) << 16;
    const uint64_t wide = word;
    std::memcpy(frame + slots[k].at + lane * slots[k].bytes, &wide, slots[k].bytes);
  }
}

void RunTex(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const TexForm*>(warp.code().forms[op.list].get());
  std::byte* frame = warp.frame();
  Memory& memory = *warp.block().launch().memory;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const Texture* texture = ObjectAt(op, warp, lane, form.texture, ObjectKind::kTexture);
    if (texture == nullptr) return;
    Texture own = *texture;
    if (form.has_sampler) {
      const Texture* sampler = ObjectAt(op, warp, lane, form.sampler, ObjectKind::kSampler);
      if (sampler == nullptr) return;
      own = WithSampler(*texture, *sampler);
    }
    if (own.dims != form.geometry.dims || (own.is_layered != 0) != form.geometry.is_layered ||
        (own.is_cube != 0) != form.geometry.is_cube)
      return warp.block().Fault(
          warp, op, lane,
          absl::StrCat("a texture of ", own.dims, " dimensions",
                       own.is_layered != 0 ? " with layers" : "",
                       own.is_cube != 0 ? ", a cube" : "", ", the instruction asks for another"));
    const TextureQuery query = QueryOf(form, own, warp, frame, lane);
    Texels texels =
        form.channel >= 0 ? Gather(memory, own, query, form.channel) : Sample(memory, own, query);
    if (form.depth != kNoSlot) {
      const float depth = FloatAt(frame, Slot{form.depth, 4}, lane);
      for (uint32_t& word : texels)
        word = std::bit_cast<uint32_t>(depth <= std::bit_cast<float>(word) ? 1.0f : 0.0f);
    }
    WriteTexels(form, warp, frame, lane, texels);
    if (form.resident != kNoSlot)
      *reinterpret_cast<uint32_t*>(frame + form.resident) |= LaneMask{1} << lane;
  }
}

// [texture, {x,y}] or [texture, sampler, {x,y}].
bool TakeTexture(Binder& b, const Operand& operand, TexForm& form) {
  const size_t parts = operand.parts.size();
  if (operand.kind != Operand::kAddress || (parts != 2 && parts != 3)) {
    b.Error(operand.place,
            "expected [texture, {coordinates}] or [texture, sampler, {coordinates}]");
    return false;
  }
  form.has_sampler = parts == 3;
  if (!TakeObject(b, operand.parts[0], form.texture)) return false;
  if (form.has_sampler && !TakeObject(b, operand.parts[1], form.sampler)) return false;
  uint32_t count = 0;
  form.coordinates =
      b.SourceList(operand.parts.back(), form.is_integer ? Type::kS32 : Type::kF32, count);
  if (b.failed()) return false;
  if (static_cast<int>(count) >= form.geometry.Coordinates()) return true;
  b.Error(operand.place, absl::StrCat("expected ", form.geometry.Coordinates(), " coordinates"));
  return false;
}

// Operands after the address: a level or gradients, then offsets, then a depth to compare with.
bool TakeFurther(Binder& b, int at, TexForm& form) {
  if (form.level_kind == LevelKind::kLevel) {
    if (at >= b.size()) return b.Unsupported(), false;
    form.level = b.Source(at++, form.is_integer ? Type::kS32 : Type::kF32);
  } else if (form.level_kind == LevelKind::kGradients) {
    if (at + 1 >= b.size()) return b.Unsupported(), false;
    form.dx = b.SourceList(b.operand(at++), Type::kF32, form.gradient_count);
    uint32_t count = 0;
    form.dy = b.SourceList(b.operand(at++), Type::kF32, count);
    if (!b.failed() && (count != form.gradient_count ||
                        static_cast<int>(count) < (form.geometry.is_cube ? 3 : form.geometry.dims)))
      return b.Error(b.operand(at - 1).place, "gradients of a wrong number of dimensions"), false;
  }
  if (at < b.size() && b.operand(at).kind == Operand::kVector)
    form.offsets = b.SourceList(b.operand(at++), Type::kS32, form.offset_count);
  if (at < b.size()) form.depth = b.Source(at++, Type::kF32);
  if (!b.failed() && at != b.size()) b.Unsupported();
  return !b.failed();
}

void BindSampling(Binder& b, bool gathers) {
  auto form = std::make_shared<TexForm>();
  if (!GeometryOf(b, form->geometry) || b.size() < 2) return b.Unsupported();
  form->result = b.type(0);
  form->is_integer = b.type(1) == Type::kS32;
  form->level_kind = b.Has("level")  ? LevelKind::kLevel
                     : b.Has("grad") ? LevelKind::kGradients
                                     : LevelKind::kBase;
  constexpr absl::string_view kChannels[] = {"r", "g", "b", "a"};
  for (int c = 0; gathers && c < 4; ++c)
    if (b.Has(kChannels[c])) form->channel = c;
  if (gathers && form->channel < 0) return b.Unsupported();
  if (!TakeTexture(b, b.operand(1), *form) || !TakeFurther(b, 2, *form)) return;
  Operand result = b.operand(0);
  if (result.kind == Operand::kPair) {  // d|p: p is whether memory is resident; all is
    form->resident = b.Result(b.operand(0).parts[1], Type::kPred);
    result = b.operand(0).parts[0];
  }
  form->results = b.ResultList(result, form->result_count);
  if (b.failed()) return;
  Op op = b.MakeExec(&RunTex);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

// txq and suq.
struct QueryForm {
  ObjectOperand object;
  std::string property;
  uint32_t level = kNoSlot;
  ObjectKind kind = ObjectKind::kTexture;
};

void RunQuery(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const QueryForm*>(warp.code().forms[op.list].get());
  std::byte* frame = warp.frame();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const Texture* object = ObjectAt(op, warp, lane, form.object, form.kind);
    if (object == nullptr) return;
    const int level =
        form.level == kNoSlot ? 0 : static_cast<int>(In<int32_t>(frame, form.level)[lane]);
    const auto value = static_cast<uint32_t>(PropertyOf(*object, form.property, level));
    std::memcpy(frame + op.d + lane * 4, &value, 4);
  }
}

void BindQuery(Binder& b, ObjectKind kind) {
  auto form = std::make_shared<QueryForm>();
  form->kind = kind;
  for (absl::string_view word : b.instruction().modifiers)
    if (PropertyOf(Texture{}, word, 0) >= 0) form->property = std::string(word);
  if (form->property.empty()) return b.Unsupported();
  if (form->property == "force_unnormalized_coords") form->kind = ObjectKind::kSampler;
  const bool has_level = b.Has("level");
  if (b.size() != (has_level ? 3 : 2) || b.operand(1).kind != Operand::kAddress ||
      b.operand(1).parts.size() != 1)
    return b.Unsupported();
  if (!TakeObject(b, b.operand(1).parts[0], form->object)) return;
  if (has_level) form->level = b.Source(2, Type::kS32);
  Op op = b.MakeExec(&RunQuery);
  op.d = b.Result(0, Type::kB32);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  if (!b.failed()) b.Emit(op);
}

// Whether an address is that of an object of a kind.
struct TypeTest {
  ObjectOperand object;
  ObjectKind kind;
};

void RunTypeTest(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const TypeTest*>(warp.code().forms[op.list].get());
  std::byte* frame = warp.frame();
  LaneMask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::byte* at =
        warp.block().launch().memory->Host(form.object.column.Of(frame, lane), sizeof(Texture));
    if (at == nullptr) continue;
    Texture object;
    std::memcpy(&object, at, sizeof object);
    if (object.magic == Texture::kMagic && object.kind == form.kind) result |= LaneMask{1} << lane;
  }
  auto* const p = reinterpret_cast<LaneMask*>(frame + op.d);
  *p = (*p & ~mask) | (result & mask);
}

}  // namespace

bool GeometryOf(const Binder& b, Geometry& geometry) {
  struct Row {
    absl::string_view name;
    Geometry geometry;
  };
  constexpr Row kRows[] = {
      {"1d", {1}},
      {"2d", {2}},
      {"3d", {3}},
      {"a1d", {1, true}},
      {"a2d", {2, true}},
      {"cube", {2, false, true}},
      {"acube", {2, true, true}},
      {"2dms", {2, false, false, true}},
      {"a2dms", {2, true, false, true}},
  };
  for (const Row& row : kRows)
    if (b.Has(row.name)) geometry = row.geometry;
  return geometry.dims > 0;
}

bool TakeObject(Binder& b, const Operand& operand, ObjectOperand& object) {
  Operand address;
  address.kind = Operand::kAddress;
  address.place = operand.place;
  address.parts.push_back(operand);
  Symbol storage;
  const Symbol* const symbol = b.decoder().Find(operand.name, b.instruction().scope, storage);
  const bool is_register = symbol != nullptr && symbol->kind == Symbol::kRegister;
  for (const Variable& parameter : b.decoder().function().parameters)
    object.is_parameter |= !is_register && parameter.name == operand.name;
  object.column = AddressColumnOf(b, address, object.is_parameter ? Space::kParam : Space::kGlobal);
  return !b.failed();
}

const Texture* ObjectAt(const Op& op, Warp& warp, int lane, const ObjectOperand& object,
                        ObjectKind kind) {
  Block& block = warp.block();
  uint64_t handle = object.column.Of(warp.frame(), lane);
  if (object.is_parameter) {
    const std::byte* at = block.Resolve(Space::kGeneric, handle, 8, warp.ThreadOf(lane));
    if (at == nullptr) {
      block.Fault(warp, op, lane, "a parameter of 8 bytes that is not there");
      return nullptr;
    }
    std::memcpy(&handle, at, 8);
  }
  constexpr absl::string_view kNames[] = {"object", "texture", "sampler", "surface"};
  const absl::string_view name = kNames[static_cast<int>(kind)];
  const auto* found =
      reinterpret_cast<const Texture*>(block.launch().memory->Host(handle, sizeof(Texture)));
  if (found == nullptr || handle % 64 != 0 || found->magic != Texture::kMagic ||
      (found->kind != kind && kind != ObjectKind::kSampler)) {
    block.Fault(warp, op, lane, absl::StrCat("no ", name, " has the handle 0x", absl::Hex(handle)));
    return nullptr;
  }
  if (found->dims == 0 && kind != ObjectKind::kSampler) {
    block.Fault(warp, op, lane, absl::StrCat("nothing is bound to the ", name));
    return nullptr;
  }
  return found;
}

void BindTex(Binder& b) { BindSampling(b, /*gathers=*/false); }
void BindTld4(Binder& b) { BindSampling(b, /*gathers=*/true); }
void BindTxq(Binder& b) { BindQuery(b, ObjectKind::kTexture); }
void BindSuq(Binder& b) { BindQuery(b, ObjectKind::kSurface); }

void BindIstypep(Binder& b) {
  auto form = std::make_shared<TypeTest>();
  form->kind = b.Has("texref")       ? ObjectKind::kTexture
               : b.Has("samplerref") ? ObjectKind::kSampler
                                     : ObjectKind::kSurface;
  if (!TakeObject(b, b.operand(1), form->object)) return;
  Op op = b.MakeExec(&RunTypeTest);
  op.d = b.Result(0, Type::kPred);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
