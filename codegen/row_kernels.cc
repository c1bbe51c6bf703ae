// Row computations: each row is read from memory once, and its passes find it in the cache.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/row_form.h"
#include "codegen/kernels_internal.h"
#include "codegen/quotient.h"
#include "codegen/reducer_internal.h"

namespace hlokit {
namespace {

// Values kept from one pass over a row to a later one take at most so many bytes.
constexpr int64_t kMostKeptBytes = 32 << 10;

bool IsCostly(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kTanh:
    case Opcode::kErf:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
      return !IsComplex(i.shape().type);
    default:
      return false;
  }
}

// What one kernel does, known before any code is written.
struct RowPlan {
  Expression e;
  RowForm form;
  std::vector<const Instruction*> body;
  std::vector<size_t> full_roots, row_roots;
  absl::flat_hash_set<const Instruction*> dependent;  // on a reduction
  struct Kept {
    const Instruction* instruction;
    int pass;  // that computes it first
  };
  std::vector<Kept> kept;
  // Rows of bf16 go two by two, a word for both: nothing is then moved between lanes.
  bool pairs = false;
};

// What the last pass and the reductions of each pass read, down to reductions.
absl::flat_hash_set<const Instruction*> NeededIn(const RowPlan& plan, int pass) {
  std::vector<const Instruction*> work;
  for (const RowForm::Reduction& r : plan.form.reductions)
    if (r.pass == pass)
      work.insert(work.end(), r.reduce->operands().begin(), r.reduce->operands().end());
  if (pass + 1 == plan.form.passes)
    for (size_t r : plan.full_roots) work.push_back(plan.e.roots[r]);
  absl::flat_hash_set<const Instruction*> needed;
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (i->IsParameter() || i->opcode() == Opcode::kReduce || !needed.insert(i).second) continue;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return needed;
}

void PlanKept(RowPlan& plan) {
  std::vector<absl::flat_hash_set<const Instruction*>> needed;
  for (int pass = 0; pass < plan.form.passes; ++pass) needed.push_back(NeededIn(plan, pass));
  int64_t bytes = 0;
  for (const Instruction* i : plan.body) {
    if (!IsCostly(*i) || i->shape().dims != plan.form.full.dims || !i->shape().IsRowMajor())
      continue;
    int first = -1, uses = 0;
    for (int pass = 0; pass < plan.form.passes; ++pass) {
      if (!needed[pass].contains(i)) continue;
      if (uses++ == 0) first = pass;
    }
    const int64_t size = plan.form.length * ByteWidth(i->shape().type);
    if (uses < 2 || bytes + size > kMostKeptBytes) continue;
    bytes += size;
    plan.kept.push_back({i, first});
  }
}

bool GoesInPairs(const RowPlan& plan) {
  if (plan.form.within.size() != 1 || plan.form.length % 2 != 0 || !plan.kept.empty()) return false;
  for (size_t r : plan.full_roots)
    if (plan.e.shapes[r].type != ElementType::kBF16) return false;
  bool reads = false;
  for (const Expression::Leaf& leaf : plan.e.leaves) {
    const Shape& shape = leaf.instruction->shape();
    if (shape.dims != plan.form.full.dims) continue;
    if (shape.type != ElementType::kBF16 || !shape.IsRowMajor()) return false;
    reads = true;
  }
  return reads;
}

bool FindPlan(const Expression& e, RowPlan& plan) {
  plan.e = e;
  plan.body = Body(e);
  const std::optional<RowForm> form = FindRowForm(plan.body);
  if (!form.has_value()) return false;
  plan.form = *form;
  for (size_t r = 0; r < e.roots.size(); ++r) {
    const Shape& shape = e.shapes[r];
    if (!shape.IsRowMajor()) return false;
    if (shape.dims == form->full.dims) {
      plan.full_roots.push_back(r);
    } else if (form->IsRowShaped(shape)) {
      plan.row_roots.push_back(r);
    } else {
      return false;
    }
  }
  for (const Instruction* i : plan.body) {
    bool depends = i->opcode() == Opcode::kReduce;
    for (const Instruction* operand : i->operands()) depends |= plan.dependent.contains(operand);
    if (depends) plan.dependent.insert(i);
  }
  PlanKept(plan);
  plan.pairs = GoesInPairs(plan);
  // Without work after a reduction on its own row the plain kernels do as well.
  const bool feeds_back = plan.form.passes > 2 || !plan.full_roots.empty();
  return feeds_back || plan.pairs || plan.form.reductions.size() > 1;
}

class RowEmitter {
 public:
  RowEmitter(const RowPlan& plan, Builder& b, KernelArrays& arrays)
      : plan_(plan), form_(plan.form), b_(b), arrays_(arrays), emitter_(b) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(plan.e));
    BindLeaves(emitter_, plan.e, arrays);
    if (plan.pairs) BindWords();
    BindQuotients();
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.begin());
    for (const RowPlan::Kept& kept : plan.kept) {
      const Shape row = Shape::Array(emitter_.TypeOf(kept.instruction->shape()), {form_.length});
      llvm::Type* type = MemoryType(b_.getContext(), row.type);
      rooms_.push_back({b_.CreateAlloca(type, b_.getInt64(form_.length)), row});
    }
  }

  void EmitRow(llvm::Value* row) {
    row_ = row;
    multi_ = RowIndex(row);
    divisors_.clear();
    emitter_.BeginScope();
    for (int pass = 0; pass < form_.passes; ++pass) {
      EmitRowValues(pass);
      EmitPass(pass);
    }
    for (size_t r : plan_.row_roots)
      StoreTo(b_, arrays_.result(r), ElementIndex::Linear(row),
              emitter_.EmitRounded(plan_.e.roots[r],
                                   WithMulti(b_, ElementIndex::Linear(row), plan_.e.shapes[r]),
                                   plan_.e.root_leaves[r]));
    emitter_.EndScope();
  }

 private:
  std::vector<llvm::Value*> RowIndex(llvm::Value* row) {
    std::vector<llvm::Value*> multi(form_.full.rank(), b_.getInt64(0));
    for (size_t k = form_.kept.size(); k-- > 0;) {
      const int64_t d = form_.kept[k];
      if (k == 0) {
        multi[d] = row;
        break;
      }
      llvm::Value* size = b_.getInt64(form_.full.dims[d]);
      multi[d] = b_.CreateURem(row, size);
      row = b_.CreateUDiv(row, size);
    }
    return multi;
  }

  // Values of the whole row come before the loop that reads them.
  void EmitRowValues(int pass) {
    const ElementIndex somewhere = ElementIndex::Multi(multi_);
    const auto needed = NeededIn(plan_, pass);
    for (const Instruction* i : plan_.body)
      if (Spreads(i) && needed.contains(i)) emitter_.Emit(i, somewhere);
    for (const Instruction* i : plan_.body)
      if (DividesByRowValue(i) && needed.contains(i) && !divisors_.contains(i))
        divisors_[i] = PrepareDivisor(b_, emitter_.Emit(i->operand(1), somewhere).re);
  }

  // True for a value of the whole row, given to each of its elements.
  bool Spreads(const Instruction* i) const {
    return i->opcode() == Opcode::kBroadcast && i->shape().dims == form_.full.dims &&
           plan_.dependent.contains(i);
  }

  bool DividesByRowValue(const Instruction* i) const {
    const ElementType type = i->shape().IsArray() ? i->shape().type : ElementType::kInvalid;
    return i->opcode() == Opcode::kDivide && Spreads(i->operand(1)) &&
           i->shape().dims == form_.full.dims &&
           (type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kBF16);
  }

  void BindQuotients() {
    for (const Instruction* i : plan_.body) {
      if (!DividesByRowValue(i)) continue;
      emitter_.Bind(i, [this, i](const ElementIndex& index) {
        return ScalarValue{
            EmitQuotient(b_, emitter_.Emit(i->operand(0), index).re, divisors_.at(i))};
      });
    }
  }

  void EmitPass(int pass) {
    std::vector<RunningReduction> running;
    for (const RowForm::Reduction& r : form_.reductions)
      if (r.pass == pass) running.emplace_back(*r.reduce, emitter_);
    const bool last = pass + 1 == form_.passes;
    if (running.empty() && plan_.full_roots.empty()) return;
    Values carried;
    for (const RunningReduction& r : running) r.AppendInitial(carried);
    if (plan_.pairs) {
      Finish(pass, running, EmitPairs(running, carried, last));
      return;
    }
    const Values results =
        EmitLoops(0, b_.getInt64(0), carried, [&](llvm::Value* at, const Values& values) {
          const ElementIndex index =
              ElementIndex::Multi(multi_, b_.CreateNSWAdd(Scale(b_, row_, form_.length), at));
          for (size_t k = 0; k < plan_.kept.size(); ++k)
            if (plan_.kept[k].pass == pass)
              StoreTo(b_, rooms_[k], ElementIndex::Linear(at),
                      emitter_.Emit(plan_.kept[k].instruction, index));
          Values next;
          size_t used = 0;
          for (const RunningReduction& r : running) r.AppendNext(index, values, used, next);
          if (last) StoreRoots(index);
          return next;
        });
    Finish(pass, running, results);
  }

  // Where the pair of bf16 elements lies that is being worked on.
  llvm::Value* PairPointer(llvm::Value* base) {
    return b_.CreateInBoundsGEP(b_.getInt16Ty(), base, first_of_pair_);
  }

  // Elements of the pair come out of one word; the even one lies in its low half.
  void BindWords() {
    for (const Expression::Leaf& leaf : plan_.e.leaves) {
      if (leaf.instruction->shape().dims != form_.full.dims) continue;
      const ArrayRef array = arrays_.operand(leaf.operand);
      emitter_.Bind(leaf.instruction, [this, array](const ElementIndex& index) {
        if (index.linear == nullptr || index.linear != lane_place_)
          return LoadFrom(b_, array, index);
        llvm::Value*& word = words_[array.base];
        if (word == nullptr) {
          llvm::LoadInst* load =
              b_.CreateAlignedLoad(b_.getInt32Ty(), PairPointer(array.base), llvm::Align(2));
          if (array.never_written)
            load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                              llvm::MDNode::get(b_.getContext(), {}));
          word = load;
        }
        llvm::Value* bits = lane_ == 0 ? b_.CreateShl(word, 16) : b_.CreateAnd(word, 0xffff0000u);
        return ScalarValue{b_.CreateBitCast(bits, b_.getFloatTy())};
      });
    }
  }

  Values EmitPairs(const std::vector<RunningReduction>& running, const Values& carried, bool last) {
    const int64_t d = form_.within[0];
    llvm::Value* outside = multi_[d];
    const Values results = EmitLoopCarrying(
        b_, form_.length / 2, carried, [&](llvm::Value* step, const Values& values) {
          llvm::Value* at = Scale(b_, step, 2);
          first_of_pair_ = b_.CreateNSWAdd(Scale(b_, row_, form_.length), at);
          words_.clear();
          Values state = values;
          std::vector<llvm::Value*> low(plan_.full_roots.size());
          for (lane_ = 0; lane_ < 2; ++lane_) {
            emitter_.BeginScope();
            multi_[d] = lane_ == 0 ? at : b_.CreateNSWAdd(at, b_.getInt64(1));
            lane_place_ =
                lane_ == 0 ? first_of_pair_ : b_.CreateNSWAdd(first_of_pair_, b_.getInt64(1));
            const ElementIndex index = ElementIndex::Multi(multi_, lane_place_);
            Values next;
            size_t used = 0;
            for (const RunningReduction& r : running) r.AppendNext(index, state, used, next);
            state = std::move(next);
            if (last) StorePart(index, low);
            emitter_.EndScope();
          }
          lane_place_ = nullptr;
          return state;
        });
    multi_[d] = outside;
    return results;
  }

  // Keeps the roots' even elements in `low`; stores them with the odd ones.
  void StorePart(const ElementIndex& index, std::vector<llvm::Value*>& low) {
    std::vector<llvm::Value*> bits;
    for (size_t r : plan_.full_roots) {
      const ScalarValue value =
          emitter_.EmitRounded(plan_.e.roots[r], index, plan_.e.root_leaves[r]);
      bits.push_back(b_.CreateBitCast(value.re, b_.getInt32Ty()));
    }
    for (size_t k = 0; k < bits.size(); ++k) {
      if (lane_ == 0) {
        low[k] = b_.CreateLShr(bits[k], 16);
      } else {
        b_.CreateAlignedStore(b_.CreateOr(low[k], bits[k]),
                              PairPointer(arrays_.result(plan_.full_roots[k]).base),
                              llvm::Align(2));
      }
    }
  }

  // Reductions, and values kept, become something to read for later passes.
  void Finish(int pass, const std::vector<RunningReduction>& running, const Values& results) {
    size_t used = 0;
    for (const RunningReduction& r : running) {
      const std::vector<ScalarValue> parts = r.Results(results, used);
      emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
    }
    for (size_t k = 0; k < plan_.kept.size(); ++k) {
      if (plan_.kept[k].pass != pass) continue;
      emitter_.Bind(plan_.kept[k].instruction, [this, k](const ElementIndex& index) {
        llvm::Value* start = Scale(b_, row_, form_.length);
        return LoadFrom(
            b_, rooms_[k],
            ElementIndex::Linear(b_.CreateNSWSub(LinearOffset(b_, index, form_.full), start)));
      });
    }
  }

  void StoreRoots(const ElementIndex& index) {
    std::vector<ScalarValue> values;  // all reads before any write
    for (size_t r : plan_.full_roots)
      values.push_back(emitter_.EmitRounded(plan_.e.roots[r], index, plan_.e.root_leaves[r]));
    for (size_t k = 0; k < values.size(); ++k)
      StoreTo(b_, arrays_.result(plan_.full_roots[k]), index, values[k]);
  }

  // Loops over the dimensions of a row; `body` gets the place in the row.
  Values EmitLoops(size_t level, llvm::Value* at, const Values& carried,
                   absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
    if (level == form_.within.size()) return body(at, carried);
    const int64_t d = form_.within[level];
    int64_t stride = 1;
    for (size_t k = level + 1; k < form_.within.size(); ++k)
      stride *= form_.full.dims[form_.within[k]];
    llvm::Value* outside = multi_[d];
    const Values results = EmitLoopCarrying(
        b_, form_.full.dims[d], carried, [&](llvm::Value* step, const Values& inner) {
          multi_[d] = step;
          emitter_.BeginScope();
          llvm::Value* next =
              level == 0 ? Scale(b_, step, stride) : b_.CreateNSWAdd(at, Scale(b_, step, stride));
          const Values values = EmitLoops(level + 1, next, inner, body);
          emitter_.EndScope();
          return values;
        });
    multi_[d] = outside;
    return results;
  }

  const RowPlan& plan_;
  const RowForm& form_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  std::vector<ArrayRef> rooms_;  // of plan_.kept
  absl::flat_hash_map<const Instruction*, Divisor> divisors_;  // by the division
  llvm::Value* row_ = nullptr;
  std::vector<llvm::Value*> multi_;
  // While a pair is written: its first place, and which of the two, where.
  llvm::Value* first_of_pair_ = nullptr;
  int lane_ = 0;
  llvm::Value* lane_place_ = nullptr;
  absl::flat_hash_map<llvm::Value*, llvm::Value*> words_;  // by array
};

}  // namespace

bool AddRowKernels(const Expression& e, std::vector<Kernel>& out) {
  RowPlan plan;
  if (!FindPlan(e, plan)) return false;
  Kernel kernel;
  kernel.units = plan.form.rows;
  kernel.unit_cost = static_cast<double>(plan.body.size()) * static_cast<double>(plan.form.length);
  kernel.emit = [plan](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    RowEmitter rows(plan, b, arrays);
    EmitLoop(b, begin, end, [&](llvm::Value* row) { rows.EmitRow(row); });
  };
  if (kernel.units > 0) out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
