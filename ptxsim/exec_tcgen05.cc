// tcgen05: tensor memory and the products that one thread starts in it (ISA, "TensorCore 5th
// Generation Family Instructions"), for blocks on their own (.cta_group::1).
//
//   tcgen05.alloc ... [where], 64;                 64 columns; their address to shared memory
//   tcgen05.mma.cta_group::1.kind::f16 [d], a, b, idesc, p;   d = a * b + (p ? d : 0)
//   tcgen05.commit ... [mbarrier];                 arrives when what went before is done
//   tcgen05.ld.sync.aligned.32x32b.x8.b32 {r0, ... r7}, [d];  row i of d to lane i of the warp
//
// All is done when it is issued, so wait, fence and commit find it done. `a` and `b` are
// descriptors of shared memory (shared_matrix_internal.h), `a` may lie in tensor memory. The
// instruction descriptor: bits 3 saturate, 4-5 type of d, 7-9 and 10-12 types of a and b, 13-14
// their signs, 15-16 m or n contiguous, 17-22 n / 8, 24-28 m / 16. Rows of 128 lie in as many
// lanes, 64 in the first 16 lanes of each warp's 32; f16 sums fill the lower half of a column. Not
// here: pairs of blocks, .ws, .sp, block scales, shift, copies that widen.
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
#include "ptxsim/tensor_memory.h"

namespace hlokit::ptx {
namespace {

// Lane and column of an address of tensor memory.
struct TensorPlace {
  int lane, column;
  explicit TensorPlace(uint64_t address)
      : lane(static_cast<int>(address >> 16 & 0xffff)),
        column(static_cast<int>(address & 0xffff)) {}
};

// The cell, or null after a fault.
uint32_t* CellAt(const Op& op, Warp& warp, int thread, int lane, int column) {
  uint32_t* const cell = warp.block().tensor_memory().Cell(lane, column);
  if (cell == nullptr)
    warp.block().Fault(warp, op, thread,
                       absl::StrCat("lane ", lane, ", column ", column,
                                    " of tensor memory, which is not allocated"));
  return cell;
}

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
};

void CopyRows(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const CopyForm*>(warp.code().forms[op.list].get());
  const int thread = std::countr_zero(mask);
  const TensorPlace to(form.to.Of(warp.frame(), thread));
  const SharedMatrix matrix =
      SharedMatrix::OfTcgen05(In<uint64_t>(warp.frame(), form.descriptor)[thread], false);
  const int lanes = form.rows == 4 ? 4 : TensorMemory::kTensorLanes;
  for (int lane = 0; lane < lanes; ++lane) {
    const int group = lane / kLanes;
    const int row = form.rows == 64
                        ? lane % kLanes + kLanes * (form.neighbours ? group / 2 : group % 2)
                        : lane % form.rows;
    for (int column = 0; column < form.bytes / 4; ++column) {
      const uint64_t from =
          matrix.AddressOf(static_cast<uint64_t>(row), static_cast<uint64_t>(4 * column));
      const std::byte* const word =
          LaneMemory(op, warp, thread, from, 4, Space::kShared, "matrix load");
      uint32_t* const cell = CellAt(op, warp, thread, to.lane + lane, to.column + column);
      if (word == nullptr || cell == nullptr) return;
      std::memcpy(cell, word, 4);
    }
  }
}

enum class ProductOf : uint8_t { kF16, kTf32, kF8, kI8 };

struct ProductForm {
  ProductOf kind = ProductOf::kF16;
  AddressColumn d, a;  // a.at: kNoSlot where a is a descriptor
  uint32_t a_descriptor = 0, b_descriptor = 0, idesc = 0, keep = 0;
  uint32_t disabled = 0, disabled_count = 0;  // columns of lanes that are not written
  int scale = 0;                              // d is divided by 2^scale first
};

// What the instruction descriptor says.
struct Product {
  Type a, b, d;
  int m, n, k;
  bool saturate;
  double sign;
  bool a_mn, b_mn;
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
      return number < 6 ? kByte[number] : Type::kNone;
    default:
      return number < 2 ? kInteger[number] : Type::kNone;
  }
}

bool ReadDescriptor(ProductOf kind, uint32_t bits, Product& p) {
  constexpr Type kSums[] = {Type::kF16, Type::kF32, Type::kS32, Type::kNone};
  p.d = kSums[bits >> 4 & 3];
  p.a = OperandTypeOf(kind, bits >> 7 & 7);
  p.b = OperandTypeOf(kind, bits >> 10 & 7);
  p.saturate = (bits >> 3 & 1) != 0;
  p.sign = (bits >> 13 & 1) != (bits >> 14 & 1) ? -1 : 1;
  p.a_mn = (bits >> 15 & 1) != 0;
  p.b_mn = (bits >> 16 & 1) != 0;
  p.n = static_cast<int>(bits >> 17 & 63) * 8;
  p.m = static_cast<int>(bits >> 24 & 31) * 16;
  p.k = kind == ProductOf::kF16 ? 16 : kind == ProductOf::kTf32 ? 8 : 32;
  const bool integer = kind == ProductOf::kI8;
  return (bits & 4) == 0 && p.a != Type::kNone && p.b != Type::kNone && p.d != Type::kNone &&
         integer == (p.d == Type::kS32) && (p.d != Type::kF16 || kind != ProductOf::kTf32) &&
         (p.m == 64 || p.m == 128) && p.n >= 8 && p.n <= 256 && (p.m == 64 || p.n % 16 == 0);
}

// The lane of row r.
int LaneOfRow(int m, int r) { return m == 128 ? r : r / 16 * kLanes + r % 16; }

// a from tensor memory: neighbours along k share a column.
bool LoadTensorRows(const Op& op, Warp& warp, int thread, TensorPlace at, const Product& p,
                    Matrix& a) {
  const int bits = std::max(8, ElementBits(p.a)), per_column = 32 / bits;
  for (int r = 0; r < p.m; ++r)
    for (int k = 0; k < p.k; ++k) {
      const uint32_t* const cell =
          CellAt(op, warp, thread, at.lane + LaneOfRow(p.m, r), at.column + k / per_column);
      if (cell == nullptr) return false;
      a.at(r, k) = ElementValue(p.a, *cell >> k % per_column * bits);
    }
  return true;
}

bool LoadShared(const Op& op, Warp& warp, uint64_t descriptor, Type type, bool mn, int k_count,
                bool rows_are_k, Matrix& matrix) {
  SharedMatrix shared = SharedMatrix::OfTcgen05(descriptor, mn);
  shared.padded = ElementBits(type) < 8;
  const int outer = rows_are_k ? matrix.cols : matrix.rows;
  for (int i = 0; i < outer; ++i)
    for (int k = 0; k < k_count; ++k)
      if (!shared.Load(op, warp, type, i, k, rows_are_k ? matrix.at(k, i) : matrix.at(i, k)))
        return false;
  return true;
}

bool IsDisabled(const ProductForm& form, const std::byte* frame, const Slot* slots, int thread,
                int lane) {
  if (form.disabled_count == 0) return false;
  const Slot slot = slots[form.disabled + static_cast<uint32_t>(lane / kLanes)];
  return (In<uint32_t>(frame, slot.at)[thread] >> lane % kLanes & 1) != 0;
}

// The product that one thread starts.
void MultiplyFor(const Op& op, Warp& warp, int thread, const ProductForm& form) {
  const std::byte* frame = warp.frame();
  Product p;
  const uint32_t idesc = In<uint32_t>(frame, form.idesc)[thread];
  if (!ReadDescriptor(form.kind, idesc, p))
    return warp.block().Fault(
        warp, op, thread,
        absl::StrCat("an instruction descriptor 0x", absl::Hex(idesc), " that has no meaning"));
  CountProduct(warp, p.a, p.m, p.n, p.k);
  Matrix a(p.m, p.k), b(p.k, p.n), c(p.m, p.n);
  const bool in_tensor_memory = form.a.at != kNoSlot;
  const bool loaded =
      in_tensor_memory
          ? LoadTensorRows(op, warp, thread, TensorPlace(form.a.Of(frame, thread)), p, a)
          : LoadShared(op, warp, In<uint64_t>(frame, form.a_descriptor)[thread], p.a, p.a_mn, p.k,
                       false, a);
  if (!loaded || !LoadShared(op, warp, In<uint64_t>(frame, form.b_descriptor)[thread], p.b, p.b_mn,
                             p.k, true, b))
    return;
  for (double& value : a.values) value *= p.sign;
  const TensorPlace d(form.d.Of(frame, thread));
  const bool keeps = (PredicateAt(frame, form.keep) >> thread & 1) != 0;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) Multiply(a, b, c, {p.a, p.b, p.d, p.d}, p.saturate);
    for (int r = 0; r < p.m; ++r)
      for (int j = 0; j < p.n; ++j) {
        const int lane = d.lane + LaneOfRow(p.m, r);
        uint32_t* const cell = CellAt(op, warp, thread, lane, d.column + j);
        if (cell == nullptr) return;
        if (pass == 0) {
          if (keeps) c.at(r, j) = std::ldexp(ElementValue(p.d, *cell), -form.scale);
        } else if (!IsDisabled(form, frame, warp.code().slots.data(), thread, lane)) {
          *cell = static_cast<uint32_t>(ElementOf(p.d, c.at(r, j)));
        }
      }
  }
}

void Multiply(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const ProductForm*>(warp.code().forms[op.list].get());
  for (int thread = 0; thread < kLanes; ++thread)
    if (mask >> thread & 1) MultiplyFor(op, warp, thread, form);
}

template <typename F>
void EmitForm(Binder& b, Exec exec, F form) {
  if (b.failed()) return;
  Op op = b.MakeExec(exec);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::make_shared<F>(std::move(form)));
  b.Emit(op);
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
  if (form.rows == 0 || b.size() != 2) return b.Unsupported();
  form.to = AddressColumnOf(b, b.operand(0), Space::kGeneric);
  form.descriptor = b.Source(1, Type::kB64);
  EmitForm(b, &CopyRows, form);
}

void BindTensorProduct(Binder& b) {
  ProductForm form;
  form.kind = b.Has("kind::tf32")     ? ProductOf::kTf32
              : b.Has("kind::f8f6f4") ? ProductOf::kF8
              : b.Has("kind::i8")     ? ProductOf::kI8
                                      : ProductOf::kF16;
  if (b.size() < 5) return b.Unsupported();
  form.d = AddressColumnOf(b, b.operand(0), Space::kGeneric);
  if (b.operand(1).kind == Operand::kAddress)
    form.a = AddressColumnOf(b, b.operand(1), Space::kGeneric);
  else
    form.a_descriptor = b.Source(1, Type::kB64);
  form.b_descriptor = b.Source(2, Type::kB64);
  form.idesc = b.Source(3, Type::kB32);
  int next = 4;
  if (b.operand(4).kind == Operand::kVector) {
    form.disabled = b.SourceList(b.operand(next++), Type::kB32, form.disabled_count);
    if (form.disabled_count != 4 || b.size() <= next) return b.Unsupported();
  }
  form.keep = b.Source(next++, Type::kPred);
  if (next < b.size()) form.scale = static_cast<int>(b.Immediate(next++));
  if (b.failed()) return;
  const bool may_scale = form.kind == ProductOf::kF16 || form.kind == ProductOf::kTf32;
  if (next != b.size() || form.scale < 0 || form.scale > 15 || (form.scale != 0 && !may_scale))
    return b.Unsupported();
  EmitForm(b, &Multiply, form);
}

}  // namespace

void BindTcgen05(Binder& b) {
  if (b.Has("ld") || b.Has("st")) return BindMoves(b, b.Has("st"));
  if (b.Has("mma")) return BindTensorProduct(b);
  if (b.Has("cp")) return BindTensorCopy(b);
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
