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
#include "backends/cuda/row_emitter_internal.h"
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

// Stores results in memory.
class StoredRowEmitter final : public GroupRowEmitter {
 public:
  StoredRowEmitter(const GroupRows& plan, ElementEmitter& emitter, KernelArrays& arrays,
                   llvm::Value* lane, llvm::Value* row, llvm::Value* stores)
      : GroupRowEmitter(plan, emitter, lane, row, stores), arrays_(arrays) {}

 private:
  void StoreElement(size_t r, const ElementIndex& index, const ScalarValue& value) override {
    StoreTo(builder(), arrays_.result(static_cast<int64_t>(r)), index, value);
  }

  KernelArrays& arrays_;
};

// Threads past the last row compute it too, so that whole warps meet, and store nothing.
void EmitRow(const GroupRows& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit) {
  ElementEmitter emitter(b);
  emitter.set_excess(true);
  emitter.set_plain_nans(HasPlainNaNs(plan.e));
  BindLeaves(emitter, plan.e, arrays);
  llvm::Value* const lane = b.CreateURem(unit, b.Index(plan.threads));
  llvm::Value* row = b.CreateUDiv(unit, b.Index(plan.threads));
  llvm::Value* stores = b.getTrue();
  if (plan.form.rows * plan.threads % kWarp != 0 && plan.threads > 1) {
    llvm::Value* const last = b.Index(plan.form.rows - 1);
    stores = b.CreateICmpULE(row, last);
    row = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, last);
  }
  StoredRowEmitter(plan, emitter, arrays, lane, row, stores).Emit();
}

}  // namespace

bool AddGroupRowKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  std::optional<GroupRows> plan = PlanRows(request);
  if (!plan.has_value()) return false;
  Kernel kernel;
  kernel.units = plan->form.rows * plan->threads;
  if (plan->threads > 1) kernel.units = (kernel.units + kWarp - 1) / kWarp * kWarp;
  kernel.emit = [plan = *std::move(plan)](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                          llvm::Value*) { EmitRow(plan, b, arrays, begin); };
  if (kernel.units > 0) out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
