// Sorts of rows that lie together in memory, a tile of up to 2048 elements a block:
//
//   kernel 0: each thread sorts 8 elements in its registers, then runs of 8 are merged to runs of
//             16, 32, ... in shared memory until a row or the tile is sorted
//   kernel 1: pairs of sorted tiles are merged, a tile of the result a block; kernel 2: of those...
//
// A merge is dealt out along its path: the thread that writes places d to d + 8 of the result finds
// by binary search how many of the first d elements come from the first run, and goes on from there
// one by one. Elements of the first run come before equal ones of the second, so all is stable:
//
//   first run 1 4 4 9, second run 2 4 5:  place 3 is found as (2 of the first, 1 of the second),
//   then 4 (first), 4 (second), 5, 9
//
// n elements in tiles of T take n log2(T) + n log2(n / T) comparisons and one search for 8 of them
// a merge; each kernel reads and writes memory once. Short rows share a block, each in a place of a
// power of two of elements. Any comparator, any number of arrays, in place.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/sort_plan_internal.h"
#include "ir/attributes.h"

namespace hlokit {
namespace {

constexpr int64_t kOwn = 8;  // elements of a thread
constexpr int64_t kTile = kOwn * kBlockThreads;
constexpr int64_t kMaxSharedBytes = 40 << 10;

// Two sorted runs in shared memory: first places and numbers of elements.
struct Runs {
  llvm::Value *first, *first_size, *second, *second_size;
};

// Emits the work of one thread. Elements are in the form that memory has, a value an array.
class TileSortEmitter {
 public:
  TileSortEmitter(const SortPlan& plan, int64_t number, Builder& b, KernelArrays& arrays,
                  llvm::Value* unit)
      : plan_(plan),
        b_(b),
        emitter_(b),
        group_(b, kBlockThreads, b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        block_(b.CreateUDiv(unit, b.Index(kBlockThreads))) {
    llvm::Value* const memory = plan.kernels > 1 ? MakeScratch(b, plan.scratch_bytes) : nullptr;
    for (int64_t k = 0; k < plan.sort().operand_count(); ++k) {
      types_.push_back(MemoryType(b.getContext(), plan.e.shapes[k].type));
      from_.push_back(number == 0 ? arrays.operand(k).base
                                  : plan.Buffer(b, arrays, memory, k, number - 1).base);
      to_.push_back(plan.Buffer(b, arrays, memory, k, number).base);
      shared_.push_back(MakeShared(b, types_.back(), kTile));
    }
  }

  // Kernel 0. A row takes a power of two of places in the tile, of which the first are its
  // elements; of a long row, each tile is one.
  void EmitTiles() {
    const int64_t places =
        std::min(kTile, static_cast<int64_t>(absl::bit_ceil(static_cast<uint64_t>(plan_.length))));
    const int64_t tiles = (plan_.length + kTile - 1) / kTile, rows = kTile / places;
    // Place `at` of the tile: where it is in memory, and whether it is an element.
    const auto place_of = [&](llvm::Value* at) -> std::pair<llvm::Value*, llvm::Value*> {
      llvm::Value* const in_row = b_.CreateAnd(at, b_.Index(places - 1));
      if (tiles == 1) {
        llvm::Value* const row =
            b_.CreateNSWAdd(Scale(b_, block_, rows), b_.CreateUDiv(at, b_.Index(places)));
        llvm::Value* inside = b_.CreateICmpULT(in_row, b_.Index(plan_.length));
        if (plan_.Rows() % rows != 0)
          inside = b_.CreateAnd(inside, b_.CreateICmpULT(row, b_.Index(plan_.Rows())));
        return {b_.CreateNSWAdd(Scale(b_, row, plan_.length), in_row), inside};
      }
      llvm::Value* const begin = Scale(b_, b_.CreateURem(block_, b_.Index(tiles)), kTile);
      llvm::Value* const row = b_.CreateUDiv(block_, b_.Index(tiles));
      llvm::Value* const in_long_row = b_.CreateNSWAdd(begin, in_row);
      return {b_.CreateNSWAdd(Scale(b_, row, plan_.length), in_long_row),
              b_.CreateICmpULT(in_long_row, b_.Index(plan_.length))};
    };
    ForOwn([&](llvm::Value* at) {
      const auto [position, inside] = place_of(at);
      // Zeros in places that are no elements, which are read and not used.
      Store(shared_, at,
            EmitIfElse(
                b_, inside, [&] { return Load(from_, position); }, [&] { return Zeros(); }));
    });
    group_.Meet();
    // Elements of the row that the thread's first place is in, and where its places begin.
    llvm::Value* const own = Scale(b_, group_.lane(), kOwn);
    llvm::Value* const row_begin = b_.CreateAnd(own, b_.Index(-places));
    llvm::Value* size = b_.Index(plan_.length);
    if (tiles == 1 && plan_.Rows() % rows != 0) {
      size = b_.CreateSelect(place_of(row_begin).second, size, b_.Index(0));
    } else if (tiles > 1) {
      llvm::Value* const begin = Scale(b_, b_.CreateURem(block_, b_.Index(tiles)), kTile);
      size = Least(b_.CreateNSWSub(size, begin), b_.Index(kTile));
    }
    SortOwn(own, b_.CreateNSWSub(own, row_begin), size);
    const auto levels = static_cast<int64_t>(absl::bit_width(static_cast<uint64_t>(places))) - 4;
    if (levels > 0)
      EmitLoopCarrying(b_, levels, {b_.Index(kOwn)}, [&](llvm::Value* level, const Values& run) {
        group_.Meet();
        MergeRuns(own, row_begin, size, run[0], b_.CreateNSWAdd(level, b_.Index(kSearchOfOwn)));
        return Values{b_.CreateShl(run[0], b_.Index(1))};
      });
    group_.Meet();
    ForOwn([&](llvm::Value* at) {
      const auto [position, inside] = place_of(at);
      EmitIf(b_, inside, [&] { Store(to_, position, Load(shared_, at)); });
    });
  }

  // A later kernel: a tile of the merge of two runs of `run` elements of a row.
  void EmitMerge(int64_t run) {
    const int64_t tiles = (plan_.length + kTile - 1) / kTile;
    llvm::Value* const row = Scale(b_, b_.CreateUDiv(block_, b_.Index(tiles)), plan_.length);
    llvm::Value* const begin = Scale(b_, b_.CreateURem(block_, b_.Index(tiles)), kTile);
    llvm::Value* const pair = b_.CreateAnd(begin, b_.Index(-2 * run));
    llvm::Value* const middle = Least(b_.CreateNSWAdd(pair, b_.Index(run)), b_.Index(plan_.length));
    llvm::Value* const end =
        Least(b_.CreateNSWAdd(pair, b_.Index(2 * run)), b_.Index(plan_.length));
    const Runs all = {b_.CreateNSWAdd(row, pair), b_.CreateNSWSub(middle, pair),
                      b_.CreateNSWAdd(row, middle), b_.CreateNSWSub(end, middle)};
    llvm::Value* const from = b_.CreateNSWSub(begin, pair);
    llvm::Value* const to =
        Least(b_.CreateNSWAdd(from, b_.Index(kTile)), b_.CreateNSWSub(end, pair));
    llvm::Value* const steps =
        b_.Index(static_cast<int64_t>(absl::bit_width(static_cast<uint64_t>(run))));
    llvm::Value* const first_from = Search(from_, all, from, steps);
    llvm::Value* const first_to = Search(from_, all, to, steps);
    llvm::Value* const first_size = b_.CreateNSWSub(first_to, first_from);
    llvm::Value* const size = b_.CreateNSWSub(to, from);
    llvm::Value* const second =
        b_.CreateNSWSub(b_.CreateNSWAdd(all.second, b_.CreateNSWSub(from, first_from)), first_size);
    ForOwn([&](llvm::Value* at) {
      EmitIf(b_, b_.CreateICmpULT(at, size), [&] {
        llvm::Value* const begin_of = b_.CreateSelect(
            b_.CreateICmpULT(at, first_size), b_.CreateNSWAdd(all.first, first_from), second);
        Store(shared_, at, Load(from_, b_.CreateNSWAdd(begin_of, at)));
      });
    });
    group_.Meet();
    llvm::Value* const own = Scale(b_, group_.lane(), kOwn);
    Merge({b_.Index(0), first_size, first_size, b_.CreateNSWSub(size, first_size)},
          Least(own, size), own,
          b_.Index(static_cast<int64_t>(absl::bit_width(static_cast<uint64_t>(kTile)))));
    group_.Meet();
    llvm::Value* const target = b_.CreateNSWAdd(row, begin);
    ForOwn([&](llvm::Value* at) {
      EmitIf(b_, b_.CreateICmpULT(at, size),
             [&] { Store(to_, b_.CreateNSWAdd(target, at), Load(shared_, at)); });
    });
  }

 private:
  // Steps of a search in runs of kOwn.
  static constexpr int64_t kSearchOfOwn = 4;

  llvm::Value* Least(llvm::Value* x, llvm::Value* y) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
  }
  llvm::Value* Most(llvm::Value* x, llvm::Value* y) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y);
  }

  // body(place) for kOwn places of the tile, neighbours in neighbouring threads.
  void ForOwn(absl::FunctionRef<void(llvm::Value*)> body) {
    for (int64_t k = 0; k < kOwn; ++k)
      body(b_.CreateNSWAdd(group_.lane(), b_.Index(k * kBlockThreads)));
  }

  Values Zeros() {
    Values element;
    for (llvm::Type* const type : types_) element.push_back(llvm::Constant::getNullValue(type));
    return element;
  }

  template <typename Arrays>
  Values Load(const Arrays& arrays, llvm::Value* at) {
    Values element;
    for (size_t k = 0; k < types_.size(); ++k)
      element.push_back(b_.CreateLoad(types_[k], b_.CreateInBoundsGEP(types_[k], arrays[k], {at})));
    return element;
  }
  template <typename Arrays>
  void Store(const Arrays& arrays, llvm::Value* at, const Values& element) {
    for (size_t k = 0; k < types_.size(); ++k)
      b_.CreateStore(element[k], b_.CreateInBoundsGEP(types_[k], arrays[k], {at}));
  }
  Values Choose(llvm::Value* condition, const Values& x, const Values& y) {
    Values chosen;
    for (size_t k = 0; k < x.size(); ++k) chosen.push_back(b_.CreateSelect(condition, x[k], y[k]));
    return chosen;
  }

  // Whether x comes before y.
  llvm::Value* IsLess(const Values& x, const Values& y) {
    std::vector<ScalarValue> arguments;
    for (size_t k = 0; k < x.size(); ++k)
      for (llvm::Value* const value : {x[k], y[k]})
        arguments.push_back(FromMemoryForm(b_, plan_.e.shapes[k].type, value));
    return emitter_.Apply(*plan_.sort().to_apply(), arguments)[0].re;
  }

  // Sorts the thread's places, of a row of `size` elements in which they begin at `in_row`: rounds
  // of exchanges of neighbours, those at even places and those at odd ones in turn.
  void SortOwn(llvm::Value* own, llvm::Value* in_row, llvm::Value* size) {
    const int64_t count = std::min<int64_t>(kOwn, plan_.length);
    std::vector<Values> elements;
    for (int64_t k = 0; k < count; ++k)
      elements.push_back(Load(shared_, b_.CreateNSWAdd(own, b_.Index(k))));
    for (int64_t round = 0; round < count; ++round)
      for (int64_t k = round % 2; k + 1 < count; k += 2) {
        Values &x = elements[static_cast<size_t>(k)], &y = elements[static_cast<size_t>(k + 1)];
        llvm::Value* const there = b_.CreateICmpSLT(b_.CreateNSWAdd(in_row, b_.Index(k + 1)), size);
        llvm::Value* const swap = b_.CreateAnd(IsLess(y, x), there);
        const Values low = Choose(swap, y, x);
        y = Choose(swap, x, y);
        x = low;
      }
    for (int64_t k = 0; k < count; ++k)
      Store(shared_, b_.CreateNSWAdd(own, b_.Index(k)), elements[static_cast<size_t>(k)]);
  }

  // Merges the pair of runs of `run` elements that the thread's places are in.
  void MergeRuns(llvm::Value* own, llvm::Value* row_begin, llvm::Value* size, llvm::Value* run,
                 llvm::Value* steps) {
    llvm::Value* const in_row = b_.CreateNSWSub(own, row_begin);
    llvm::Value* const pair = b_.CreateAnd(in_row, b_.CreateNeg(b_.CreateShl(run, b_.Index(1))));
    const auto size_from = [&](llvm::Value* begin) {
      return Most(Least(b_.CreateNSWSub(size, begin), run), b_.Index(0));
    };
    llvm::Value* const middle = b_.CreateNSWAdd(pair, run);
    const Runs runs = {b_.CreateNSWAdd(row_begin, pair), size_from(pair),
                       b_.CreateNSWAdd(row_begin, middle), size_from(middle)};
    llvm::Value* const diagonal =
        Least(b_.CreateNSWSub(in_row, pair), b_.CreateNSWAdd(runs.first_size, runs.second_size));
    Merge(runs, diagonal, own, steps);
  }

  // How many of the first `diagonal` elements of the merge are of the first run.
  template <typename Arrays>
  llvm::Value* Search(const Arrays& arrays, const Runs& runs, llvm::Value* diagonal,
                      llvm::Value* steps) {
    llvm::Value* const low = Most(b_.CreateNSWSub(diagonal, runs.second_size), b_.Index(0));
    llvm::Value* const high = Least(diagonal, runs.first_size);
    return EmitLoopCarrying(
        b_, b_.Index(0), steps, {low, high}, [&](llvm::Value*, const Values& range) {
          llvm::Value* const is_open = b_.CreateICmpSLT(range[0], range[1]);
          llvm::Value* const middle =
              b_.CreateLShr(b_.CreateNSWAdd(range[0], range[1]), b_.Index(1));
          const Values next = EmitIfElse(
              b_, is_open,
              [&] {
                const Values x = Load(arrays, b_.CreateNSWAdd(runs.first, middle));
                llvm::Value* const other =
                    b_.CreateNSWSub(b_.CreateNSWSub(diagonal, middle), b_.Index(1));
                const Values y = Load(arrays, b_.CreateNSWAdd(runs.second, other));
                llvm::Value* const second = IsLess(y, x);
                return Values{
                    b_.CreateSelect(second, range[0], b_.CreateNSWAdd(middle, b_.Index(1))),
                    b_.CreateSelect(second, middle, range[1])};
              },
              [&] {
                return Values{range[0], range[1]};
              });
          return next;
        })[0];
  }

  // Elements `diagonal` and after of the merge of two runs, as many as there are of kOwn, to the
  // shared places from `own` on, once all threads have read.
  void Merge(const Runs& runs, llvm::Value* diagonal, llvm::Value* own, llvm::Value* steps) {
    llvm::Value* i = Search(shared_, runs, diagonal, steps);
    llvm::Value* j = b_.CreateNSWSub(diagonal, i);
    llvm::Value* const last = Most(
        b_.CreateNSWSub(b_.CreateNSWAdd(runs.second, runs.second_size), b_.Index(1)), runs.first);
    const auto at = [&](llvm::Value* begin, llvm::Value* k) {
      return Least(b_.CreateNSWAdd(begin, k), last);
    };
    Values x = Load(shared_, at(runs.first, i)), y = Load(shared_, at(runs.second, j));
    std::vector<Values> merged;
    for (int64_t k = 0; k < kOwn; ++k) {
      llvm::Value* const has_x = b_.CreateICmpSLT(i, runs.first_size);
      llvm::Value* const has_y = b_.CreateICmpSLT(j, runs.second_size);
      llvm::Value* const takes_y =
          b_.CreateAnd(has_y, b_.CreateOr(b_.CreateNot(has_x), IsLess(y, x)));
      merged.push_back(Choose(takes_y, y, x));
      if (k + 1 == kOwn) break;
      i = b_.CreateSelect(takes_y, i, b_.CreateNSWAdd(i, b_.Index(1)));
      j = b_.CreateSelect(takes_y, b_.CreateNSWAdd(j, b_.Index(1)), j);
      const Values next =
          Load(shared_, Least(b_.CreateSelect(takes_y, b_.CreateNSWAdd(runs.second, j),
                                              b_.CreateNSWAdd(runs.first, i)),
                              last));
      x = Choose(takes_y, x, next);
      y = Choose(takes_y, next, y);
    }
    llvm::Value* const count =
        b_.CreateNSWSub(b_.CreateNSWAdd(runs.first_size, runs.second_size), diagonal);
    group_.Meet();
    for (int64_t k = 0; k < kOwn; ++k)
      EmitIf(b_, b_.CreateICmpSLT(b_.Index(k), count), [&] {
        Store(shared_, b_.CreateNSWAdd(own, b_.Index(k)), merged[static_cast<size_t>(k)]);
      });
  }

  const SortPlan& plan_;
  Builder& b_;
  ElementEmitter emitter_;
  ThreadGroup group_;
  llvm::Value* const block_;
  std::vector<llvm::Type*> types_;
  Values from_, to_;
  std::vector<llvm::GlobalVariable*> shared_;
};

}  // namespace

int64_t SortTile(const SortPlan& plan) {
  // Rows of a warp's length or less are sorted by counting.
  if (plan.stride != 1 || plan.length <= plan.chunk) return 0;
  int64_t bytes = 0;
  for (const Shape& shape : plan.e.shapes) {
    if (IsComplex(shape.type) || IsSubByte(shape.type)) return 0;
    bytes += ByteWidth(shape.type);
  }
  return kTile * bytes <= kMaxSharedBytes ? kTile : 0;
}

void AddTileSortKernels(const SortPlan& plan, std::vector<Kernel>& out) {
  const int64_t places =
      std::min(kTile, static_cast<int64_t>(absl::bit_ceil(static_cast<uint64_t>(plan.length))));
  const int64_t tiles = (plan.length + kTile - 1) / kTile, rows = kTile / places;
  const int64_t blocks = tiles > 1 ? tiles * plan.Rows() : (plan.Rows() + rows - 1) / rows;
  int64_t run = kTile;
  for (int64_t number = 0; number < plan.kernels; ++number) {
    Kernel kernel;
    kernel.units = blocks * kBlockThreads;
    kernel.emit = [plan, number, run](Builder& b, KernelArrays& arrays, llvm::Value* unit,
                                      llvm::Value*) {
      TileSortEmitter emitter(plan, number, b, arrays, unit);
      number == 0 ? emitter.EmitTiles() : emitter.EmitMerge(run);
    };
    out.push_back(std::move(kernel));
    if (number > 0) run *= 2;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
