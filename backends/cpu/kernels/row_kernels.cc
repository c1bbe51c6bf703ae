// Row kernels: softmax, layer norm and the like, where reductions of a row feed elementwise work on
// the same row (analysis/row_form). A row is read from memory once; its passes find it in the
// cache.
//   pass 0: m = max of the row;  pass 1: s = sum of exp(x - m);  pass 2: exp(x - m) * (1 / s)
// A unit is a row, or a tile of columns where the reduced dimension is not the fastest. Expensive
// values that several passes need (exp(x - m)) are stored in scratch memory on the stack
// (RowPlan::kept). Quotients by row values are multiplications by reciprocals
// (codegen/math/quotient).
#include <algorithm>

#include "backends/cpu/kernels/row_emitter_internal.h"
#include "codegen/math/functions.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

// A block of a long sum has so many vectors; kElementsOfASum where LLVM makes vectors of the loop.
constexpr int64_t kVectorsOfASum = 256;
constexpr int64_t kMinQuotients = 4;  // by one divisor that repay its reciprocal

}  // namespace

RowEmitter::RowEmitter(const RowPlan& plan, Builder& b, KernelArrays& arrays)
    : plan_(plan),
      form_(plan.form),
      b_(b),
      arrays_(arrays),
      emitter_(b),
      tile_(plan.tiles, emitter_) {
  emitter_.set_excess(true);
  emitter_.set_plain_nans(HasPlainNaNs(plan.e));
  BindLeaves(emitter_, plan.e, arrays);
  if (plan.lanes > 0) BindLanes();
  BindQuotients();
  BindExponentials();
  AllocateScratch();
}

void RowEmitter::AllocateScratch() {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  for (const RowPlan::Kept& kept : plan_.kept) {
    const int64_t size = form_.length * (plan_.columns ? plan_.lanes : 1);
    const Shape row = Shape::Array(emitter_.TypeOf(kept.instruction->shape()), {size});
    llvm::Type* type = MemoryType(b_.getContext(), row.type);
    llvm::AllocaInst* array = b_.CreateAlloca(type, b_.getInt64(size));
    array->setAlignment(llvm::Align(64));
    scratch_.push_back({array, row});
  }
}

ScalarValue RowEmitter::KeptValue(size_t k, const ElementIndex& index) {
  const RowPlan::Kept& kept = plan_.kept[k];
  return kept.rounded ? emitter_.EmitTaken(kept.instruction, index)
                      : emitter_.Emit(kept.instruction, index);
}

void RowEmitter::EmitUnit(llvm::Value* unit) {
  if (plan_.only_reduces())
    EmitTile(unit);
  else
    EmitRow(unit);
}

void RowEmitter::EmitRow(llvm::Value* unit) {
  FindPlace(unit);
  divisors_.clear();
  splats_.clear();
  emitter_.BeginScope();
  for (int pass = 0; pass < form_.passes; ++pass) {
    EmitRowValues(pass);
    EmitPass(pass);
  }
  StoreRowRoots();
  emitter_.EndScope();
}

void RowEmitter::StoreRowRoots() {
  for (size_t r : plan_.row_roots) {
    const ElementIndex index = ElementIndex::Linear(row_);
    const ScalarValue value = emitter_.EmitRounded(
        plan_.e.roots[r], WithMulti(b_, index, plan_.e.shapes[r]), plan_.e.root_leaves[r]);
    const ArrayRef array = arrays_.result(static_cast<int64_t>(r));
    if (plan_.columns)
      StoreVector(array, row_, ToMemoryForm(b_, array.shape.type, value));
    else
      StoreTo(b_, array, index, value);
  }
}

void RowEmitter::FindPlace(llvm::Value* unit) {
  multi_.assign(form_.full.rank(), b_.getInt64(0));
  DimVector numbered = form_.kept;
  row_ = unit;
  if (plan_.columns) {
    numbered.resize(numbered.size() - plan_.covered.dims.size());
    llvm::Value* tiles = b_.getInt64(plan_.tiles.count());
    llvm::Value* tile = numbered.empty() ? unit : b_.CreateURem(unit, tiles);
    llvm::Value* first = Scale(b_, tile, plan_.tiles.width);
    unit = numbered.empty() ? b_.getInt64(0) : b_.CreateUDiv(unit, tiles);
    multi_[plan_.covered.dims.back()] = first;  // of all that lanes cover, walked as one
    row_ = b_.CreateNSWAdd(Scale(b_, unit, plan_.covered.count), first);
    if (plan_.cuts_off() && !plan_.only_reduces())
      mask_ = LanesBefore(b_.CreateNSWSub(b_.getInt64(plan_.covered.count), first));
  }
  row_start_ = form_.IsContiguous() ? Scale(b_, unit, form_.length) : nullptr;
  for (size_t k = numbered.size(); k-- > 0;) {
    const int64_t d = numbered[k];
    if (k == 0) {
      multi_[d] = unit;
      break;
    }
    llvm::Value* size = b_.getInt64(form_.full.dims[d]);
    multi_[d] = b_.CreateURem(unit, size);
    unit = b_.CreateUDiv(unit, size);
  }
}

// Values of the whole row come before the loop that reads them.
void RowEmitter::EmitRowValues(int pass) {
  if (plan_.lanes > 0) {
    EmitSplats(pass);
    return;
  }
  const ElementIndex somewhere = ElementIndex::Multi(multi_);
  const auto needed = NeededIn(plan_, pass);
  for (const Instruction* i : plan_.body)
    if (Spreads(i) && needed.contains(i)) emitter_.Emit(i, somewhere);
  for (const Instruction* i : plan_.body)
    if (DividesByRowValue(i) && needed.contains(i) && !divisors_.contains(i))
      divisors_[i] = PrepareDivisor(b_, emitter_.EmitTaken(i->operand(1), somewhere).re);
}

// True for a value of the whole row, given to each of its elements.
bool RowEmitter::Spreads(const Instruction* i) const {
  return form_.IsFullBroadcast(*i) && plan_.dependent.contains(i);
}

bool RowEmitter::DividesByRowValue(const Instruction* i) const {
  const ElementType type = i->shape().IsArray() ? i->shape().type : ElementType::kInvalid;
  // Dividing columns costs a division for each vector of divisors too, which neighbouring rows of a
  // few elements repay.
  const bool repays = plan_.covered.across_rows && form_.length >= kMinQuotients;
  if (plan_.columns && !repays && type != ElementType::kBF16) return false;
  return i->opcode() == Opcode::kDivide && Spreads(i->operand(1)) &&
         i->shape().dims == form_.full.dims &&
         (type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kBF16);
}

void RowEmitter::BindQuotients() {
  for (const Instruction* i : plan_.body) {
    if (!DividesByRowValue(i)) continue;
    emitter_.Bind(i, [this, i](const ElementIndex& index) {
      llvm::Value* x = emitter_.EmitTaken(i->operand(0), index).re;
      const Divisor& divisor = divisors_.at(i);
      return ScalarValue{i->shape().type == ElementType::kBF16 ? EmitRoughQuotient(b_, x, divisor)
                                                               : EmitQuotient(b_, x, divisor)};
    });
  }
}

// True for x less the greatest of its row.
static bool IsUpToZero(const Instruction& difference) {
  if (difference.opcode() != Opcode::kSubtract) return false;
  const Instruction* spread = difference.operand(1);
  if (spread->opcode() != Opcode::kBroadcast) return false;
  const Instruction* greatest = spread->operand(0);
  if (greatest->opcode() != Opcode::kReduce || greatest->operand_count() != 2 ||
      greatest->operand(0) != difference.operand(0) ||
      SimpleReducer(*greatest->to_apply()) != Opcode::kMaximum)
    return false;
  DimVector kept;
  for (int64_t d = 0; d < difference.shape().rank(); ++d)
    if (!Contains(greatest->attr<DimensionsAttrs>().dimensions, d)) kept.push_back(d);
  return spread->attr<BroadcastAttrs>().dimensions == kept;
}

// Those of a softmax are of numbers up to 0.
void RowEmitter::BindExponentials() {
  for (const Instruction* i : plan_.body) {
    if (i->opcode() != Opcode::kExponential || !IsUpToZero(*i->operand(0))) continue;
    if (emitter_.TypeOf(i->shape()) != ElementType::kF32) continue;
    emitter_.Bind(i, [this, i](const ElementIndex& index) {
      const Val x(b_, emitter_.EmitTaken(i->operand(0), index).re);
      return ScalarValue{ExpOfNegative(x).get()};
    });
  }
}

void RowEmitter::EmitPass(int pass) {
  std::vector<Accumulators> reductions;
  for (const RowForm::Reduction& r : form_.reductions)
    if (r.pass == pass) reductions.emplace_back(*r.reduce, emitter_, /*in_keys=*/true);
  if (plan_.columns)
    for (Accumulators& r : reductions) r.KeepOrder();
  if (reductions.empty() && plan_.full_roots.empty()) return;
  Finish(pass, reductions,
         plan_.lanes > 0 ? EmitLanes(pass, reductions) : EmitElements(pass, reductions));
}

Values RowEmitter::EmitElements(int pass, const std::vector<Accumulators>& reductions) {
  Values carried;
  for (const Accumulators& r : reductions) r.AppendInitial(carried);
  return EmitLoops(
      0, b_.getInt64(0), carried, reductions, [&](llvm::Value* at, const Values& values) {
        const ElementIndex index = ElementIndex::Multi(multi_, b_.CreateNSWAdd(row_start_, at));
        for (size_t k = 0; k < plan_.kept.size(); ++k)
          if (plan_.kept[k].pass == pass)
            StoreTo(b_, scratch_[k], ElementIndex::Linear(at), KeptValue(k, index));
        Values next;
        size_t used = 0;
        for (const Accumulators& r : reductions) r.AppendNext(index, values, used, next);
        if (pass + 1 == form_.passes) StoreRoots(index);
        return next;
      });
}

// Reductions, and values kept, become something to read for later passes.
void RowEmitter::Finish(int pass, const std::vector<Accumulators>& reductions,
                        const Values& results) {
  size_t used = 0;
  for (const Accumulators& r : reductions) {
    const std::vector<ScalarValue> parts = r.Results(results, used);
    emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
  }
  for (size_t k = 0; k < plan_.kept.size(); ++k) {
    if (plan_.kept[k].pass != pass) continue;
    const auto kept = [this, k](const ElementIndex& index) {
      if (plan_.lanes > 0)
        return LoadLanes(scratch_[k], b_.CreateNSWAdd(at_, b_.getInt64(odd_ * plan_.lanes)));
      return LoadFrom(
          b_, scratch_[k],
          ElementIndex::Linear(b_.CreateNSWSub(LinearOffset(b_, index, form_.full), row_start_)));
    };
    if (plan_.kept[k].rounded)
      emitter_.BindRounded(plan_.kept[k].instruction, kept);
    else
      emitter_.Bind(plan_.kept[k].instruction, kept);
  }
}

void RowEmitter::StoreRoots(const ElementIndex& index) {
  std::vector<ScalarValue> values;  // all reads before any write
  for (size_t r : plan_.full_roots)
    values.push_back(emitter_.EmitRounded(plan_.e.roots[r], index, plan_.e.root_leaves[r]));
  for (size_t k = 0; k < values.size(); ++k)
    StoreTo(b_, arrays_.result(plan_.full_roots[k]), index, values[k]);
}

// A loop that carries values of each reduction. Sums over long rows are made in blocks of steps,
// and `inside` another loop in one of all steps, if they are not few: a sum's rounding then grows
// with the length of a block and the number of blocks, not with the row.
//   for block: t = identity; for 256 steps s: t += x[s]; sum += t
Values RowEmitter::EmitBlocks(const std::vector<Accumulators>& reductions, int64_t count,
                              bool inside, const Values& carried,
                              absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  const bool sums = std::all_of(reductions.begin(), reductions.end(),
                                [](const Accumulators& r) { return r.IsSum(); });
  const int64_t steps = plan_.lanes > 0 ? kVectorsOfASum : kElementsOfASum;
  const bool many = form_.length > kLongSum && count >= (inside ? kFewSteps : 2 * steps);
  if (!many || !sums || reductions.empty()) return EmitLoopCarrying(b_, count, carried, body);
  Values identities;
  for (size_t p = 0; p < carried.size(); ++p) {
    llvm::Value* identity = reductions[p % reductions.size()].IdentityElement();
    identities.push_back(plan_.lanes > 0 ? Splat(identity) : identity);
  }
  const auto combine = [&](const Values& totals, Values block) {
    for (size_t p = 0; p < block.size(); ++p)
      block[p] = reductions[p % reductions.size()].Combine(totals[p], block[p]);
    return block;
  };
  return EmitLoopInBlocks(b_, count, steps, carried, identities, combine, body);
}

// Loops over the dimensions of a row; `body` gets the place in the row.
Values RowEmitter::EmitLoops(size_t level, llvm::Value* at, const Values& carried,
                             const std::vector<Accumulators>& reductions,
                             absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  if (level == form_.within.size()) return body(at, carried);
  const int64_t d = form_.within[level];
  int64_t stride = 1;
  for (size_t k = level + 1; k < form_.within.size(); ++k)
    stride *= form_.full.dims[form_.within[k]];
  llvm::Value* outside = multi_[d];
  const Values results =
      EmitBlocks(reductions, form_.full.dims[d], level > 0, carried,
                 [&](llvm::Value* step, const Values& inner) {
                   multi_[d] = step;
                   emitter_.BeginScope();
                   llvm::Value* next = level == 0 ? Scale(b_, step, stride)
                                                  : b_.CreateNSWAdd(at, Scale(b_, step, stride));
                   const Values values = EmitLoops(level + 1, next, inner, reductions, body);
                   emitter_.EndScope();
                   return values;
                 });
  multi_[d] = outside;
  return results;
}

bool AddRowKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const std::optional<RowPlan> plan = PlanRows(request);
  if (!plan.has_value()) return false;
  Kernel kernel;
  kernel.units = plan->units();
  kernel.unit_cost =
      static_cast<double>(plan->body.size()) *
      static_cast<double>(plan->form.length * (plan->columns ? plan->tiles.width : 1));
  kernel.emit = [plan = *plan](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                               llvm::Value* end) {
    RowEmitter rows(plan, b, arrays);
    EmitLoop(b, begin, end, [&](llvm::Value* unit) { rows.EmitUnit(unit); });
  };
  kernel.in_vectors = plan->lanes > 0;
  if (kernel.units > 0) out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
