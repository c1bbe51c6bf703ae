// wgmma: products of a group of four warps, with operands in shared memory. ISA, "Asynchronous
// Warpgroup Level Matrix Instructions".
//
//   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, a, b, p, 1, 1, 0, 0;
//
// gives d (64 x 8) = a (64 x 16) * b (16 x 8) + (p ? d : 0). Each warp computes its own 16 rows, at
// once, so fence, commit_group and wait_group find everything done; a kernel that forgets them is
// not found out. `b`, and `a` where it is not in registers, are descriptors of shared memory:
//   bits 0-13 where the matrix begins, 16-29 leading offset, 32-45 stride offset, all / 16;
//   49-51 base offset; 62-63 how rows are swizzled: 0 not, 1 over 128 bytes, 2 over 64, 3 over 32.
// Limits: no sparse products (.sp), no b1, base offset 0.
#include <memory>

#include "absl/strings/str_cat.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"

namespace hlokit::ptx {
namespace {

constexpr int kRows = 16;  // of a warp
constexpr int kWarps = 4;

struct WgmmaForm {
  MatrixShape shape;
  Type d, a, b;
  bool saturate = false;
  double scale = 1;                 // of a times that of b: 1 or -1
  bool a_mn = false, b_mn = false;  // .trans: neighbours in memory go along m or n, not along k
  uint32_t d_list = 0, a_list = 0;  // a_list: where op.a is kNoSlot
};

// A matrix in shared memory. Its atoms are 8 rows of `width` bytes; a row holds neighbours along k
// or, where it is `mn` major, along m or n.
struct SharedMatrix {
  uint64_t start, leading, stride, width;
  bool mn;

  SharedMatrix(uint64_t descriptor, bool mn_major) : mn(mn_major) {
    constexpr uint64_t kWidths[] = {16, 128, 64, 32};
    const auto field = [&](int shift) { return (descriptor >> shift & 0x3fff) << 4; };
    start = field(0);
    leading = field(16);
    stride = field(32);
    width = kWidths[descriptor >> 62];
  }

  // Of element (i, k), i counting along m or n, in elements of `bytes`.
  uint64_t AddressOf(uint64_t i, uint64_t k, uint64_t bytes) const {
    const uint64_t along = (mn ? i : k) * bytes, row = mn ? k : i;
    const uint64_t inside = along % width + row % 8 * width;
    const bool swizzled = width > 16;
    // From atom to atom along the rows, then across them. The two offsets change places where
    // nothing is swizzled and m or n is contiguous.
    const bool exchanged = mn && !swizzled;
    const uint64_t across = exchanged ? leading : stride, next = exchanged ? stride : leading;
    const uint64_t address = start + inside + along / width * next + row / 8 * across;
    return address ^ (address >> 3 & (width - 16));
  }
};

// The 64-bit word that all lanes share.
uint64_t UniformWord(const std::byte* frame, uint32_t column) {
  return In<uint64_t>(frame, column)[0];
}

// Element (i, k) of a matrix in shared memory; false after a fault.
bool LoadElement(const Op& op, Warp& warp, const SharedMatrix& matrix, Type type, int i, int k,
                 double& value) {
  const int bytes = ElementBits(type) / 8;
  const uint64_t address = matrix.AddressOf(static_cast<uint64_t>(i), static_cast<uint64_t>(k),
                                            static_cast<uint64_t>(bytes));
  const std::byte* at = LaneMemory(op, warp, 0, address, bytes, Space::kShared, "matrix load");
  if (at == nullptr) return false;
  uint64_t word = 0;
  std::memcpy(&word, at, static_cast<size_t>(bytes));
  value = ElementValue(type, word);
  return true;
}

// The warp's rows of a.
bool LoadA(const Op& op, Warp& warp, const WgmmaForm& form, Matrix& a) {
  const std::byte* frame = warp.frame();
  if (op.a == kNoSlot) {
    const Slot* slots = &warp.code().slots[form.a_list];
    const int bits = ElementBits(form.a);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < kRows * form.shape.k / kLanes; ++i) {
        const Place at = PlaceInA(kRows, 32 / bits, lane, i);
        a.at(at.row, at.col) =
            form.scale * ElementValue(form.a, ReadElement(frame, slots, bits, lane, i));
      }
    return true;
  }
  const SharedMatrix shared(UniformWord(frame, op.a), form.a_mn);
  const int first = warp.index() % kWarps * kRows;
  for (int row = 0; row < kRows; ++row)
    for (int k = 0; k < form.shape.k; ++k) {
      if (!LoadElement(op, warp, shared, form.a, first + row, k, a.at(row, k))) return false;
      a.at(row, k) *= form.scale;
    }
  return true;
}

bool LoadB(const Op& op, Warp& warp, const WgmmaForm& form, Matrix& b) {
  const SharedMatrix shared(UniformWord(warp.frame(), op.b), form.b_mn);
  for (int k = 0; k < form.shape.k; ++k)
    for (int j = 0; j < form.shape.n; ++j)
      if (!LoadElement(op, warp, shared, form.b, j, k, b.at(k, j))) return false;
  return true;
}

// op.a, op.b: descriptors; op.c: the predicate that keeps d, where flags does not say.
void RunWgmma(const Op& op, Warp& warp, LaneMask mask) {
  if (!warp.Converge(kAllLanes)) return;
  if (mask != kAllLanes)
    return warp.block().Fault(warp, op, std::countr_zero(~mask),
                              "a matrix instruction without all 32 threads of the warp");
  const WgmmaForm& form = *reinterpret_cast<const WgmmaForm*>(warp.code().forms[op.list].get());
  const Slot* slots = &warp.code().slots[form.d_list];
  std::byte* frame = warp.frame();
  const auto [m, n, k] = form.shape;
  Matrix a(kRows, k), b(k, n), c(kRows, n);
  CountProduct(warp, form.a, kRows, n, k);
  if (!LoadA(op, warp, form, a) || !LoadB(op, warp, form, b)) return;
  const bool keeps = op.c == kNoSlot ? op.flags != 0 : PredicateAt(frame, op.c) & 1;
  const int elements = kRows * n / kLanes, bits = ElementBits(form.d);
  for (int lane = 0; keeps && lane < kLanes; ++lane)
    for (int i = 0; i < elements; ++i) {
      const Place at = PlaceInC(lane, i);
      c.at(at.row, at.col) = ElementValue(form.d, ReadElement(frame, slots, bits, lane, i));
    }
  MultiplyMatrices(a, b, c, form.d, form.saturate);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < elements; ++i) {
      const Place at = PlaceInC(lane, i);
      WriteElement(frame, slots, bits, lane, i, ElementOf(form.d, c.at(at.row, at.col)));
    }
}

// Columns of a row that a product takes at a time: 32 bytes.
bool IsShape(const MatrixShape& shape, Type a) {
  const int bits = ElementBits(a);
  return shape.m == kWarps * kRows && shape.n % 8 == 0 && shape.n >= 8 && shape.n <= 256 &&
         bits >= 8 && shape.k == 256 / bits;
}

bool CheckCount(Binder& b, int operand, uint32_t count, int expected) {
  if (static_cast<int>(count) == expected) return true;
  b.Error(b.operand(operand).place,
          absl::StrCat("expected ", expected, " registers of the fragment, found ", count));
  return false;
}

// The immediate scales (1 or -1) and transpositions (0 or 1) after scale-d.
bool ReadImmediates(Binder& b, bool a_in_registers, WgmmaForm& form) {
  const bool is_integer = form.d == Type::kS32, may_transpose = ElementBits(form.a) == 16;
  const int scales = is_integer ? 0 : 2, turns = may_transpose ? (a_in_registers ? 1 : 2) : 0;
  if (b.size() != 4 + scales + turns) {
    b.Error(b.instruction().place,
            absl::StrCat("wgmma takes ", 4 + scales + turns, " operands, found ", b.size()));
    return false;
  }
  for (int i = 4; i < 4 + scales; ++i) form.scale *= static_cast<double>(b.Immediate(i));
  if (turns == 2) form.a_mn = b.Immediate(4 + scales) != 0;
  if (turns > 0) form.b_mn = b.Immediate(3 + scales + turns) != 0;
  return !b.failed();
}

void BindProduct(Binder& b) {
  auto form = std::make_shared<WgmmaForm>();
  for (absl::string_view modifier : b.instruction().modifiers)
    if (ParseMatrixShape(modifier, form->shape)) break;
  form->d = b.type(0);
  form->a = b.type(1);
  form->b = b.type(2);
  form->saturate = b.Has("satfinite");
  if (b.size() < 4 || form->b == Type::kNone || !IsShape(form->shape, form->a))
    return b.Unsupported();
  const bool a_in_registers = b.operand(1).kind == Operand::kVector;
  if (!ReadImmediates(b, a_in_registers, *form)) return;
  Op op = b.MakeExec(&RunWgmma);
  uint32_t d_count = 0, a_count = 0;
  form->d_list = b.ResultList(b.operand(0), d_count);
  op.a = kNoSlot;
  if (a_in_registers) {
    form->a_list = b.SourceList(b.operand(1), Type::kB32, a_count);
  } else {
    op.a = b.Source(1, Type::kB64);
  }
  op.b = b.Source(2, Type::kB64);
  op.c = kNoSlot;
  if (b.IsImmediate(3)) {
    op.flags = b.Immediate(3) != 0;
  } else {
    op.c = b.Source(3, Type::kPred);
  }
  if (b.failed() || (a_in_registers && !CheckCount(b, 1, a_count, 4)) ||
      !CheckCount(b, 0, d_count, kRows * form->shape.n * ElementBits(form->d) / 32 / kLanes))
    return;
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

}  // namespace

void BindWgmma(Binder& b) {
  if (b.Has("mma_async")) return BindProduct(b);
  if (b.size() > 1) return b.Unsupported();
  BindNothing(b);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
