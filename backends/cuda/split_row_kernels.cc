// Reductions in two kernels: the sum of f32[32768,4096] over its first dimension.
//
//   kernel 0: thread (s, j):  p = 0;  for i in segment s: p += x[i,j];  scratch[j][s] = p
//   kernel 1: a warp a column:  r[j] = 0 + scratch[j][lane] + scratch[j][lane + 32] + ...
//
// A column has a thread a segment, so that neighbouring threads read neighbouring columns; several
// neighbouring columns, 16 bytes of them, where their number allows it. A row
// that lies together has a block a segment. There are as many segments as fill a device, fewer
// where they would be short. Both orders of summation depend on the shape alone: the same bits
// every run.
//
// Limits: reductions that may be regrouped and whose rows are not read again.
#include "backends/cuda/split_row_kernels.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/row_plan_internal.h"
#include "backends/cuda/thread_group.h"
#include "backends/cuda/vector_kernels.h"

namespace hlokit {
namespace {

// Steps of a thread in a segment, at least: alone, and of a block.
constexpr int64_t kSteps = 64, kBlockSteps = 8;
constexpr int64_t kStepGroup = 4;
constexpr int64_t kScratchSlot = 8;  // bytes of an accumulator

struct SplitPlan : GroupRows {
  int64_t segment = 0;   // vectors
  int64_t segments = 0;  // of a row
  int64_t columns = 1;   // rows that are neighbours and a thread's
  int64_t groups() const { return form.rows / columns; }
  int64_t vectors() const { return form.length / vector; }
  int64_t combining() const {  // threads of a row in the second kernel
    return std::min<int64_t>(kWarp, absl::bit_ceil(static_cast<uint64_t>(segments)));
  }
};

std::optional<SplitPlan> PlanSplit(const Expression& e) {
  std::optional<GroupRows> rows = FindRows(e);
  if (!rows.has_value() || rows->FeedsBack() || !rows->CanRegroup()) return std::nullopt;
  SplitPlan plan;
  static_cast<GroupRows&>(plan) = *std::move(rows);
  if (plan.form.IsContiguous()) {
    plan.vector = VectorElements(e, plan.form.length);
    plan.threads = kBlockThreads;
  } else if (plan.form.IsColumns()) {
    plan.columns = VectorElements(e, plan.form.full.dims[plan.form.kept.back()]);
  } else {
    return std::nullopt;
  }
  if (plan.form.rows * plan.threads >= kEnoughThreads) return std::nullopt;
  const int64_t steps = plan.threads == 1 ? kSteps : kBlockSteps;
  const int64_t most = plan.vectors() / (plan.threads * steps);
  const int64_t wanted =
      (kEnoughThreads + plan.groups() * plan.threads - 1) / (plan.groups() * plan.threads);
  const int64_t segments = std::min(most, wanted);
  if (segments < 2) return std::nullopt;
  plan.segment = (plan.vectors() + segments - 1) / segments;
  plan.segments = (plan.vectors() + plan.segment - 1) / plan.segment;
  return plan;
}

// What the two kernels share: the reductions and where their partial results lie.
class SplitRowEmitter {
 public:
  SplitRowEmitter(const SplitPlan& plan, Builder& b, KernelArrays& arrays)
      : plan_(plan), form_(plan.form), b_(b), arrays_(arrays), emitter_(b) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(plan.e));
    BindLeaves(emitter_, plan.e, arrays);
    const auto count = static_cast<int64_t>(form_.reductions.size());
    scratch_ = MakeScratch(b, count * form_.rows * plan.segments * kScratchSlot);
  }

  // The work of one thread on segment `unit` / (groups of rows * threads).
  void EmitSegment(llvm::Value* unit) {
    llvm::Value* const lane = b_.CreateURem(unit, b_.Index(plan_.threads));
    llvm::Value* const number = b_.CreateUDiv(unit, b_.Index(plan_.threads));
    llvm::Value* const group = b_.CreateURem(number, b_.Index(plan_.groups()));
    llvm::Value* const segment = b_.CreateUDiv(number, b_.Index(plan_.groups()));
    PlaceRows(group);
    const std::vector<Accumulators> reductions = Reductions();
    Values partial = EmitElements(reductions, segment, lane);
    ThreadGroup threads(b_, plan_.threads, lane);
    if (plan_.threads > 1) Combine(threads, reductions, partial);
    EmitIf(b_, b_.CreateICmpEQ(lane, b_.Index(0)), [&] {
      for (size_t k = 0; k < partial.size(); ++k)
        b_.CreateStore(
            ToWords(b_, partial[k]),
            PlaceOf(k % reductions.size(), rows_[k / reductions.size()].number, segment));
    });
  }

  // The work of one thread on row `unit` / combining threads.
  void EmitRow(llvm::Value* unit) {
    const int64_t threads = plan_.combining();
    llvm::Value* const lane = b_.CreateURem(unit, b_.Index(threads));
    llvm::Value* const last = b_.Index(form_.rows - 1);
    llvm::Value* const wanted = b_.CreateUDiv(unit, b_.Index(threads));
    llvm::Value* const row = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, wanted, last);
    const std::vector<Accumulators> reductions = Reductions();
    Values total = EmitPartials(reductions, row, lane);
    ThreadGroup group(b_, threads, lane);
    Combine(group, reductions, total);
    size_t used = 0;
    for (const Accumulators& r : reductions) {
      const std::vector<ScalarValue> parts = r.Results(total, used);
      emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
    }
    StoreRoots(group, row, b_.CreateICmpULE(wanted, last));
  }

 private:
  std::vector<Accumulators> Reductions() {
    std::vector<Accumulators> reductions;
    for (const RowForm::Reduction& r : form_.reductions)
      reductions.emplace_back(*r.reduce, emitter_);
    for (Accumulators& r : reductions) r.KeepOrder();
    return reductions;
  }

  static void Combine(ThreadGroup& group, const std::vector<Accumulators>& reductions,
                      Values& partial) {
    for (size_t k = 0; k < reductions.size(); ++k)
      partial[k] = group.Combine(
          partial[k], [&](llvm::Value* x, llvm::Value* y) { return reductions[k].Combine(x, y); });
  }

  Values Initial(const std::vector<Accumulators>& reductions) {
    Values initial;
    for (const Accumulators& r : reductions) r.AppendInitial(initial);
    return initial;
  }

  Values Identities(const std::vector<Accumulators>& reductions) {
    Values values = Initial(reductions);
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = IdentityOf(reductions[k], values[k]->getType());
    return values;
  }

  llvm::Value* PlaceOf(size_t reduction, llvm::Value* row, llvm::Value* segment) {
    llvm::Value* const wide = b_.CreateZExt(row, b_.getInt64Ty());
    const auto first = static_cast<uint64_t>(form_.rows) * reduction;
    llvm::Value* const at =
        b_.CreateAdd(b_.CreateMul(b_.CreateAdd(wide, b_.getInt64(first)),
                                  b_.getInt64(static_cast<uint64_t>(plan_.segments))),
                     b_.CreateZExt(segment, b_.getInt64Ty()));
    return b_.CreateInBoundsGEP(b_.getInt64Ty(), scratch_, at);
  }

  // A row of a thread: its number, and the indices that number it.
  struct Row {
    llvm::Value* number;
    std::vector<llvm::Value*> multi;
  };

  // The thread's rows: neighbours along the fastest dimension that numbers them.
  void PlaceRows(llvm::Value* group) {
    llvm::Value* const first = Scale(b_, group, plan_.columns);
    std::vector<llvm::Value*> multi(static_cast<size_t>(form_.full.rank()), b_.Index(0));
    if (plan_.columns == 1) {
      Delinearize(b_, first, form_.kept, form_.full.dims, multi);
      rows_.push_back({first, multi});
      return;
    }
    const int64_t fastest = form_.kept.back();
    DimVector dims = form_.full.dims;
    dims[fastest] /= plan_.columns;
    Delinearize(b_, group, form_.kept, dims, multi);
    llvm::Value* const column = Scale(b_, multi[fastest], plan_.columns);
    for (int64_t k = 0; k < plan_.columns; ++k) {
      multi[fastest] = b_.CreateNSWAdd(column, b_.Index(k));
      rows_.push_back({b_.CreateNSWAdd(first, b_.Index(k)), multi});
    }
  }

  ElementIndex IndexOf(Row& row, llvm::Value* at) {
    Delinearize(b_, at, form_.within, form_.full.dims, row.multi);
    if (!form_.IsContiguous()) return ElementIndex::Multi(row.multi);
    return ElementIndex::Multi(row.multi, b_.CreateNSWAdd(Scale(b_, row.number, form_.length), at));
  }

  // The lane's vectors of the segment: number `lane`, then every `threads`-th.
  Values EmitElements(const std::vector<Accumulators>& reductions, llvm::Value* segment,
                      llvm::Value* lane) {
    const int64_t threads = plan_.threads;
    llvm::Value* const first = b_.CreateNSWAdd(Scale(b_, segment, plan_.segment), lane);
    llvm::Value* const end = b_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, Scale(b_, b_.CreateNSWAdd(segment, b_.Index(1)), plan_.segment),
        b_.Index(plan_.vectors()));
    llvm::Value* const past = b_.CreateNSWAdd(end, b_.Index(threads - 1));
    llvm::Value* steps = b_.CreateUDiv(
        b_.CreateNSWSub(past, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, first, past)),
        b_.Index(threads));
    // Several steps are written out where all segments have whole groups of them, so that their
    // loads wait together.
    int64_t group = 1;
    if (plan_.vectors() % plan_.segment == 0 && plan_.segment % (kStepGroup * threads) == 0) {
      group = kStepGroup;
      steps = b_.Index(plan_.segment / (kStepGroup * threads));
    }
    const Values identities = Identities(reductions);
    Values start;  // of all rows
    for (size_t k = 0; k < rows_.size(); ++k)
      start.insert(start.end(), identities.begin(), identities.end());
    return EmitLoopCarrying(
        b_, b_.Index(0), steps, start, [&](llvm::Value* step, const Values& values) {
          emitter_.BeginScope();
          Values next = values;
          for (int64_t k = 0; k < group; ++k) {
            llvm::Value* const number =
                b_.CreateNSWAdd(Scale(b_, step, group * threads), b_.Index(k * threads));
            next = EmitVector(reductions, Scale(b_, b_.CreateNSWAdd(first, number), plan_.vector),
                              next);
          }
          emitter_.EndScope();
          return next;
        });
  }

  // `vector` elements of the one row, or one of each row.
  Values EmitVector(const std::vector<Accumulators>& reductions, llvm::Value* first,
                    Values values) {
    for (int64_t k = 0; k < plan_.vector; ++k) {
      llvm::Value* const at = k == 0 ? first : b_.CreateNSWAdd(first, b_.Index(k));
      Values next;
      size_t used = 0;
      for (Row& row : rows_) {
        const ElementIndex place = IndexOf(row, at);
        for (const Accumulators& r : reductions) r.AppendNext(place, values, used, next);
      }
      values = std::move(next);
    }
    return values;
  }

  // The first lane begins with the initial values.
  Values EmitPartials(const std::vector<Accumulators>& reductions, llvm::Value* row,
                      llvm::Value* lane) {
    const int64_t threads = plan_.combining();
    Values start = Initial(reductions);
    const Values identities = Identities(reductions);
    for (size_t k = 0; k < start.size(); ++k)
      start[k] = b_.CreateSelect(b_.CreateICmpEQ(lane, b_.Index(0)), start[k], identities[k]);
    llvm::Value* const steps = b_.CreateUDiv(
        b_.CreateNSWSub(b_.Index(plan_.segments + threads - 1), lane), b_.Index(threads));
    return EmitLoopCarrying(
        b_, b_.Index(0), steps, start, [&](llvm::Value* step, const Values& values) {
          llvm::Value* const segment = b_.CreateNSWAdd(Scale(b_, step, threads), lane);
          Values next;
          for (size_t k = 0; k < values.size(); ++k) {
            llvm::Type* const type = values[k]->getType();
            llvm::Type* const words = ToWords(b_, llvm::PoisonValue::get(type))->getType();
            llvm::Value* const loaded = b_.CreateLoad(words, PlaceOf(k, row, segment));
            next.push_back(reductions[k].Combine(values[k], FromWords(b_, loaded, type)));
          }
          return next;
        });
  }

  void StoreRoots(ThreadGroup& group, llvm::Value* row, llvm::Value* stores) {
    std::vector<ScalarValue> values;
    std::vector<ElementIndex> places;
    for (const size_t r : plan_.row_roots) {
      places.push_back(WithMulti(b_, ElementIndex::Linear(row), plan_.e.shapes[r]));
      values.push_back(
          emitter_.EmitRounded(plan_.e.roots[r], places.back(), plan_.e.root_leaves[r]));
    }
    llvm::Value* const first = b_.CreateICmpEQ(group.lane(), b_.Index(0));
    EmitIf(b_, b_.CreateAnd(stores, first), [&] {
      for (size_t k = 0; k < values.size(); ++k)
        StoreTo(b_, arrays_.result(static_cast<int64_t>(plan_.row_roots[k])), places[k], values[k]);
    });
  }

  const SplitPlan& plan_;
  const RowForm& form_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  llvm::Value* scratch_ = nullptr;
  std::vector<Row> rows_;  // of the thread, in the first kernel
};

}  // namespace

bool AddSplitRowKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const std::optional<SplitPlan> plan = PlanSplit(request.expression);
  if (!plan.has_value()) return false;
  Kernel segments, rows;
  segments.units = plan->segments * plan->groups() * plan->threads;
  segments.emit = [plan = *plan](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                 llvm::Value*) {
    SplitRowEmitter(plan, b, arrays).EmitSegment(begin);
  };
  rows.units = (plan->form.rows * plan->combining() + kWarp - 1) / kWarp * kWarp;
  rows.emit = [plan = *plan](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value*) {
    SplitRowEmitter(plan, b, arrays).EmitRow(begin);
  };
  out.push_back(std::move(segments));
  out.push_back(std::move(rows));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
