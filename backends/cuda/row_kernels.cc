// Rows by groups of threads: softmax of f32[64,1000], a warp a row.
//
//   pass 0:  m = the maximum of x[i,4*lane .. +3], x[i,4*(lane+32) .. +3], ..., then of the 32
//   lanes pass 1:  s = the sum of exp(x - m) in the same way pass 2:  r[i,4*lane .. +3],
//   r[i,4*(lane+32) .. +3], ... = exp(x - m) / s
//
// Neighbouring lanes read neighbouring vectors, of as many elements as divide a row. Where a lane
// has few enough elements of the row, all of them are read at once, before anything waits for them,
// and stay in registers with what has been computed of them, exp(x - m) here: the code of all
// passes is written out. Elsewhere a pass reads its operands again: a row that has just been read
// is in a cache. Each lane begins with the identity element, the first one with the initial value.
// The order of all combinations depends on the shape alone, so that every run has the same bits; no
// atomics.
//
// A row gets one thread where a reduction may not be regrouped (sums of bf16 that round at each
// step, reducers of several operations or results), and where rows are columns, whose neighbours
// are read by neighbouring threads anyway.
//
// Limits: roots with an element a row, or all elements of the rows, row-major.
#include "backends/cuda/row_kernels.h"

#include "absl/numeric/bits.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/row_plan_internal.h"
#include "backends/cuda/thread_group.h"
#include "backends/cuda/vector_kernels.h"

namespace hlokit {
namespace {

// Rows with fewer elements have no group of threads unless results are as long as they are.
constexpr int64_t kShortRow = 16;
// Rows from this many elements on are a block's work.
constexpr int64_t kBlockRow = 2048;

// Code for several elements of more instructions than this would be long.
constexpr size_t kLongBody = 40;
// Of a lane in registers, of all arrays together: more would leave no room for several blocks.
constexpr int64_t kMaxKept = 64;
// Instructions of the expression times elements of a lane: longer code takes long to compile.
constexpr int64_t kMaxWritten = 1280;

// The elements of a lane that arrays of the rows' shape bring.
int64_t KeptElements(const GroupRows& plan) {
  int64_t arrays = 0;
  for (const Expression::Leaf& leaf : plan.e.leaves)
    if (leaf.instruction->shape().IsArray() &&
        leaf.instruction->shape().ElementCount() >= plan.form.full.ElementCount())
      ++arrays;
  return arrays * plan.LaneVectors() * plan.vector;
}

// Rows that are read again stay in registers, in those of a block where a warp has too few.
void PlanKept(GroupRows& plan) {
  const auto fits = [&] { return KeptElements(plan) <= kMaxKept; };
  if (plan.form.passes < 2 || plan.threads < kWarp) return;
  const int64_t threads = plan.threads;
  if (!fits()) plan.threads = kBlockThreads;
  plan.kept =
      fits() &&
      plan.LaneVectors() * plan.vector * static_cast<int64_t>(Body(plan.e).size()) <= kMaxWritten;
  if (!plan.kept) plan.threads = threads;
}

// Several reductions of rows that are enough work for a warp each: a block would take as many
// rounds of shuffles for every warp of it.
bool IsForWarps(const GroupRows& plan) {
  return plan.form.reductions.size() > 1 && !plan.FeedsBack() && plan.form.length >= kBlockRow &&
         plan.form.rows * kWarp >= kEnoughThreads;
}

void PlanThreads(GroupRows& plan) {
  if (plan.form.IsColumns()) return;
  if (!plan.CanRegroup()) return;
  if (plan.form.IsContiguous() && Body(plan.e).size() <= kLongBody)
    plan.vector = VectorElements(plan.e, plan.form.length);
  if (IsForWarps(plan)) {
    plan.threads = kWarp;
    return;
  }
  const int64_t vectors = plan.form.length / plan.vector;
  plan.threads = plan.form.length >= kBlockRow
                     ? kBlockThreads
                     : std::min<int64_t>(kWarp, absl::bit_ceil(static_cast<uint64_t>(vectors)));
  PlanKept(plan);
}

std::optional<GroupRows> PlanRows(const KernelRequest& request) {
  std::optional<GroupRows> found = FindRows(request.expression);
  if (!found.has_value()) return std::nullopt;
  GroupRows& plan = *found;
  PlanThreads(plan);
  // Without work after a reduction on its own row, a thread for each result does as well.
  const bool alone = plan.threads == 1 || plan.form.length < kShortRow;
  if (alone && !plan.FeedsBack()) return std::nullopt;
  return found;
}

// Emits one row's work for one thread of its group.
class GroupRowEmitter {
 public:
  GroupRowEmitter(const GroupRows& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        form_(plan.form),
        b_(b),
        arrays_(arrays),
        emitter_(b),
        group_(b, plan.threads, b.CreateURem(unit, b.Index(plan.threads))) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(plan.e));
    BindLeaves(emitter_, plan.e, arrays);
    PlaceRow(b.CreateUDiv(unit, b.Index(plan.threads)));
    if (plan.kept) PlaceVectors();
  }

  void Emit() {
    for (int pass = 0; pass < form_.passes; ++pass) EmitPass(pass);
    StoreRowRoots();
  }

 private:
  // Threads past the last row compute it too, so that whole warps meet, and store nothing.
  void PlaceRow(llvm::Value* row) {
    const bool whole_warps = form_.rows * plan_.threads % kWarp == 0 || plan_.threads == 1;
    llvm::Value* const last = b_.Index(form_.rows - 1);
    stores_ = whole_warps ? b_.getTrue() : b_.CreateICmpULE(row, last);
    row_ = whole_warps ? row : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, last);
    multi_.assign(static_cast<size_t>(form_.full.rank()), b_.Index(0));
    Delinearize(b_, row_, form_.kept, form_.full.dims, multi_);
  }

  // The element at place `at` of the row.
  ElementIndex IndexOf(llvm::Value* at) {
    Delinearize(b_, at, form_.within, form_.full.dims, multi_);
    if (!form_.IsContiguous()) return ElementIndex::Multi(multi_);
    return ElementIndex::Multi(multi_, b_.CreateNSWAdd(Scale(b_, row_, form_.length), at));
  }

  // Where all of the lane's vectors are: the same index objects in every pass, by which the emitter
  // remembers values. Past the row's end the last vector is read again, and not used.
  void PlaceVectors() {
    const int64_t vectors = form_.length / plan_.vector;
    for (int64_t k = 0; k < plan_.LaneVectors(); ++k) {
      llvm::Value* number = b_.CreateNSWAdd(b_.Index(k * plan_.threads), group_.lane());
      Vector& vector = vectors_.emplace_back();
      if ((k + 1) * plan_.threads > vectors) {
        vector.inside = b_.CreateICmpULT(number, b_.Index(vectors));
        number = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, b_.Index(vectors - 1));
      }
      vector.places = PlacesFrom(Scale(b_, number, plan_.vector));
    }
  }

  // One pass over the vectors in registers.
  Values EmitKept(const std::vector<Accumulators>& reductions, bool stores) {
    Values values = Begin(reductions);
    for (const Vector& vector : vectors_) {
      Values next = Reduce(vector.places, reductions, values);
      for (size_t k = 0; k < next.size() && vector.inside != nullptr; ++k)
        next[k] = b_.CreateSelect(vector.inside, next[k], values[k]);
      values = std::move(next);
      if (stores) StoreFullRoots(vector.places, vector.inside);
    }
    return values;
  }

  void EmitPass(int pass) {
    std::vector<Accumulators> reductions;
    for (const RowForm::Reduction& r : form_.reductions)
      if (r.pass == pass) reductions.emplace_back(*r.reduce, emitter_);
    const bool stores = pass + 1 == form_.passes && !plan_.full_roots.empty();
    if (reductions.empty() && !stores) return;
    for (Accumulators& r : reductions) r.KeepOrder();
    Values partial = plan_.kept ? EmitKept(reductions, stores) : EmitElements(reductions, stores);
    if (plan_.threads > 1)
      for (size_t k = 0; k < reductions.size(); ++k)
        partial[k] = group_.Combine(partial[k], [&](llvm::Value* x, llvm::Value* y) {
          return reductions[k].Combine(x, y);
        });
    size_t used = 0;
    for (const Accumulators& r : reductions) {
      const std::vector<ScalarValue> parts = r.Results(partial, used);
      emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
    }
  }

  // The first lane begins with the initial values, the others with identity elements.
  Values Begin(const std::vector<Accumulators>& reductions) {
    Values initial;
    for (const Accumulators& r : reductions) r.AppendInitial(initial);
    if (plan_.threads == 1) return initial;
    llvm::Value* const first = b_.CreateICmpEQ(group_.lane(), b_.Index(0));
    for (size_t k = 0; k < reductions.size(); ++k)
      initial[k] =
          b_.CreateSelect(first, initial[k], IdentityOf(reductions[k], initial[k]->getType()));
    return initial;
  }

  // The lane's vectors of the row: number `lane`, then every `threads`-th.
  Values EmitElements(const std::vector<Accumulators>& reductions, bool stores) {
    const int64_t threads = plan_.threads, vectors = form_.length / plan_.vector;
    llvm::Value* steps = b_.Index(vectors / threads);
    if (const int64_t rest = vectors % threads; rest > 0)
      steps = b_.CreateNSWAdd(
          steps, b_.CreateZExt(b_.CreateICmpULT(group_.lane(), b_.Index(rest)), b_.IndexType()));
    return EmitLoopCarrying(
        b_, b_.Index(0), steps, Begin(reductions), [&](llvm::Value* step, const Values& values) {
          emitter_.BeginScope();
          llvm::Value* const number = b_.CreateNSWAdd(Scale(b_, step, threads), group_.lane());
          const Values next =
              EmitVector(Scale(b_, number, plan_.vector), reductions, stores, values);
          emitter_.EndScope();
          return next;
        });
  }

  // The neighbours from place `first` of the row on.
  std::vector<ElementIndex> PlacesFrom(llvm::Value* first) {
    std::vector<ElementIndex> places;
    for (int64_t k = 0; k < plan_.vector; ++k)
      places.push_back(IndexOf(k == 0 ? first : b_.CreateNSWAdd(first, b_.Index(k))));
    return places;
  }

  static Values Reduce(const std::vector<ElementIndex>& places,
                       const std::vector<Accumulators>& reductions, Values values) {
    for (const ElementIndex& place : places) {
      Values next;
      size_t used = 0;
      for (const Accumulators& r : reductions) r.AppendNext(place, values, used, next);
      values = std::move(next);
    }
    return values;
  }

  Values EmitVector(llvm::Value* first, const std::vector<Accumulators>& reductions, bool stores,
                    const Values& values) {
    const std::vector<ElementIndex> places = PlacesFrom(first);
    Values next = Reduce(places, reductions, values);
    if (stores) StoreFullRoots(places, nullptr);
    return next;
  }

  ScalarValue RootAt(size_t r, const ElementIndex& index) {
    return emitter_.EmitRounded(plan_.e.roots[r], index, plan_.e.root_leaves[r]);
  }

  // `inside`: whether the row has these places; null where it has.
  void StoreFullRoots(const std::vector<ElementIndex>& places, llvm::Value* inside) {
    std::vector<ScalarValue> values;  // all reads before any write
    for (const size_t r : plan_.full_roots)
      for (const ElementIndex& place : places) values.push_back(RootAt(r, place));
    EmitIf(b_, inside == nullptr ? stores_ : b_.CreateAnd(stores_, inside), [&] {
      size_t next = 0;
      for (const size_t r : plan_.full_roots)
        for (const ElementIndex& place : places)
          StoreTo(b_, arrays_.result(static_cast<int64_t>(r)), place, values[next++]);
    });
  }

  // One lane stores, after all have read: a result may lie in an operand's place.
  void StoreRowRoots() {
    if (plan_.row_roots.empty()) return;
    std::vector<ScalarValue> values;
    for (const size_t r : plan_.row_roots) values.push_back(RootAt(r, RowIndex(r)));
    group_.Meet();
    llvm::Value* const first = b_.CreateICmpEQ(group_.lane(), b_.Index(0));
    EmitIf(b_, b_.CreateAnd(stores_, first), [&] {
      for (size_t k = 0; k < values.size(); ++k) {
        const size_t r = plan_.row_roots[k];
        StoreTo(b_, arrays_.result(static_cast<int64_t>(r)), RowIndex(r), values[k]);
      }
    });
  }

  ElementIndex RowIndex(size_t r) {
    return WithMulti(b_, ElementIndex::Linear(row_), plan_.e.shapes[r]);
  }

  struct Vector {
    std::vector<ElementIndex> places;
    llvm::Value* inside = nullptr;  // null: always
  };

  const GroupRows& plan_;
  const RowForm& form_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  ThreadGroup group_;
  llvm::Value* row_ = nullptr;
  llvm::Value* stores_ = nullptr;    // whether this thread's row is one
  std::vector<llvm::Value*> multi_;  // of the element, in the full array
  std::vector<Vector> vectors_;      // of the lane, where they are kept
};

}  // namespace

bool AddGroupRowKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  std::optional<GroupRows> plan = PlanRows(request);
  if (!plan.has_value()) return false;
  Kernel kernel;
  kernel.units = plan->form.rows * plan->threads;
  if (plan->threads > 1) kernel.units = (kernel.units + kWarp - 1) / kWarp * kWarp;
  kernel.emit = [plan = *std::move(plan)](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                          llvm::Value*) {
    GroupRowEmitter(plan, b, arrays, begin).Emit();
  };
  if (kernel.units > 0) out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
