// mma, ldmatrix, stmatrix, movmatrix: ISA, "Warp Level Matrix Instructions". Fragments as the ISA's
// figures lay them out.
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"

namespace hlokit::ptx {
namespace {

// m8n8k4 of f16: four products, one each for lanes 4q to 4q+3 and 16 above.
Place VoltaA(bool row_major, int lane, int i) {
  const int half = lane >= 16 ? 4 : 0;
  return row_major ? Place{lane % 4 + half, i} : Place{i + half, lane % 4};
}
Place VoltaB(bool row_major, int lane, int i) {
  const int half = lane >= 16 ? 4 : 0;
  return row_major ? Place{lane % 4, i + half} : Place{i, lane % 4 + half};
}
Place VoltaC(bool single, int lane, int i) {
  const int half = lane >= 16 ? 4 : 0;
  if (!single) return {lane % 4 + half, i};
  return {(lane & 1) + (i & 2) + half, (i & 4) + (lane & 2) + (i & 1)};
}

struct MmaForm {
  MatrixShape shape;
  Type d, a, b, c;
  bool saturate = false, volta = false, a_row = true, b_row = false, is_xor = false;
  uint32_t d_list = 0, a_list = 0, b_list = 0, c_list = 0;
};

void BitProduct(const Matrix& a, const Matrix& b, Matrix& c, bool is_xor) {
  for (int r = 0; r < c.rows; ++r)
    for (int j = 0; j < c.cols; ++j)
      for (int k = 0; k < a.cols; ++k) {
        const bool x = a.at(r, k) != 0, y = b.at(k, j) != 0;
        c.at(r, j) += is_xor ? x != y : x && y;
      }
}

void RunVolta(const MmaForm& form, const Slot* slots, std::byte* frame) {
  const bool c_single = form.c == Type::kF32, d_single = form.d == Type::kF32;
  for (int q = 0; q < 4; ++q) {
    Matrix a(8, 4), b(4, 8), c(8, 8);
    for (int t = 0; t < 8; ++t) {
      const int lane = 4 * q + t % 4 + (t < 4 ? 0 : 16);
      for (int i = 0; i < 4; ++i) {
        const Place x = VoltaA(form.a_row, lane, i), y = VoltaB(form.b_row, lane, i);
        a.at(x.row, x.col) =
            ElementValue(Type::kF16, ReadElement(frame, slots + form.a_list, 16, lane, i));
        b.at(y.row, y.col) =
            ElementValue(Type::kF16, ReadElement(frame, slots + form.b_list, 16, lane, i));
      }
      for (int i = 0; i < 8; ++i) {
        const Place z = VoltaC(c_single, lane, i);
        c.at(z.row, z.col) =
            ElementValue(form.c, ReadElement(frame, slots + form.c_list, BitsOf(form.c), lane, i));
      }
    }
    MultiplyMatrices(a, b, c, form.d, false);
    for (int t = 0; t < 8; ++t) {
      const int lane = 4 * q + t % 4 + (t < 4 ? 0 : 16);
      for (int i = 0; i < 8; ++i) {
        const Place z = VoltaC(d_single, lane, i);
        WriteElement(frame, slots + form.d_list, BitsOf(form.d), lane, i,
                     ElementOf(form.d, c.at(z.row, z.col)));
      }
    }
  }
}

void RunMma(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  if (mask != kAllLanes)
    return warp.block().Fault(warp, op, std::countr_zero(~mask),
                              "a matrix instruction without all 32 threads of the warp");
  const MmaForm& form = *reinterpret_cast<const MmaForm*>(warp.code().forms[op.list].get());
  const Slot* slots = warp.code().slots.data();
  std::byte* frame = warp.frame();
  if (form.volta) return RunVolta(form, slots, frame);
  const auto [m, n, k] = form.shape;
  Matrix a(m, k), b(k, n), c(m, n);
  const int a_bits = ElementBits(form.a), b_bits = ElementBits(form.b);
  const int a_pack = std::max(1, 32 / a_bits), b_pack = std::max(1, 32 / b_bits);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < m * k / kLanes; ++i) {
      const Place at = PlaceInA(m, a_pack, lane, i);
      a.at(at.row, at.col) =
          ElementValue(form.a, ReadElement(frame, slots + form.a_list, a_bits, lane, i));
    }
    for (int i = 0; i < k * n / kLanes; ++i) {
      const Place at = PlaceInB(b_pack, lane, i);
      b.at(at.row, at.col) =
          ElementValue(form.b, ReadElement(frame, slots + form.b_list, b_bits, lane, i));
    }
    for (int i = 0; i < m * n / kLanes; ++i) {
      const Place at = PlaceInC(lane, i);
      c.at(at.row, at.col) =
          ElementValue(form.c, ReadElement(frame, slots + form.c_list, BitsOf(form.c), lane, i));
    }
  }
  if (form.a == Type::kB1) {
    BitProduct(a, b, c, form.is_xor);
  } else {
    MultiplyMatrices(a, b, c, form.d, form.saturate);
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < m * n / kLanes; ++i) {
      const Place at = PlaceInC(lane, i);
      WriteElement(frame, slots + form.d_list, BitsOf(form.d), lane, i,
                   ElementOf(form.d, c.at(at.row, at.col)));
    }
}

// Registers of a fragment: 64 bits for f64, else 32.
bool CheckFragment(Binder& b, int operand, uint32_t count, Type type, int elements) {
  const int bits = type == Type::kF64 ? 64 : 32;
  const int expected = elements * ElementBits(type) / kLanes / bits;
  if (static_cast<int>(count) == expected && expected > 0) return true;
  b.Error(b.operand(operand).place,
          absl::StrCat("expected ", expected, " registers of the fragment, found ", count));
  return false;
}

// Results of matrix instructions are registers of exactly `bytes` bytes.
bool CheckRegisters(Binder& b, uint32_t list, uint32_t count, int bytes) {
  for (uint32_t i = list; i < list + count && !b.failed(); ++i) {
    const Slot slot = b.code().slots[i];
    if (slot.at != kNoSlot && slot.bytes == bytes) continue;
    b.Error(b.operand(0).place, absl::StrCat("expected registers of ", 8 * bytes, " bits"));
  }
  return !b.failed();
}

// ldmatrix: lane 8j + r has the address of row r of matrix j; a lane gets two neighbours of a row,
// or of a column with .trans.
Place PlaceInRow(int lane, int i, bool transposed) {
  const Place at = {lane / 4, lane % 4 * 2 + i};
  return transposed ? Place{at.col, at.row} : at;
}

void RunMatrixMemory(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  const bool is_store = op.mode & 1, transposed = op.mode & 2;
  std::byte* frame = warp.frame();
  const Slot* slots = &warp.code().slots[op.list];
  const uint64_t* addresses = In<uint64_t>(frame, op.a);
  for (uint32_t j = 0; j < op.list_size; ++j) {
    std::byte* rows[8];
    for (int r = 0; r < 8; ++r) {
      const int lane = static_cast<int>(8 * j) + r;
      rows[r] = LaneMemory(op, warp, lane, addresses[lane] + static_cast<uint64_t>(op.offset), 16,
                           op.space, is_store ? "matrix store" : "matrix load");
      if (rows[r] == nullptr) return;
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

void BindMma(Binder& b) {
  auto form = std::make_shared<MmaForm>();
  for (absl::string_view modifier : b.instruction().modifiers)
    if (ParseMatrixShape(modifier, form->shape)) break;
  form->d = b.type(0);
  form->a = b.type(1);
  form->b = b.type(2);
  form->c = b.type(3);
  const auto [m, n, k] = form->shape;
  form->volta = form->a == Type::kF16 && m == 8 && n == 8 && k == 4;
  form->saturate = b.Has("satfinite");
  form->is_xor = b.Has("xor");
  if (n != 8 || (m != 8 && m != 16) || form->c == Type::kNone || k > 256) return b.Unsupported();
  const bool is_f64 = form->d == Type::kF64;
  const Type ab = is_f64 ? Type::kB64 : Type::kB32;
  const Type cd = is_f64 ? Type::kB64 : Type::kB32;
  uint32_t d_count = 0, a_count = 0, b_count = 0, c_count = 0;
  form->a_list = b.SourceList(b.operand(1), ab, a_count);
  form->b_list = b.SourceList(b.operand(2), ab, b_count);
  form->c_list = b.SourceList(b.operand(3), cd, c_count);
  form->d_list = b.ResultList(b.operand(0), d_count);
  if (b.failed() || !CheckRegisters(b, form->d_list, d_count, BytesOf(cd))) return;
  if (form->volta) {
    // .row or .col of a, then of b.
    std::vector<absl::string_view> layouts;
    for (absl::string_view word : b.instruction().modifiers)
      if (word == "row" || word == "col") layouts.push_back(word);
    form->a_row = !layouts.empty() && layouts[0] == "row";
    form->b_row = layouts.size() > 1 && layouts[1] == "row";
    const auto count = [](Type type) { return type == Type::kF32 ? 8u : 4u; };
    if (a_count != 2 || b_count != 2 || c_count != count(form->c) || d_count != count(form->d))
      return b.Error(b.instruction().place, "fragments of a wrong number of registers");
  } else if (!CheckFragment(b, 0, d_count, form->d, m * n) ||
             !CheckFragment(b, 1, a_count, form->a, m * k) ||
             !CheckFragment(b, 2, b_count, form->b, k * n) ||
             !CheckFragment(b, 3, c_count, form->c, m * n)) {
    return;
  }
  Op op = b.MakeExec(&RunMma);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

void BindLdmatrix(Binder& b) { BindMatrixMemory(b, /*is_store=*/false); }
void BindStmatrix(Binder& b) { BindMatrixMemory(b, /*is_store=*/true); }
void BindMovmatrix(Binder& b) {
  Op op = b.MakeExec(&RunMoveMatrix);
  op.a = b.Source(1, Type::kB32);
  op.d = b.Result(0, Type::kB32);
  if (!b.failed()) b.Emit(op);
}

// wmma: the ISA leaves open which lane holds which element. Here element i of lane l is the
// (l * count + i)-th of the matrix, row by row, counted again from the first where a fragment has
// more places than the matrix elements (f16's a and b have twice as many).
namespace {

struct WmmaForm {
  MatrixShape shape;
  Type d, a, b, c;
  bool saturate = false;
  uint32_t d_list = 0, a_list = 0, b_list = 0, c_list = 0;
  uint32_t d_count = 0, a_count = 0, b_count = 0, c_count = 0;
  // Of loads and stores.
  int rows = 0, cols = 0;
  bool row_major = true, is_store = false;
};

int RegisterBits(Type type) { return type == Type::kF64 ? 64 : 32; }

template <typename F>
void ForFragment(int rows, int cols, Type type, uint32_t registers, F f) {
  const int bits = ElementBits(type);
  const int count = static_cast<int>(registers) * RegisterBits(type) / bits;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < count; ++i) {
      const int index = (lane * count + i) % (rows * cols);
      f(lane, i, index / cols, index % cols);
    }
}

Matrix ReadFragment(const std::byte* frame, const Slot* slots, int rows, int cols, Type type,
                    uint32_t registers) {
  Matrix matrix(rows, cols);
  ForFragment(rows, cols, type, registers, [&](int lane, int i, int r, int c) {
    matrix.at(r, c) = ElementValue(type, ReadElement(frame, slots, ElementBits(type), lane, i));
  });
  return matrix;
}

void RunWmma(const Op& op, Warp& warp, LaneMask) {
  if (!warp.Converge(kAllLanes)) return;
  const WmmaForm& form = *reinterpret_cast<const WmmaForm*>(warp.code().forms[op.list].get());
  const Slot* slots = warp.code().slots.data();
  std::byte* frame = warp.frame();
  const auto [m, n, k] = form.shape;
  const Matrix a = ReadFragment(frame, slots + form.a_list, m, k, form.a, form.a_count);
  const Matrix b = ReadFragment(frame, slots + form.b_list, k, n, form.b, form.b_count);
  Matrix c = ReadFragment(frame, slots + form.c_list, m, n, form.c, form.c_count);
  MultiplyMatrices(a, b, c, form.d, form.saturate);
  ForFragment(m, n, form.d, form.d_count, [&](int lane, int i, int row, int col) {
    WriteElement(frame, slots + form.d_list, ElementBits(form.d), lane, i,
                 ElementOf(form.d, c.at(row, col)));
  });
}

void RunWmmaMemory(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  const WmmaForm& form = *reinterpret_cast<const WmmaForm*>(warp.code().forms[op.list].get());
  const Slot* slots = &warp.code().slots[form.d_list];
  std::byte* frame = warp.frame();
  const int lane0 = std::countr_zero(mask);
  const uint64_t base = In<uint64_t>(frame, op.a)[lane0] + static_cast<uint64_t>(op.offset);
  const int64_t stride =
      op.b == kNoSlot ? (form.row_major ? form.cols : form.rows) : In<int32_t>(frame, op.b)[lane0];
  const int bytes = ElementBits(form.d) / 8;
  ForFragment(form.rows, form.cols, form.d, form.d_count, [&](int lane, int i, int r, int c) {
    if (warp.block().launch().stopped) return;
    const int64_t index = form.row_major ? r * stride + c : c * stride + r;
    std::byte* at = LaneMemory(op, warp, lane, base + static_cast<uint64_t>(index * bytes), bytes,
                               op.space, form.is_store ? "matrix store" : "matrix load");
    if (at == nullptr) return;
    if (form.is_store) {
      const uint64_t value = ReadElement(frame, slots, 8 * bytes, lane, i);
      std::memcpy(at, &value, static_cast<size_t>(bytes));
    } else {
      uint64_t value = 0;
      std::memcpy(&value, at, static_cast<size_t>(bytes));
      WriteElement(frame, slots, 8 * bytes, lane, i, value);
    }
  });
}

void BindWmmaMemory(Binder& b, WmmaForm form, bool is_store) {
  const auto [m, n, k] = form.shape;
  const bool is_a = b.Has("a"), is_b = b.Has("b");
  form.rows = is_b ? k : m;
  form.cols = is_a ? k : n;
  form.d = b.type();
  form.is_store = is_store;
  form.row_major = b.Has("row");
  if (ElementBits(form.d) < 8) return b.Unsupported();
  const Type reg = form.d == Type::kF64 ? Type::kB64 : Type::kB32;
  Op op = b.MakeExec(&RunWmmaMemory);
  op.space = b.space();
  b.Address(b.operand(is_store ? 0 : 1), op);
  form.d_list = is_store ? b.SourceList(b.operand(1), reg, form.d_count)
                         : b.ResultList(b.operand(0), form.d_count);
  op.b = b.size() > 2 ? b.Source(2, Type::kB32) : kNoSlot;
  if (b.failed() || !CheckRegisters(b, form.d_list, form.d_count, BytesOf(reg))) return;
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::make_shared<WmmaForm>(form));
  b.Emit(op);
}

}  // namespace

void BindWmma(Binder& b) {
  WmmaForm form;
  for (absl::string_view modifier : b.instruction().modifiers)
    if (ParseMatrixShape(modifier, form.shape)) break;
  if (form.shape.m == 0) return b.Unsupported();
  if (b.Has("load") || b.Has("store")) return BindWmmaMemory(b, form, b.Has("store"));
  // Of f16 only d's and c's types are named.
  const bool named = b.type(2) != Type::kNone;
  form.d = b.type(0);
  form.a = named ? b.type(1) : Type::kF16;
  form.b = named ? b.type(2) : Type::kF16;
  form.c = named ? b.type(3) : b.type(1);
  form.saturate = b.Has("satfinite") && form.d == Type::kS32;
  if (form.a == Type::kB1) return b.Unsupported();
  const Type reg = form.d == Type::kF64 ? Type::kB64 : Type::kB32;
  form.a_list = b.SourceList(b.operand(1), reg, form.a_count);
  form.b_list = b.SourceList(b.operand(2), reg, form.b_count);
  form.c_list = b.SourceList(b.operand(3), reg, form.c_count);
  form.d_list = b.ResultList(b.operand(0), form.d_count);
  if (b.failed() || !CheckRegisters(b, form.d_list, form.d_count, BytesOf(reg))) return;
  Op op = b.MakeExec(&RunWmma);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::make_shared<WmmaForm>(form));
  b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
