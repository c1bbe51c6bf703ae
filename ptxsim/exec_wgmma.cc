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
// With .sp, a has half of its columns and a register says which (exec_mma.cc). Limit: base offset
// 0.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/shared_matrix_internal.h"
#include "ptxsim/tile_form_internal.h"

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
  bool sparse = false;
  uint32_t metadata = 0;
  int selector = 0;
  TileForm tile;
};

ProductRule RuleOf(const WgmmaForm& form) {
  return {form.a, form.b, form.d, form.d, ElementBits(form.a) == 8 ? 13 : 25};
}

// The 64-bit word that all lanes share.
uint64_t UniformWord(const std::byte* frame, uint32_t column) {
  return In<uint64_t>(frame, column)[0];
}

// The warp's rows of a.
bool LoadA(const Op& op, Warp& warp, const WgmmaForm& form, Matrix& a) {
  const std::byte* frame = warp.frame();
  if (op.a == kNoSlot) {
    const Slot* slots = &warp.code().slots[form.a_list];
    const int bits = ElementBits(form.a);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < kRows * a.cols / kLanes; ++i) {
        const Place at = PlaceInA(kRows, 32 / bits, lane, i);
        a.at(at.row, at.col) =
            form.scale * ElementValue(form.a, ReadElement(frame, slots, bits, lane, i));
      }
    return true;
  }
  const SharedMatrix shared = SharedMatrix::OfWgmma(UniformWord(frame, op.a), form.a_mn);
  const int first = warp.index() % kWarps * kRows;
  for (int row = 0; row < kRows; ++row)
    for (int k = 0; k < a.cols; ++k) {
      if (!shared.Load(op, warp, form.a, first + row, k, a.at(row, k))) return false;
      a.at(row, k) *= form.scale;
    }
  return true;
}

bool LoadB(const Op& op, Warp& warp, const WgmmaForm& form, Matrix& b) {
  const SharedMatrix shared = SharedMatrix::OfWgmma(UniformWord(warp.frame(), op.b), form.b_mn);
  for (int k = 0; k < form.shape.k; ++k)
    for (int j = 0; j < form.shape.n; ++j)
      if (!shared.Load(op, warp, form.b, j, k, b.at(k, j))) return false;
  return true;
}

constexpr int kMaxColumns = 256, kMaxDepth = 32;

struct WgmmaTile {
  alignas(64) float a[kMaxDepth * kTileRows];
  alignas(64) float c[kMaxColumns * kTileRows];
};

// b as the kernels take it. The four warps of a group, and the groups of a block, read the same one
// after the other, so what was made of the last ones is kept, and good where form and bytes are the
// same.
struct WgmmaB {
  Type type = Type::kNone;
  int n = 0, k = 0;
  bool mn = false;
  alignas(64) uint8_t bytes[kMaxColumns * 32];
  alignas(64) float values[kMaxColumns * kMaxDepth];
  alignas(64) int32_t exponents[kMaxColumns * kMaxDepth / 2];

  bool IsOf(const WgmmaForm& form) const {
    return type == form.b && n == form.shape.n && k == form.shape.k && mn == form.b_mn;
  }
  // What `bytes` have become.
  void Take(const WgmmaForm& form) {
    type = form.b;
    n = form.shape.n;
    k = form.shape.k;
    mn = form.b_mn;
    const ProductKernels& kernels = BestProductKernels();
    kernels.widen(bytes, n * k, form.tile.b, form.tile.b_table, values);
    if (!form.tile.is_integer)
      kernels.exponents({n, k, mn, nullptr, values}, form.tile.rule.least_b, exponents);
  }
};

// A step of a loop has some four to sixteen descriptors, 32 bytes or more apart.
WgmmaB& PlaceOfB(uint64_t descriptor) {
  constexpr size_t kPlaces = 16;
  thread_local std::vector<WgmmaB> places(kPlaces);
  return places[(descriptor >> 1 ^ descriptor >> 6) % kPlaces];
}

// Rows of 32 bytes, by depth: as the four registers of a fragment, whose lanes have four bytes
// each.
void TurnRows(const WgmmaForm& form, const uint8_t* bytes, float* a) {
  alignas(64) uint32_t words[4][kLanes];
  const uint32_t* registers[4] = {words[0], words[1], words[2], words[3]};
  for (int row = 0; row < kRows; ++row)
    for (int half = 0; half < 2; ++half)
      std::memcpy(words[half * 2 + row / 8] + row % 8 * 4, bytes + row * 32 + half * 16, 16);
  BestProductKernels().unpack(registers, 4, form.tile.a, form.tile.a_table, a);
}

// The warp's rows of a, by depth.
bool LoadTileA(const Op& op, Warp& warp, const WgmmaForm& form, float* a) {
  const std::byte* frame = warp.frame();
  const int depth = form.shape.k, count = kRows * depth, bits = ElementBits(form.a);
  if (op.a == kNoSlot) {
    UnpackRows(form.tile, frame, &warp.code().slots[form.a_list], 4, a);
  } else {
    const SharedMatrix shared = SharedMatrix::OfWgmma(UniformWord(frame, op.a), form.a_mn);
    const int first = warp.index() % kWarps * kRows;
    alignas(64) uint8_t bytes[kRows * 32];
    if (form.a_mn) {
      if (!shared.CopyRows(op, warp, 0, depth, first * bits / 8, kRows * bits / 8, bytes))
        return false;
      BestProductKernels().widen(bytes, count, form.tile.a, form.tile.a_table, a);
    } else {
      if (!shared.CopyRows(op, warp, first, kRows, 0, 32, bytes)) return false;
      TurnRows(form, bytes, a);
    }
  }
  for (int i = 0; form.scale < 0 && i < count; ++i) a[i] = -a[i];
  return true;
}

// b by columns, or by depth where that is how memory has it; null after a fault.
const WgmmaB* LoadTileB(const Op& op, Warp& warp, const WgmmaForm& form) {
  const uint64_t descriptor = UniformWord(warp.frame(), op.b);
  const SharedMatrix shared = SharedMatrix::OfWgmma(descriptor, form.b_mn);
  const int n = form.shape.n, k = form.shape.k, bits = ElementBits(form.b);
  const int rows = form.b_mn ? k : n, row_bytes = (form.b_mn ? n : k) * bits / 8;
  WgmmaB& b = PlaceOfB(descriptor);
  if (b.IsOf(form) && shared.HasRows(warp, rows, row_bytes, b.bytes)) return &b;
  b.type = Type::kNone;
  if (!shared.CopyRows(op, warp, 0, rows, 0, row_bytes, b.bytes)) return nullptr;
  b.Take(form);
  return &b;
}

enum class TileResult { kDone, kFault, kOtherwise };

// By the vector kernels; kOtherwise: they do not know how.
TileResult RunTile(const Op& op, Warp& warp, const WgmmaForm& form, bool keeps) {
  WgmmaTile tile;
  const int n = form.shape.n;
  const Slot* slots = &warp.code().slots[form.d_list];
  const WgmmaB* const b = LoadTileB(op, warp, form);
  if (b == nullptr || !LoadTileA(op, warp, form, tile.a)) return TileResult::kFault;
  if (keeps) {
    UnpackAccumulators(form.tile, warp.frame(), slots, n, tile.c);
  } else {
    std::fill_n(tile.c, n * kTileRows, 0.0f);
  }
  const ProductTile product = {n, form.shape.k, form.b_mn, tile.a, b->values, tile.c, b->exponents};
  if (!MultiplyTile(form.tile, product, form.saturate)) return TileResult::kOtherwise;
  PackAccumulators(form.tile, tile.c, n, warp.frame(), slots);
  return TileResult::kDone;
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
  CountProduct(warp, form.a, kRows, n, form.sparse ? k / 2 : k);
  const bool keeps = op.c == kNoSlot ? op.flags != 0 : PredicateAt(frame, op.c) & 1;
  if (form.tile.is_taken && RunTile(op, warp, form, keeps) != TileResult::kOtherwise) return;
  Matrix a(kRows, form.sparse ? k / 2 : k), b(k, n), c(kRows, n);
  if (!LoadA(op, warp, form, a) || !LoadB(op, warp, form, b)) return;
  if (form.sparse) a = ExpandSparse({form.a, kRows, k, form.metadata, form.selector}, frame, a);
  const int elements = kRows * n / kLanes, bits = ElementBits(form.d);
  for (int lane = 0; keeps && lane < kLanes; ++lane)
    for (int i = 0; i < elements; ++i) {
      const Place at = PlaceInC(lane, i);
      c.at(at.row, at.col) = ElementValue(form.d, ReadElement(frame, slots, bits, lane, i));
    }
  if (form.a == Type::kB1) {
    MultiplyBits(a, b, c, /*is_xor=*/false);
  } else {
    Multiply(a, b, c, RuleOf(form), form.saturate);
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < elements; ++i) {
      const Place at = PlaceInC(lane, i);
      WriteElement(frame, slots, bits, lane, i, ElementOf(form.d, c.at(at.row, at.col)));
    }
}

// Columns of a row that a product takes at a time: 32 bytes, of a sparse one half of them kept.
bool IsShape(const MatrixShape& shape, Type a, bool sparse) {
  const int bits = ElementBits(a);
  return shape.m == kWarps * kRows && shape.n % 8 == 0 && shape.n >= 8 && shape.n <= 256 &&
         shape.k == (sparse ? 512 : 256) / bits && (bits >= 8 || (bits == 1 && !sparse));
}

bool CheckCount(Binder& b, int operand, uint32_t count, int expected) {
  if (static_cast<int>(count) == expected) return true;
  b.Error(b.operand(operand).place,
          absl::StrCat("expected ", expected, " registers of the fragment, found ", count));
  return false;
}

// The metadata's register and the selector, of two lanes of a quad for wide types.
bool ReadSparsity(Binder& b, WgmmaForm& form) {
  if (b.size() < 6) return b.Unsupported(), false;
  form.metadata = b.Source(3, Type::kB32);
  form.selector = static_cast<int>(b.Immediate(4));
  const int choices = ElementBits(form.a) >= 16 ? 2 : 1;
  if (!b.failed() && (form.selector < 0 || form.selector >= choices))
    b.Error(b.operand(4).place, absl::StrCat("a sparsity selector of ", form.selector));
  return !b.failed();
}

// The immediate scales (1 or -1) and transpositions (0 or 1) after scale-d.
bool ReadImmediates(Binder& b, bool a_in_registers, WgmmaForm& form) {
  const bool is_integer = form.d == Type::kS32, may_transpose = ElementBits(form.a) == 16;
  const int scales = is_integer ? 0 : 2, turns = may_transpose ? (a_in_registers ? 1 : 2) : 0;
  const int first = form.sparse ? 6 : 4, count = first + scales + turns;
  if (b.size() != count) {
    b.Error(b.instruction().place,
            absl::StrCat("wgmma takes ", count, " operands, found ", b.size()));
    return false;
  }
  for (int i = first; i < first + scales; ++i) form.scale *= static_cast<double>(b.Immediate(i));
  if (turns == 2) form.a_mn = b.Immediate(first + scales) != 0;
  if (turns > 0) form.b_mn = b.Immediate(count - 1) != 0;
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
  form->sparse = b.Has("sp");
  if (b.size() < 4 || form->b == Type::kNone || !IsShape(form->shape, form->a, form->sparse))
    return b.Unsupported();
  if (form->sparse && !ReadSparsity(b, *form)) return;
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
  const int keep = form->sparse ? 5 : 3;
  if (b.IsImmediate(keep)) {
    op.flags = b.Immediate(keep) != 0;
  } else {
    op.c = b.Source(keep, Type::kPred);
  }
  if (b.failed() || (a_in_registers && !CheckCount(b, 1, a_count, 4)) ||
      !CheckCount(b, 0, d_count, kRows * form->shape.n * ElementBits(form->d) / 32 / kLanes))
    return;
  if (!form->sparse) form->tile = TileFormOf(RuleOf(*form), form->shape.n, form->shape.k);
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
