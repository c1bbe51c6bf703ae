// tcgen05: tensor memory and the products that one thread starts in it (ISA, "TensorCore 5th
// Generation Family Instructions"), for blocks on their own or in pairs of a cluster
// (.cta_group::2).
//
//   tcgen05.alloc ... [where], 64;                 64 columns; their address to shared memory
//   tcgen05.mma.cta_group::1.kind::f16 [d], a, b, idesc, p;   d = a * b + (p ? d : 0)
//   tcgen05.commit ... [mbarrier];                 arrives when what went before is done
//   tcgen05.ld.sync.aligned.32x32b.x8.b32 {r0, ... r7}, [d];  row i of d to lane i of the warp
//
// All is done when it is issued, so wait, fence and commit find it done. Products are in
// exec_tcgen05_mma.cc.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/shared_matrix_internal.h"
#include "ptxsim/tcgen05_internal.h"
#include "ptxsim/tensor_memory.h"

namespace hlokit::ptx {
namespace {

// alloc [where], columns.
void Allocate(const Op& op, Warp& warp, LaneMask mask) {
  const int lane = std::countr_zero(mask);
  const auto columns = static_cast<int>(In<uint32_t>(warp.frame(), op.b)[lane]);
  TensorMemory& memory = warp.block().tensor_memory();
  if (columns < TensorMemory::kLeastColumns || columns > TensorMemory::kTensorColumns ||
      !std::has_single_bit(static_cast<unsigned>(columns)))
    return warp.block().Fault(warp, op, lane,
                              absl::StrCat("tcgen05.alloc of ", columns, " columns"));
  const int first = memory.Allocate(columns);
  if (first < 0)
    return warp.block().Fault(warp, op, lane,
                              absl::StrCat("tcgen05.alloc of ", columns, " columns never ends: ",
                                           memory.FreeColumns(), " are free"));
  const uint64_t at = In<uint64_t>(warp.frame(), op.a)[lane] + static_cast<uint64_t>(op.offset);
  std::byte* const to = LaneMemory(op, warp, lane, at, 4, op.space, "store");
  if (to != nullptr) std::memcpy(to, &first, 4);
}

// dealloc address, columns.
void Deallocate(const Op& op, Warp& warp, LaneMask mask) {
  const int lane = std::countr_zero(mask);
  const TensorPlace at(In<uint32_t>(warp.frame(), op.a)[lane]);
  const auto columns = static_cast<int>(In<uint32_t>(warp.frame(), op.b)[lane]);
  if (!warp.block().tensor_memory().Free(at.column, columns))
    warp.block().Fault(warp, op, lane,
                       absl::StrCat("tcgen05.dealloc of ", columns, " columns from ", at.column,
                                    " on, which tcgen05.alloc did not give"));
}

// Where register j of a thread lies, by the shape of a load or store.
enum class TensorShape : uint8_t { k32x32b, k16x64b, k16x128b, k16x256b, k16x32bx2 };
struct ShapeRow {
  absl::string_view name;
  TensorShape shape;
  int registers;  // of .x1
};
constexpr ShapeRow kShapes[] = {{"32x32b", TensorShape::k32x32b, 1},
                                {"16x64b", TensorShape::k16x64b, 1},
                                {"16x128b", TensorShape::k16x128b, 2},
                                {"16x256b", TensorShape::k16x256b, 4},
                                {"16x32bx2", TensorShape::k16x32bx2, 1}};

Place PlaceOf(TensorShape shape, int thread, int j, int split) {
  switch (shape) {
    case TensorShape::k32x32b:
      return {thread, j};
    case TensorShape::k16x64b:
      return {8 * (thread & 1) + thread / 4, (thread >> 1 & 1) + 2 * j};
    case TensorShape::k16x128b:
      return {thread / 4 + 8 * (j % 2), thread % 4 + 4 * (j / 2)};
    case TensorShape::k16x256b:
      return {thread / 4 + 8 * (j / 2 % 2), 2 * (thread % 4) + j % 2 + 8 * (j / 4)};
    default:
      return {thread % 16, j + thread / 16 * split};
  }
}

struct MoveForm {
  AddressColumn at;
  TensorShape shape = TensorShape::k32x32b;
  bool stores = false;
  bool halves = false;  // .pack::16b, .unpack::16b: two columns' lower halves a register
  int split = 0;        // columns between the halves of 16x32bx2
  uint32_t list = 0, count = 0;
};

void MoveRegisters(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  if (mask != kAllLanes)
    return warp.block().Fault(warp, op, std::countr_zero(~mask),
                              "tcgen05.ld or st without all 32 threads of the warp");
  const auto& form = *static_cast<const MoveForm*>(warp.code().forms[op.list].get());
  const TensorPlace base(form.at.Of(warp.frame(), 0));
  if (base.lane / kLanes != warp.index() % 4)
    return warp.block().Fault(
        warp, op, 0,
        absl::StrCat("lane ", base.lane, " of tensor memory from warp ", warp.index(),
                     ", which reaches lanes ", warp.index() % 4 * kLanes, " to ",
                     warp.index() % 4 * kLanes + kLanes - 1));
  for (int thread = 0; thread < kLanes; ++thread)
    for (uint32_t j = 0; j < form.count; ++j) {
      const Slot slot = warp.code().slots[form.list + j];
      if (slot.at == kNoSlot) continue;
      const Place place = PlaceOf(form.shape, thread, static_cast<int>(j), form.split);
      const int width = form.halves ? 2 : 1, column = base.column + place.col * width;
      uint32_t& reg = Out<uint32_t>(warp.frame(), slot.at)[thread];
      uint32_t* const low = CellAt(op, warp, thread, base.lane + place.row, column);
      uint32_t* const high =
          form.halves ? CellAt(op, warp, thread, base.lane + place.row, column + 1) : low;
      if (low == nullptr || high == nullptr) return;
      if (!form.halves) {
        form.stores ? * low = reg : reg = *low;
      } else if (form.stores) {
        *low = reg & 0xffff;
        *high = reg >> 16;
      } else {
        reg = (*low & 0xffff) | *high << 16;
      }
    }
}

// commit [mbarrier] {, mask}: arrives at once.
void Commit(const Op& op, Warp& warp, LaneMask mask) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const uint64_t at = In<uint64_t>(warp.frame(), op.a)[lane] + static_cast<uint64_t>(op.offset);
    const uint32_t blocks = op.b == kNoSlot ? 1 : In<uint16_t>(warp.frame(), op.b)[lane];
    for (uint32_t rank = 0; rank < 16; ++rank) {
      if (!(blocks >> rank & 1)) continue;
      Mbarrier* const barrier =
          MbarrierAt(op, warp, lane, op.b == kNoSlot ? at : SharedOfRank(at, rank), Space::kShared);
      if (barrier == nullptr) return;
      --barrier->pending;
      barrier->CompleteIfDone();
    }
  }
}

// cp: `rows` rows of `bytes` bytes of shared memory to lanes. Of fewer than 128 rows each goes to
// several lanes: to the same one of all four warps, or of the two that `pairs` says.
struct CopyForm {
  AddressColumn to;
  uint32_t descriptor = 0;
  int rows = 0, bytes = 0;
  bool neighbours = false;  // .warpx2::01_23: warps 0 and 1 have the same rows, else 0 and 2
  int widened = 0;          // bits of elements of which 16 share 16 bytes: they become bytes
  bool pair = false;        // both blocks of the pair copy, each for itself
};

// Four of 16 elements of `bits` bits as bytes: 6 bits lie lowest, 4 in the middle.
uint32_t WidenedWord(const std::byte* chunk, int word, int bits) {
  uint64_t packed[2];
  std::memcpy(packed, chunk, 16);
  uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const int at = (4 * word + i) * bits;
    uint64_t value = packed[at / 64] >> at % 64;
    if (at % 64 + bits > 64) value |= packed[1] << (64 - at % 64);
    value &= (uint64_t{1} << bits) - 1;
    out |= static_cast<uint32_t>(bits == 4 ? value << 2 : value) << 8 * i;
  }
  return out;
}

// To the tensor memory of `block`; the descriptor's addresses are that block's.
void CopyRowsOf(const Op& op, Warp& warp, int thread, const CopyForm& form, PairBlock block) {
  const TensorPlace to(form.to.Of(warp.frame(), thread));
  SharedMatrix matrix =
      SharedMatrix::OfTcgen05(In<uint64_t>(warp.frame(), form.descriptor)[thread], false);
  block.Shift(matrix);
  const int lanes = form.rows == 4 ? 4 : TensorMemory::kTensorLanes;
  for (int lane = 0; lane < lanes; ++lane) {
    const int group = lane / kLanes;
    const int row = form.rows == 64
                        ? lane % kLanes + kLanes * (form.neighbours ? group / 2 : group % 2)
                        : lane % form.rows;
    for (int column = 0; column < form.bytes / 4; ++column) {
      const int first = form.widened != 0 ? column / 4 * 16 : 4 * column;
      const uint64_t from =
          matrix.AddressOf(static_cast<uint64_t>(row), static_cast<uint64_t>(first));
      const std::byte* const word = LaneMemory(op, warp, thread, from, form.widened != 0 ? 16 : 4,
                                               Space::kShared, "matrix load");
      uint32_t* const cell =
          CellAt(op, warp, thread, to.lane + lane, to.column + column, block.memory);
      if (word == nullptr || cell == nullptr) return;
      if (form.widened != 0)
        *cell = WidenedWord(word, column % 4, form.widened);
      else
        std::memcpy(cell, word, 4);
    }
  }
}

void CopyRows(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const CopyForm*>(warp.code().forms[op.list].get());
  const int thread = std::countr_zero(mask);
  PairBlock blocks[2];
  const int count = BlocksOf(op, warp, thread, form.pair, blocks);
  for (int i = 0; i < count; ++i) CopyRowsOf(op, warp, thread, form, blocks[i]);
}

// shift.down: 32 bytes of each row but the last go to the row below.
struct ShiftForm {
  AddressColumn at;
  bool pair = false;
};

void ShiftRows(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const ShiftForm*>(warp.code().forms[op.list].get());
  const int thread = std::countr_zero(mask);
  const TensorPlace at(form.at.Of(warp.frame(), thread));
  if (at.lane % kLanes != 0)
    return warp.block().Fault(
        warp, op, thread,
        absl::StrCat("tcgen05.shift of lane ", at.lane, ", which is not a multiple of 32"));
  PairBlock blocks[2];
  const int count = BlocksOf(op, warp, thread, form.pair, blocks);
  constexpr int kColumns = 8;
  for (int i = 0; i < count; ++i)
    for (int lane = TensorMemory::kTensorLanes - 1; lane > at.lane; --lane)
      for (int column = 0; column < kColumns; ++column) {
        uint32_t* const to = CellAt(op, warp, thread, lane, at.column + column, blocks[i].memory);
        const uint32_t* const from =
            CellAt(op, warp, thread, lane - 1, at.column + column, blocks[i].memory);
        if (to == nullptr || from == nullptr) return;
        *to = *from;
      }
}

void BindMoves(Binder& b, bool stores) {
  MoveForm form;
  form.stores = stores;
  form.halves = b.Has("pack::16b") || b.Has("unpack::16b");
  const ShapeRow* shape = nullptr;
  for (const ShapeRow& row : kShapes)
    if (b.Has(row.name)) shape = &row;
  uint32_t times = 0;
  for (uint32_t n = 1; n <= 128; n *= 2)
    if (b.Has(absl::StrCat("x", n))) times = n;
  if (shape == nullptr || times == 0) return b.Unsupported();
  form.shape = shape->shape;
  const bool split = shape->shape == TensorShape::k16x32bx2;
  if (b.size() != (split ? 3 : 2)) return b.Unsupported();
  // ld {registers}, [address] {, split}; st [address] {, split}, {registers}.
  const int values = stores ? b.size() - 1 : 0, at = stores ? 0 : 1;
  if (split) form.split = static_cast<int>(b.Immediate(stores ? 1 : 2));
  form.at = AddressColumnOf(b, b.operand(at), Space::kGeneric);
  form.list = stores ? b.SourceList(b.operand(values), Type::kB32, form.count)
                     : b.ResultList(b.operand(values), form.count);
  if (b.failed()) return;
  const uint32_t expected = times * static_cast<uint32_t>(shape->registers);
  if (form.count != expected)
    return b.Error(b.operand(values).place, absl::StrCat("expected ", expected, " registers"));
  if (!stores && !CheckRegisters(b, form.list, form.count, 4)) return;
  EmitForm(b, &MoveRegisters, form);
}

void BindTensorCopy(Binder& b) {
  CopyForm form;
  constexpr struct {
    absl::string_view name;
    int rows, bytes;
  } kCopies[] = {{"128x256b", 128, 32},
                 {"4x256b", 4, 32},
                 {"128x128b", 128, 16},
                 {"64x128b", 64, 16},
                 {"32x128b", 32, 16}};
  for (const auto& copy : kCopies)
    if (b.Has(copy.name)) {
      form.rows = copy.rows;
      form.bytes = copy.bytes;
    }
  form.neighbours = b.Has("warpx2::01_23");
  form.widened = b.Has("b6x16_p32") ? 6 : b.Has("b4x16_p64") ? 4 : 0;
  form.pair = b.Has("cta_group::2");
  if (form.rows == 0 || b.size() != 2) return b.Unsupported();
  form.to = AddressColumnOf(b, b.operand(0), Space::kGeneric);
  form.descriptor = b.Source(1, Type::kB64);
  EmitForm(b, &CopyRows, form);
}

void BindShift(Binder& b) {
  ShiftForm form;
  if (b.size() != 1) return b.Unsupported();
  form.pair = b.Has("cta_group::2");
  form.at = AddressColumnOf(b, b.operand(0), Space::kGeneric);
  EmitForm(b, &ShiftRows, form);
}

}  // namespace

uint32_t* CellAt(const Op& op, Warp& warp, int thread, int lane, int column, TensorMemory* memory) {
  if (memory == nullptr) memory = &warp.block().tensor_memory();
  uint32_t* const cell = memory->Cell(lane, column);
  if (cell == nullptr)
    warp.block().Fault(warp, op, thread,
                       absl::StrCat("lane ", lane, ", column ", column,
                                    " of tensor memory, which is not allocated"));
  return cell;
}

void PairBlock::Shift(SharedMatrix& matrix) const {
  if (rank >= 0) matrix.start = SharedOfRank(matrix.start, static_cast<uint32_t>(rank));
}

int BlocksOf(const Op& op, Warp& warp, int thread, bool pair, PairBlock* blocks) {
  Block& own = warp.block();
  if (!pair) {
    blocks[0] = {&own.tensor_memory(), -1};
    return 1;
  }
  for (int i = 0; i < 2; ++i) {
    const int rank = (own.rank() & ~1) + i;
    Block* const block = own.cluster().block(static_cast<uint64_t>(rank));
    if (block == nullptr) {
      own.Fault(warp, op, thread,
                "tcgen05 of .cta_group::2 in a cluster without the pair's other block");
      return 0;
    }
    blocks[i] = {&block->tensor_memory(), rank};
  }
  return 2;
}

void BindTcgen05(Binder& b) {
  if (b.Has("ld") || b.Has("st")) return BindMoves(b, b.Has("st"));
  if (b.Has("mma")) return BindTensorProduct(b);
  if (b.Has("cp")) return BindTensorCopy(b);
  if (b.Has("shift")) return BindShift(b);
  if (b.Has("alloc") || b.Has("dealloc")) {
    if (b.size() != 2) return b.Unsupported();
    Op op = b.MakeExec(b.Has("alloc") ? &Allocate : &Deallocate);
    op.space = b.space();
    if (b.Has("alloc"))
      b.Address(b.operand(0), op);
    else
      op.a = b.Source(0, Type::kB32);
    op.b = b.Source(1, Type::kB32);
    if (!b.failed()) b.Emit(op);
    return;
  }
  if (b.Has("commit")) {
    Op op = b.MakeExec(&Commit);
    const bool multicast = b.Has("multicast::cluster");
    if (b.size() != (multicast ? 2 : 1)) return b.Unsupported();
    op.space = Space::kShared;
    b.Address(b.operand(0), op);
    op.b = multicast ? b.Source(1, Type::kB16) : kNoSlot;
    if (!b.failed()) b.Emit(op);
    return;
  }
  if (b.size() > 0) return b.Unsupported();
  BindNothing(b);  // waits, fences, relinquish_alloc_permit
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
