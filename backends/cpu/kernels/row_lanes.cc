// Row kernels in vectors: the loops over a row are emitted with vector types, as LLVM's vectorizer
// would make them, without the compile time that it takes to find them.
//
// A step handles plan.lanes elements; short steps are interleaved two or four times, since the sums
// of successive steps depend on each other. Rows of bf16 are loaded as words of two elements, even
// and odd ones apart, so that no shuffle is needed. The last step of a row that lanes do not divide
// is masked.
#include <algorithm>

#include "backends/cpu/kernels/row_emitter_internal.h"

namespace hlokit {
namespace {

// Steps of so little work (in instructions of the machine, roughly) that the next one would wait
// for their sums go four or two interleaved.
constexpr int64_t kShortStep = 3, kMediumStep = 8;
constexpr int64_t kRounding = 4;  // to bf16
constexpr int64_t kRegisterLanes = 16;
llvm::Type* VectorOf(llvm::Type* element, int64_t lanes) {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

// Lanes first, first + stride, ... of a vector.
llvm::Value* Lanes(Builder& b, llvm::Value* vector, int64_t first, int64_t count, int64_t stride) {
  std::vector<int> mask;
  for (int64_t k = 0; k < count; ++k) mask.push_back(static_cast<int>(first + k * stride));
  return b.CreateShuffleVector(vector, mask);
}

}  // namespace

// A vector of the value, if it is none yet.
llvm::Value* RowEmitter::Splat(llvm::Value* value) {
  if (value->getType()->isVectorTy()) return value;
  return b_.CreateVectorSplat(static_cast<unsigned>(plan_.lanes), value);
}

llvm::Value* RowEmitter::LanesBefore(llvm::Value* count) {
  std::vector<llvm::Constant*> numbers;
  for (int64_t k = 0; k < plan_.lanes; ++k) numbers.push_back(b_.getInt64(k));
  return b_.CreateICmpSLT(llvm::ConstantVector::get(numbers), Splat(count));
}

// Leaves and broadcasts give vectors: of the step's elements, or of its even or odd ones.
void RowEmitter::BindLanes() {
  for (const Expression::Leaf& leaf : plan_.e.leaves) {
    if (!form_.IsFull(leaf.instruction->shape())) continue;
    const ArrayRef array = arrays_.operand(leaf.operand);
    emitter_.Bind(leaf.instruction, [this, array](const ElementIndex&) {
      return plan_.pairs ? LoadAlternate(array, place_) : LoadOfRows(array);
    });
  }
  for (const Instruction* i : plan_.body) {
    if (!form_.IsFullBroadcast(*i) || plan_.covered.masks.contains(i)) continue;
    emitter_.Bind(i, [this, i](const ElementIndex&) {
      if (const auto known = splats_.find(i); known != splats_.end())
        return ScalarValue{known->second};
      return ScalarValue{Splat(Spread(i))};
    });
  }
  if (plan_.columns) BindColumnValues();
  BindMasks();
}

// The numbers of the lanes, or what is the same for all of them, as vectors: what is computed of
// these is vectors as well.
void RowEmitter::BindMasks() {
  for (const Instruction* i : plan_.covered.masks) {
    if (i->opcode() == Opcode::kIota) {
      const int64_t d = i->attr<IotaAttrs>().iota_dimension;
      emitter_.Bind(i, [this, i, d](const ElementIndex& index) {
        llvm::Type* const type = MemoryType(b_.getContext(), i->shape().type);
        llvm::Value* const first = Splat(b_.CreateTrunc(index.multi[d], type));
        if (plan_.columns || index.multi[d] != multi_[plan_.covered.dims.back()])
          return ScalarValue{first};
        std::vector<llvm::Constant*> lanes;  // of the even or the odd elements of pairs
        for (int64_t k = 0; k < plan_.lanes; ++k)
          lanes.push_back(llvm::ConstantInt::get(type, plan_.pairs ? 2 * k + odd_ : k));
        return ScalarValue{b_.CreateAdd(first, llvm::ConstantVector::get(lanes))};
      });
    } else if (i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().IsScalar()) {
      emitter_.Bind(i, [this, i](const ElementIndex&) {
        return ScalarValue{Splat(emitter_.Emit(i->operand(0), ElementIndex::Multi({})).re)};
      });
    }
  }
}

// What has an element a column is a vector.
void RowEmitter::BindColumnValues() {
  for (const Expression::Leaf& leaf : plan_.e.leaves) {
    const Shape& shape = leaf.instruction->shape();
    if (form_.IsFull(shape) || !form_.IsRowShaped(shape)) continue;
    const ArrayRef array = arrays_.operand(leaf.operand);
    emitter_.Bind(leaf.instruction, [this, array](const ElementIndex& index) {
      return LoadLanes(array, LinearOffset(b_, index, array.shape));
    });
  }
  for (const Instruction* i : plan_.body) {
    if (i->opcode() != Opcode::kBroadcast || !form_.IsRowShaped(i->shape()) ||
        !i->operand(0)->shape().IsScalar())
      continue;
    emitter_.Bind(i, [this, i](const ElementIndex&) {
      return ScalarValue{Splat(emitter_.Emit(i->operand(0), ElementIndex::Multi({})).re)};
    });
  }
}

bool RowEmitter::VariesInLanes(const Instruction& broadcast) const {
  const Shape& from = broadcast.operand(0)->shape();
  const DimVector& to = broadcast.attr<BroadcastAttrs>().dimensions;
  for (int64_t d = 0; d < from.rank(); ++d)
    if (from.dims[d] != 1 && to[d] == plan_.covered.dims.back()) return true;
  return false;
}

// What a broadcast to all rows gives the step's elements: a scalar where it is the same for them.
llvm::Value* RowEmitter::Spread(const Instruction* broadcast) {
  const Instruction* from = broadcast->operand(0);
  if (from->shape().IsScalar()) return emitter_.Emit(from, ElementIndex::Multi({})).re;
  std::vector<llvm::Value*> multi;
  const bool in_lanes = VariesInLanes(*broadcast);
  const DimVector& to = broadcast->attr<BroadcastAttrs>().dimensions;
  for (size_t d = 0; d < to.size(); ++d) {
    const bool varies = from->shape().dims[d] != 1;
    multi.push_back(varies ? multi_[to[d]] : b_.getInt64(0));
  }
  const ElementIndex index = ElementIndex::Multi(std::move(multi));
  const auto leaf = std::find_if(plan_.e.leaves.begin(), plan_.e.leaves.end(),
                                 [&](const Expression::Leaf& l) { return l.instruction == from; });
  if (leaf == plan_.e.leaves.end() || (!in_lanes && !plan_.columns))
    return emitter_.Emit(from, index).re;
  const ArrayRef array = arrays_.operand(leaf->operand);
  if (!in_lanes) return LoadFrom(b_, array, index).re;
  llvm::Value* place = LinearOffset(b_, index, array.shape);
  return (plan_.pairs ? LoadAlternate(array, place) : LoadLanes(array, place)).re;
}

// Where the lanes of a step lie in an array of all rows: rows that lie apart.
llvm::Value* RowEmitter::AddressesOfRows(const ArrayRef& array) {
  std::vector<llvm::Constant*> offsets;
  for (int64_t k = 0; k < plan_.lanes; ++k)
    offsets.push_back(b_.getInt32(static_cast<uint32_t>(k * form_.length)));
  llvm::Type* element = MemoryType(b_.getContext(), array.shape.type);
  llvm::Value* first = b_.CreateInBoundsGEP(element, array.base, place_);
  return b_.CreateInBoundsGEP(element, first, llvm::ConstantVector::get(offsets));
}

ScalarValue RowEmitter::LoadOfRows(const ArrayRef& array) {
  if (!plan_.covered.across_rows) return LoadLanes(array, place_);
  const ElementType type = array.shape.type;
  llvm::Type* vector = VectorOf(MemoryType(b_.getContext(), type), plan_.lanes);
  const llvm::Align align(ByteWidth(type));
  return FromMemoryForm(b_, type,
                        b_.CreateMaskedGather(vector, AddressesOfRows(array), align, mask_));
}

void RowEmitter::StoreOfRows(const ArrayRef& array, llvm::Value* value) {
  if (!plan_.covered.across_rows) return StoreVector(array, place_, value);
  b_.CreateMaskedScatter(value, AddressesOfRows(array), llvm::Align(ByteWidth(array.shape.type)),
                         mask_);
}

ScalarValue RowEmitter::LoadLanes(const ArrayRef& array, llvm::Value* place) {
  const ElementType type = array.shape.type;
  llvm::Type* element = MemoryType(b_.getContext(), type);
  llvm::Type* vector = VectorOf(element, plan_.lanes);
  llvm::Value* address = b_.CreateInBoundsGEP(element, array.base, place);
  const llvm::Align align(ByteWidth(type));
  if (mask_ != nullptr)
    return FromMemoryForm(b_, type, b_.CreateMaskedLoad(vector, address, align, mask_));
  llvm::LoadInst* load = b_.CreateAlignedLoad(vector, address, align);
  if (array.never_written)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return FromMemoryForm(b_, type, load);
}

// The even or the odd ones of twice as many elements. Those of bf16 come out of words, in whose low
// half the even one lies.
ScalarValue RowEmitter::LoadAlternate(const ArrayRef& array, llvm::Value* place) {
  const ElementType type = array.shape.type;
  const bool in_words = type == ElementType::kBF16;
  llvm::Value*& loaded = words_[{array.base, place}];
  if (loaded == nullptr) {
    llvm::Type* element = MemoryType(b_.getContext(), type);
    llvm::Type* vector =
        in_words ? VectorOf(b_.getInt32Ty(), plan_.lanes) : VectorOf(element, 2 * plan_.lanes);
    llvm::LoadInst* load = b_.CreateAlignedLoad(
        vector, b_.CreateInBoundsGEP(element, array.base, place), llvm::Align(ByteWidth(type)));
    if (array.never_written)
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(b_.getContext(), {}));
    loaded = load;
  }
  if (!in_words) return FromMemoryForm(b_, type, Lanes(b_, loaded, odd_, plan_.lanes, 2));
  llvm::Value* bits = odd_ == 0 ? b_.CreateShl(loaded, 16) : b_.CreateAnd(loaded, 0xffff0000u);
  return {b_.CreateBitCast(bits, VectorOf(b_.getFloatTy(), plan_.lanes))};
}

void RowEmitter::EmitSplats(int pass) {
  const auto needed = NeededIn(plan_, pass);
  for (const Instruction* i : plan_.body)
    if (form_.IsFullBroadcast(*i) && needed.contains(i) && !splats_.contains(i) &&
        !plan_.covered.masks.contains(i) && !(plan_.only_reduces() && VariesInLanes(*i)) &&
        (i->operand(0)->shape().IsScalar() || !form_.IsAlongRow(*i)))
      splats_[i] = Splat(Spread(i));
  for (const Instruction* i : plan_.body) {
    if (!DividesByRowValue(i) || !needed.contains(i) || divisors_.contains(i)) continue;
    divisors_[i] =
        PrepareDivisor(b_, emitter_.EmitTaken(i->operand(1), ElementIndex::Multi(multi_)).re);
  }
}

int64_t RowEmitter::Unrolled(int pass) const {
  if (plan_.columns) return 1;
  int64_t work = 0;
  for (const RowForm::Reduction& r : form_.reductions) work += r.pass == pass ? 1 : 0;
  for (const Instruction* i : NeededIn(plan_, pass)) {
    if (IsCostly(*i)) return 1;
    const bool moves = i->opcode() == Opcode::kBroadcast || i->opcode() == Opcode::kConvert;
    if (!form_.IsFull(i->shape()) || moves) continue;
    work += i->shape().type == ElementType::kBF16 ? 1 + kRounding : 1;
  }
  int64_t steps = work <= kShortStep ? 4 : work <= kMediumStep ? 2 : 1;
  steps = std::max<int64_t>(1, steps * kRegisterLanes / plan_.step());
  if (pass + 1 == form_.passes && !plan_.full_roots.empty()) steps = 1;
  while (plan_.covered.count / plan_.step() % steps != 0) steps /= 2;
  return steps;
}

Values RowEmitter::EmitLanes(int pass, const std::vector<Accumulators>& reductions) {
  const int64_t unrolled = Unrolled(pass);
  const size_t parts = static_cast<size_t>(unrolled) * (plan_.pairs ? 2 : 1);
  Values carried;
  for (size_t p = 0; p < parts; ++p)
    for (const Accumulators& r : reductions) {
      Values first;
      if (plan_.columns)
        r.AppendInitial(first);
      else
        first = {r.IdentityElement()};
      carried.push_back(Splat(first[0]));
    }
  const auto outside = multi_;
  const Values sums = EmitNest(0, b_.getInt64(0), carried, reductions,
                               [&](llvm::Value* position, const Values& values) {
                                 return EmitPieces(pass, reductions, position, values, unrolled);
                               });
  multi_ = outside;
  return Collect(reductions, sums, parts);
}

// Loops over what of a row lanes do not cover; `body` gets the place among that.
Values RowEmitter::EmitNest(size_t level, llvm::Value* position, const Values& carried,
                            const std::vector<Accumulators>& reductions,
                            absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  if (level == plan_.covered.outer.size()) return body(position, carried);
  const int64_t d = plan_.covered.outer[level], size = form_.full.dims[d];
  return EmitBlocks(
      reductions, size, level > 0, carried, [&](llvm::Value* step, const Values& inner) {
        multi_[d] = step;
        llvm::Value* next = level == 0 ? step : b_.CreateNSWAdd(Scale(b_, position, size), step);
        return EmitNest(level + 1, next, inner, reductions, body);
      });
}

// One step of columns; of a row the whole of what lanes cover.
Values RowEmitter::EmitPieces(int pass, const std::vector<Accumulators>& reductions,
                              llvm::Value* position, const Values& carried, int64_t unrolled) {
  llvm::Value* start = plan_.covered.outer.empty()
                           ? row_start_
                           : LinearOffset(b_, ElementIndex::Multi(multi_), form_.full);
  if (plan_.columns) {
    at_ = Scale(b_, position, plan_.lanes);
    place_ = start;
    Values next;
    size_t used = 0;
    EmitStep(pass, reductions, carried, used, next);
    return next;
  }
  llvm::Value* before = Scale(b_, position, plan_.covered.count);
  return EmitBlocks(
      reductions, plan_.covered.count / plan_.step() / unrolled, !plan_.covered.outer.empty(),
      carried, [&](llvm::Value* group, const Values& values) {
        Values next;
        size_t used = 0;
        llvm::Value* first = Scale(b_, group, plan_.step() * unrolled);
        for (int64_t u = 0; u < unrolled; ++u) {
          llvm::Value* at = u == 0 ? first : b_.CreateNSWAdd(first, b_.getInt64(u * plan_.step()));
          // An instruction of its own, by which masks tell it from other indices.
          const bool marked = !plan_.covered.masks.empty() && llvm::isa<llvm::Constant>(at);
          multi_[plan_.covered.dims.back()] = marked ? b_.CreateFreeze(at) : at;
          at_ = plan_.covered.outer.empty() ? at : b_.CreateNSWAdd(before, at);
          place_ = b_.CreateNSWAdd(start, at);
          EmitStep(pass, reductions, values, used, next);
        }
        return next;
      });
}

void RowEmitter::EmitStep(int pass, const std::vector<Accumulators>& reductions,
                          const Values& carried, size_t& used, Values& next) {
  words_.clear();
  std::vector<llvm::Value*> low(plan_.full_roots.size());
  for (odd_ = 0; odd_ < (plan_.pairs ? 2 : 1); ++odd_) {
    emitter_.BeginScope();
    const ElementIndex index = ElementIndex::Multi(multi_, place_);
    StoreLanes(pass, index, low);
    for (const Accumulators& r : reductions) r.AppendNext(index, carried, used, next);
    emitter_.EndScope();
  }
}

void RowEmitter::StoreVector(const ArrayRef& array, llvm::Value* place, llvm::Value* value) {
  llvm::Type* element = MemoryType(b_.getContext(), array.shape.type);
  llvm::Value* address = b_.CreateInBoundsGEP(element, array.base, place);
  const llvm::Align align(ByteWidth(array.shape.type));
  if (mask_ != nullptr)
    b_.CreateMaskedStore(value, address, align, mask_);
  else
    b_.CreateAlignedStore(value, address, align);
}

// Stores what is kept from this pass on, and the roots in the last one: of pairs the even elements
// wait in `low` for the odd ones.
void RowEmitter::StoreLanes(int pass, const ElementIndex& index, std::vector<llvm::Value*>& low) {
  for (size_t k = 0; k < plan_.kept.size(); ++k)
    if (plan_.kept[k].pass == pass)
      StoreVector(scratch_[k], b_.CreateNSWAdd(at_, b_.getInt64(odd_ * plan_.lanes)),
                  ToMemoryForm(b_, scratch_[k].shape.type, KeptValue(k, index)));
  if (pass + 1 != form_.passes) return;
  std::vector<llvm::Value*> values;  // all reads before any write
  for (size_t r : plan_.full_roots) {
    const ScalarValue value = emitter_.EmitRounded(plan_.e.roots[r], index, plan_.e.root_leaves[r]);
    values.push_back(plan_.pairs
                         ? b_.CreateBitCast(value.re, VectorOf(b_.getInt32Ty(), plan_.lanes))
                         : ToMemoryForm(b_, plan_.e.shapes[r].type, value));
  }
  for (size_t k = 0; k < values.size(); ++k) {
    const ArrayRef array = arrays_.result(static_cast<int64_t>(plan_.full_roots[k]));
    if (!plan_.pairs) {
      StoreOfRows(array, values[k]);
    } else if (odd_ == 0) {
      low[k] = b_.CreateLShr(values[k], 16);
    } else {
      StoreVector(array, place_, b_.CreateOr(low[k], values[k]));
    }
  }
}

// One value of each reduction from its `count` vectors: these first, then their halves.
Values RowEmitter::Collect(const std::vector<Accumulators>& reductions, const Values& parts,
                           size_t count) {
  if (plan_.columns) return parts;
  Values results;
  for (size_t r = 0; r < reductions.size(); ++r) {
    std::vector<llvm::Value*> sums;
    for (size_t p = 0; p < count; ++p) sums.push_back(parts[p * reductions.size() + r]);
    for (; sums.size() > 1; sums.pop_back()) {
      llvm::Value*& first = sums[sums.size() - 2];
      first = reductions[r].Combine(first, sums.back());
    }
    llvm::Value* sum = sums[0];
    for (int64_t lanes = plan_.lanes / 2; lanes > 0; lanes /= 2)
      sum = reductions[r].Combine(Lanes(b_, sum, 0, lanes, 1), Lanes(b_, sum, lanes, lanes, 1));
    sum = b_.CreateExtractElement(sum, uint64_t{0});
    Values initial;
    reductions[r].AppendInitial(initial);
    results.push_back(reductions[r].Combine(initial[0], sum));
  }
  return results;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
