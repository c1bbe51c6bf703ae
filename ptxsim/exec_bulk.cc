// Bulk copies and stores that complete an mbarrier: cp.async.bulk, cp.reduce.async.bulk, st.async,
// red.async, st.bulk (ISA, "Data Movement and Conversion Instructions"). All is done at once; what
// waits finds it done.
//
//   cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], 64, [bar];
//
// copies 64 bytes and takes 64 off the bytes that the mbarrier waits for. With .multicast::cluster
// each block that the mask names gets the bytes and the completion at the same offset of its own
// shared memory. A reduction combines element by element in the place of copying.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/profile.h"
#include "ptxsim/races.h"

namespace hlokit::ptx {
namespace {

struct BulkForm {
  AddressColumn to, from, barrier;  // barrier.at: kNoSlot where there is none
  uint32_t size = 0;                // the column of the bytes
  uint32_t blocks = kNoSlot;        // of .multicast's mask of 16 bits
  uint32_t bytes = kNoSlot;         // of .cp_mask: which bytes of each 16 are copied
  Combine combine = nullptr;        // null: a copy
  int element = 1;                  // bytes of what is combined
};

void MoveBytes(const BulkForm& form, std::byte* to, const std::byte* from, int64_t size,
               uint32_t byte_mask) {
  if (form.combine != nullptr) {
    for (int64_t i = 0; i + form.element <= size; i += form.element) form.combine(to + i, from + i);
    return;
  }
  if (byte_mask == 0xffff) {
    std::memmove(to, from, static_cast<size_t>(size));
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    if (byte_mask >> i % 16 & 1) to[i] = from[i];
}

// One transfer of a lane; false after a fault.
bool Transfer(const Op& op, Warp& warp, int lane, const BulkForm& form, uint64_t to, uint64_t from,
              uint64_t barrier_address) {
  Block& block = warp.block();
  Memory& memory = *block.launch().memory;
  const std::byte* frame = warp.frame();
  const auto size = static_cast<int64_t>(In<uint32_t>(frame, form.size)[lane]);
  if ((to | from | static_cast<uint64_t>(size)) % 16 != 0) {
    block.Fault(warp, op, lane, "a bulk copy whose addresses or size are not multiples of 16");
    return false;
  }
  std::byte* target = block.Resolve(form.to.space, to, size, 0);
  const std::byte* source = block.Resolve(form.from.space, from, size, 0);
  if (target == nullptr || source == nullptr) {
    block.Fault(warp, op, lane,
                absl::StrCat("out-of-bounds bulk copy of ", size, " bytes from 0x", absl::Hex(from),
                             " to 0x", absl::Hex(to)));
    return false;
  }
  if (form.from.space == Space::kGlobal && memory.tracks_writes() &&
      !memory.IsWritten(from, size)) {
    block.Fault(warp, op, lane,
                absl::StrCat("bulk copy of ", size, " bytes that nothing has written, from 0x",
                             absl::Hex(from)));
    return false;
  }
  if (const uint8_t* const marks = block.WrittenMarks(source);
      marks != nullptr && std::memchr(marks, 0, static_cast<size_t>(size)) != nullptr) {
    block.Fault(warp, op, lane,
                absl::StrCat("bulk copy of ", size, " bytes that nothing has written, from shared ",
                             "address 0x", absl::Hex(from)));
    return false;
  }
  if (uint8_t* const marks = block.WrittenMarks(target))
    std::memset(marks, 1, static_cast<size_t>(size));
  ++block.launch().changes;
  MoveBytes(form, target, source, size,
            form.bytes == kNoSlot ? 0xffff : In<uint16_t>(frame, form.bytes)[lane]);
  if (form.to.space == Space::kGlobal) memory.MarkWritten(to, size);
  if (Profile* const profile = block.profile()) {
    profile->Range(form.from.space, from, size, false);
    profile->Range(form.to.space, to, size, true);
  }
  if (form.barrier.at == kNoSlot) return true;
  Mbarrier* barrier = MbarrierAt(op, warp, lane, barrier_address, Space::kShared);
  if (barrier == nullptr) return false;
  if (RaceDetector* const races = block.races()) {
    races->Access(op, warp, lane, Space::kShared, to, size, AccessKind::kAsyncStore, true);
    races->AsyncArrive(RaceDetector::KeyOf(warp, Space::kShared, barrier_address), warp,
                       LaneMask{1} << lane);
  }
  barrier->Complete(size);
  return true;
}

void RunBulk(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const BulkForm*>(warp.code().forms[op.list].get());
  const std::byte* frame = warp.frame();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const uint64_t to = form.to.Of(frame, lane), from = form.from.Of(frame, lane);
    const uint64_t barrier = form.barrier.at == kNoSlot ? 0 : form.barrier.Of(frame, lane);
    if (form.blocks == kNoSlot) {
      if (!Transfer(op, warp, lane, form, to, from, barrier)) return;
      continue;
    }
    const uint32_t blocks = In<uint16_t>(frame, form.blocks)[lane];
    for (uint32_t rank = 0; rank < 16; ++rank)
      if (blocks >> rank & 1 && !Transfer(op, warp, lane, form, SharedOfRank(to, rank), from,
                                          SharedOfRank(barrier, rank)))
        return;
  }
}

// The state spaces that the instruction names, in their order.
std::vector<Space> SpacesOf(const Binder& b) {
  std::vector<Space> spaces;
  for (absl::string_view modifier : b.instruction().modifiers)
    if (const auto space = SpaceNamed(modifier); space.has_value()) spaces.push_back(*space);
  return spaces;
}

// st.async and red.async: op.list values or one operand, combined or stored in shared memory of the
// cluster, then `bytes` complete the mbarrier. st.async.release stores to global memory alone.
struct AsyncStoreForm {
  AddressColumn to, barrier;
  uint32_t list = 0, count = 0;
  int element = 4;
  Combine combine = nullptr;
};

void RunAsyncStore(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const AsyncStoreForm*>(warp.code().forms[op.list].get());
  const std::byte* frame = warp.frame();
  const Slot* slots = &warp.code().slots[form.list];
  const int64_t size = int64_t{form.element} * form.count;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::byte* to = LaneMemory(op, warp, lane, form.to.Of(frame, lane), size, form.to.space,
                               "asynchronous store");
    if (to == nullptr) return;
    for (uint32_t k = 0; k < form.count; ++k) {
      const std::byte* value = frame + slots[k].at + lane * slots[k].bytes;
      if (form.combine != nullptr) {
        form.combine(to + k * form.element, value);
      } else {
        std::memcpy(to + k * form.element, value, static_cast<size_t>(form.element));
      }
    }
    if (form.barrier.at == kNoSlot) continue;
    const uint64_t address = form.barrier.Of(frame, lane);
    Mbarrier* barrier = MbarrierAt(op, warp, lane, address, Space::kShared);
    if (barrier == nullptr) return;
    if (RaceDetector* const races = warp.block().races())
      races->AsyncArrive(RaceDetector::KeyOf(warp, Space::kShared, address), warp,
                         LaneMask{1} << lane);
    barrier->Complete(size);
  }
}

void BindAsyncStore(Binder& b, Combine combine) {
  auto form = std::make_shared<AsyncStoreForm>();
  const Type type = b.type();
  form->element = BytesOf(type);
  form->combine = combine;
  form->to = AddressColumnOf(b, b.operand(0), b.space());
  form->list = b.SourceList(b.operand(1), type, form->count);
  const bool completes = b.Has("mbarrier::complete_tx::bytes");
  if (completes != (b.size() == 3)) return b.Unsupported();
  if (completes) form->barrier = AddressColumnOf(b, b.operand(2), Space::kShared);
  if (b.failed()) return;
  if (static_cast<int>(form->count) != b.vector_size())
    return b.Error(b.operand(1).place, absl::StrCat("expected ", b.vector_size(), " values"));
  Op op = b.MakeExec(&RunAsyncStore);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

// st.bulk [a], size, 0: zeros.
void RunStoreBulk(const Op& op, Warp& warp, LaneMask mask) {
  const std::byte* frame = warp.frame();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const uint64_t at = In<uint64_t>(frame, op.a)[lane] + static_cast<uint64_t>(op.offset);
    const uint64_t size = In<uint64_t>(frame, op.b)[lane];
    if ((at | size) % 8 != 0)
      return warp.block().Fault(warp, op, lane,
                                "a bulk store whose address or size is no multiple of 8");
    std::byte* to = size > 1 << 20 ? nullptr
                                   : warp.block().Resolve(op.space, at, static_cast<int64_t>(size),
                                                          warp.ThreadOf(lane));
    if (to == nullptr)
      return warp.block().Fault(warp, op, lane,
                                absl::StrCat("out-of-bounds bulk store of ", size,
                                             " bytes at shared address 0x", absl::Hex(at)));
    std::memset(to, 0, size);
    if (uint8_t* const marks = warp.block().WrittenMarks(to)) std::memset(marks, 1, size);
  }
}

}  // namespace

AddressColumn AddressColumnOf(Binder& b, const Operand& operand, Space space) {
  Op op;
  op.space = space;
  b.Address(operand, op);
  return {op.a, op.offset, op.space};
}

void BindCopyBulk(Binder& b) {
  if (b.Has("commit_group") || b.Has("wait_group") || b.Has("prefetch")) return BindNothing(b);
  auto form = std::make_shared<BulkForm>();
  const std::vector<Space> spaces = SpacesOf(b);
  const bool completes = b.Has("mbarrier::complete_tx::bytes");
  if (spaces.size() != 2 || b.size() < (completes ? 4 : 3) || completes == b.Has("bulk_group"))
    return b.Unsupported();
  if (b.Has("reduce")) {
    form->combine = CombineOf(b, b.type());
    form->element = BytesOf(b.type());
    if (form->combine == nullptr) return b.Unsupported();
    if (spaces[0] == Space::kGlobal) b.OrderMatters();
  }
  form->to = AddressColumnOf(b, b.operand(0), spaces[0]);
  form->from = AddressColumnOf(b, b.operand(1), spaces[1]);
  form->size = b.Source(2, Type::kU32);
  int at = 3;
  if (completes) form->barrier = AddressColumnOf(b, b.operand(at++), Space::kShared);
  if (b.Has("multicast::cluster")) {
    if (at >= b.size()) return b.Unsupported();
    form->blocks = b.Source(at++, Type::kB16);
  }
  if (b.Has("L2::cache_hint")) ++at;
  if (b.Has("cp_mask")) {
    if (at >= b.size()) return b.Unsupported();
    form->bytes = b.Source(at++, Type::kB16);
  }
  if (b.failed()) return;
  if (at != b.size()) return b.Unsupported();
  Op op = b.MakeExec(&RunBulk);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

void BindStoreAsync(Binder& b) {
  if (!b.Has("bulk")) return BindAsyncStore(b, nullptr);
  if (b.size() != 3 || b.Immediate(2) != 0) return b.Unsupported();
  Op op = b.MakeExec(&RunStoreBulk);
  op.space = b.space();
  b.Address(b.operand(0), op);
  op.b = b.Source(1, Type::kU64);
  if (!b.failed()) b.Emit(op);
}
void BindReduceAsync(Binder& b) {
  const Combine combine = CombineOf(b, b.type());
  if (combine == nullptr) return b.Unsupported();
  BindAsyncStore(b, combine);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
