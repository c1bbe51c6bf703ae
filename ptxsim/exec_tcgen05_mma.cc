// tcgen05.mma: products that one thread starts, out of shared and into tensor memory.
//
// `a` and `b` are descriptors of shared memory (shared_matrix_internal.h), `a` may lie in tensor
// memory. The instruction descriptor: bits 3 saturate, 4-5 type of d, 7-9 and 10-12 types of a and
// b, 13-14 their signs, 15-16 m or n contiguous, 17-22 n / 8, 24-28 m / 16. With block scales: 4-5
// and 29-30 the first byte of b's and a's scales, 23 their type, 27-28 m / 128.
//
// Where rows of d lie: of 128 in as many lanes, of 64 in the first 16 lanes of each warp's 32. A
// pair of blocks has half the rows each, and reads half of a and of b each; 64 rows a block lie in
// lanes 0 to 63, and once more from 64 on with the other half of the columns. .ws: 32 rows in four
// quarters of the columns, 64 in two halves. f16 sums fill the lower half of a column.
//
// Scales: one byte for 32 (or 16) neighbours along k; row r's lie in lane r % 32 and column r / 32,
// the parts of k in neighbouring bytes.
//
// .sp: k is twice as long, and a has half of it. Bit 2 of the descriptor is set. Row r's metadata
// is 64 bits in its lane, or of f16 and tf32 32 bits in the column that bits 0-1 say: of lane
// r / 16 * 16 + r % 8 the first half and of the lane 8 below the second, each the lower 16 bits, of
// r % 16 above 7 the upper. The rows of a pair's 64 lie like those of one block.
//
// .ashift: row r of a is what lies in row r - 1, but for row 0 (as tcgen05.shift moves rows).
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "ptxsim/matrix_internal.h"
#include "ptxsim/tcgen05_internal.h"

namespace hlokit::ptx {
namespace {

enum class ProductOf : uint8_t { kF16, kTf32, kF8, kI8, kScaledF8, kScaledF4, kScaledNvF4 };

struct ProductForm {
  ProductOf kind = ProductOf::kF16;
  AddressColumn d, a;  // a.at: kNoSlot where a is a descriptor
  AddressColumn a_scales, b_scales;
  uint32_t a_descriptor = 0, b_descriptor = 0, idesc = 0, keep = 0;
  uint32_t disabled = 0, disabled_count = 0;  // columns of lanes that are not written
  uint32_t zero_columns = kNoSlot;            // .ws: which columns of b are zeros
  int scale = 0;                              // d is divided by 2^scale first
  int parts = 0;                              // of k, each with a scale
  bool pair = false, stationary = false, shifted = false;
  AddressColumn metadata;
  bool sparse = false;

  bool Scaled() const { return kind >= ProductOf::kScaledF8; }
};

// What the instruction descriptor says.
struct Product {
  Type a, b, d;
  int m, n, k;
  bool saturate;
  double sign;
  bool a_mn, b_mn;
  int selector = 0;  // of metadata's columns
  Type scales = Type::kUE8M0;
  int a_byte = 0, b_byte = 0;
};

// The type of an operand by its number; kNone where there is none.
Type OperandTypeOf(ProductOf kind, uint32_t number) {
  constexpr Type kHalf[] = {Type::kF16, Type::kBF16};
  constexpr Type kByte[] = {Type::kE4M3, Type::kE5M2, Type::kNone,
                            Type::kE2M3, Type::kE3M2, Type::kE2M1};
  constexpr Type kInteger[] = {Type::kU8, Type::kS8};
  switch (kind) {
    case ProductOf::kF16:
      return number < 2 ? kHalf[number] : Type::kNone;
    case ProductOf::kTf32:
      return number == 2 ? Type::kTF32 : Type::kNone;
    case ProductOf::kF8:
    case ProductOf::kScaledF8:
      return number < 6 ? kByte[number] : Type::kNone;
    case ProductOf::kI8:
      return number < 2 ? kInteger[number] : Type::kNone;
    default:
      return number == 1 ? Type::kE2M1 : Type::kNone;
  }
}

bool ReadDescriptor(const ProductForm& form, uint32_t bits, Product& p) {
  const ProductOf kind = form.kind;
  const bool scaled = form.Scaled(), narrow = kind > ProductOf::kScaledF8;
  constexpr Type kSums[] = {Type::kF16, Type::kF32, Type::kS32, Type::kNone};
  p.d = scaled ? Type::kF32 : kSums[bits >> 4 & 3];
  p.a = OperandTypeOf(kind, bits >> 7 & 7);
  p.b = OperandTypeOf(kind, bits >> 10 & (narrow ? 3 : 7));
  p.saturate = !scaled && (bits >> 3 & 1) != 0;
  p.sign = (bits >> 13 & 1) != (bits >> 14 & 1) ? -1 : 1;
  p.a_mn = (bits >> 15 & 1) != 0;
  p.b_mn = (bits >> 16 & 1) != 0;
  p.n = static_cast<int>(bits >> 17 & 63) * 8;
  p.m = scaled ? static_cast<int>(bits >> 27 & 3) * 128 : static_cast<int>(bits >> 24 & 31) * 16;
  p.k = narrow ? 64 : kind == ProductOf::kF16 ? 16 : kind == ProductOf::kTf32 ? 8 : 32;
  if (form.sparse) {
    p.k *= 2;
    p.selector = static_cast<int>(bits & 3);
    if (p.selector > (kind <= ProductOf::kTf32 ? 1 : 0)) return false;
  }
  const bool integer = kind == ProductOf::kI8;
  if (((bits & 4) != 0) != form.sparse || p.a == Type::kNone || p.b == Type::kNone ||
      p.d == Type::kNone || integer != (p.d == Type::kS32) ||
      (p.d == Type::kF16 && kind == ProductOf::kTf32))
    return false;
  if (scaled) {
    p.scales = (bits >> 23 & 1) != 0 ? Type::kUE8M0 : Type::kUE4M3;
    p.a_byte = static_cast<int>(bits >> 29 & 3);
    p.b_byte = static_cast<int>(bits >> 4 & 3);
    const bool only_exponents = kind != ProductOf::kScaledNvF4 || form.parts == 2;
    if ((only_exponents && p.scales != Type::kUE8M0) || (narrow && (p.a_mn || p.b_mn)) ||
        (narrow && bits >> 31 != 0) || p.a_byte % form.parts != 0 || p.b_byte % form.parts != 0)
      return false;
  }
  const int rows = form.pair ? p.m / 2 : p.m;
  if (p.n < 8 || p.n > 256) return false;
  if (form.stationary)
    return (rows == 32 || rows == 64 || rows == 128) && (p.n == 64 || p.n == 128 || p.n == 256);
  return (rows == 64 || rows == 128) && (rows == 64 && !form.pair ? true : p.n % 16 == 0);
}

// Whether 64 rows lie in the first 16 lanes of each warp's 32.
bool IsSpread(const ProductForm& form, int rows) {
  return rows == 64 && !form.stationary && (!form.pair || form.sparse);
}

// Where element (r, j) of a block's rows of d lies: lane and column.
Place PlaceInD(const ProductForm& form, const Product& p, int rows, int r, int j) {
  if (rows == 128) return {r, j};
  if (IsSpread(form, rows)) return {r / 16 * kLanes + r % 16, j};
  const int groups = 128 / rows, columns = p.n / groups;
  return {j / columns * rows + r, j % columns};
}

// The lane of row r of what is in tensor memory.
int LaneOfRow(const ProductForm& form, int rows, int r) {
  return IsSpread(form, rows) ? r / 16 * kLanes + r % 16 : r;
}

// a from tensor memory: neighbours along k share a column. Types below a byte have one, e2m1 in its
// middle, but where two share a byte.
bool LoadTensorRows(const Op& op, Warp& warp, int thread, const ProductForm& form, const Product& p,
                    TensorMemory* memory, int first, int rows, Matrix& a) {
  const TensorPlace at(form.a.Of(warp.frame(), thread));
  const bool packed = form.kind > ProductOf::kScaledF8;
  const int bits = packed ? 4 : std::max(8, ElementBits(p.a)), per_column = 32 / bits;
  const int shift = p.a == Type::kE2M1 && !packed ? 2 : 0;
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < a.cols; ++k) {
      const int row = form.shifted ? std::max(0, r - 1) : r;
      const uint32_t* const cell = CellAt(op, warp, thread, at.lane + LaneOfRow(form, rows, row),
                                          at.column + k / per_column, memory);
      if (cell == nullptr) return false;
      a.at(first + r, k) = ElementValue(p.a, *cell >> (k % per_column * bits + shift));
    }
  return true;
}

// Rows (of b columns) from `first` on, out of a block's shared memory.
bool LoadShared(const Op& op, Warp& warp, const SharedMatrix& shared, Type type, int k_count,
                bool rows_are_k, int first, int count, Matrix& matrix) {
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < k_count; ++k)
      if (!shared.Load(op, warp, type, i, k,
                       rows_are_k ? matrix.at(k, first + i) : matrix.at(first + i, k)))
        return false;
  return true;
}

SharedMatrix OperandAt(const ProductForm& form, const PairBlock& block, uint64_t descriptor,
                       Type type, bool mn) {
  SharedMatrix matrix = SharedMatrix::OfTcgen05(descriptor, mn);
  matrix.padded = ElementBits(type) < 8 && form.kind <= ProductOf::kScaledF8;
  block.Shift(matrix);
  return matrix;
}

// Multiplies the parts of k of `count` rows (of b columns) by their scales.
bool ApplyScales(const Op& op, Warp& warp, int thread, const ProductForm& form, const Product& p,
                 TensorMemory* memory, bool of_b, int first, int count, Matrix& matrix) {
  const TensorPlace at((of_b ? form.b_scales : form.a_scales).Of(warp.frame(), thread));
  const int byte = of_b ? p.b_byte : p.a_byte, length = p.k / form.parts;
  for (int i = 0; i < count; ++i) {
    const uint32_t* const cell =
        CellAt(op, warp, thread, at.lane + i % kLanes, at.column + i / kLanes, memory);
    if (cell == nullptr) return false;
    for (int k = 0; k < p.k; ++k) {
      double& value = of_b ? matrix.at(k, first + i) : matrix.at(first + i, k);
      if (!IsAbsent(value)) value *= ScaleValue(p.scales, *cell >> 8 * (byte + k / length) & 0xff);
    }
  }
  return true;
}

// `lane`: 128 more of a pair's second block.
bool IsDisabled(const ProductForm& form, const std::byte* frame, const Slot* slots, int thread,
                int lane) {
  if (form.disabled_count == 0) return false;
  const Slot slot = slots[form.disabled + static_cast<uint32_t>(lane / kLanes)];
  return (In<uint32_t>(frame, slot.at)[thread] >> lane % kLanes & 1) != 0;
}

// Makes a the matrix of p.k columns of which it has half, by a block's metadata for `rows` rows
// from `first` on.
bool Expand(const Op& op, Warp& warp, int thread, const ProductForm& form, const Product& p,
            TensorMemory* memory, int first, int rows, const Matrix& packed, Matrix& a) {
  const TensorPlace at(form.metadata.Of(warp.frame(), thread));
  const bool wide = form.kind <= ProductOf::kTf32;
  Matrix own(rows, packed.cols);
  const auto begin = packed.values.begin() + int64_t{first} * packed.cols;
  std::copy_n(begin, own.values.size(), own.values.begin());
  bool is_good = true;
  const Matrix all = ExpandSparse(p.a, p.k, own, [&](int r, int j) {
    const int row = wide ? r / 16 * 16 + j / 4 * 8 + r % 8 : r;
    const int column = wide ? p.selector : j / 8;
    const int shift = wide ? r / 8 % 2 * 16 + j % 4 * 4 : j % 8 * 4;
    const uint32_t* const cell =
        CellAt(op, warp, thread, at.lane + LaneOfRow(form, rows, row), at.column + column, memory);
    is_good &= cell != nullptr;
    return cell == nullptr ? 4 : *cell >> shift & 15;
  });
  std::copy(all.values.begin(), all.values.end(), a.values.begin() + int64_t{first} * a.cols);
  return is_good;
}

// The parts of a and b that one block of `count` has.
bool LoadOperands(const Op& op, Warp& warp, int thread, const ProductForm& form, const Product& p,
                  const PairBlock& block, int index, int count, Matrix& a, Matrix& b) {
  const std::byte* frame = warp.frame();
  const int rows = p.m / count, columns = p.n / count;
  const int row = index * rows, column = index * columns;
  if (form.a.at != kNoSlot) {
    if (!LoadTensorRows(op, warp, thread, form, p, block.memory, row, rows, a)) return false;
  } else {
    const uint64_t descriptor = In<uint64_t>(frame, form.a_descriptor)[thread];
    if (!LoadShared(op, warp, OperandAt(form, block, descriptor, p.a, p.a_mn), p.a, a.cols, false,
                    row, rows, a))
      return false;
  }
  const uint64_t descriptor = In<uint64_t>(frame, form.b_descriptor)[thread];
  return LoadShared(op, warp, OperandAt(form, block, descriptor, p.b, p.b_mn), p.b, p.k, true,
                    column, columns, b);
}

// A block's rows of c, from its tensor memory or to it.
bool MoveSums(const Op& op, Warp& warp, int thread, const ProductForm& form, const Product& p,
              const PairBlock& block, int first, int rows, bool stores, Matrix& c) {
  const TensorPlace d(form.d.Of(warp.frame(), thread));
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < p.n; ++j) {
      const Place place = PlaceInD(form, p, rows, r, j);
      const int lane = d.lane + place.row;
      uint32_t* const cell = CellAt(op, warp, thread, lane, d.column + place.col, block.memory);
      if (cell == nullptr) return false;
      if (!stores)
        c.at(first + r, j) = std::ldexp(ElementValue(p.d, *cell), -form.scale);
      else if (!IsDisabled(form, warp.frame(), warp.code().slots.data(), thread,
                           first / rows * TensorMemory::kTensorLanes + lane))
        *cell = static_cast<uint32_t>(ElementOf(p.d, c.at(first + r, j)));
    }
  return true;
}

// .ws: columns of b that the mask names are zeros; bit j stands for columns j, j + 64, ...
void ClearColumns(uint64_t zeros, Matrix& b) {
  for (int k = 0; k < b.rows; ++k)
    for (int j = 0; j < b.cols; ++j)
      if (zeros >> j % 64 & 1) b.at(k, j) = 0;
}

// The product that one thread starts.
void MultiplyFor(const Op& op, Warp& warp, int thread, const ProductForm& form) {
  const std::byte* frame = warp.frame();
  Product p;
  const uint32_t idesc = In<uint32_t>(frame, form.idesc)[thread];
  if (!ReadDescriptor(form, idesc, p))
    return warp.block().Fault(
        warp, op, thread,
        absl::StrCat("an instruction descriptor 0x", absl::Hex(idesc), " that has no meaning"));
  PairBlock blocks[2];
  const int count = BlocksOf(op, warp, thread, form.pair, blocks), rows = p.m / std::max(1, count);
  const int stored = form.sparse ? p.k / 2 : p.k;
  CountProduct(warp, p.a, p.m, p.n, stored);
  Matrix a(p.m, p.k), packed(p.m, stored), b(p.k, p.n), c(p.m, p.n);
  for (int i = 0; i < count; ++i) {
    Matrix& loaded = form.sparse ? packed : a;
    if (!LoadOperands(op, warp, thread, form, p, blocks[i], i, count, loaded, b)) return;
    if (form.sparse &&
        !Expand(op, warp, thread, form, p, blocks[i].memory, i * rows, rows, packed, a))
      return;
    if (!form.Scaled()) continue;
    if (!ApplyScales(op, warp, thread, form, p, blocks[i].memory, false, i * rows, rows, a)) return;
  }
  // Each block has the scales of all columns; the first's are read.
  if (form.Scaled() && count > 0 &&
      !ApplyScales(op, warp, thread, form, p, blocks[0].memory, true, 0, p.n, b))
    return;
  if (form.zero_columns != kNoSlot) ClearColumns(In<uint64_t>(frame, form.zero_columns)[thread], b);
  for (double& value : a.values)
    if (!IsAbsent(value)) value *= p.sign;
  const bool keeps = (PredicateAt(frame, form.keep) >> thread & 1) != 0;
  for (int i = 0; keeps && i < count; ++i)
    if (!MoveSums(op, warp, thread, form, p, blocks[i], i * rows, rows, false, c)) return;
  Multiply(a, b, c, {p.a, p.b, p.d, p.d}, p.saturate);
  for (int i = 0; i < count; ++i)
    if (!MoveSums(op, warp, thread, form, p, blocks[i], i * rows, rows, true, c)) return;
}

void Multiply(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const ProductForm*>(warp.code().forms[op.list].get());
  for (int thread = 0; thread < kLanes; ++thread)
    if (mask >> thread & 1) MultiplyFor(op, warp, thread, form);
}

bool TakeKind(Binder& b, ProductForm& form) {
  form.kind = b.Has("kind::tf32")       ? ProductOf::kTf32
              : b.Has("kind::f8f6f4")   ? ProductOf::kF8
              : b.Has("kind::i8")       ? ProductOf::kI8
              : b.Has("kind::mxf8f6f4") ? ProductOf::kScaledF8
              : b.Has("kind::mxf4")     ? ProductOf::kScaledF4
              : b.Has("kind::mxf4nvf4") ? ProductOf::kScaledNvF4
                                        : ProductOf::kF16;
  form.pair = b.Has("cta_group::2");
  form.stationary = b.Has("ws");
  form.sparse = b.Has("sp");
  form.shifted = b.Has("ashift");
  if (!form.Scaled()) return !b.Has("block_scale");
  const int parts = b.Has("scale_vec::1X")                       ? 1
                    : b.Has("scale_vec::2X") || b.Has("block32") ? 2
                    : b.Has("scale_vec::4X") || b.Has("block16") ? 4
                                                                 : 0;
  const int usual = form.kind == ProductOf::kScaledF8 ? 1 : 2;
  if (form.kind == ProductOf::kScaledF8)
    form.parts = parts == 1 || b.Has("block32") || parts == 0 ? 1 : -1;
  else
    form.parts = parts == 0 && form.kind == ProductOf::kScaledF4 ? usual : parts;
  const bool good = form.kind == ProductOf::kScaledF8   ? form.parts == 1
                    : form.kind == ProductOf::kScaledF4 ? form.parts == 2
                                                        : form.parts == 2 || form.parts == 4;
  return good && b.Has("block_scale") && !form.stationary;
}

}  // namespace

void BindTensorProduct(Binder& b) {
  ProductForm form;
  if (!TakeKind(b, form) || b.size() < 5) return b.Unsupported();
  form.d = AddressColumnOf(b, b.operand(0), Space::kGeneric);
  if (b.operand(1).kind == Operand::kAddress)
    form.a = AddressColumnOf(b, b.operand(1), Space::kGeneric);
  else
    form.a_descriptor = b.Source(1, Type::kB64);
  form.b_descriptor = b.Source(2, Type::kB64);
  int next = 3;
  if (form.shifted && b.operand(1).kind != Operand::kAddress) return b.Unsupported();
  if (form.sparse) form.metadata = AddressColumnOf(b, b.operand(next++), Space::kGeneric);
  form.idesc = b.Source(next++, Type::kB32);
  if (b.failed() || next >= b.size()) return b.Unsupported();
  if (form.Scaled()) {
    if (b.size() != next + 3) return b.Unsupported();
    form.a_scales = AddressColumnOf(b, b.operand(next++), Space::kGeneric);
    form.b_scales = AddressColumnOf(b, b.operand(next++), Space::kGeneric);
  } else if (b.operand(next).kind == Operand::kVector) {
    form.disabled = b.SourceList(b.operand(next++), Type::kB32, form.disabled_count);
    const uint32_t expected = form.pair ? 8 : 4;
    if (form.disabled_count != expected || b.size() <= next || form.stationary)
      return b.Unsupported();
  }
  form.keep = b.Source(next++, Type::kPred);
  if (next < b.size() && form.stationary)
    form.zero_columns = b.Source(next++, Type::kB64);
  else if (next < b.size())
    form.scale = static_cast<int>(b.Immediate(next++));
  if (b.failed()) return;
  const bool may_scale = form.kind == ProductOf::kF16 || form.kind == ProductOf::kTf32;
  if (next != b.size() || form.scale < 0 || form.scale > 15 || (form.scale != 0 && !may_scale))
    return b.Unsupported();
  EmitForm(b, &Multiply, form);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
