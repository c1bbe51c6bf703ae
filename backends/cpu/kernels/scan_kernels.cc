// Cumulative sums and the like: a reduce-window as long as its dimension, computed in one pass with
// an accumulator, n steps instead of n^2.
//
// The steps of one row depend on each other, so kScanLanes rows are processed at a time; where rows
// are not contiguous, a tile of kScanTile neighbouring columns. A single long row is cut into eight
// segments: one pass sums the segments, a second one scans each from its start value.
//   {1,2,3,4,5,6}, three segments: sums {3,7,11}, starts {0,3,10}, result {1,3 | 6,10 | 15,21}
// Regrouping is allowed for f32 and f64 sums only; narrow floats round at each step.
#include <algorithm>
#include <numeric>

#include "backends/cpu/kernels/column_tile_internal.h"
#include "codegen/accumulators.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

// So many accumulators hide how long one step of one of them takes.
constexpr int64_t kScanLanes = 8;
// Shorter rows are not worth two passes.
constexpr int64_t kLongRow = 512;
// Accumulators in lanes where neighbours in memory belong to different rows.
constexpr int64_t kScanTile = 256;

struct ScanForm {
  const Instruction* scan;  // the reduce-window
  Shape shape;              // of operands and results
  int64_t length = 1;       // along the dimension
  int64_t inner = 1;        // elements between neighbours along it
  bool reverse = false;     // from the last to the first
};

bool IsScanWindow(const Window& window, const Shape& shape, ScanForm& form) {
  int64_t scanned = -1;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1) return false;
    if (w.size == 1 && w.pad_low == 0 && w.pad_high == 0) continue;
    const int64_t rest = shape.dims[d] - 1;
    const bool forward = w.pad_low == rest && w.pad_high == 0;
    if (scanned >= 0 || w.size != rest + 1 || !(forward || (w.pad_low == 0 && w.pad_high == rest)))
      return false;
    scanned = static_cast<int64_t>(d);
    form.reverse = !forward;
  }
  if (scanned < 0) return false;
  form.length = shape.dims[scanned];
  form.inner = LayoutStrides(shape)[scanned];
  return true;
}

// True if the steps may be taken in any order.
bool MayRegroup(const Instruction& scan) {
  return SimpleReducer(*scan.to_apply()).has_value() && !RoundsSteps(scan);
}

bool FindScan(const Expression& e, ScanForm& form) {
  form.scan = e.roots.empty() ? nullptr : e.roots[0];
  if (form.scan == nullptr || form.scan->opcode() != Opcode::kReduceWindow) return false;
  form.shape = e.shapes[0];
  for (size_t r = 0; r < e.roots.size(); ++r)
    if (e.roots[r] != form.scan || e.root_leaves[r] != static_cast<int64_t>(r)) return false;
  const int64_t arrays = form.scan->operand_count() / 2;
  if (arrays != static_cast<int64_t>(e.roots.size()) || form.shape.ElementCount() == 0)
    return false;
  const auto same = [&](const Shape& s) {
    return s.dims == form.shape.dims && s.MinorToMajor() == form.shape.MinorToMajor();
  };
  for (const Shape& s : e.shapes)
    if (!same(s)) return false;
  for (int64_t o = 0; o < arrays; ++o)
    if (!same(form.scan->operand(o)->shape())) return false;
  // Windows are read from their first element to their last, which only a plain reducer may swap.
  return IsScanWindow(form.scan->attr<WindowAttrs>().window, form.shape, form) &&
         (!form.reverse || MayRegroup(*form.scan));
}

class ScanEmitter {
 public:
  ScanEmitter(const Expression& e, const ScanForm& form, Builder& b, KernelArrays& arrays)
      : form_(form), b_(b), emitter_(b) {
    BindLeaves(emitter_, e, arrays);
    for (size_t r = 0; r < e.roots.size(); ++r)
      results_.push_back(arrays.result(static_cast<int64_t>(r)));
  }

  // Rows side by side in a block of `lanes`, each with its elements one after the other.
  void EmitRows(llvm::Value* block, int64_t lanes) {
    const Accumulators accumulators(*form_.scan, emitter_);
    std::vector<llvm::Value*> starts;
    Values initial;
    for (int64_t k = 0; k < lanes; ++k) {
      llvm::Value* row = b_.CreateNSWAdd(Scale(b_, block, lanes), b_.getInt64(k));
      starts.push_back(Scale(b_, row, form_.length));
      accumulators.AppendInitial(initial);
    }
    EmitLanes(accumulators, starts, form_.length, initial);
  }

  // One long row as segments side by side: a first pass gives each the value it starts with.
  void EmitSegments(llvm::Value* row) {
    const Accumulators accumulators(*form_.scan, emitter_);
    const int64_t segment = form_.length / kScanLanes;
    std::vector<llvm::Value*> starts;
    Values initial, before;
    accumulators.AppendInitial(before);
    for (int64_t k = 0; k < kScanLanes; ++k) {
      const int64_t at = (form_.reverse ? kScanLanes - 1 - k : k) * segment;
      starts.push_back(b_.CreateNSWAdd(Scale(b_, row, form_.length), b_.getInt64(at)));
      initial.insert(initial.end(), before.begin(), before.end());
      if (k + 1 == kScanLanes) break;
      before = EmitLoopCarrying(b_, segment, before, [&](llvm::Value* i, const Values& carried) {
        return Next(accumulators, b_.CreateNSWAdd(starts.back(), i), carried);
      });
    }
    EmitLanes(accumulators, starts, segment, initial);
  }

  // A tile of neighbours that belong to different rows (column_tile.cc); `outer` numbers the arrays
  // of rows, `number` the tiles in one.
  void EmitTile(const ColumnTilePlan& plan, llvm::Value* outer, llvm::Value* number) {
    if (!tile_) tile_.emplace(plan, emitter_);
    const Accumulators accumulators(*form_.scan, emitter_);
    Values initial;
    accumulators.AppendInitial(initial);
    tile_->Begin(Scale(b_, number, plan.width), initial);
    llvm::Value* start = Scale(b_, outer, form_.inner * form_.length);
    std::vector<llvm::Value*> index(2);
    tile_->AddRows(
        index, [](llvm::Value*) {},
        [&](const Values& before) {
          llvm::Value* row =
              b_.CreateNSWAdd(start, Scale(b_, Place(index[0], form_.length), form_.inner));
          llvm::Value* at = b_.CreateNSWAdd(row, index[1]);
          const Values after = Next(accumulators, at, before);
          Store(accumulators, after, at);
          return after;
        });
  }

 private:
  // The i-th place in the order of the scan.
  llvm::Value* Place(llvm::Value* i, int64_t length) {
    return form_.reverse ? b_.CreateNSWSub(b_.getInt64(length - 1), i) : i;
  }

  Values Next(const Accumulators& accumulators, llvm::Value* at, const Values& carried) {
    Values next;
    size_t used = 0;
    emitter_.BeginScope();
    accumulators.AppendNext(ElementIndex::Linear(at), carried, used, next);
    emitter_.EndScope();
    return next;
  }

  void Store(const Accumulators& accumulators, const Values& values, llvm::Value* at) {
    size_t used = 0;
    const std::vector<ScalarValue> parts = accumulators.Results(values, used);
    for (size_t r = 0; r < results_.size(); ++r)
      StoreTo(b_, results_[r], ElementIndex::Linear(at), parts[r]);
  }

  void EmitLanes(const Accumulators& accumulators, const std::vector<llvm::Value*>& starts,
                 int64_t length, const Values& initial) {
    const size_t width = initial.size() / starts.size();
    EmitLoopCarrying(b_, length, initial, [&](llvm::Value* i, const Values& carried) {
      Values all;
      for (size_t k = 0; k < starts.size(); ++k) {
        const Values own(carried.begin() + k * width, carried.begin() + (k + 1) * width);
        llvm::Value* at = b_.CreateNSWAdd(starts[k], Place(i, length));
        const Values next = Next(accumulators, at, own);
        Store(accumulators, next, at);
        all.insert(all.end(), next.begin(), next.end());
      }
      return all;
    });
  }

  const ScanForm& form_;
  Builder& b_;
  ElementEmitter emitter_;
  std::vector<ArrayRef> results_;
  std::optional<ColumnTile> tile_;
};

Kernel RowsKernel(const Expression& e, const ScanForm& form, int64_t rows) {
  const int64_t lanes = std::gcd(rows, kScanLanes);
  const bool segments = lanes < kScanLanes / 2 && form.length % kScanLanes == 0 &&
                        form.length >= kLongRow && MayRegroup(*form.scan);
  Kernel kernel;
  kernel.units = segments ? rows : rows / lanes;
  kernel.unit_cost = 4.0 * static_cast<double>((segments ? 1 : lanes) * form.length);
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    ScanEmitter emitter(e, form, b, arrays);
    EmitLoop(b, begin, end, [&](llvm::Value* unit) {
      segments ? emitter.EmitSegments(unit) : emitter.EmitRows(unit, lanes);
    });
  };
  return kernel;
}

Kernel TilesKernel(const Expression& e, const ScanForm& form, int64_t rows) {
  ColumnTilePlan plan;
  plan.from = Shape::Array(form.shape.type, {form.length, form.inner});
  plan.reduced = {0};
  plan.column = 1;
  plan.columns = form.inner;
  plan.width = kScanTile;
  Kernel kernel;
  kernel.units = rows / form.inner * plan.count();
  kernel.unit_cost = static_cast<double>(std::min(form.inner, kScanTile) * form.length);
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    ScanEmitter emitter(e, form, b, arrays);
    llvm::Value* const tiles = b.getInt64(plan.count());
    EmitLoop(b, begin, end, [&](llvm::Value* unit) {
      emitter.EmitTile(plan, b.CreateUDiv(unit, tiles), b.CreateURem(unit, tiles));
    });
  };
  return kernel;
}

}  // namespace

bool AddScanKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  ScanForm form;
  if (!FindScan(e, form)) return false;
  const int64_t rows = form.shape.ElementCount() / form.length;
  out.push_back(form.inner == 1 ? RowsKernel(e, form, rows) : TilesKernel(e, form, rows));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
