// Tiles of products on tensor cores: loads, fragments, matrix instructions.
//
// A tile lies in shared memory as in the array: lines along its fastest dimension, `ldmatrix.trans`
// where that is not k. Bytes have no such form and are turned when they are stored. Lines end with
// 16 spare bytes, so that the eight lines of a matrix lie in different banks. Past the ends of
// matrices, loads are moved inside and, along k, replaced by zeros.
#include "backends/cuda/tensor_tile_internal.h"

#include <algorithm>

#include "backends/cuda/ptx_code.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

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

}  // namespace

bool TensorTilePlan::ChooseTypes(ElementType result) {
  const ElementType x = lhs.operand->shape().type, y = rhs.operand->shape().type;
  if (IsByte(x) && IsByte(y)) {
    lhs.unit = x;
    rhs.unit = y;
    sum_type = ElementType::kS32;
    return IsInteger(result) && !IsSubByte(result) && BitWidth(result) <= 32;
  }
  lhs.unit = rhs.unit = UnitOf(x, y);
  return lhs.unit != ElementType::kInvalid &&
         (IsNarrowFloat(result) || result == ElementType::kF32);
}

void PlanTensorLoads(TensorSide& side) {
  const DimGroup* const fast = side.Fastest();
  side.along_free = fast != &side.summed;
  side.piece = std::min(16 / side.width(), side.tile * side.depth() / kBlockThreads);
  side.vector = fast != nullptr ? side.piece : 1;
  while (side.vector > 1 && fast->inner % side.vector != 0) side.vector /= 2;
  // Neighbours of one element each are neighbouring threads', so that their loads meet.
  if (side.vector == 1) side.piece = std::min(side.piece, 4 / side.width());
}

TensorTile::TensorTile(const TensorTilePlan& plan, Builder& b, llvm::Value* thread,
                       llvm::Value* batch, const ArrayRef& lhs, const ArrayRef& rhs,
                       SharedRows rows)
    : plan_(plan), b_(b), group_(b, kBlockThreads, thread), batch_(batch), rows_(rows) {
  const auto make_tile = [&](const TensorSide& side, const ArrayRef& array) {
    return Tile{&side, nullptr, array, MakeShared(b, b.getInt8Ty(), 2 * side.bytes())};
  };
  if (rows_.base == nullptr) lhs_ = make_tile(plan.lhs, lhs);
  rhs_ = make_tile(plan.rhs, rhs);
  const int64_t across = kBlockWarps / plan.warps_of_rows;
  lane_ = b.CreateAnd(thread, b.Index(kWarp - 1));
  llvm::Value* const warp = b.CreateUDiv(thread, b.Index(kWarp));
  warp_row_ = Scale(b, b.CreateUDiv(warp, b.Index(across)), plan.warp_rows());
  warp_column_ = Scale(b, b.CreateURem(warp, b.Index(across)), plan.warp_columns());
}

Values TensorTile::NoSums() {
  const int64_t count = plan_.warp_rows() * plan_.warp_columns() / kWarp;
  return Values(static_cast<size_t>(count), ZeroElement(b_, plan_.sum_type).re);
}

Values TensorTile::Sums(llvm::Value* first_row, llvm::Value* first_column) {
  return AddSums(first_row, first_column, b_.Index(0), b_.Index(Steps()), NoSums());
}

Values TensorTile::AddSums(llvm::Value* first_row, llvm::Value* first_column, llvm::Value* term,
                           llvm::Value* steps, const Values& sums) {
  MoveTo(first_row, first_column);
  const auto load_left = [&](llvm::Value* at) {
    return rows_.base == nullptr ? Load(lhs_, at) : Pieces();
  };
  const auto share = [&](const Pieces& left, const Pieces& right, llvm::Value* half) {
    if (rows_.base == nullptr) Share(lhs_, left, half);
    Share(rhs_, right, half);
    group_.Meet();
  };
  const Pieces left = load_left(term);
  share(left, Load(rhs_, term), b_.Index(0));
  llvm::Value* const last = b_.CreateNSWSub(steps, b_.Index(1));
  return EmitLoopCarrying(
      b_, b_.Index(0), steps, sums, [&](llvm::Value* step, const Values& carried) {
        // The last step loads its own tiles again, to no end.
        llvm::Value* const next = b_.CreateBinaryIntrinsic(
            llvm::Intrinsic::umin, b_.CreateNSWAdd(step, b_.Index(1)), last);
        llvm::Value* const at = b_.CreateNSWAdd(term, Scale(b_, next, plan_.depth()));
        const Pieces l = load_left(at), r = Load(rhs_, at);
        llvm::Value* const half = b_.CreateAnd(step, b_.Index(1));
        Values all = AddTerms(carried, half, Scale(b_, step, plan_.depth()));
        share(l, r, b_.CreateXor(half, b_.Index(1)));
        return all;
      });
}

// A thread has two neighbours of row lane / 4 and two of the eighth row after it.
void TensorTile::Visit(
    const Values& sums,
    absl::FunctionRef<void(llvm::Value* row, absl::Span<const Pair> pairs)> visit) {
  llvm::Value* const row =
      b_.CreateNSWAdd(b_.CreateNSWAdd(lhs_.first, warp_row_), b_.CreateUDiv(lane_, b_.Index(4)));
  llvm::Value* const column = b_.CreateNSWAdd(b_.CreateNSWAdd(rhs_.first, warp_column_),
                                              Scale(b_, b_.CreateAnd(lane_, b_.Index(3)), 2));
  const int64_t across = plan_.warp_columns() / 8;
  for (int64_t i = 0; i < plan_.warp_rows() / 8; ++i) {
    std::vector<Pair> pairs;
    for (int64_t j = 0; j < across; ++j)
      pairs.push_back({b_.CreateNSWAdd(column, b_.Index(8 * j)),
                       &sums[4 * (i / 2 * across + j) + 2 * (i % 2)]});
    visit(b_.CreateNSWAdd(row, b_.Index(8 * i)), pairs);
  }
}

Values TensorTile::ChangeRows(
    const Values& sums,
    absl::FunctionRef<llvm::Value*(llvm::Value* row, llvm::Value* sum)> change) {
  Values changed = sums;
  Visit(sums, [&](llvm::Value* row, absl::Span<const Pair> pairs) {
    for (const Pair& pair : pairs)
      for (int k = 0; k < 2; ++k)
        changed[static_cast<size_t>(pair.sums + k - sums.data())] = change(row, pair.sums[k]);
  });
  return changed;
}

TensorTile::Place TensorTile::PlaceOf(const TensorSide& side, int64_t k) {
  const int64_t line = (side.along_free ? side.tile : side.depth()) / side.piece;
  llvm::Value* const fast = Scale(b_, b_.CreateURem(group_.lane(), b_.Index(line)), side.piece);
  llvm::Value* const slow = b_.CreateNSWAdd(b_.CreateUDiv(group_.lane(), b_.Index(line)),
                                            b_.Index(k * (kBlockThreads / line)));
  return side.along_free ? Place{fast, slow} : Place{slow, fast};
}

llvm::Value* TensorTile::Inside(llvm::Value* at, int64_t size, int64_t count, int64_t tile) {
  if (size % tile == 0) return at;
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, b_.Index(size - count));
}

TensorTile::Pieces TensorTile::Load(const Tile& tile, llvm::Value* term) {
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

Values TensorTile::LoadVector(const Tile& tile, llvm::Value* free, llvm::Value* term) {
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

Values TensorTile::LoadWords(const Tile& tile, const std::vector<llvm::Value*>& multi) {
  const int64_t bytes = tile.side->vector * tile.side->width();
  auto* const type = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(bytes / 4));
  llvm::Value* const at =
      b_.CreateInBoundsGEP(MemoryType(b_.getContext(), tile.side->unit), tile.array.base,
                           LinearOffset(b_, ElementIndex::Multi(multi), tile.array.shape));
  llvm::LoadInst* const load =
      b_.CreateAlignedLoad(type, at, llvm::Align(static_cast<uint64_t>(bytes)));
  if (tile.array.never_written)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  Values words;
  for (int64_t k = 0; k < bytes / 4; ++k)
    words.push_back(b_.CreateExtractElement(load, static_cast<uint64_t>(k)));
  return words;
}

Values TensorTile::LoadElements(const Tile& tile, std::vector<llvm::Value*> multi) {
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

llvm::Value* TensorTile::SharedPlace(const Tile& tile, llvm::Value* byte) {
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), tile.shared, byte);
}

llvm::Value* TensorTile::HalfOf(const Tile& tile, llvm::Value* half) {
  return Scale(b_, half, tile.side->bytes());
}

void TensorTile::Share(const Tile& tile, const Pieces& pieces, llvm::Value* half) {
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

void TensorTile::SharePiece(const Tile& tile, const Values& elements, llvm::Value* byte) {
  auto* const type =
      llvm::FixedVectorType::get(elements[0]->getType(), static_cast<unsigned>(elements.size()));
  llvm::Value* all = llvm::PoisonValue::get(type);
  for (size_t k = 0; k < elements.size(); ++k) all = b_.CreateInsertElement(all, elements[k], k);
  b_.CreateAlignedStore(all, SharedPlace(tile, byte),
                        llvm::Align(static_cast<uint64_t>(tile.side->piece * tile.side->width())));
}

void TensorTile::ShareTurned(const Tile& tile, const Values& elements, llvm::Value* byte) {
  for (size_t k = 0; k < elements.size(); ++k)
    b_.CreateStore(elements[k],
                   SharedPlace(tile, b_.CreateNSWAdd(byte, b_.Index(static_cast<int64_t>(k) *
                                                                    tile.side->line_bytes()))));
}

llvm::Value* TensorTile::EightIf(int bit) {
  return b_.CreateShl(b_.CreateAnd(b_.CreateLShr(lane_, b_.Index(bit)), b_.Index(1)), 3);
}

Values TensorTile::LoadFragments(const Tile& tile, llvm::Value* half, llvm::Value* free,
                                 int64_t term, int64_t count, bool free_first) {
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

Values TensorTile::LoadLeft(llvm::Value* half, llvm::Value* row, llvm::Value* first_term,
                            int64_t term) {
  if (rows_.base == nullptr) return LoadFragments(lhs_, half, row, term, 4, /*free_first=*/true);
  llvm::Value* const line =
      b_.CreateNSWAdd(row, b_.CreateNSWAdd(b_.CreateAnd(lane_, b_.Index(7)), EightIf(3)));
  llvm::Value* const byte =
      b_.CreateNSWAdd(b_.CreateNSWAdd(Scale(b_, first_term, plan_.lhs.width()), b_.Index(term)),
                      Scale(b_, EightIf(4), 2));
  llvm::Value* const at = b_.CreateNSWAdd(Scale(b_, line, rows_.line_bytes), byte);
  return LoadMatrices(b_.CreateInBoundsGEP(b_.getInt8Ty(), rows_.base, at), 4, /*turned=*/false);
}

Values TensorTile::LoadMatrices(llvm::Value* at, int64_t count, bool turned) {
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

Values TensorTile::AddTerms(Values sums, llvm::Value* half, llvm::Value* first_term) {
  for (int64_t term = 0; term < kTensorLineBytes; term += kTensorStepBytes) {
    std::vector<Values> x, y;
    for (int64_t row = 0; row < plan_.warp_rows(); row += 16)
      x.push_back(LoadLeft(half, b_.CreateNSWAdd(warp_row_, b_.Index(row)), first_term, term));
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

llvm::Intrinsic::ID TensorTile::Instruction() const {
  using namespace llvm::Intrinsic;  // NOLINT(google-build-using-namespace)
  if (plan_.lhs.unit == ElementType::kF16) return nvvm_mma_m16n8k16_row_col_f32_f32;
  if (plan_.lhs.unit == ElementType::kBF16) return nvvm_mma_m16n8k16_row_col_bf16;
  const bool x = plan_.lhs.unit == ElementType::kS8, y = plan_.rhs.unit == ElementType::kS8;
  if (x) return y ? nvvm_mma_m16n8k32_row_col_s8 : nvvm_mma_m16n8k32_row_col_s8_u8;
  return y ? nvvm_mma_m16n8k32_row_col_u8_s8 : nvvm_mma_m16n8k32_row_col_u8;
}

void TensorTile::Multiply(const Values& x, const Values& y, llvm::Value** sums) {
  Values operands;
  for (const Values* words : {&x, &y})
    for (llvm::Value* const word : *words)
      operands.push_back(plan_.lhs.unit == ElementType::kF16
                             ? b_.CreateBitCast(word, llvm::FixedVectorType::get(b_.getHalfTy(), 2))
                             : word);
  for (int k = 0; k < 4; ++k) operands.push_back(sums[k]);
  llvm::Value* const all = b_.CreateIntrinsic(Instruction(), {}, operands);
  for (unsigned k = 0; k < 4; ++k) sums[k] = b_.CreateExtractValue(all, k);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
