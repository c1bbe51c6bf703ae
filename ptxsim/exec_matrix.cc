// ldmatrix, stmatrix, movmatrix: ISA, "Warp Level Matrix Instructions". Fragments as the ISA's
// figures lay them out. mma is exec_mma.cc's, wmma exec_wmma.cc's.
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/profile.h"

namespace hlokit::ptx {
namespace {

// ldmatrix: lane 8j + r has the address of row r of matrix j; a lane gets two neighbours of a row,
// or of a column with .trans.
Place PlaceInRow(int lane, int i, bool transposed) {
  const Place at = {lane / 4, lane % 4 * 2 + i};
  return transposed ? Place{at.col, at.row} : at;
}

// Eight rows of eight elements as a register: one behind the other, or transposed.
void LoadMatrix(std::byte* const* rows, bool transposed, std::byte* to) {
  if (!transposed) {
    for (int r = 0; r < 8; ++r) std::memcpy(to + 16 * r, rows[r], 16);
    return;
  }
  uint16_t tile[8][8];
  for (int r = 0; r < 8; ++r) {
    uint16_t row[8];
    std::memcpy(row, rows[r], sizeof(row));
    for (int c = 0; c < 8; ++c) tile[c][r] = row[c];
  }
  std::memcpy(to, tile, sizeof(tile));
}

void RunMatrixMemory(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  const bool is_store = op.mode & 1, transposed = op.mode & 2;
  std::byte* frame = warp.frame();
  const Slot* slots = &warp.code().slots[op.list];
  const uint64_t* addresses = In<uint64_t>(frame, op.a);
  for (uint32_t j = 0; j < op.list_size; ++j) {
    if (Profile* const profile = warp.block().profile())
      profile->Access(op.space, addresses, op.offset, LaneMask{0xff} << 8 * j, 16, !is_store,
                      is_store);
    std::byte* lanes[kLanes];
    if (!ResolveLanes(warp, op.space, addresses, op.offset, LaneMask{0xff} << 8 * j, 16, is_store,
                      lanes)) {
      for (uint32_t lane = 8 * j; lane < 8 * j + 8; ++lane) {
        lanes[lane] = LaneMemory(op, warp, static_cast<int>(lane),
                                 addresses[lane] + static_cast<uint64_t>(op.offset), 16, op.space,
                                 is_store ? "matrix store" : "matrix load");
        if (lanes[lane] == nullptr) return;
      }
    }
    std::byte* const* const rows = lanes + 8 * j;
    if (!is_store && mask == kAllLanes) {
      LoadMatrix(rows, transposed, frame + slots[j].at);
      continue;
    }
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 2; ++i) {
        const Place at = PlaceInRow(lane, i, transposed);
        std::byte* element = frame + slots[j].at + 4 * lane + 2 * i;
        std::byte* memory = rows[at.row] + 2 * at.col;
        if (is_store) {
          std::memcpy(memory, element, 2);
        } else if (mask >> lane & 1) {
          std::memcpy(element, memory, 2);
        }
      }
  }
}

// Matrices of bytes: ldmatrix .m16n16.trans and .m8n16, stmatrix .m16n8.trans. A row of memory has
// 16 elements: bytes, or .b6x16_p32 and .b4x16_p64, whose 12 and 8 bytes are followed by padding.
// Each becomes a byte of a register.
struct ByteForm {
  int rows = 8;  // of a matrix in memory
  int bits = 8;  // of an element there
  bool transposed = false, is_store = false;
};

// Where byte i of a lane's registers for one matrix lies in memory: a row of 16 and its element.
// Of 16 rows two registers hold the transposed matrix, rows 0 to 7 of it before 8 to 15. A store's
// register has two neighbours of a row of the 16 x 8 matrix and two of the row 8 below, as the
// accumulators of mma have; its columns are the rows of memory.
Place PlaceOfByte(const ByteForm& form, int lane, int i) {
  if (form.is_store) return {lane % 4 * 2 + i % 2, lane / 4 + i / 2 * 8};
  const Place at = {lane / 4 + i / 4 * 8, lane % 4 * 4 + i % 4};
  return form.transposed ? Place{at.col, at.row} : at;
}

void RunByteMatrix(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  const auto& form = *static_cast<const ByteForm*>(warp.code().forms[op.list2].get());
  std::byte* frame = warp.frame();
  const Slot* slots = &warp.code().slots[op.list];
  const int registers = form.rows / 8, count = static_cast<int>(op.list_size) / registers;
  uint64_t addresses[kLanes];  // a copy: the results may be the same registers
  std::memcpy(addresses, frame + op.a, sizeof(addresses));
  for (int j = 0; j < count; ++j) {
    std::byte* rows[16];
    for (int r = 0; r < form.rows; ++r) {
      const int lane = form.rows * j + r;
      rows[r] = LaneMemory(op, warp, lane, addresses[lane] + static_cast<uint64_t>(op.offset), 16,
                           op.space, form.is_store ? "matrix store" : "matrix load");
      if (rows[r] == nullptr) return;
    }
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 4 * registers; ++i) {
        const Place at = PlaceOfByte(form, lane, i);
        std::byte* element = frame + slots[j * registers + i / 4].at + 4 * lane + i % 4;
        std::byte* row = rows[at.row];
        if (form.is_store) {
          row[at.col] = *element;
        } else if (mask >> lane & 1) {
          uint16_t word = 0;
          const int bit = at.col * form.bits;
          std::memcpy(&word, row + bit / 8, bit / 8 < 15 ? 2 : 1);
          *element = static_cast<std::byte>(word >> bit % 8 & ((1 << form.bits) - 1));
        }
      }
  }
}

void BindByteMatrix(Binder& b, bool is_store) {
  auto form = std::make_shared<ByteForm>();
  form->is_store = is_store;
  form->transposed = b.Has("trans");
  form->rows = b.Has("m16n16") ? 16 : 8;
  form->bits = b.Has("b8x16") ? (b.Has("b6x16_p32") ? 6 : 4) : 8;
  Op op = b.MakeExec(&RunByteMatrix);
  op.space = b.space();
  b.Address(b.operand(is_store ? 0 : 1), op);
  op.list = is_store ? b.SourceList(b.operand(1), Type::kB32, op.list_size)
                     : b.ResultList(b.operand(0), op.list_size);
  const uint32_t matrices = b.Has("x4") ? 4 : b.Has("x2") ? 2 : 1;
  const uint32_t expected = matrices * static_cast<uint32_t>(form->rows) / 8;
  if (b.failed()) return;
  if (op.list_size != expected || expected > 4)
    return b.Error(b.instruction().place, absl::StrCat("expected ", expected, " registers"));
  if (!CheckRegisters(b, op.list, op.list_size, 4)) return;
  op.list2 = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

void RunMoveMatrix(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  (void)mask;
  uint16_t tile[8][8];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 2; ++i)
      tile[lane / 4][lane % 4 * 2 + i] = In<uint16_t>(warp.frame(), op.a)[2 * lane + i];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 2; ++i)
      Out<uint16_t>(warp.frame(), op.d)[2 * lane + i] = tile[lane % 4 * 2 + i][lane / 4];
}

void BindMatrixMemory(Binder& b, bool is_store) {
  if (b.Has("m16n16") || b.Has("m8n16") || b.Has("m16n8")) return BindByteMatrix(b, is_store);
  if (!b.Has("m8n8") || b.type() != Type::kB16) return b.Unsupported();
  Op op = b.MakeExec(&RunMatrixMemory);
  op.mode = static_cast<uint8_t>((is_store ? 1 : 0) | (b.Has("trans") ? 2 : 0));
  op.space = b.space();
  b.Address(b.operand(is_store ? 0 : 1), op);
  op.list = is_store ? b.SourceList(b.operand(1), Type::kB32, op.list_size)
                     : b.ResultList(b.operand(0), op.list_size);
  const uint32_t expected = b.Has("x4") ? 4 : b.Has("x2") ? 2 : 1;
  if (b.failed()) return;
  if (op.list_size != expected)
    return b.Error(b.instruction().place, absl::StrCat("expected ", expected, " registers"));
  if (!CheckRegisters(b, op.list, op.list_size, 4)) return;
  b.Emit(op);
}

}  // namespace

void BindLdmatrix(Binder& b) { BindMatrixMemory(b, /*is_store=*/false); }
void BindStmatrix(Binder& b) { BindMatrixMemory(b, /*is_store=*/true); }
void BindMovmatrix(Binder& b) {
  Op op = b.MakeExec(&RunMoveMatrix);
  op.a = b.Source(1, Type::kB32);
  op.d = b.Result(0, Type::kB32);
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
