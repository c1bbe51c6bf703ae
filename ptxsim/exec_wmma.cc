// wmma, products of a warp's fragments. The ISA leaves open which lane holds which element; here it
// is as on an H200, where fragments are those of mma: tiles of 16 rows of a, of 8 columns of b, of
// 16 x 8 of c; of m8n32k16 those of the transposed product. Where a fragment has more places than
// the matrix elements (f16's a and b) the elements come again from the first.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"

namespace hlokit::ptx {
namespace {

enum class Side : uint8_t { kA, kB, kC };

struct WmmaForm {
  MatrixShape shape;
  Type d, a, b, c;
  bool saturate = false, is_xor = false;
  uint32_t d_list = 0, a_list = 0, b_list = 0, c_list = 0;
  uint32_t d_count = 0, a_count = 0, b_count = 0, c_count = 0;
  // Of loads and stores.
  Side side = Side::kC;
  int rows = 0, cols = 0;
  bool row_major = true, is_store = false;
};

int RegisterBits(Type type) { return type == Type::kF64 ? 64 : 32; }

// Where element i of a lane's fragment stands.
Place PlaceInFragment(Side side, const MatrixShape& shape, int pack, int lane, int i) {
  const auto [m, n, k] = shape;
  const bool turned = m == 8 && n == 32;
  if (side == Side::kC) {
    const Place at = PlaceInC(lane, m == 16 ? i : i % 4);
    const int tile = m == 16 ? 0 : i / 4 * 16;
    return turned ? Place{at.col, at.row + tile} : Place{at.row + tile, at.col};
  }
  if (side == Side::kA || turned) {
    const int rows = std::min(side == Side::kA ? m : n, 16), count = rows * k / kLanes;
    const int tiles = std::max(1, (side == Side::kA ? m : n) / rows);
    const Place at = PlaceInA(rows, pack, lane, i % count);
    const int row = at.row + i / count % tiles * rows;
    return side == Side::kA ? Place{row, at.col} : Place{at.col, row};
  }
  const int count = 8 * k / kLanes, tiles = std::max(1, n / 8);
  const Place at = PlaceInB(pack, lane, i % count);
  return {at.row, at.col + i / count % tiles * 8};
}

template <typename F>
void ForFragment(Side side, const MatrixShape& shape, Type type, uint32_t registers, F f) {
  const int bits = ElementBits(type);
  const int count = static_cast<int>(registers) * RegisterBits(type) / bits;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < count; ++i) {
      const Place at = PlaceInFragment(side, shape, std::max(1, 32 / bits), lane, i);
      f(lane, i, at.row, at.col);
    }
}

Matrix ReadFragment(const std::byte* frame, const Slot* slots, Side side, const MatrixShape& shape,
                    Type type, uint32_t registers) {
  const auto [m, n, k] = shape;
  Matrix matrix(side == Side::kB ? k : m, side == Side::kA ? k : n);
  std::vector<bool> seen(matrix.values.size());  // an element that comes again is not looked at
  ForFragment(side, shape, type, registers, [&](int lane, int i, int r, int c) {
    const size_t at = static_cast<size_t>(r) * matrix.cols + c;
    if (seen[at]) return;
    seen[at] = true;
    matrix.values[at] = ElementValue(type, ReadElement(frame, slots, ElementBits(type), lane, i));
  });
  return matrix;
}

void RunWmma(const Op& op, Warp& warp, LaneMask) {
  if (!warp.Converge(kAllLanes)) return;
  const WmmaForm& form = *reinterpret_cast<const WmmaForm*>(warp.code().forms[op.list].get());
  const Slot* slots = warp.code().slots.data();
  std::byte* frame = warp.frame();
  const auto [m, n, k] = form.shape;
  CountProduct(warp, form.a, m, n, k);
  const Matrix a =
      ReadFragment(frame, slots + form.a_list, Side::kA, form.shape, form.a, form.a_count);
  const Matrix b =
      ReadFragment(frame, slots + form.b_list, Side::kB, form.shape, form.b, form.b_count);
  Matrix c = ReadFragment(frame, slots + form.c_list, Side::kC, form.shape, form.c, form.c_count);
  if (form.a == Type::kB1) {
    MultiplyBits(a, b, c, form.is_xor);
  } else {
    const auto steps = form.a == Type::kTF32 ? ProductSteps::kFours : ProductSteps::kAll;
    Multiply(a, b, c, {form.a, form.b, form.c, form.d, 25, steps}, form.saturate);
  }
  ForFragment(Side::kC, form.shape, form.d, form.d_count, [&](int lane, int i, int row, int col) {
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
  const int bits = ElementBits(form.d), bytes = std::max(1, bits / 8);
  ForFragment(form.side, form.shape, form.d, form.d_count, [&](int lane, int i, int r, int c) {
    if (warp.block().launch().stopped) return;
    const int64_t index = form.row_major ? r * stride + c : c * stride + r;
    std::byte* at = LaneMemory(op, warp, lane, base + static_cast<uint64_t>(index * bits / 8),
                               bytes, op.space, form.is_store ? "matrix store" : "matrix load");
    if (at == nullptr) return;
    if (form.is_store) {
      const uint64_t value = ReadElement(frame, slots, bits, lane, i);
      std::memcpy(at, &value, static_cast<size_t>(bytes));
    } else {
      uint64_t value = 0;
      std::memcpy(&value, at, static_cast<size_t>(bytes));
      WriteElement(frame, slots, bits, lane, i, value >> index * bits % 8);
    }
  });
}

void BindWmmaMemory(Binder& b, WmmaForm form, bool is_store) {
  const auto [m, n, k] = form.shape;
  const bool is_a = b.Has("a"), is_b = b.Has("b");
  form.side = is_a ? Side::kA : is_b ? Side::kB : Side::kC;
  form.rows = is_b ? k : m;
  form.cols = is_a ? k : n;
  form.d = b.type();
  form.is_store = is_store;
  form.row_major = b.Has("row");
  if (ElementBits(form.d) < 8 && is_store) return b.Unsupported();
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
  form.is_xor = b.Has("xor");
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
