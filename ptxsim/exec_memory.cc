// Loads, stores and what concerns addresses: ISA, "Data Movement and Conversion Instructions".
//
// A load of 32 lanes takes one of three ways: contiguous lanes are one copy, lanes of one address
// one read, others go lane by lane. Each checks bounds and alignment, that somebody wrote what is
// read (--check) and tells the detector of races; a fault names the lane. Addresses are read before
// results are written, for they may be the same registers.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/lane_kernels.h"
#include "ptxsim/lanes.h"
#include "ptxsim/profile.h"
#include "ptxsim/races.h"

namespace hlokit::ptx {
namespace {

std::string Where(Block& block, Space space, uint64_t address) {
  std::string text = absl::StrCat(" at ", Text(space), " address 0x", absl::Hex(address));
  if (space != Space::kGlobal && space != Space::kGeneric) {
    if (space == Space::kShared)
      absl::StrAppend(&text, " (the block has ", block.shared_bytes(), " bytes)");
    return text;
  }
  const Allocation* below = block.launch().memory->Below(address);
  if (below != nullptr && address - below->address < uint64_t{1} << 32)
    absl::StrAppend(&text, " (byte ", address - below->address, " of ", below->name, ", which has ",
                    below->size, ")");
  return text;
}

bool IsOnlyStore(absl::string_view what) {
  return what == "store" || what == "matrix store" || what == "asynchronous store" ||
         what == "initialization of an mbarrier";
}
bool IsOnlyLoad(absl::string_view what) { return what == "load" || what == "matrix load"; }

// Whether a store may not be made at an address of the device's memory: a parameter's or a
// constant's.
bool IsConstant(Block& block, Space space, uint64_t address) {
  if (space == Space::kParam) return true;
  if (space != Space::kGlobal && space != Space::kGeneric) return false;
  if (address - kParamWindow < kWindowBytes) return true;
  if (address - kImageWindow >= kWindowBytes) return false;
  const Allocation* const variable = block.launch().memory->Find(address);
  return variable != nullptr && variable->is_constant;
}

// Marks what is written; false where a load finds bytes that are not.
bool CheckWritten(Block& block, const std::byte* host, Space space, uint64_t address, int64_t size,
                  absl::string_view what) {
  if (uint8_t* const marks = block.WrittenMarks(host); marks != nullptr) {
    if (!IsOnlyStore(what) && std::memchr(marks, 0, static_cast<size_t>(size)) != nullptr)
      return false;
    std::memset(marks, 1, static_cast<size_t>(size));
    return true;
  }
  Memory& memory = *block.launch().memory;
  if (!memory.tracks_writes() || (space != Space::kGlobal && space != Space::kGeneric)) return true;
  if (!IsOnlyStore(what) && !memory.IsWritten(address, size)) return false;
  if (!IsOnlyLoad(what)) memory.MarkWritten(address, size);
  return true;
}

// Tells the detector of races, where there is one. Stores tell it themselves, for they know whether
// they change anything.
void WatchAccess(const Op& op, Warp& warp, int lane, uint64_t address, int64_t size, Space space,
                 absl::string_view what) {
  RaceDetector* const races = warp.block().races();
  if (races == nullptr || what == "store" || what == "access of an mbarrier" ||
      what == "initialization of an mbarrier")
    return;
  const AccessKind kind = what == "atomic access"        ? AccessKind::kAtomic
                          : what == "asynchronous store" ? AccessKind::kAsyncStore
                          : what == "matrix store"       ? AccessKind::kStore
                                                         : AccessKind::kLoad;
  races->Access(op, warp, lane, space, address, size, kind, /*changes=*/true);
}

}  // namespace

bool ResolveLanes(Warp& warp, Space space, const uint64_t* addresses, int64_t offset, LaneMask mask,
                  int64_t size, bool is_store, std::byte** data) {
  Block& block = warp.block();
  if (block.IsWatched(is_store)) return false;
  const auto added = static_cast<uint64_t>(offset), bytes = static_cast<uint64_t>(size);
  const Block::Piece piece = block.PieceAt(space, addresses[std::countr_zero(mask)] + added);
  if (piece.size < bytes || (is_store && piece.is_constant)) return false;
  return BestLaneKernels().resolve({addresses, added, mask, bytes},
                                   {piece.address, piece.size, piece.data}, data);
}

std::byte* LaneMemory(const Op& op, Warp& warp, int lane, uint64_t address, int64_t size,
                      Space space, absl::string_view what) {
  Block& block = warp.block();
  if ((address & static_cast<uint64_t>(size - 1)) != 0) {
    block.Fault(
        warp, op, lane,
        absl::StrCat("misaligned ", what, " of ", size, " bytes", Where(block, space, address)));
    return nullptr;
  }
  std::byte* host = block.Resolve(space, address, size, warp.ThreadOf(lane));
  if (host == nullptr)
    block.Fault(
        warp, op, lane,
        absl::StrCat("out-of-bounds ", what, " of ", size, " bytes", Where(block, space, address)));
  if (host == nullptr) return nullptr;
  if (!IsOnlyLoad(what) && IsConstant(block, space, address)) {
    block.Fault(warp, op, lane,
                absl::StrCat(what, " of ", size, " bytes to read-only memory",
                             Where(block, space, address)));
    return nullptr;
  }
  WatchAccess(op, warp, lane, address, size, space, what);
  LaunchState& launch = block.launch();
  // Stores and atomics look whether they change anything; mbarriers are part of a block's state.
  if (launch.watches_stores && !IsOnlyLoad(what) && what != "store" && what != "atomic access" &&
      !absl::StrContains(what, "mbarrier"))
    ++launch.changes;
  if (!CheckWritten(block, host, space, address, size, what)) {
    block.Fault(warp, op, lane,
                absl::StrCat(what, " of ", size, " bytes that nothing has written",
                             Where(block, space, address)));
    return nullptr;
  }
  return host;
}

namespace {

// Whether lanes lie one behind the other in one piece of memory that is not per thread; its first
// byte, or null.
std::byte* Consecutive(const Op& op, Warp& warp, LaneMask mask, int64_t size) {
  if (mask != kAllLanes || op.space == Space::kLocal) return nullptr;
  Block& block = warp.block();
  if (block.races() != nullptr || block.options().checks.unwritten ||
      (op.space != Space::kShared && block.launch().memory->tracks_writes()))
    return nullptr;
  const uint64_t* a = In<uint64_t>(warp.frame(), op.a);
  const uint64_t first = a[0] + static_cast<uint64_t>(op.offset);
  if (op.space == Space::kGeneric && first - kLocalWindow < kWindowBytes) return nullptr;
  uint64_t differs = first & static_cast<uint64_t>(size - 1);
  HLOKIT_LANES(i) differs |= a[i] - a[0] - static_cast<uint64_t>(i * size);
  if (differs != 0) return nullptr;
  return block.Resolve(op.space, first, size * kLanes, 0);
}
// Whether all lanes have one address.
bool IsUniform(const Op& op, Warp& warp) {
  const uint64_t* a = In<uint64_t>(warp.frame(), op.a);
  uint64_t differs = 0;
  HLOKIT_LANES(i) differs |= a[i] ^ a[0];
  return differs == 0;
}

// An element of memory, extended to its register.
void StoreLane(std::byte* frame, Slot slot, int lane, const std::byte* from, int bytes,
               bool is_signed) {
  std::byte* to = frame + slot.at + lane * slot.bytes;
  uint64_t words[2] = {0, 0};
  std::memcpy(words, from, static_cast<size_t>(bytes));
  if (is_signed && bytes < 8) {
    const int shift = 64 - 8 * bytes;
    words[0] = static_cast<uint64_t>(static_cast<int64_t>(words[0] << shift) >> shift);
  }
  std::memcpy(to, words, slot.bytes);
}

// Calls f with bytes as a constant.
template <typename F>
void WithBytes(int bytes, F f) {
  switch (bytes) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 8:
      return f(std::integral_constant<int, 8>());
    default:
      return f(std::integral_constant<int, 16>());
  }
}

// The elements of contiguous lanes, `stride` bytes apart, as a column.
void TakeConsecutive(std::byte* frame, Slot slot, const std::byte* from, int stride, int bytes,
                     bool is_signed) {
  if (slot.bytes != bytes) {
    for (int i = 0; i < kLanes; ++i) StoreLane(frame, slot, i, from + i * stride, bytes, is_signed);
    return;
  }
  WithBytes(bytes, [&](auto size) {
    std::byte* const to = frame + slot.at;
    for (int i = 0; i < kLanes; ++i) std::memcpy(to + i * size, from + i * stride, size);
  });
}
// The elements `at` bytes beyond each lane's pointer.
void TakeLanes(std::byte* frame, Slot slot, const std::byte* const* data, int at, LaneMask mask,
               int bytes, bool is_signed) {
  if (slot.bytes != bytes) {
    for (int i = 0; i < kLanes; ++i)
      if (mask >> i & 1) StoreLane(frame, slot, i, data[i] + at, bytes, is_signed);
    return;
  }
  WithBytes(bytes, [&](auto size) {
    std::byte* const to = frame + slot.at;
    for (int i = 0; i < kLanes; ++i)
      if (mask >> i & 1) std::memcpy(to + i * size, data[i] + at, size);
  });
}
// The other way.
void PutLanes(const std::byte* from, std::byte* const* data, int at, LaneMask mask, int bytes) {
  WithBytes(bytes, [&](auto size) {
    for (int i = 0; i < kLanes; ++i)
      if (mask >> i & 1) std::memcpy(data[i] + at, from + i * size, size);
  });
}

void Load(const Op& op, Warp& warp, LaneMask mask) {
  const int bytes = BytesOf(op.type);
  const auto count = static_cast<int>(op.list_size);
  const bool is_signed = IsSigned(op.type);
  std::byte* frame = warp.frame();
  const Slot* slots = &warp.code().slots[op.list];
  const uint64_t* addresses = In<uint64_t>(frame, op.a);
  if (Profile* const profile = warp.block().profile())
    profile->Access(op.space, addresses, op.offset, mask, int64_t{bytes} * count, true, false);
  if (const std::byte* data = Consecutive(op, warp, mask, bytes * count); data != nullptr) {
    for (int k = 0; k < count; ++k)
      if (slots[k].at != kNoSlot)
        TakeConsecutive(frame, slots[k], data + k * bytes, count * bytes, bytes, is_signed);
    return;
  }
  // Addresses are read before results are written, which may be the same registers.
  std::byte* data[kLanes];
  if (op.space != Space::kLocal && op.space != Space::kGeneric && warp.block().races() == nullptr &&
      IsUniform(op, warp)) {
    const int lane = std::countr_zero(mask);
    std::byte* const one =
        LaneMemory(op, warp, lane, addresses[lane] + static_cast<uint64_t>(op.offset),
                   int64_t{bytes} * count, op.space, "load");
    if (one == nullptr) return;
    std::fill_n(data, kLanes, one);
  } else if (!ResolveLanes(warp, op.space, addresses, op.offset, mask, int64_t{bytes} * count,
                           /*is_store=*/false, data)) {
    for (int i = 0; i < kLanes; ++i) {
      if (!(mask >> i & 1)) continue;
      data[i] = LaneMemory(op, warp, i, addresses[i] + static_cast<uint64_t>(op.offset),
                           int64_t{bytes} * count, op.space, "load");
      if (data[i] == nullptr) return;
    }
  }
  for (int k = 0; k < count; ++k)
    if (slots[k].at != kNoSlot) TakeLanes(frame, slots[k], data, k * bytes, mask, bytes, is_signed);
}

// Whether a store might be one to a parameter or a constant, which LaneMemory refuses.
bool MayBeConstant(const Op& op, const uint64_t* addresses) {
  const uint64_t address = addresses[0] + static_cast<uint64_t>(op.offset);
  return op.space == Space::kParam || (op.space != Space::kShared && op.space != Space::kLocal &&
                                       address - kParamWindow < 2 * kWindowBytes);
}

void Store(const Op& op, Warp& warp, LaneMask mask) {
  const int bytes = BytesOf(op.type);
  const auto count = static_cast<int>(op.list_size);
  std::byte* frame = warp.frame();
  const Slot* slots = &warp.code().slots[op.list];
  const uint64_t* addresses = In<uint64_t>(frame, op.a);
  if (Profile* const profile = warp.block().profile())
    profile->Access(op.space, addresses, op.offset, mask, int64_t{bytes} * count, false, true);
  LaunchState& launch = warp.block().launch();
  std::byte* const together = launch.watches_stores || MayBeConstant(op, addresses)
                                  ? nullptr
                                  : Consecutive(op, warp, mask, bytes * count);
  if (std::byte* data = together; data != nullptr) {
    if (count == 1) {
      std::memcpy(data, frame + slots[0].at, static_cast<size_t>(bytes) * kLanes);
      return;
    }
    std::byte* lanes[kLanes];
    for (int i = 0; i < kLanes; ++i) lanes[i] = data + i * count * bytes;
    for (int k = 0; k < count; ++k)
      PutLanes(frame + slots[k].at, lanes, k * bytes, kAllLanes, bytes);
    return;
  }
  if (std::byte * lanes[kLanes]; ResolveLanes(warp, op.space, addresses, op.offset, mask,
                                              int64_t{bytes} * count, /*is_store=*/true, lanes)) {
    // Vectors are aligned, so that two lanes' overlap wholly or not at all: the last lane's stays.
    for (int k = 0; k < count; ++k) PutLanes(frame + slots[k].at, lanes, k * bytes, mask, bytes);
    return;
  }
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    std::byte* data = LaneMemory(op, warp, i, addresses[i] + static_cast<uint64_t>(op.offset),
                                 int64_t{bytes} * count, op.space, "store");
    if (data == nullptr) return;
    RaceDetector* const races = warp.block().races();
    if (races != nullptr || launch.watches_stores) {
      bool changes = false;
      for (int k = 0; k < count; ++k)
        changes |= std::memcmp(data + k * bytes, frame + slots[k].at + i * bytes,
                               static_cast<size_t>(bytes)) != 0;
      launch.changes += changes;
      if (races != nullptr)
        races->Access(op, warp, i, op.space, addresses[i] + static_cast<uint64_t>(op.offset),
                      int64_t{bytes} * count, AccessKind::kStore, changes);
    }
    for (int k = 0; k < count; ++k)
      std::memcpy(data + k * bytes, frame + slots[k].at + i * bytes, static_cast<size_t>(bytes));
  }
}

// Space windows: a generic address minus op.offset is the space's, and the other way round.
void MoveAddress(const Op& op, std::byte* frame, void* result) {
  const uint64_t* a = In<uint64_t>(frame, op.a);
  uint64_t* d = static_cast<uint64_t*>(result);
  const auto offset = static_cast<uint64_t>(op.offset);
  HLOKIT_LANES(i) d[i] = a[i] + offset;
}
void IsInSpace(const Op& op, std::byte* frame, void* result) {
  const uint64_t* a = In<uint64_t>(frame, op.a);
  uint8_t lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t window = a[i] / kWindowBytes * kWindowBytes;
    switch (op.space) {
      case Space::kShared:
        lanes[i] = window == kSharedWindow;
        break;
      case Space::kLocal:
        lanes[i] = window == kLocalWindow;
        break;
      case Space::kParam:
        lanes[i] = window == kParamWindow;
        break;
      case Space::kConst:
        lanes[i] = window == kImageWindow;
        break;
      default:
        lanes[i] = window >= kImageWindow;
        break;
    }
  }
  *static_cast<LaneMask*>(result) = PackBits(lanes);
}

uint64_t WindowOf(Space space) {
  return space == Space::kShared ? kSharedWindow : space == Space::kLocal ? kLocalWindow : 0;
}

}  // namespace

void BindLoad(Binder& b) {
  Op op = b.MakeExec(&Load);
  op.type = b.type();
  op.space = b.space();
  if (BytesOf(op.type) * b.vector_size() > 32 || BitsOf(op.type) < 8) return b.Unsupported();
  b.Address(b.operand(1), op);
  op.list = b.ResultList(b.operand(0), op.list_size);
  if (b.failed()) return;
  if (static_cast<int>(op.list_size) != b.vector_size())
    return b.Error(b.operand(0).place, absl::StrCat("expected ", b.vector_size(), " registers"));
  b.Emit(op);
}

void BindStore(Binder& b) {
  if (b.Has("async") || b.Has("bulk")) return BindStoreAsync(b);
  Op op = b.MakeExec(&Store);
  op.type = b.type();
  op.space = b.space();
  if (BytesOf(op.type) * b.vector_size() > 32 || BitsOf(op.type) < 8) return b.Unsupported();
  b.Address(b.operand(0), op);
  op.list = b.SourceList(b.operand(1), op.type, op.list_size);
  if (b.failed()) return;
  if (static_cast<int>(op.list_size) != b.vector_size())
    return b.Error(b.operand(1).place, absl::StrCat("expected ", b.vector_size(), " values"));
  b.Emit(op);
}

// multimem: an address of memory that several devices have in common. Here one device has it, so
// reductions have one operand, and stores and reductions one place.
void BindMultimem(Binder& b) {
  if (b.Has("ld_reduce")) return BindLoad(b);
  if (b.Has("st")) return BindStore(b);
  if (b.Has("red")) return BindRed(b);
  if (!b.Has("cp")) return b.Unsupported();
  BindCp(b);
}

void BindCvta(Binder& b) {
  const uint64_t window = WindowOf(b.space());
  Op op = b.MakeEval(&MoveAddress, Type::kU64, 0);
  op.offset = static_cast<int64_t>(b.Has("to") ? 0 - window : window);
  op.a = b.Source(1, Type::kU64);
  op.d = b.Result(0, Type::kU64);
  if (!b.failed()) b.Emit(op);
}

void BindIsspacep(Binder& b) {
  if (b.Has("shared") || b.Has("shared::cta")) return BindIsOwnShared(b);
  Op op = b.MakeEval(&IsInSpace, Type::kPred, 0);
  op.space = b.space();
  op.a = b.Source(1, Type::kU64);
  op.d = b.Result(0, Type::kPred);
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
