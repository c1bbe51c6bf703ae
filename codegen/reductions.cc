// Elements of map and reduce: loops that carry accumulators. Those of windows: reduce_windows.cc.
//   reduce f32[8,64] -> f32[8]:  r = init; for k in 0..64: r = reducer(r, x[i, k])
// Narrow floats run in f32 and are rounded once at the end, unless the reducer rounds each step.
// Sums with a simple reducer may be reassociated; a maximum or minimum of floats runs on integer
// keys that order NaN as XLA does. Work: one application of the reducer for each element reduced.
#include "absl/container/flat_hash_set.h"
#include "codegen/accumulators.h"
#include "codegen/math/value.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"
#include "ops/evaluate/scalar_program.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// Results or steps in a row whose sums are written out, and steps between such rows of results
// whose sums are made four steps at a time where they are asked for one by one.
constexpr int64_t kFewInRow = 4, kFewBetween = 16;

}  // namespace

ElementEmitter::Results ElementEmitter::EmitMap(const Instruction* i, const ElementIndex& index) {
  Results arguments;
  for (int64_t o = 0; o < i->operand_count(); ++o) arguments.push_back(Operand(i, o, index));
  return Apply(*i->to_apply(), arguments);
}

const Shape& PartShape(const Instruction& reduce, size_t k) {
  return reduce.shape().IsTuple() ? reduce.shape().elements[k] : reduce.shape();
}

// The f32 values that a step gave, those of narrower parts rounded.
static void RoundStep(Builder& b, const Instruction& reduction, std::vector<ScalarValue>& values) {
  constexpr ElementType kWide = ElementType::kF32;
  for (size_t k = 0; k < values.size(); ++k)
    if (const ElementType type = PartShape(reduction, k).type; type == ElementType::kBF16)
      values[k] = EmitConvert(b, type, kWide, EmitRoundOwnResult(b, type, values[k]));
    else if (IsNarrowFloat(type))
      values[k] = EmitConvert(b, type, kWide, EmitConvert(b, kWide, type, values[k]));
}

std::vector<ScalarValue> EmitReductionStep(ElementEmitter& emitter, const Instruction& reduction,
                                           absl::Span<const ScalarValue> arguments) {
  const bool rounds = RoundsSteps(reduction),
             simple = SimpleReducer(*reduction.to_apply()).has_value();
  const bool was_wide = emitter.wide();
  emitter.set_wide(simple || !rounds);
  std::vector<ScalarValue> values = emitter.Apply(*reduction.to_apply(), arguments);
  emitter.set_wide(was_wide);
  if (rounds) RoundStep(emitter.builder(), reduction, values);
  return values;
}

// Integers of less than a byte are added and multiplied in their storage type and wrapped once:
// both operations commute with the reduction modulo 2^bits.
Accumulators::Accumulators(const Instruction& reduce, ElementEmitter& emitter, bool in_keys)
    : reduce_(&reduce),
      emitter_(&emitter),
      rounds_steps_(RoundsSteps(reduce)),
      reassociate_(!rounds_steps_ && SimpleReducer(*reduce.to_apply()).has_value()) {
  for (int64_t k = reduce.operand_count() / 2; k < reduce.operand_count(); ++k)
    initial_.push_back(emitter.Emit(reduce.operand(k), ElementIndex::Multi({})));
  const std::optional<Opcode> simple = SimpleReducer(*reduce.to_apply());
  wraps_late_ = IsInteger(PartShape(reduce, 0).type) && IsSubByte(PartShape(reduce, 0).type) &&
                (simple == Opcode::kAdd || simple == Opcode::kMultiply);
  if (!in_keys || rounds_steps_ || !initial_[0].re->getType()->isFloatingPointTy()) return;
  if (simple == Opcode::kMaximum) key_combiner_ = llvm::Intrinsic::smax;
  if (simple == Opcode::kMinimum) key_combiner_ = llvm::Intrinsic::smin;
}

// The total order key of x. NaN gets the key that wins: the largest for a maximum, the smallest for
// a minimum, so that it propagates.
llvm::Value* Accumulators::Key(llvm::Value* x) const {
  const Val value(emitter_->builder(), x);
  const bool first = key_combiner_ == llvm::Intrinsic::smin;
  const Val nan = value.With(llvm::ConstantFP::getNaN(x->getType(), first));
  return Select(Unordered(value, value), TotalOrderKey(nan), TotalOrderKey(value)).get();
}

llvm::Value* Accumulators::FromKey(llvm::Value* key) const {
  return FromTotalOrderKey(Val(emitter_->builder(), key)).get();
}

void Accumulators::AppendInitial(Values& carried) const {
  if (key_combiner_ != llvm::Intrinsic::not_intrinsic) {
    carried.push_back(Key(initial_[0].re));
    return;
  }
  const Values flat = Flatten(initial_);
  carried.insert(carried.end(), flat.begin(), flat.end());
}

std::vector<ScalarValue> Accumulators::Take(const Values& carried, size_t& used) const {
  if (key_combiner_ != llvm::Intrinsic::not_intrinsic) return {{FromKey(carried[used++])}};
  const size_t count = Flatten(initial_).size();
  const Values own(carried.begin() + used, carried.begin() + used + count);
  used += count;
  return Unflatten(own, initial_);
}

void Accumulators::AppendNext(const ElementIndex& index, const Values& carried, size_t& used,
                              Values& next) const {
  if (key_combiner_ != llvm::Intrinsic::not_intrinsic) {
    llvm::Value* key = Key(emitter_->Emit(reduce_->operand(0), index).re);
    next.push_back(Combine(carried[used++], key));
    return;
  }
  std::vector<ScalarValue> arguments = Take(carried, used);
  for (int64_t k = 0; k < reduce_->operand_count() / 2; ++k)
    arguments.push_back(rounds_steps_ ? emitter_->EmitTaken(reduce_->operand(k), index)
                                      : emitter_->Emit(reduce_->operand(k), index));
  const Values flat = CombineFlat(arguments);
  next.insert(next.end(), flat.begin(), flat.end());
}

Values Accumulators::CombineFlat(absl::Span<const ScalarValue> arguments) const {
  Builder& b = emitter_->builder();
  if (wraps_late_) {
    const bool adds = SimpleReducer(*reduce_->to_apply()) == Opcode::kAdd;
    return {adds ? b.CreateAdd(arguments[0].re, arguments[1].re)
                 : b.CreateMul(arguments[0].re, arguments[1].re)};
  }
  const Reassociate flags(b, reassociate_);
  return Flatten(EmitReductionStep(*emitter_, *reduce_, arguments));
}

// The value e with reducer(e, x) = x. For a sum of floats it is -0, since 0 + -0 is 0.
Values EmitLoopInBlocks(Builder& b, int64_t count, int64_t steps, const Values& carried,
                        const Values& identities,
                        absl::FunctionRef<Values(const Values&, const Values&)> combine,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  const auto add_block = [&](const Values& totals, llvm::Value* begin, int64_t size) {
    return combine(
        totals, EmitLoopCarrying(b, size, identities, [&](llvm::Value* step, const Values& values) {
          return body(b.CreateNSWAdd(begin, step), values);
        }));
  };
  if (count < 2 * steps) return add_block(carried, b.getInt64(0), count);
  const Values totals =
      EmitLoopCarrying(b, count / steps, carried, [&](llvm::Value* block, const Values& values) {
        return add_block(values, Scale(b, block, steps), steps);
      });
  const int64_t rest = count % steps;
  return rest == 0 ? totals : add_block(totals, b.getInt64(count - rest), rest);
}

bool Accumulators::IsSum() const {
  return !rounds_steps_ && initial_.size() == 1 && initial_[0].im == nullptr &&
         initial_[0].re->getType()->isFloatingPointTy() &&
         SimpleReducer(*reduce_->to_apply()) == Opcode::kAdd;
}

// Of signed integers.
static llvm::Value* IntegerIdentity(llvm::Type* type, Opcode reducer) {
  const unsigned bits = type->getIntegerBitWidth();
  switch (reducer) {
    case Opcode::kMultiply:
      return llvm::ConstantInt::get(type, 1);
    case Opcode::kMaximum:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    case Opcode::kMinimum:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits));
    default:
      return llvm::ConstantInt::get(type, 0);
  }
}

llvm::Value* Accumulators::IdentityElement() const {
  llvm::Type* type = initial_[0].re->getType();
  if (key_combiner_ != llvm::Intrinsic::not_intrinsic)
    return Key(llvm::ConstantFP::getInfinity(type, key_combiner_ == llvm::Intrinsic::smax));
  const Opcode reducer = *SimpleReducer(*reduce_->to_apply());
  if (type->isIntegerTy()) return IntegerIdentity(type, reducer);
  switch (reducer) {
    case Opcode::kMultiply:
      return llvm::ConstantFP::get(type, 1);
    case Opcode::kMaximum:
      return llvm::ConstantFP::getInfinity(type, /*Negative=*/true);
    case Opcode::kMinimum:
      return llvm::ConstantFP::getInfinity(type);
    default:
      return llvm::ConstantFP::getNegativeZero(type);
  }
}

llvm::Value* Accumulators::Combine(llvm::Value* x, llvm::Value* y) const {
  if (key_combiner_ != llvm::Intrinsic::not_intrinsic)
    return emitter_->builder().CreateBinaryIntrinsic(key_combiner_, x, y);
  const ScalarValue arguments[] = {{x}, {y}};
  return CombineFlat(arguments)[0];
}

// Accumulators of narrow floats are f32.
std::vector<ScalarValue> Accumulators::Results(const Values& carried, size_t& used) const {
  std::vector<ScalarValue> results = Take(carried, used);
  for (size_t k = 0; k < results.size(); ++k) {
    const ElementType type = emitter_->TypeOf(PartShape(*reduce_, k));
    if (IsNarrowFloat(type))
      results[k] = EmitConvert(emitter_->builder(), ElementType::kF32, type, results[k]);
    if (wraps_late_)
      results[k] = EmitConvert(emitter_->builder(), ElementType::kS8, type, results[k]);
  }
  return results;
}

// Steps [begin, end), one after the other.
static Values WriteOut(Builder& b, int64_t begin, int64_t end, Values carried,
                       absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  for (int64_t k = begin; k < end; ++k) carried = body(b.Index(k), carried);
  return carried;
}

// A sum of `count` steps, as a loop that adds the sums of four of them: the processor waits for one
// addition in four, and sees several sums at a time.
static Values SumInFours(Builder& b, int64_t count, const Values& initial, const Accumulators& sums,
                         absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  const Values zero = {sums.IdentityElement()};
  const Values carried = EmitLoopCarrying(
      b, count / 4, initial, [&](llvm::Value* block, const Values& values) -> Values {
        const auto step = [&](int64_t k, const Values& sum) {
          return body(b.CreateNSWAdd(Scale(b, block, 4), b.Index(k)), sum);
        };
        llvm::Value* first = step(1, step(0, zero))[0];
        llvm::Value* second = step(3, step(2, zero))[0];
        return {sums.Combine(values[0], sums.Combine(first, second))};
      });
  return WriteOut(b, count / 4 * 4, count, carried, body);
}

// Short loops are unrolled here rather than by LLVM where the caller asked for it (set_unroll).
Values ElementEmitter::Repeat(int64_t count, const Values& initial,
                              absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  if (!unroll_ || count > kMaxSteps) return EmitLoopCarrying(b_, count, initial, body);
  return WriteOut(b_, 0, count, initial, body);
}

// Whether every array that x is computed from has the dimensions and the layout of `like`: then an
// element is known by its position in memory, and indices need not be taken apart.
bool ElementEmitter::GoesByPosition(const Instruction* x, const Shape& like) const {
  std::vector<const Instruction*> todo = {x};
  absl::flat_hash_set<const Instruction*> seen;
  while (!todo.empty()) {
    const Instruction* i = todo.back();
    todo.pop_back();
    if (!seen.insert(i).second || i->shape().IsScalar()) continue;
    const bool alike = i->shape().IsArray() && i->shape().dims == like.dims &&
                       i->shape().MinorToMajor() == like.MinorToMajor();
    if (!alike) return false;
    if (arrays_.contains(i)) continue;
    const bool scalars = i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().IsScalar();
    if (generators_.contains(i) || !(scalars || HasTrait(i->opcode(), kElementwise))) return false;
    for (const Instruction* operand : i->operands()) todo.push_back(operand);
  }
  return true;
}

// How many of the reduced dimensions are the fastest ones in memory, in order; 0 or 1 gains
// nothing. f32[8,4,16] reduced over {1,2}: 2, so one loop of 64 steps replaces loops of 4 and 16.
size_t ElementEmitter::MergedDims(const Instruction& reduce, const DimVector& order) const {
  const Shape& from = reduce.operand(0)->shape();
  const DimVector minor = from.MinorToMajor();
  size_t merged = 0;
  while (merged < order.size() && minor[merged] == order[order.size() - 1 - merged]) ++merged;
  if (merged < 2) return 0;
  for (int64_t k = 0; k < reduce.operand_count() / 2; ++k)
    if (!GoesByPosition(reduce.operand(k), from)) return 0;
  return merged;
}

// The reduced dimensions, the one with the largest stride first: the innermost loop reads
// neighbours.
static DimVector SlowestFirst(const Shape& from, const DimVector& reduced) {
  DimVector order;
  const DimVector minor = from.MinorToMajor();
  for (size_t k = minor.size(); k-- > 0;)
    if (Contains(reduced, minor[k])) order.push_back(minor[k]);
  return order;
}

static int64_t SizeOf(const Shape& shape, const DimVector& dims, size_t first) {
  int64_t size = 1;
  for (size_t k = first; k < dims.size(); ++k) size *= shape.dims[dims[k]];
  return size;
}

// Rows of a few results between the steps, f32[16,16,3] over dimension 1: vectors of steps of one
// result read strided elements, and those of all results of the row whole vectors.
static bool IsFewColumns(const Shape& from, const DimVector& order) {
  const int64_t minor = from.MinorToMajor()[0];
  return order.back() != minor && from.dims[minor] <= kFewInRow;
}

// Few steps are the fastest in memory, f32[16,16,3] over dimension 2: written out, so that LLVM
// makes vectors of results and not of steps, each of which would end in a sum of lanes.
static bool IsShortRow(const Shape& from, const DimVector& order) {
  return order.size() == 1 && order[0] == from.MinorToMajor()[0] &&
         from.dims[order[0]] <= kFewInRow;
}

// Sums of all columns in one loop, where the elements of a row are asked for one after the other
// (IterationSpace::UnrollShortRows): the first one computes all, the others find theirs here.
//   f32[16,16,3] -> f32[16,3]: for k: (s0, s1, s2) += (x[i,k,0], x[i,k,1], x[i,k,2])
// LLVM makes vectors of steps, whose loads are contiguous and dealt to the columns. Few steps are
// no vector, and are left to the caller, as are columns that nobody computed.
ElementEmitter::Results ElementEmitter::EmitColumnSums(const Instruction& reduce,
                                                       const Accumulators& sums,
                                                       const DimVector& order,
                                                       std::vector<llvm::Value*> multi,
                                                       const ElementIndex& result) {
  constexpr int64_t kFewestSteps = 8;
  const Shape& from = reduce.operand(0)->shape();
  const int64_t minor = from.MinorToMajor()[0], columns = from.dims[minor];
  int64_t place = 0;  // of the columns among the result's dimensions
  for (int64_t d = 0; d < minor; ++d) place += Contains(order, d) ? 0 : 1;
  std::vector<llvm::Value*> at = result.multi;
  const auto key = [&](int64_t column) {
    at[place] = b_.Index(column);
    return Key{&reduce, ElementIndex::Multi(at)};
  };
  for (const auto& scope : scopes_)
    if (auto found = scope.find(Key{&reduce, ElementIndex::Multi(result.multi)});
        found != scope.end())
      return found->second;
  if (multi[minor] != b_.Index(0) || columns == 1 || from.dims[order.back()] < kFewestSteps)
    return {};
  Values initial;
  for (int64_t c = 0; c < columns; ++c) sums.AppendInitial(initial);
  std::function<Values(size_t, const Values&)> nest = [&](size_t level, const Values& carried) {
    if (level == order.size()) {
      Values next;
      size_t used = 0;
      for (int64_t c = 0; c < columns; ++c) {
        multi[minor] = b_.Index(c);
        sums.AppendNext(ElementIndex::Multi(multi), carried, used, next);
      }
      return next;
    }
    return EmitLoopCarrying(b_, from.dims[order[level]], carried,
                            [&](llvm::Value* step, const Values& inner) {
                              multi[order[level]] = step;
                              BeginScope();
                              const Values next = nest(level + 1, inner);
                              EndScope();
                              return next;
                            });
  };
  const Values carried = nest(0, initial);
  Results first;
  size_t used = 0;
  for (int64_t c = 0; c < columns; ++c) {
    const Results sum = sums.Results(carried, used);
    if (c == 0) first = sum;
    scopes_.back().emplace(key(c), sum);
  }
  return first;
}

ElementEmitter::Results ElementEmitter::EmitReduce(const Instruction* i,
                                                   const ElementIndex& index) {
  const Shape& from = i->operand(0)->shape();
  const auto& reduced = i->attr<DimensionsAttrs>().dimensions;
  const Shape& result_shape = i->shape().IsTuple() ? i->shape().elements[0] : i->shape();
  const ElementIndex full = WithMulti(b_, index, result_shape);
  std::vector<llvm::Value*> multi(from.rank());
  const DimVector order = SlowestFirst(from, reduced);
  for (int64_t d = 0, kept = 0; d < from.rank(); ++d)
    if (!Contains(reduced, d)) multi[d] = full.multi[kept++];

  if (order.empty()) {  // as XLA has it: nothing to reduce, the operands themselves
    Results elements;
    for (int64_t k = 0; k < i->operand_count() / 2; ++k)
      elements.push_back(Emit(i->operand(k), ElementIndex::Multi(multi)));
    return elements;
  }

  Accumulators accumulators(*i, *this, /*in_keys=*/true);
  const bool short_row = accumulators.IsSum() && IsShortRow(from, order);
  const int64_t minor = from.MinorToMajor()[0];
  if (accumulators.IsSum() && IsFewColumns(from, order) &&
      llvm::isa<llvm::ConstantInt>(multi[minor]) && SizeOf(from, order, 0) <= kLongSum) {
    if (Results sums = EmitColumnSums(*i, accumulators, order, multi, full); !sums.empty())
      return sums;
  }
  const bool short_column =
      accumulators.IsSum() && IsFewColumns(from, order) && SizeOf(from, order, 0) <= kFewBetween;
  if (short_column || short_row) accumulators.KeepOrder();
  Values initial;
  accumulators.AppendInitial(initial);
  // The fastest dimensions in memory are one loop where elements go by their position.
  const size_t outer = order.size() - MergedDims(*i, order);
  const auto step = [&](const ElementIndex& at, const Values& carried) {
    Values next;
    size_t used = 0;
    accumulators.AppendNext(at, carried, used, next);
    return next;
  };
  // Long sums in blocks, else a loop.
  const bool long_sum = accumulators.IsSum() && SizeOf(from, order, 0) > kLongSum;
  const auto loop = [&](size_t level, int64_t count, const Values& carried,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
    if (!long_sum || count < (level > 0 ? kFewSteps : 2 * kElementsOfASum))
      return short_column ? SumInFours(b_, count, carried, accumulators, body)
             : short_row  ? WriteOut(b_, 0, count, carried, body)
                          : Repeat(count, carried, body);
    return EmitLoopInBlocks(
        b_, count, kElementsOfASum, carried, {accumulators.IdentityElement()},
        [&](const Values& x, const Values& y) { return Values{accumulators.Combine(x[0], y[0])}; },
        body);
  };
  std::function<Values(size_t, const Values&)> nest = [&](size_t level,
                                                          const Values& carried) -> Values {
    if (level == order.size()) return step(ElementIndex::Multi(multi), carried);
    if (level == outer) {
      for (size_t k = level; k < order.size(); ++k) multi[order[k]] = b_.Index(0);
      llvm::Value* first = LinearOffset(b_, ElementIndex::Multi(multi), from);
      return loop(
          level, SizeOf(from, order, level), carried, [&](llvm::Value* at, const Values& inner) {
            BeginScope();
            const Values next = step(ElementIndex::Linear(b_.CreateNSWAdd(first, at)), inner);
            EndScope();
            return next;
          });
    }
    return loop(level, from.dims[order[level]], carried, [&](llvm::Value* at, const Values& inner) {
      multi[order[level]] = at;
      BeginScope();
      const Values next = nest(level + 1, inner);
      EndScope();
      return next;
    });
  };
  size_t used = 0;
  return accumulators.Results(nest(0, initial), used);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
