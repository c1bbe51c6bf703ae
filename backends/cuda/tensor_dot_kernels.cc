// Dots on tensor cores: r = x * y of bf16[512,1024] and bf16[1024,512], 128 x 128 elements of r a
// block, 64 x 32 of them a warp:
//
//   tile 0 of x and y -> shared memory
//   for each 64 bytes along k:  the next tiles -> registers
//     for each 32 of these bytes:  ldmatrix fragments of x and y;  16 times mma.m16n8k16
//     registers -> the other half of shared memory;  barrier
//
// Products are exact, sums f32 in the order of the matrix unit (s32 for bytes, modulo 2^32), and
// rounded once at the end: docs/numerics.md allows any order. f8 is widened to f16 or bf16, which
// hold it exactly.
//
// A tile lies in shared memory as in the array: lines along its fastest dimension, `ldmatrix.trans`
// where that is not k. Bytes have no such form and are turned when they are stored. Lines end with
// 16 spare bytes, so that the eight lines of a matrix lie in different banks. Past the ends of
// matrices, loads are moved inside and, along k, replaced by zeros.
//
// Limits: the dot, and what finishes its elements, is the whole of the kernel.
#include "backends/cuda/tensor_dot_kernels.h"

#include <algorithm>

#include "backends/cuda/block_kernel.h"
#include "backends/cuda/dot_sides.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/thread_group.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kLineBytes = 64;  // of a tile along k
constexpr int64_t kStepBytes = 32;  // of one matrix instruction along k
constexpr int64_t kSpareBytes = 16;
constexpr int64_t kWarpRows = 2, kWarpColumns = 4;  // of a block's warps
constexpr int64_t kMinTile = 32, kMaxTile = 128;

struct TensorSide : DotSide {
  ElementType unit = ElementType::kBF16;  // in shared memory
  int64_t tile = kMinTile;                // elements along `free`
  bool along_free = false;                // memory's lines, else along `summed`
  int64_t vector = 1;                     // neighbours that one load brings
  int64_t piece = 1;                      // neighbours that a thread stores at once

  int64_t width() const { return ByteWidth(unit); }
  int64_t depth() const { return kLineBytes / width(); }
  // Whether lines in shared memory are along `free`.
  bool stored_along_free() const { return along_free && width() == 2; }
  int64_t line_bytes() const {
    return (stored_along_free() ? tile * width() : kLineBytes) + kSpareBytes;
  }
  int64_t bytes() const { return (stored_along_free() ? depth() : tile) * line_bytes(); }
  int64_t pieces() const { return tile * depth() / (kBlockThreads * piece); }  // of a thread
  // Memory's bytes may go to shared memory as they are.
  bool IsPlain() const { return operand->shape().type == unit && (width() == 2 || !along_free); }
};

struct TensorPlan {
  Expression e;
  TensorSide lhs, rhs;
  ElementType sum_type = ElementType::kF32;

  int64_t depth() const { return lhs.depth(); }
  int64_t terms() const { return lhs.summed.size; }
  int64_t Tiles(const TensorSide& side) const {
    return (side.free.size + side.tile - 1) / side.tile;
  }
  int64_t Blocks() const { return lhs.batch.size * Tiles(lhs) * Tiles(rhs); }
  int64_t warp_rows() const { return lhs.tile / kWarpRows; }  // of elements
  int64_t warp_columns() const { return rhs.tile / kWarpColumns; }
};

// f8 types whose values f16 and bf16 have.
bool IsSmallFloat(ElementType type) {
  return IsFloat(type) && BitWidth(type) == 8 && type != ElementType::kF8E8M0FNU;
}

// What elements of both operands are in shared memory; kInvalid where tensor cores have none.
ElementType UnitOf(ElementType x, ElementType y) {
  for (const ElementType unit : {ElementType::kF16, ElementType::kBF16})
    if ((x == unit || IsSmallFloat(x)) && (y == unit || IsSmallFloat(y))) return unit;
  return ElementType::kInvalid;
}

bool ChooseTypes(TensorPlan& plan, ElementType result) {
  const ElementType x = plan.lhs.operand->shape().type, y = plan.rhs.operand->shape().type;
  if (IsByte(x) && IsByte(y)) {
    plan.lhs.unit = x;
    plan.rhs.unit = y;
    plan.sum_type = ElementType::kS32;
    return IsInteger(result) && !IsSubByte(result) && BitWidth(result) <= 32;
  }
  plan.lhs.unit = plan.rhs.unit = UnitOf(x, y);
  return plan.lhs.unit != ElementType::kInvalid &&
         (IsNarrowFloat(result) || result == ElementType::kF32);
}

void PlanLoads(TensorSide& side) {
  const DimGroup* const fast = side.Fastest();
  side.along_free = fast != &side.summed;
  side.piece = std::min(16 / side.width(), side.tile * side.depth() / kBlockThreads);
  side.vector = fast != nullptr ? side.piece : 1;
  while (side.vector > 1 && fast->inner % side.vector != 0) side.vector /= 2;
}

void PlanTiles(TensorPlan& plan) {
  for (TensorSide* side : {&plan.lhs, &plan.rhs})
    while (side->tile < side->free.size && side->tile < kMaxTile) side->tile *= 2;
  while (plan.Blocks() < kManyBlocks && std::max(plan.lhs.tile, plan.rhs.tile) > kMinTile)
    (plan.lhs.tile > plan.rhs.tile ? plan.lhs : plan.rhs).tile /= 2;
  PlanLoads(plan.lhs);
  PlanLoads(plan.rhs);
}

std::optional<TensorPlan> PlanTensorDot(const Expression& e) {
  const std::optional<DotSides> sides = SidesOfProduct(e);
  if (!sides.has_value()) return std::nullopt;
  TensorPlan plan;
  plan.e = e;
  static_cast<DotSide&>(plan.lhs) = sides->lhs;
  static_cast<DotSide&>(plan.rhs) = sides->rhs;
  if (!ChooseTypes(plan, ProductOf(e)->shape().type)) return std::nullopt;
  if (plan.lhs.batch.size == 0 ||
      std::min({plan.lhs.free.size, plan.rhs.free.size, plan.terms()}) < kSmall)
    return std::nullopt;
  PlanTiles(plan);
  return plan;
}

// Emits the work of one thread of a block.
class TensorDotEmitter {
 public:
  TensorDotEmitter(const TensorPlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        b_(b),
        group_(b, kBlockThreads, b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        batch_(b.CreateUDiv(unit,
                            b.Index(kBlockThreads * plan.Tiles(plan.lhs) * plan.Tiles(plan.rhs)))),
        result_(b, plan.e, plan.lhs, plan.rhs, arrays, plan.sum_type, batch_) {
    llvm::Value* const block = b.CreateUDiv(unit, b.Index(kBlockThreads));
    llvm::Value* const row_of_tiles = b.CreateUDiv(block, b.Index(plan.Tiles(plan.rhs)));
    lhs_ = {&plan.lhs, b.CreateURem(row_of_tiles, b.Index(plan.Tiles(plan.lhs))), {}};
    rhs_ = {&plan.rhs, b.CreateURem(block, b.Index(plan.Tiles(plan.rhs))), {}};
    for (Tile* tile : {&lhs_, &rhs_}) {
      tile->first = Scale(b, tile->first, tile->side->tile);
      tile->array = arrays.operand(tile->side->array);
      tile->shared = MakeShared(b, b.getInt8Ty(), 2 * tile->side->bytes());
    }
    lane_ = b.CreateAnd(group_.lane(), b.Index(31));
    llvm::Value* const warp = b.CreateUDiv(group_.lane(), b.Index(32));
    warp_row_ = Scale(b, b.CreateUDiv(warp, b.Index(kWarpColumns)), plan.warp_rows());
    warp_column_ = Scale(b, b.CreateURem(warp, b.Index(kWarpColumns)), plan.warp_columns());
  }

  void Emit() {
    const int64_t steps = (plan_.terms() + plan_.depth() - 1) / plan_.depth();
    Share(lhs_, Load(lhs_, b_.Index(0)), b_.Index(0));
    Share(rhs_, Load(rhs_, b_.Index(0)), b_.Index(0));
    group_.Meet();
    const int64_t count = plan_.warp_rows() * plan_.warp_columns() / 32;
    const Values none(static_cast<size_t>(count), ZeroElement(b_, plan_.sum_type).re);
    const Values sums =
        EmitLoopCarrying(b_, steps, none, [&](llvm::Value* step, const Values& carried) {
          // The last step loads its own tiles again, to no end.
          llvm::Value* const next = b_.CreateBinaryIntrinsic(
              llvm::Intrinsic::umin, b_.CreateNSWAdd(step, b_.Index(1)), b_.Index(steps - 1));
          llvm::Value* const term = Scale(b_, next, plan_.depth());
          const Pieces l = Load(lhs_, term), r = Load(rhs_, term);
          llvm::Value* const half = b_.CreateAnd(step, b_.Index(1));
          const Values all = AddTerms(carried, half);
          llvm::Value* const other = b_.CreateXor(half, b_.Index(1));
          Share(lhs_, l, other);
          Share(rhs_, r, other);
          group_.Meet();
          return all;
        });
    Store(sums);
  }

 private:
  struct Tile {
    const TensorSide* side = nullptr;
    llvm::Value* first = nullptr;  // of the tile, along `free`
    ArrayRef array;
    llvm::GlobalVariable* shared = nullptr;
  };
  // What a thread loads: elements in the form that memory has, by piece.
  using Pieces = std::vector<Values>;
  // Where a piece lies in its tile.
  struct Place {
    llvm::Value* free;
    llvm::Value* term;
  };

  Place PlaceOf(const TensorSide& side, int64_t k) {
    const int64_t line = (side.along_free ? side.tile : side.depth()) / side.piece;
    llvm::Value* const fast = Scale(b_, b_.CreateURem(group_.lane(), b_.Index(line)), side.piece);
    llvm::Value* const slow = b_.CreateNSWAdd(b_.CreateUDiv(group_.lane(), b_.Index(line)),
                                              b_.Index(k * (kBlockThreads / line)));
    return side.along_free ? Place{fast, slow} : Place{slow, fast};
  }

  // `at`, or the last place from which `count` elements lie before `size`; tiles of `tile`.
  llvm::Value* Inside(llvm::Value* at, int64_t size, int64_t count, int64_t tile) {
    if (size % tile == 0) return at;
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, b_.Index(size - count));
  }

  // The thread's pieces of the tile whose terms begin at `term`.
  Pieces Load(const Tile& tile, llvm::Value* term) {
    const TensorSide& side = *tile.side;
    Pieces pieces;
    for (int64_t k = 0; k < side.pieces(); ++k) {
      const Place place = PlaceOf(side, k);
      Values& elements = pieces.emplace_back();
      for (int64_t v = 0; v < side.piece; v += side.vector) {
        llvm::Value* const free =
            side.along_free ? b_.CreateNSWAdd(place.free, b_.Index(v)) : place.free;
        llvm::Value* const along =
            side.along_free ? place.term : b_.CreateNSWAdd(place.term, b_.Index(v));
        for (llvm::Value* const x : LoadVector(tile, free, b_.CreateNSWAdd(term, along)))
          elements.push_back(x);
      }
    }
    return pieces;
  }

  Values LoadVector(const Tile& tile, llvm::Value* free, llvm::Value* term) {
    const TensorSide& side = *tile.side;
    llvm::Value* const at_free = Inside(b_.CreateNSWAdd(tile.first, free), side.free.size,
                                        side.along_free ? side.vector : 1, side.tile);
    llvm::Value* const at_term =
        Inside(term, side.summed.size, side.along_free ? 1 : side.vector, side.depth());
    const MatrixElement place = side.At(b_, batch_, at_free, at_term);
    Values values = side.IsPlain() && side.vector * side.width() >= 4
                        ? LoadWords(tile, place.multi)
                        : LoadElements(tile, place.multi);
    const auto keep_if = [&](llvm::Value* condition) {
      for (llvm::Value*& x : values)
        x = b_.CreateSelect(condition, x, llvm::Constant::getNullValue(x->getType()));
    };
    if (side.summed.size % side.depth() != 0)
      keep_if(b_.CreateICmpULT(term, b_.Index(side.summed.size)));
    if (place.inside != nullptr) keep_if(place.inside);
    return values;
  }

  // Neighbours as words of 32 bits.
  Values LoadWords(const Tile& tile, const std::vector<llvm::Value*>& multi) {
    const int64_t bytes = tile.side->vector * tile.side->width();
    auto* const type =
        llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(bytes / 4));
    llvm::Value* const at =
        b_.CreateInBoundsGEP(MemoryType(b_.getContext(), tile.side->unit), tile.array.base,
                             LinearOffset(b_, ElementIndex::Multi(multi), tile.array.shape));
    llvm::LoadInst* const load =
        b_.CreateAlignedLoad(type, at, llvm::Align(static_cast<uint64_t>(bytes)));
    if (tile.array.never_written)
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(b_.getContext(), {}));
    Values words;
    for (int64_t k = 0; k < bytes / 4; ++k)
      words.push_back(b_.CreateExtractElement(load, static_cast<uint64_t>(k)));
    return words;
  }

  Values LoadElements(const Tile& tile, std::vector<llvm::Value*> multi) {
    const TensorSide& side = *tile.side;
    const DimGroup* const fast = side.Fastest();
    const ElementType from = tile.array.shape.type;
    Values values;
    for (int64_t k = 0; k < side.vector; ++k) {
      if (k > 0) {
        llvm::Value*& at = multi[fast->dims.back()];
        at = b_.CreateNSWAdd(at, b_.Index(1));
      }
      const ScalarValue x = LoadFrom(b_, tile.array, ElementIndex::Multi(multi));
      llvm::Value* const memory = ToMemoryForm(b_, side.unit, EmitConvert(b_, from, side.unit, x));
      values.push_back(b_.CreateBitCast(memory, b_.getIntNTy(8 * side.width())));
    }
    return values;
  }

  llvm::Value* SharedPlace(const Tile& tile, llvm::Value* byte) {
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), tile.shared, byte);
  }

  // The first byte of half `half` of a tile's shared memory.
  llvm::Value* HalfOf(const Tile& tile, llvm::Value* half) {
    return Scale(b_, half, tile.side->bytes());
  }

  void Share(const Tile& tile, const Pieces& pieces, llvm::Value* half) {
    const TensorSide& side = *tile.side;
    for (int64_t k = 0; k < side.pieces(); ++k) {
      const Place place = PlaceOf(side, k);
      const bool along_free = side.stored_along_free();
      llvm::Value* const line = along_free ? place.term : place.free;
      llvm::Value* const within = along_free ? place.free : place.term;
      llvm::Value* const byte = b_.CreateNSWAdd(
          HalfOf(tile, half),
          b_.CreateNSWAdd(Scale(b_, line, side.line_bytes()), Scale(b_, within, side.width())));
      if (side.along_free && !along_free)
        ShareTurned(tile, pieces[k], byte);
      else
        SharePiece(tile, pieces[k], byte);
    }
  }

  // Elements of one piece, next to each other.
  void SharePiece(const Tile& tile, const Values& elements, llvm::Value* byte) {
    auto* const type =
        llvm::FixedVectorType::get(elements[0]->getType(), static_cast<unsigned>(elements.size()));
    llvm::Value* all = llvm::PoisonValue::get(type);
    for (size_t k = 0; k < elements.size(); ++k) all = b_.CreateInsertElement(all, elements[k], k);
    b_.CreateAlignedStore(
        all, SharedPlace(tile, byte),
        llvm::Align(static_cast<uint64_t>(tile.side->piece * tile.side->width())));
  }

  // Elements of one piece, a line each.
  void ShareTurned(const Tile& tile, const Values& elements, llvm::Value* byte) {
    for (size_t k = 0; k < elements.size(); ++k)
      b_.CreateStore(elements[k],
                     SharedPlace(tile, b_.CreateNSWAdd(byte, b_.Index(static_cast<int64_t>(k) *
                                                                      tile.side->line_bytes()))));
  }

  // Bit `bit` of the lane's number, times 8.
  llvm::Value* EightIf(int bit) {
    return b_.CreateShl(b_.CreateAnd(b_.CreateLShr(lane_, b_.Index(bit)), b_.Index(1)), 3);
  }

  // The words of 8 x 8 matrices (of 16 bits; x 16 of bytes) from element (free, byte `term` of k)
  // on: `count` of them, whose number's bits 0 and 1 step by 8 along free or along k.
  Values LoadFragments(const Tile& tile, llvm::Value* half, llvm::Value* free, int64_t term,
                       int64_t count, bool free_first) {
    const TensorSide& side = *tile.side;
    llvm::Value* const row = b_.CreateAnd(lane_, b_.Index(7));
    llvm::Value* const first = EightIf(3);
    llvm::Value* const second = count == 4 ? EightIf(4) : b_.Index(0);
    llvm::Value* along_free = b_.CreateNSWAdd(free, free_first ? first : second);
    llvm::Value* along_term = free_first ? second : first;  // in units of two bytes
    const bool turned = side.stored_along_free();
    (turned ? along_term : along_free) = b_.CreateNSWAdd(turned ? along_term : along_free, row);
    along_term = b_.CreateNSWAdd(along_term, b_.Index(term / 2));
    llvm::Value* const line = turned ? along_term : along_free;
    llvm::Value* const within = turned ? along_free : along_term;
    llvm::Value* const byte =
        b_.CreateNSWAdd(HalfOf(tile, half),
                        b_.CreateNSWAdd(Scale(b_, line, side.line_bytes()), Scale(b_, within, 2)));
    return LoadMatrices(SharedPlace(tile, byte), count, turned);
  }

  Values LoadMatrices(llvm::Value* at, int64_t count, bool turned) {
    const auto id = count == 4
                        ? (turned ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                  : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16)
                        : (turned ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                                  : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16);
    llvm::Value* const all = b_.CreateIntrinsic(id, {at->getType()}, {at});
    Values words;
    for (unsigned k = 0; k < count; ++k) words.push_back(b_.CreateExtractValue(all, k));
    return words;
  }

  Values AddTerms(Values sums, llvm::Value* half) {
    for (int64_t term = 0; term < kLineBytes; term += kStepBytes) {
      std::vector<Values> x, y;
      for (int64_t row = 0; row < plan_.warp_rows(); row += 16)
        x.push_back(LoadFragments(lhs_, half, b_.CreateNSWAdd(warp_row_, b_.Index(row)), term, 4,
                                  /*free_first=*/true));
      for (int64_t column = 0; column < plan_.warp_columns(); column += 16) {
        const int64_t count = plan_.warp_columns() > 8 ? 4 : 2;
        const Values words =
            LoadFragments(rhs_, half, b_.CreateNSWAdd(warp_column_, b_.Index(column)), term, count,
                          /*free_first=*/false);
        y.push_back({words[0], words[1]});
        if (count == 4) y.push_back({words[2], words[3]});
      }
      for (size_t i = 0; i < x.size(); ++i)
        for (size_t j = 0; j < y.size(); ++j) Multiply(x[i], y[j], &sums[4 * (i * y.size() + j)]);
    }
    return sums;
  }

  llvm::Intrinsic::ID Instruction() const {
    using namespace llvm::Intrinsic;  // NOLINT(google-build-using-namespace)
    if (plan_.lhs.unit == ElementType::kF16) return nvvm_mma_m16n8k16_row_col_f32_f32;
    if (plan_.lhs.unit == ElementType::kBF16) return nvvm_mma_m16n8k16_row_col_bf16;
    const bool x = plan_.lhs.unit == ElementType::kS8, y = plan_.rhs.unit == ElementType::kS8;
    if (x) return y ? nvvm_mma_m16n8k32_row_col_s8 : nvvm_mma_m16n8k32_row_col_s8_u8;
    return y ? nvvm_mma_m16n8k32_row_col_u8_s8 : nvvm_mma_m16n8k32_row_col_u8;
  }

  void Multiply(const Values& x, const Values& y, llvm::Value** sums) {
    Values operands;
    for (const Values* words : {&x, &y})
      for (llvm::Value* const word : *words)
        operands.push_back(
            plan_.lhs.unit == ElementType::kF16
                ? b_.CreateBitCast(word, llvm::FixedVectorType::get(b_.getHalfTy(), 2))
                : word);
    for (int k = 0; k < 4; ++k) operands.push_back(sums[k]);
    llvm::Value* const all = b_.CreateIntrinsic(Instruction(), {}, operands);
    for (unsigned k = 0; k < 4; ++k) sums[k] = b_.CreateExtractValue(all, k);
  }

  // A thread has two neighbours of row lane / 4 and two of the eighth row after it.
  void Store(const Values& sums) {
    llvm::Value* const row =
        b_.CreateNSWAdd(b_.CreateNSWAdd(lhs_.first, warp_row_), b_.CreateUDiv(lane_, b_.Index(4)));
    llvm::Value* const column = b_.CreateNSWAdd(b_.CreateNSWAdd(rhs_.first, warp_column_),
                                                Scale(b_, b_.CreateAnd(lane_, b_.Index(3)), 2));
    const int64_t across = plan_.warp_columns() / 8;
    for (int64_t i = 0; i < plan_.warp_rows() / 8; ++i) {
      llvm::Value* const r = b_.CreateNSWAdd(row, b_.Index(8 * i));
      result_.IfRow(r, plan_.lhs.tile, [&] {
        for (int64_t j = 0; j < across; ++j)
          result_.StorePair(r, b_.CreateNSWAdd(column, b_.Index(8 * j)), plan_.rhs.tile,
                            &sums[4 * (i / 2 * across + j) + 2 * (i % 2)]);
      });
    }
  }

  const TensorPlan& plan_;
  Builder& b_;
  ThreadGroup group_;
  llvm::Value* const batch_;
  DotResult result_;
  llvm::Value* lane_ = nullptr;                               // of the warp
  llvm::Value *warp_row_ = nullptr, *warp_column_ = nullptr;  // of its part of the tile
  Tile lhs_, rhs_;
};

}  // namespace

bool AddTensorDotKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<TensorDotEmitter>(PlanTensorDot(request.expression), out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
