// Scattered sums of floats whose indices are sorted (scatter-sorter sees to it): the updates are
// cut into segments, a thread each, however many of them have one target.
//
//   targets   0 0 0 1 | 1 1 1 1 | 1 1 2 2      three segments of four updates
//   kernel 0: thread s:  sums the runs of its segment; those that begin in it go to the result,
//             r[0] = x[0] + u0 + u1 + u2, r[1] = x[1] + u3, r[2] = x[2] + u10 + u11, what it goes
//             on with to scratch[s]:  scratch[1] = u4 + ... + u7, scratch[2] = u8 + u9
//   kernel 1: thread s, if a run of segment s - 1 goes on in s (and began in s - 1: not in 2 here):
//             r[1] += scratch[1]; r[1] += scratch[2]
//
// Updates of one target are added in their order, in groups that depend on the indices alone: the
// same bits every run. Cost: update elements, some 15 instructions each, and in a row two segments
// and one addition for each segment of the commonest target.
//
// Limits: f32 and f64. Sums of narrow floats round at each step, so that their order is part of the
// result: scatter_kernels.cc.
#include "backends/cuda/scatter_run_kernels.h"

#include "backends/cuda/scatter_plan_internal.h"
#include "backends/cuda/thread_group.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// Updates of a segment; kTogether are loaded before the first is added.
constexpr int64_t kMinRunSegment = 16, kMaxRunSegment = 256, kTogether = 4;

struct RunPlan : ScatterPlan {
  int64_t segment = kMinRunSegment;

  // Of one tied batch, and in all.
  int64_t segments() const { return (windows + segment - 1) / segment; }
  int64_t batches() const { return updates().ElementCount() / (windows * WindowElements()); }
  int64_t Threads() const { return batches() * segments() * WindowElements(); }
};

bool IsFloatSum(const Instruction& scatter) {
  const ElementType type = scatter.operand(0)->shape().type;
  return (type == ElementType::kF32 || type == ElementType::kF64) &&
         ReducerOpcode(*scatter.to_apply()) == Opcode::kAdd;
}

std::optional<RunPlan> PlanRuns(const Expression& e) {
  const std::optional<ScatterPlan> scatter = PlanScatter(e);
  if (!scatter.has_value() || !scatter->in_runs || scatter->arrays != 1 ||
      scatter->dims().unique_indices || !IsFloatSum(*scatter->scatter))
    return std::nullopt;
  RunPlan plan{*scatter};
  // The commonest target's updates take steps of both kernels: about as many of each.
  while (plan.segment < kMaxRunSegment && 2 * plan.segment * plan.segment < plan.windows)
    plan.segment *= 2;
  if (plan.segments() < 2) return std::nullopt;
  return plan;
}

// Emits one thread's work: one element of the windows of a segment.
class RunEmitter {
 public:
  RunEmitter(const RunPlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        s_(*plan.scatter),
        result_(plan.e.shapes[0]),
        b_(b),
        arrays_(arrays),
        emitter_(b),
        type_(result_.type == ElementType::kF32 ? b.getFloatTy() : b.getDoubleTy()),
        scratch_(MakeScratch(b, plan.Threads() * ByteWidth(result_.type))),
        unit_(unit) {
    BindLeaves(emitter_, plan.e, arrays);
    llvm::Value* const window = b.Index(plan.WindowElements());
    element_ = b.CreateURem(unit, window);
    llvm::Value* const number = b.CreateUDiv(unit, window);
    segment_ = b.CreateURem(number, b.Index(plan.segments()));
    batch_ = b.CreateUDiv(number, b.Index(plan.segments()));
    first_ = Scale(b, segment_, plan.segment);
  }

  void EmitSegment() {
    llvm::Value* const before = EmitIfElse(
        b_, b_.CreateICmpNE(segment_, b_.Index(0)),
        [&] { return Values{TargetOf(b_.CreateNSWSub(first_, b_.Index(1)))}; },
        [&] { return Values{b_.Index(-1)}; })[0];
    Values run = {before, llvm::ConstantFP::getNegativeZero(type_), b_.getTrue()};
    run = EmitLoopCarrying(b_, plan_.segment / kTogether, run,
                           [&](llvm::Value* group, const Values& now) {
                             emitter_.BeginScope();
                             Values next = AddGroup(group, now);
                             emitter_.EndScope();
                             return next;
                           });
    EndRun(run);
  }

  void EmitRest() {
    llvm::Value* const at = TargetOf(first_);
    llvm::Value* goes_on =
        b_.CreateAnd(b_.CreateICmpNE(segment_, b_.Index(0)), b_.CreateICmpSGE(at, b_.Index(0)));
    EmitIf(b_, goes_on, [&] {
      emitter_.BeginScope();
      llvm::Value* const is_first = b_.CreateAnd(
          HasTarget(b_.CreateNSWSub(first_, b_.Index(1)), at),
          b_.CreateNot(HasTarget(b_.CreateNSWSub(first_, b_.Index(plan_.segment + 1)), at)));
      EmitIf(b_, is_first, [&] { AddRest(at); });
      emitter_.EndScope();
    });
  }

 private:
  // The place in the result of this thread's element of window `number`, which is one; -1 where it
  // has none.
  llvm::Value* TargetOf(llvm::Value* number) {
    const std::vector<llvm::Value*> index = IndexOf(number);
    ScatterStart start = EmitScatterStart(emitter_, s_, index);
    size_t next = 0;
    for (size_t d = 0; d < start.at.size(); ++d)
      if (IsScatterWindowDim(plan_.dims(), static_cast<int64_t>(d)))
        start.at[d] = b_.CreateNSWAdd(start.at[d], index[plan_.dims().update_window_dims[next++]]);
    llvm::Value* const place = LinearOffset(b_, ElementIndex::Multi(start.at), result_);
    return b_.CreateSelect(start.inside, place, b_.Index(-1));
  }

  // Whether window `number` has target `at`; none has a negative number.
  llvm::Value* HasTarget(llvm::Value* number, llvm::Value* at) {
    return EmitIfElse(
        b_, b_.CreateICmpSGE(number, b_.Index(0)),
        [&] {
          emitter_.BeginScope();
          llvm::Value* const is_same = b_.CreateICmpEQ(TargetOf(number), at);
          emitter_.EndScope();
          return Values{is_same};
        },
        [&] { return Values{b_.getFalse()}; })[0];
  }

  std::vector<llvm::Value*> IndexOf(llvm::Value* number) {
    std::vector<llvm::Value*> index(plan_.updates().rank(), b_.Index(0));
    const Shape& updates = plan_.updates();
    DimVector tied;
    for (const auto& [update, base] : plan_.tied) tied.push_back(update);
    Delinearize(b_, batch_, tied, updates.dims, index);
    Delinearize(b_, number, plan_.searched, updates.dims, index);
    Delinearize(b_, element_, plan_.dims().update_window_dims, updates.dims, index);
    return index;
  }

  // The run (its target, its sum, whether it began before the segment) after kTogether updates.
  Values AddGroup(llvm::Value* group, Values run) {
    Values targets, updates;
    for (int64_t k = 0; k < kTogether; ++k) {
      llvm::Value* const number =
          b_.CreateNSWAdd(first_, b_.CreateNSWAdd(Scale(b_, group, kTogether), b_.Index(k)));
      llvm::Value* place = number;
      const bool ends_early = plan_.windows % plan_.segment != 0;
      if (ends_early)
        place =
            b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, b_.Index(plan_.windows - 1));
      llvm::Value* target = TargetOf(place);
      if (ends_early)
        target = b_.CreateSelect(b_.CreateICmpULT(number, b_.Index(plan_.windows)), target,
                                 b_.Index(-1));
      targets.push_back(target);
      updates.push_back(emitter_.Emit(s_.operand(2), ElementIndex::Multi(IndexOf(place))).re);
    }
    for (size_t k = 0; k < targets.size(); ++k) {
      run = ChangeRun(run, targets[k]);
      run[1] = b_.CreateFAdd(run[1], updates[k]);
    }
    return run;
  }

  // The run of target `at`: `run`, or the base where that has another target and ends.
  Values ChangeRun(const Values& run, llvm::Value* at) {
    const Values next = EmitIfElse(
        b_, b_.CreateICmpNE(at, run[0]),
        [&] {
          EndRun(run);
          llvm::Value* const place =
              b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, b_.Index(0));
          return Values{Load(place), b_.getFalse()};
        },
        [&] {
          return Values{run[1], run[2]};
        });
    return {at, next[0], next[1]};
  }

  void EndRun(const Values& run) {
    EmitIf(b_, b_.CreateICmpSGE(run[0], b_.Index(0)), [&] {
      EmitIf(b_, run[2], [&] { b_.CreateStore(run[1], ScratchAt(segment_)); });
      EmitIf(b_, b_.CreateNot(run[2]), [&] { Store(run[0], run[1]); });
    });
  }

  // To place `at` what this and the next segments have of its run.
  void AddRest(llvm::Value* at) {
    const Values rest = EmitWhile(
        b_, {segment_, Load(at)},
        [&](const Values& now) {
          return EmitIfElse(
              b_, b_.CreateICmpULT(now[0], b_.Index(plan_.segments())),
              [&] { return Values{HasTarget(Scale(b_, now[0], plan_.segment), at)}; },
              [&] { return Values{b_.getFalse()}; })[0];
        },
        [&](const Values& now) {
          llvm::Value* const more = b_.CreateLoad(type_, ScratchAt(now[0]));
          return Values{b_.CreateNSWAdd(now[0], b_.Index(1)), b_.CreateFAdd(now[1], more)};
        });
    Store(at, rest[1]);
  }

  llvm::Value* ScratchAt(llvm::Value* segment) {
    llvm::Value* const steps = b_.CreateNSWSub(segment, segment_);
    llvm::Value* const number = b_.CreateNSWAdd(unit_, Scale(b_, steps, plan_.WindowElements()));
    return b_.CreateInBoundsGEP(type_, scratch_, b_.CreateSExt(number, b_.getInt64Ty()));
  }

  ArrayRef Result() { return {arrays_.result(0).base, result_}; }
  llvm::Value* Load(llvm::Value* place) {
    return LoadFrom(b_, Result(), ElementIndex::Linear(place)).re;
  }
  void Store(llvm::Value* place, llvm::Value* sum) {
    StoreTo(b_, Result(), ElementIndex::Linear(place), {sum});
  }

  const RunPlan& plan_;
  const Instruction& s_;
  const Shape& result_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  llvm::Type* const type_;
  llvm::Value* const scratch_;
  llvm::Value* const unit_;
  llvm::Value *element_, *segment_, *batch_, *first_;
};

}  // namespace

bool AddScatterRunKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const std::optional<RunPlan> plan = PlanRuns(request.expression);
  if (!plan.has_value()) return false;
  AddScatterBase(request, plan->scatter->operand(0), 0, out);
  Kernel segments, rest;
  segments.units = rest.units = plan->Threads();
  segments.emit = [plan = *plan](Builder& b, KernelArrays& arrays, llvm::Value* unit,
                                 llvm::Value*) { RunEmitter(plan, b, arrays, unit).EmitSegment(); };
  rest.emit = [plan = *plan](Builder& b, KernelArrays& arrays, llvm::Value* unit, llvm::Value*) {
    RunEmitter(plan, b, arrays, unit).EmitRest();
  };
  out.push_back(std::move(segments));
  out.push_back(std::move(rest));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
