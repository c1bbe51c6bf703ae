// Copies of boxes of tensors: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, tensormap.replace
// (ISA, "Tensors" and "cp.async.bulk.tensor").
//
//   cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
//       [to], [map, {x, y}], [bar];
//
// copies the box that begins at column x of row y: its rows lie one after the other in shared
// memory, 16-byte pieces exchanged as the map's swizzle says (128 bytes: bits 4 to 6 of the address
// xor bits 7 to 9). What lies outside of the tensor is filled with zeros (or NaN), and left alone
// on the way back. The mbarrier counts the whole box.
//
// im2col walks pixels instead: from the given one along w, h, d inside the corners of the map's
// box, then to the next image; each pixel, moved by the offsets, gives a run of channels.
// Limits: interleaved layouts fault; im2col::w is that walk along w alone.
#include "ptxsim/rounding.h"
#include "ptxsim/tensor_map.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/profile.h"
#include "ptxsim/races.h"

namespace hlokit::ptx {

int TensorElementBits(int element_type) {
  constexpr int kBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 32, 32, 4, 4, 6};
  return element_type >= 0 && element_type < 16 ? kBits[element_type] : 0;
}

namespace {

enum class TensorMode : uint8_t { kTile, kIm2col, kGather };

struct TensorForm {
  TensorMode mode = TensorMode::kTile;
  bool into_shared = true, only_width = false, prefetches = false;
  int rank = 0;
  AddressColumn shared, map, barrier;
  uint32_t coordinates = 0, offsets = 0;  // in Code::slots
  uint32_t coordinate_count = 0, offset_count = 0;
  uint32_t blocks = kNoSlot;
  absl::string_view reduction;  // add, min, ...; empty: a copy
};

// One lane's copy while it is made.
class TensorCopy {
 public:
  TensorCopy(const Op& op, Warp& warp, int lane, const TensorForm& form)
      : op_(op), warp_(warp), lane_(lane), form_(form) {}

  bool Run();

 private:
  bool Fault(const std::string& what) {
    warp_.block().Fault(warp_, op_, lane_, what);
    return false;
  }
  bool ReadMap();
  bool RunBlock(std::optional<uint32_t> rank);
  bool CopyTile(uint64_t to);
  bool CopyPixels(uint64_t to);
  bool CopyRow(const int64_t at[5], int64_t count, uint64_t to, int64_t& place);
  bool CopyElement(const int64_t at[5], uint64_t shared);
  int64_t Coordinate(uint32_t i) const {
    const Slot slot = warp_.code().slots[form_.coordinates + i];
    return In<int32_t>(warp_.frame(), slot.at)[lane_];
  }
  uint64_t Swizzled(uint64_t address) const;
  void Fill(std::byte* to) const;

  const Op& op_;
  Warp& warp_;
  int lane_;
  const TensorForm& form_;
  TensorMap map_;
  int bytes_ = 0;      // of an element
  int64_t total_ = 0;  // bytes of shared memory that the copy covers
  Combine combine_ = nullptr;
};

Type TypeOfElements(int element_type) {
  constexpr Type kTypes[] = {Type::kU8,   Type::kU16, Type::kU32, Type::kS32, Type::kU64,
                             Type::kS64,  Type::kF16, Type::kF32, Type::kF32, Type::kF64,
                             Type::kBF16, Type::kF32, Type::kF32};
  return element_type < 13 ? kTypes[element_type] : Type::kNone;
}

bool TensorCopy::ReadMap() {
  const uint64_t address = form_.map.Of(warp_.frame(), lane_);
  const std::byte* at =
      warp_.block().Resolve(Space::kGeneric, address, sizeof(TensorMap), warp_.ThreadOf(lane_));
  if (at == nullptr || address % 64 != 0)
    return Fault(absl::StrCat(at == nullptr ? "out-of-bounds" : "misaligned",
                              " tensor map at address 0x", absl::Hex(address)));
  std::memcpy(&map_, at, sizeof(map_));
  if (map_.magic != TensorMap::kMagic)
    return Fault(absl::StrCat("no tensor map lies at address 0x", absl::Hex(address)));
  bytes_ = TensorElementBits(map_.element_type) / 8;
  if (map_.rank != form_.rank)
    return Fault(absl::StrCat("a tensor map of ", map_.rank, " dimensions, the instruction has ",
                              form_.rank));
  if (bytes_ == 0 || map_.interleave != 0 || map_.swizzle > 3)
    return Fault("a tensor map of packed elements, interleaved or of another swizzle");
  if (map_.is_im2col != (form_.mode == TensorMode::kIm2col))
    return Fault(map_.is_im2col ? "an im2col tensor map in a copy of a tile"
                                : "a tiled tensor map in an im2col copy");
  if (form_.reduction.empty()) return true;
  combine_ = CombineNamed(form_.reduction, TypeOfElements(map_.element_type));
  return combine_ != nullptr || Fault("a reduction that the tensor's elements do not have");
}

// 16-byte pieces trade places inside 128, 64 or 32 bytes (swizzle 3, 2, 1).
uint64_t TensorCopy::Swizzled(uint64_t address) const {
  constexpr uint64_t kMasks[] = {0, 0x10, 0x30, 0x70};
  return address ^ (address >> 3 & kMasks[map_.swizzle]);
}

constexpr int kTf32 = 11;  // and 12, whose denormals become zeros

// Floats of tf32 tensors are rounded to it on their way to shared memory.
void RoundToTf32(std::byte* at, bool flushes) {
  float value;
  std::memcpy(&value, at, sizeof(value));
  if (value != value) return;
  if (flushes && std::fabs(value) < 0x1p-126f) value = std::copysign(0.0f, value);
  const uint32_t bits = RoundToFormat(value, kFormatTF32, Rounding::kNearest, false) << 13;
  std::memcpy(at, &bits, sizeof(bits));
}

// What an element outside of the tensor is: zero, or NaN.
void TensorCopy::Fill(std::byte* to) const {
  std::memset(to, 0, static_cast<size_t>(bytes_));
  const Type type = TypeOfElements(map_.element_type);
  if (map_.fill == 0 || !IsFloat(type)) return;
  constexpr uint64_t nan = 0x7ff77ff77ff77ff7;  // of each width, as an H200 fills
  std::memcpy(to, &nan, static_cast<size_t>(bytes_));
}

bool TensorCopy::CopyElement(const int64_t at[5], uint64_t shared) {
  Block& block = warp_.block();
  bool inside = true;
  uint64_t address = map_.address + static_cast<uint64_t>(at[0] * bytes_);
  for (int d = 0; d < map_.rank; ++d) {
    inside &= at[d] >= 0 && at[d] < int64_t{map_.dims[d]};
    if (d > 0) address += static_cast<uint64_t>(at[d]) * map_.strides[d - 1];
  }
  if (form_.prefetches || (!inside && !form_.into_shared)) return true;
  shared = Swizzled(shared);
  std::byte* own = block.Resolve(Space::kShared, shared, bytes_, 0);
  if (own == nullptr)
    return Fault(absl::StrCat("out-of-bounds tensor copy: ", total_,
                              " bytes of shared memory, at shared address 0x", absl::Hex(shared)));
  if (uint8_t* const marks = block.WrittenMarks(own)) {
    const auto bytes = static_cast<size_t>(bytes_);
    if (!form_.into_shared && std::memchr(marks, 0, bytes) != nullptr)
      return Fault(
          absl::StrCat("tensor copy of bytes that nothing has written, at shared address "
                       "0x",
                       absl::Hex(shared)));
    std::memset(marks, 1, bytes);
  }
  ++block.launch().changes;
  if (!inside) {
    Fill(own);
    return true;
  }
  std::byte* other = block.Resolve(Space::kGlobal, address, bytes_, 0);
  if (other == nullptr)
    return Fault(
        absl::StrCat("out-of-bounds tensor copy at global address 0x", absl::Hex(address)));
  Memory& memory = *block.launch().memory;
  if (Profile* const profile = block.profile();
      profile != nullptr && address % 32 < uint64_t(bytes_))
    profile->Range(Space::kGlobal, address, bytes_, !form_.into_shared);
  if (form_.into_shared) {
    if (memory.tracks_writes() && !memory.IsWritten(address, bytes_))
      return Fault(
          absl::StrCat("tensor copy of bytes that nothing has written, at global address 0x",
                       absl::Hex(address)));
    std::memcpy(own, other, static_cast<size_t>(bytes_));
    if (map_.element_type >= kTf32) RoundToTf32(own, map_.element_type > kTf32);
    return true;
  }
  if (combine_ != nullptr) {
    combine_(other, own);
  } else {
    std::memcpy(other, own, static_cast<size_t>(bytes_));
  }
  memory.MarkWritten(address, bytes_);
  return true;
}

// `count` neighbours along dimension 0; `place` counts elements of shared memory.
bool TensorCopy::CopyRow(const int64_t at[5], int64_t count, uint64_t to, int64_t& place) {
  int64_t own[5];
  std::copy_n(at, 5, own);
  const int64_t step = std::max<int64_t>(1, map_.element_strides[0]);
  for (int64_t i = 0; i < count; i += step, ++place) {
    own[0] = at[0] + i;
    if (!CopyElement(own, to + static_cast<uint64_t>(place * bytes_))) return false;
  }
  return true;
}

bool TensorCopy::CopyTile(uint64_t to) {
  int64_t begin[5] = {}, at[5] = {}, place = 0;
  if (form_.mode == TensorMode::kGather) {  // rows by their own numbers
    for (uint32_t row = 0; row < 4; ++row) {
      at[0] = Coordinate(0);
      at[1] = Coordinate(row + 1);
      if (!CopyRow(at, map_.box[0], to, place)) return false;
    }
    return true;
  }
  for (int d = 0; d < map_.rank; ++d) begin[d] = Coordinate(static_cast<uint32_t>(d));
  int64_t index[5] = {};
  for (;;) {
    for (int d = 0; d < map_.rank; ++d) at[d] = begin[d] + index[d];
    if (!CopyRow(at, map_.box[0], to, place)) return false;
    int d = 1;
    for (; d < map_.rank; ++d) {
      index[d] += std::max<int64_t>(1, map_.element_strides[d]);
      if (index[d] < int64_t{map_.box[d]}) break;
      index[d] = 0;
    }
    if (d >= map_.rank) return true;
  }
}

bool TensorCopy::CopyPixels(uint64_t to) {
  const int spatial = map_.rank - 2;
  int64_t pixel[5] = {}, place = 0;
  for (int d = 0; d < map_.rank; ++d) pixel[d] = Coordinate(static_cast<uint32_t>(d));
  for (uint32_t i = 0; i < map_.box[1]; ++i) {
    int64_t at[5] = {};
    std::copy_n(pixel, 5, at);
    for (int s = 0; s < spatial && s < static_cast<int>(form_.offset_count); ++s)
      at[s + 1] += In<uint16_t>(
          warp_.frame(), warp_.code().slots[form_.offsets + static_cast<uint32_t>(s)].at)[lane_];
    if (!CopyRow(at, map_.box[0], to, place)) return false;
    for (int s = 0; s <= spatial; ++s) {
      pixel[s + 1] += std::max<int64_t>(1, map_.element_strides[s + 1]);
      const bool is_last = s == spatial || (form_.only_width && s > 0);
      if (is_last || pixel[s + 1] < int64_t{map_.dims[s + 1]} + map_.upper[s]) break;
      pixel[s + 1] = map_.lower[s];
    }
  }
  return true;
}

// The copy into, or out of, shared memory of the block itself or of one of its cluster.
bool TensorCopy::RunBlock(std::optional<uint32_t> rank) {
  uint64_t to = form_.prefetches ? 0 : form_.shared.Of(warp_.frame(), lane_);
  if (rank.has_value()) to = SharedOfRank(to, *rank);
  if (to % 16 != 0) return Fault("a tensor copy whose shared address is no multiple of 16");
  if (!(map_.is_im2col ? CopyPixels(to) : CopyTile(to))) return false;
  if (form_.barrier.at == kNoSlot) return true;
  uint64_t address = form_.barrier.Of(warp_.frame(), lane_);
  if (rank.has_value()) address = SharedOfRank(address, *rank);
  Mbarrier* barrier = MbarrierAt(op_, warp_, lane_, address, Space::kShared);
  if (barrier == nullptr) return false;
  if (RaceDetector* const races = warp_.block().races()) {
    races->Access(op_, warp_, lane_, Space::kShared, to, total_, AccessKind::kAsyncStore, true);
    races->AsyncArrive(RaceDetector::KeyOf(warp_, Space::kShared, address), warp_,
                       LaneMask{1} << lane_);
  }
  barrier->Complete(total_);
  return true;
}

bool TensorCopy::Run() {
  if (!ReadMap()) return false;
  total_ = bytes_;
  const int box_rank = map_.is_im2col ? 2 : map_.rank;
  for (int d = 0; d < box_rank; ++d) {
    const int64_t step =
        map_.is_im2col && d > 0 ? 1 : std::max<int64_t>(1, map_.element_strides[d]);
    total_ *= (int64_t{map_.box[d]} + step - 1) / step;
  }
  if (form_.mode == TensorMode::kGather) total_ = int64_t{4} * map_.box[0] * bytes_;
  if (form_.blocks == kNoSlot) return RunBlock(std::nullopt);
  const uint32_t blocks = In<uint16_t>(warp_.frame(), form_.blocks)[lane_];
  for (uint32_t rank = 0; rank < 16; ++rank)
    if (blocks >> rank & 1 && !RunBlock(rank)) return false;
  return true;
}

void RunTensor(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const TensorForm*>(warp.code().forms[op.list].get());
  for (int lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1 && !TensorCopy(op, warp, lane, form).Run()) return;
}

// [map, {coordinates}]
bool TakeTensor(Binder& b, const Operand& operand, TensorForm& form) {
  if (operand.kind != Operand::kAddress || operand.parts.size() != 2) {
    b.Error(operand.place, "expected [tensor map, {coordinates}]");
    return false;
  }
  Operand map = operand;
  map.parts.resize(1);
  form.map = AddressColumnOf(b, map, Space::kGeneric);
  form.coordinates = b.SourceList(operand.parts[1], Type::kS32, form.coordinate_count);
  const int expected = form.mode == TensorMode::kGather ? 5 : form.rank;
  if (!b.failed() && static_cast<int>(form.coordinate_count) != expected)
    b.Error(operand.place, absl::StrCat("expected ", expected, " coordinates"));
  return !b.failed();
}

void ReadModes(const Binder& b, TensorForm& form) {
  for (int rank = 1; rank <= 5; ++rank)
    if (b.Has(absl::StrCat(rank, "d"))) form.rank = rank;
  form.prefetches = b.Has("prefetch");
  form.into_shared = form.prefetches || b.Has("mbarrier::complete_tx::bytes");
  form.only_width = b.Has("im2col::w") || b.Has("im2col::w::128");
  if (form.only_width || b.Has("im2col") || b.Has("im2col_no_offs"))
    form.mode = TensorMode::kIm2col;
  if (b.Has("tile::gather4") || b.Has("tile::scatter4")) form.mode = TensorMode::kGather;
  if (!b.Has("reduce")) return;
  for (absl::string_view name : {"add", "min", "max", "inc", "dec", "and", "or", "xor"})
    if (b.Has(name)) form.reduction = name;
}

// tensormap.replace.tile.FIELD [map], {ordinal,} value
void RunReplace(const Op& op, Warp& warp, LaneMask mask) {
  const std::byte* frame = warp.frame();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::byte* at = LaneMemory(op, warp, lane,
                               In<uint64_t>(frame, op.a)[lane] + static_cast<uint64_t>(op.offset),
                               128, op.space, "access of a tensor map");
    if (at == nullptr) return;
    TensorMap map;
    std::memcpy(&map, at, sizeof(map));
    const uint64_t value = In<uint64_t>(frame, op.b)[lane];
    const auto word = static_cast<uint32_t>(value);
    const auto byte = static_cast<uint8_t>(value);
    const uint32_t i = op.flags;
    map.magic = TensorMap::kMagic;
    switch (op.mode) {
      case 0:
        map.address = value;
        break;
      case 1:
        map.rank = static_cast<uint8_t>(byte + 1);
        break;
      case 2:
        map.element_type = byte;
        break;
      case 3:
        map.interleave = byte;
        break;
      case 4:
        map.swizzle = byte;
        break;
      case 5:
        map.fill = byte;
        break;
      case 6:
        map.swizzle_atom = byte;
        break;
      case 7:
        map.box[i] = word;
        break;
      case 8:
        map.dims[i] = word;
        break;
      case 9:
        map.element_strides[i] = byte;
        break;
      default:
        map.strides[std::min(i, 3u)] = value;
        break;
    }
    std::memcpy(at, &map, sizeof(map));
  }
}

}  // namespace

void BindCopyTensor(Binder& b) {
  auto form = std::make_shared<TensorForm>();
  ReadModes(b, *form);
  const bool out = !form->into_shared;
  int at = 0;
  if (form->rank == 0 || b.size() < (form->prefetches ? 1 : 2)) return b.Unsupported();
  if (!form->prefetches && !out) form->shared = AddressColumnOf(b, b.operand(at++), Space::kShared);
  if (!TakeTensor(b, b.operand(at++), *form)) return;
  if (out) form->shared = AddressColumnOf(b, b.operand(at++), Space::kShared);
  if (!form->prefetches && !out) {
    if (at >= b.size()) return b.Unsupported();
    form->barrier = AddressColumnOf(b, b.operand(at++), Space::kShared);
  }
  if (form->mode == TensorMode::kIm2col && at < b.size() && b.operand(at).kind == Operand::kVector)
    form->offsets = b.SourceList(b.operand(at++), Type::kU16, form->offset_count);
  if (b.Has("multicast::cluster") && at < b.size()) form->blocks = b.Source(at++, Type::kB16);
  if (b.Has("L2::cache_hint")) ++at;
  if (!b.failed() && at != b.size()) return b.Unsupported();
  if (!form->reduction.empty()) b.OrderMatters();
  if (b.failed()) return;
  Op op = b.MakeExec(&RunTensor);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

void BindTensormap(Binder& b) {
  if (b.Has("cp_fenceproxy")) {  // the map goes from shared to global memory
    Op op = b.MakeExec(nullptr);
    op.exec = [](const Op& o, Warp& warp, LaneMask mask) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if (!(mask >> lane & 1)) continue;
        const std::byte* frame = warp.frame();
        std::byte* from =
            LaneMemory(o, warp, lane, In<uint64_t>(frame, o.b)[lane], 128, Space::kShared, "load");
        std::byte* to = from == nullptr ? nullptr
                                        : LaneMemory(o, warp, lane, In<uint64_t>(frame, o.a)[lane],
                                                     128, Space::kGlobal, "store");
        if (to == nullptr) return;
        std::memcpy(to, from, 128);
      }
    };
    Op to, from;
    b.Address(b.operand(0), to);
    b.Address(b.operand(1), from);
    if (to.offset != 0 || from.offset != 0) return b.Unsupported();
    op.a = to.a;
    op.b = from.a;
    if (!b.failed()) b.Emit(op);
    return;
  }
  constexpr absl::string_view kFields[] = {"global_address",    "rank",         "elemtype",
                                           "interleave_layout", "swizzle_mode", "fill_mode",
                                           "swizzle_atomicity", "box_dim",      "global_dim",
                                           "element_stride",    "global_stride"};
  Op op = b.MakeExec(&RunReplace);
  op.mode = 255;
  for (uint8_t i = 0; i < 11; ++i)
    if (b.Has(kFields[i])) op.mode = i;
  const bool numbered = op.mode >= 7;
  if (!b.Has("replace") || op.mode == 255 || b.size() != (numbered ? 3 : 2)) return b.Unsupported();
  op.space = b.space();
  b.Address(b.operand(0), op);
  if (numbered) op.flags = static_cast<uint32_t>(b.Immediate(1));
  if (op.flags > 4) return b.Unsupported();
  op.b = b.Source(b.size() - 1, Type::kU64);
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
