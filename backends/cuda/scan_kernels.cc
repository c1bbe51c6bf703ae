// A row is scanned by a warp, or by a block where there are few rows, piece after piece: of a
// piece, each thread takes a vector of neighbours. cumsum of f32, a warp, vectors of 4, a piece of
// 128:
//
//   thread 0: a b c d  thread 1: e f g h ...     read
//             a ab abc abcd      e ef efg efgh   scanned by each thread alone
//             abcd               abcdefgh ...    the threads' totals, scanned in five rounds of
//             shuffles
//   results: what came before the piece, then what the threads before have, then a thread's own
//   scan
//
// The total of the last thread is what comes before the next piece. In a block, the totals of its
// warps meet in shared memory, in two places by turns, so that a piece has one barrier. A reverse
// scan counts the row from its end. The order of all combinations depends on the shape alone: the
// same bits every run. What is scanned is computed as it is read.
//
// Cost: about 30 instructions of a warp for 128 elements of 4 bytes.
#include "backends/cuda/scan_kernels.h"

#include "analysis/row_scan.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/thread_group.h"
#include "backends/cuda/vector_kernels.h"
#include "codegen/accumulators.h"

namespace hlokit {
namespace {

constexpr int64_t kManyThreads = 1 << 16;  // that a device wants
constexpr int64_t kShortPieces = 4;        // of a warp: rows of no more are not a block's work

struct ScanPlan {
  Expression e;
  RowScan scan;
  int64_t vector = 1, threads = kWarp;

  int64_t Piece() const { return threads * vector; }
};

std::optional<ScanPlan> PlanScan(const KernelRequest& request) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1) return std::nullopt;
  const std::optional<RowScan> scan = RowScanOf(*e.roots[0]);
  if (!scan) return std::nullopt;
  ScanPlan plan{e, *scan, VectorElements(e, scan->length)};
  if (scan->rows * kWarp < kManyThreads && scan->length > kShortPieces * plan.Piece())
    plan.threads = kBlockThreads;
  return plan;
}

class ScanEmitter {
 public:
  ScanEmitter(const ScanPlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        scan_(*plan.e.roots[0]),
        b_(b),
        arrays_(arrays),
        emitter_(b),
        lane_(b.CreateURem(unit, b.Index(plan.threads))),
        in_warp_(b.CreateURem(lane_, b.Index(kWarp))),
        warp_(b.CreateUDiv(lane_, b.Index(kWarp))),
        row_(b.CreateUDiv(unit, b.Index(plan.threads))) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(plan.e));
    BindLeaves(emitter_, plan.e, arrays);
    PlaceRow();
    start_ = emitter_.Emit(scan_.operand(1), ElementIndex::Multi({})).re;
  }

  void Emit() {
    const int64_t pieces = (plan_.scan.length + plan_.Piece() - 1) / plan_.Piece();
    if (plan_.threads > kWarp) {
      llvm::Value* const words = ToWords(b_, start_);
      totals_ = MakeShared(b_, words->getType(), 2 * kWarps);
    }
    EmitLoopCarrying(b_, pieces, {start_}, [&](llvm::Value* piece, const Values& before) {
      emitter_.BeginScope();
      llvm::Value* const next = EmitPiece(piece, before[0]);
      emitter_.EndScope();
      return Values{next};
    });
  }

 private:
  static constexpr int64_t kWarps = kBlockThreads / kWarp;

  void PlaceRow() {
    const Shape& shape = scan_.shape();
    scanned_ = shape.rank() - 1;
    while (scanned_ > 0 && shape.dims[scanned_] == 1) --scanned_;
    DimVector rows;
    for (int64_t d = 0; d < scanned_; ++d) rows.push_back(d);
    multi_.assign(static_cast<size_t>(shape.rank()), b_.Index(0));
    Delinearize(b_, row_, rows, shape.dims, multi_);
  }

  ElementIndex PlaceOf(llvm::Value* at) {
    multi_[static_cast<size_t>(scanned_)] = at;
    return ElementIndex::Multi(multi_, b_.CreateNSWAdd(Scale(b_, row_, plan_.scan.length), at));
  }

  // The elements of this thread's vector in the order of the scan. `first`: its place in that
  // order.
  std::vector<ElementIndex> PlacesOf(llvm::Value* first) {
    const int64_t n = plan_.scan.length, v = plan_.vector;
    llvm::Value* const lowest =
        plan_.scan.reverse ? b_.CreateNSWSub(b_.Index(n - v), first) : first;
    std::vector<ElementIndex> places;
    for (int64_t k = 0; k < v; ++k)
      places.push_back(PlaceOf(k == 0 ? lowest : b_.CreateNSWAdd(lowest, b_.Index(k))));
    if (plan_.scan.reverse) std::reverse(places.begin(), places.end());
    return places;
  }

  llvm::Value* Step(llvm::Value* before, llvm::Value* x) {
    return EmitReductionStep(emitter_, scan_, {{before}, {x}})[0].re;
  }

  // Scans a piece and gives what comes before the next one.
  llvm::Value* EmitPiece(llvm::Value* piece, llvm::Value* before) {
    const int64_t n = plan_.scan.length;
    llvm::Value* first =
        Scale(b_, b_.CreateNSWAdd(Scale(b_, piece, plan_.threads), lane_), plan_.vector);
    llvm::Value* inside = nullptr;  // null: always
    if (n % plan_.Piece() != 0) {
      inside = b_.CreateICmpULT(first, b_.Index(n));
      first = b_.CreateSelect(inside, first, b_.Index(0));
    }
    const std::vector<ElementIndex> places = PlacesOf(first);
    std::vector<llvm::Value*> own;
    for (const ElementIndex& place : places) {
      llvm::Value* const x = emitter_.Emit(scan_.operand(0), place).re;
      own.push_back(inside == nullptr ? x : b_.CreateSelect(inside, x, start_));
    }
    for (size_t k = 1; k < own.size(); ++k) own[k] = Step(own[k - 1], own[k]);
    llvm::Value* const total = ScanLanes(own.back());
    llvm::Value* next = nullptr;
    if (plan_.threads == kWarp) {
      next = Step(before, ReadLane(b_, total, b_.getInt32(kWarp - 1)));
    } else {
      next = AddWarps(total, piece, before);
    }
    llvm::Value* const lanes_before = ReadLane(b_, total, b_.CreateSub(Lane(), b_.getInt32(1)));
    before =
        b_.CreateSelect(b_.CreateICmpEQ(in_warp_, b_.Index(0)), before, Step(before, lanes_before));
    EmitIf(b_, inside == nullptr ? b_.getTrue() : inside, [&] {
      for (size_t k = 0; k < own.size(); ++k)
        StoreTo(b_, arrays_.result(0), places[k], {Step(before, own[k])});
    });
    return next;
  }

  llvm::Value* Lane() { return b_.CreateZExtOrTrunc(in_warp_, b_.getInt32Ty()); }

  // Each lane's value and those of the lanes before it, combined.
  llvm::Value* ScanLanes(llvm::Value* value) {
    for (int64_t distance = 1; distance < kWarp; distance *= 2) {
      llvm::Value* const from = b_.CreateSub(Lane(), b_.getInt32(static_cast<uint32_t>(distance)));
      llvm::Value* const other = ReadLane(b_, value, from);
      value = b_.CreateSelect(b_.CreateICmpUGE(in_warp_, b_.Index(distance)), Step(other, value),
                              value);
    }
    return value;
  }

  // Puts what the warps before have after `before`; gives what comes before the next piece.
  llvm::Value* AddWarps(llvm::Value* total, llvm::Value* piece, llvm::Value*& before) {
    llvm::Type* const words = totals_->getValueType()->getArrayElementType();
    llvm::Value* const turn = Scale(b_, b_.CreateURem(piece, b_.Index(2)), kWarps);
    const auto place = [&](llvm::Value* warp) {
      return b_.CreateInBoundsGEP(totals_->getValueType(), totals_,
                                  {b_.Index(0), b_.CreateNSWAdd(turn, warp)});
    };
    EmitIf(b_, b_.CreateICmpEQ(in_warp_, b_.Index(kWarp - 1)),
           [&] { b_.CreateStore(ToWords(b_, total), place(warp_)); });
    ThreadGroup(b_, plan_.threads, lane_).Meet();
    llvm::Value *all = before, *mine = before;
    for (int64_t w = 0; w < kWarps; ++w) {
      llvm::Value* const loaded = b_.CreateLoad(words, place(b_.Index(w)));
      all = Step(all, FromWords(b_, loaded, total->getType()));
      mine = b_.CreateSelect(b_.CreateICmpUGT(warp_, b_.Index(w)), all, mine);
    }
    before = mine;
    return all;
  }

  const ScanPlan& plan_;
  const Instruction& scan_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  llvm::Value *lane_, *in_warp_, *warp_, *row_;
  llvm::Value* start_ = nullptr;            // the identity element
  llvm::GlobalVariable* totals_ = nullptr;  // of warps
  std::vector<llvm::Value*> multi_;         // of the element
  int64_t scanned_ = 0;                     // dimension
};

}  // namespace

bool AddRowScanKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  std::optional<ScanPlan> plan = PlanScan(request);
  if (!plan) return false;
  Kernel kernel;
  kernel.units = plan->scan.rows * plan->threads;
  kernel.emit = [plan = *std::move(plan)](Builder& b, KernelArrays& arrays, llvm::Value* unit,
                                          llvm::Value*) {
    ScanEmitter(plan, b, arrays, unit).Emit();
  };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
