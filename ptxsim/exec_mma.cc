// mma: products of a warp's fragments (ISA, "Warp Level Matrix Instructions using mma"), dense,
// sparse
// (.sp) and with block scales. Fragments as the ISA's figures lay them out.
//
// Of a sparse product a holds half of its columns: of four neighbours two are there, and a nibble
// of the metadata says which (0b1000: the first and the third). tf32 has one of two, s4 and u4 two
// pairs of four. A quad of lanes has the metadata of rows g and g + 8 (g: the quad's number):
//   f16, bf16, tf32: 16 bits of row g, above them 16 of row g + 8, in lane `selector`, or in the
//   two lanes from 2 * selector on, the left half of the columns first; bytes and nibbles: 32 bits
//   of row g in the first, of row g + 8 in the second lane of two, the right half of the columns in
//   the other two.
// Block scales: lanes 2t and 2t + 1 of a quad have those of rows g and g + 8, lane t those of
// column g of b; the bytes from the selected one on are for as many parts of k.
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/tile_form_internal.h"

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
  int a_bits = 0, b_bits = 0;  // of an element in its register
  ProductSteps steps = ProductSteps::kAll;
  Rounding rounding = Rounding::kNearest;  // of f64
  TileForm tile;
  // .sp: the metadata's column, and which lanes of a quad have it.
  bool sparse = false;
  uint32_t metadata = 0, selector = 0;
  // .block_scale: parts of k that have a scale each; 0: none.
  int scales = 0;
  Type scale_type = Type::kNone;
  uint32_t scale_a = 0, byte_a = 0, lane_a = 0, scale_b = 0, byte_b = 0, lane_b = 0;
};

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
    Multiply(a, b, c, {Type::kF16, Type::kF16, form.c, form.d, 25, ProductSteps::kSingly}, false);
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

// Bits of an operand's element. .kind::f8f6f4 and mxf8f6f4 give each a byte.
double OperandValue(Type type, int bits, uint64_t word) {
  // The four bits of e2m1 lie in the middle of their byte.
  return ElementValue(type, type == Type::kE2M1 && bits == 8 ? word >> 2 : word);
}

// Multiplies each part of k by its scales.
void ApplyScales(const MmaForm& form, const std::byte* frame, Matrix& a, Matrix& b) {
  const auto scale = [&](uint32_t column, uint32_t byte_column, int lane, int part) {
    const uint32_t byte =
        (In<uint16_t>(frame, byte_column)[lane] & 3) + static_cast<uint32_t>(part);
    return ScaleValue(form.scale_type, In<uint32_t>(frame, column)[lane] >> 8 * (byte & 3) & 0xff);
  };
  const int width = form.shape.k / form.scales;
  const int pair = In<uint16_t>(frame, form.lane_a)[0] & 1,
            one = In<uint16_t>(frame, form.lane_b)[0] & 3;
  for (int k = 0; k < form.shape.k; ++k) {
    for (int r = 0; r < form.shape.m; ++r)
      a.at(r, k) *= scale(form.scale_a, form.byte_a, 4 * (r % 8) + 2 * pair + r / 8, k / width);
    for (int j = 0; j < form.shape.n; ++j)
      b.at(k, j) *= scale(form.scale_b, form.byte_b, 4 * j + one, k / width);
  }
}

// By the vector kernels; false where they do not know how.
bool RunTile(const MmaForm& form, const Slot* slots, std::byte* frame) {
  constexpr int kMaxDepth = 64, kColumns = 8, kQuad = 16;  // bytes of four words
  alignas(64) float a[kMaxDepth * kTileRows], b[kColumns * kMaxDepth], c[kColumns * kTileRows];
  const int depth = form.shape.k, bytes = depth * form.b_bits / 8;
  UnpackRows(form.tile, frame, slots + form.a_list, bytes / 8, a);
  // Quad q has column q of b: its words of register i are bytes 16i to 16i + 15.
  uint8_t columns[kColumns * kMaxDepth];
  for (int i = 0; i < bytes / kQuad; ++i)
    for (int q = 0; q < kColumns; ++q)
      std::memcpy(columns + q * bytes + i * kQuad,
                  frame + slots[form.b_list + static_cast<uint32_t>(i)].at + q * kQuad, kQuad);
  BestProductKernels().widen(columns, kColumns * depth, form.tile.b, form.tile.b_table, b);
  UnpackAccumulators(form.tile, frame, slots + form.c_list, kColumns, c);
  if (!MultiplyTile(form.tile, {kColumns, depth, false, a, b, c}, form.saturate)) return false;
  PackAccumulators(form.tile, c, kColumns, frame, slots + form.d_list);
  return true;
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
  const int width = form.sparse ? k / 2 : k;
  CountProduct(warp, form.a, m, n, width);
  if (form.tile.is_taken && RunTile(form, slots, frame)) return;
  Matrix a(m, width), b(k, n), c(m, n);
  const int a_pack = std::max(1, 32 / form.a_bits), b_pack = std::max(1, 32 / form.b_bits);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < m * width / kLanes; ++i) {
      const Place at = PlaceInA(m, a_pack, lane, i);
      a.at(at.row, at.col) = OperandValue(
          form.a, form.a_bits, ReadElement(frame, slots + form.a_list, form.a_bits, lane, i));
    }
    for (int i = 0; i < k * n / kLanes; ++i) {
      const Place at = PlaceInB(b_pack, lane, i);
      b.at(at.row, at.col) = OperandValue(
          form.b, form.b_bits, ReadElement(frame, slots + form.b_list, form.b_bits, lane, i));
    }
    for (int i = 0; i < m * n / kLanes; ++i) {
      const Place at = PlaceInC(lane, i);
      c.at(at.row, at.col) =
          ElementValue(form.c, ReadElement(frame, slots + form.c_list, BitsOf(form.c), lane, i));
    }
  }
  if (form.sparse)
    a = ExpandSparse({form.a, m, k, form.metadata, static_cast<int>(form.selector)}, frame, a);
  if (form.scales > 0) ApplyScales(form, frame, a, b);
  if (form.a == Type::kB1) {
    MultiplyBits(a, b, c, form.is_xor);
  } else {
    Multiply(a, b, c, {form.a, form.b, form.c, form.d, 25, form.steps, form.rounding},
             form.saturate);
  }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < m * n / kLanes; ++i) {
      const Place at = PlaceInC(lane, i);
      WriteElement(frame, slots + form.d_list, BitsOf(form.d), lane, i,
                   ElementOf(form.d, c.at(at.row, at.col)));
    }
}

// Registers of a fragment: 64 bits for f64, else 32.
bool CheckFragment(Binder& b, int operand, uint32_t count, int element_bits, int elements) {
  const int bits = element_bits == 64 ? 64 : 32;
  const int expected = elements * element_bits / kLanes / bits;
  if (static_cast<int>(count) == expected && expected > 0) return true;
  b.Error(b.operand(operand).place,
          absl::StrCat("expected ", expected, " registers of the fragment, found ", count));
  return false;
}

// Metadata and selector of .sp, or scales with {byte, lane} of .block_scale.
bool TakeExtras(Binder& b, MmaForm& form) {
  int at = 4;
  if (form.sparse) {
    if (b.size() < 6) return b.Unsupported(), false;
    form.metadata = b.Source(at++, Type::kB32);
    form.selector = static_cast<uint32_t>(b.Immediate(at++));
    const auto choices = static_cast<uint32_t>(16 / SparseChunks(form.a, form.shape.k));
    if (form.selector >= std::max(1u, choices)) {
      b.Error(b.operand(5).place, absl::StrCat("a sparsity selector of ", form.selector));
      return false;
    }
  }
  if (b.Has("block_scale")) {
    form.scale_type = b.type(4);
    form.scales = b.Has("scale_vec::4X")                          ? 4
                  : b.Has("scale_vec::2X") || b.Has("kind::mxf4") ? 2
                                                                  : 1;
    if (b.size() != at + 4 || b.operand(at + 1).parts.size() != 2 ||
        b.operand(at + 3).parts.size() != 2)
      return b.Unsupported(), false;
    form.scale_a = b.Source(at, Type::kB32);
    form.byte_a = b.Source(b.operand(at + 1).parts[0], Type::kB16);
    form.lane_a = b.Source(b.operand(at + 1).parts[1], Type::kB16);
    form.scale_b = b.Source(at + 2, Type::kB32);
    form.byte_b = b.Source(b.operand(at + 3).parts[0], Type::kB16);
    form.lane_b = b.Source(b.operand(at + 3).parts[1], Type::kB16);
    at += 4;
  }
  if (!b.failed() && at != b.size()) b.Unsupported();
  return !b.failed();
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
  form->sparse = b.Has("sp") || b.Has("sp::ordered_metadata");
  const bool bytes = b.Has("kind::f8f6f4") || b.Has("kind::mxf8f6f4");
  form->a_bits = bytes ? 8 : ElementBits(form->a);
  form->b_bits = bytes ? 8 : ElementBits(form->b);
  if (!bytes && (form->a == Type::kE4M3 || form->a == Type::kE5M2))
    form->steps = form->sparse ? ProductSteps::kHalvesOf8 : ProductSteps::kHalvesOf4;
  form->rounding = b.Has("rz")   ? Rounding::kZero
                   : b.Has("rm") ? Rounding::kDown
                   : b.Has("rp") ? Rounding::kUp
                                 : Rounding::kNearest;
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
  } else if (!CheckFragment(b, 0, d_count, ElementBits(form->d), m * n) ||
             !CheckFragment(b, 1, a_count, form->a_bits, form->sparse ? m * k / 2 : m * k) ||
             !CheckFragment(b, 2, b_count, form->b_bits, k * n) ||
             !CheckFragment(b, 3, c_count, ElementBits(form->c), m * n) || !TakeExtras(b, *form)) {
    return;
  }
  if (m == 16 && !form->sparse && form->scales == 0)
    form->tile = TileFormOf({form->a, form->b, form->c, form->d, 25, form->steps}, n, k);
  Op op = b.MakeExec(&RunMma);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
