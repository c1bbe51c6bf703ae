// Sorts by merging, a thread an element, a kernel a level:
//
//   kernel 0: chunks of 32: an element's place is the number of those in its chunk that come before
//   kernel 1: runs of 32 become runs of 64: its place is its place in its own run, plus the number
//             of elements of the other run that come before it, by binary search
//   kernel 2: runs of 64 become runs of 128; ...
//
// The last kernel writes the results; the ones before write the results' memory and scratch memory
// in turn. Equal elements keep their order, whether is_stable asks for it or not, so that the
// result does not depend on the method. n elements take n log2(n)^2 / 2 comparisons; neighbouring
// threads search in the same places, which are in the nearest cache.
//
// Where a result lies in its operand's memory, the first kernel must write to scratch memory: with
// chunks of 16 there is one kernel more, and it does.
//
// Limits: with a comparator that is no strict weak order (x < y of NaN), places may stay unwritten.
#include "backends/cuda/sort_kernels.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "analysis/emittable.h"
#include "backends/cuda/sort_plan_internal.h"
#include "ir/attributes.h"

namespace hlokit {
namespace {

constexpr int64_t kScratchAlignment = 256;

bool HasStaticArrays(const Instruction& i) {
  return absl::c_all_of(i.operands(), [](const Instruction* operand) {
    return operand->shape().IsArray() && !operand->shape().HasDynamicDims();
  });
}

SortPlan PlanSort(const Expression& e, const InPlace& in_place) {
  SortPlan plan;
  plan.e = e;
  const Shape& shape = e.shapes[0];
  const int64_t dimension = plan.sort().attr<SortAttrs>().dimensions[0];
  plan.length = shape.dims[dimension];
  for (const int64_t d : shape.MinorToMajor()) {
    if (d == dimension) break;
    plan.stride *= shape.dims[d];
  }
  bool overwrites = false;
  for (int64_t k = 0; k < plan.sort().operand_count(); ++k) {
    overwrites = overwrites || in_place(k, k);
    plan.scratch.push_back(plan.scratch_bytes);
    const int64_t bytes = e.shapes[k].ByteSize();
    plan.scratch_bytes += (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    const Computation& comparator = *plan.sort().to_apply();
    plan.compared.push_back(!comparator.parameter(2 * k)->users().empty() ||
                            !comparator.parameter(2 * k + 1)->users().empty() ||
                            comparator.root()->opcode() == Opcode::kParameter);
  }
  if (const int64_t tile = SortTile(plan); tile > 0) {
    plan.by_tiles = true;
    plan.kernels = SortKernelsFor(plan.length, tile);
    return plan;
  }
  plan.kernels = SortKernelsFor(plan.length, plan.chunk);
  if (overwrites && plan.kernels % 2 == 1 && plan.length > 1) {
    while (SortKernelsFor(plan.length, plan.chunk) == plan.kernels) plan.chunk /= 2;
    plan.kernels = SortKernelsFor(plan.length, plan.chunk);
  }
  return plan;
}

// Emits the work of one thread in one of the kernels.
class SortEmitter {
 public:
  SortEmitter(const SortPlan& plan, int64_t number, Builder& b, KernelArrays& arrays,
              llvm::Value* unit)
      : plan_(plan), b_(b), emitter_(b), at_(unit) {
    if (plan.kernels > 1) scratch_ = MakeScratch(b, plan.scratch_bytes);
    for (int64_t k = 0; k < plan.sort().operand_count(); ++k) {
      from_.push_back(number == 0 ? arrays.operand(k)
                                  : plan.Buffer(b, arrays, scratch_, k, number - 1));
      from_.back().shape = plan.e.shapes[k];  // what bitcasts of the operand's shape have in common
      to_.push_back(plan.Buffer(b, arrays, scratch_, k, number));
    }
    place_ = b.CreateURem(b.CreateUDiv(unit, b.Index(plan.stride)), b.Index(plan.length));
    row_ = b.CreateNSWSub(unit, Scale(b, place_, plan.stride));
    mine_ = Load(unit);
  }

  void EmitChunks() {
    llvm::Value* const first =
        b_.CreateNSWSub(place_, b_.CreateURem(place_, b_.Index(plan_.chunk)));
    llvm::Value* const end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                                      b_.CreateNSWAdd(first, b_.Index(plan_.chunk)),
                                                      b_.Index(plan_.length));
    const Values rank = EmitLoopCarrying(
        b_, first, end, {b_.Index(0)}, [&](llvm::Value* other, const Values& count) {
          llvm::Value* const earlier = b_.CreateICmpULT(other, place_);
          const std::vector<ScalarValue> theirs = Load(PositionOf(other));
          // Of two equal elements the earlier one comes before.
          llvm::Value* const swapped =
              Compare(Choose(earlier, mine_, theirs), Choose(earlier, theirs, mine_));
          llvm::Value* const before =
              b_.CreateAnd(b_.CreateXor(swapped, earlier), b_.CreateICmpNE(other, place_));
          return Values{b_.CreateNSWAdd(count[0], b_.CreateZExt(before, b_.IndexType()))};
        });
    Store(b_.CreateNSWAdd(first, rank[0]));
  }

  void EmitMerge(int64_t run) {
    llvm::Value* const pair = b_.CreateNSWSub(place_, b_.CreateURem(place_, b_.Index(2 * run)));
    const auto limited = [&](llvm::Value* at) {
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, b_.Index(plan_.length));
    };
    llvm::Value* const middle = limited(b_.CreateNSWAdd(pair, b_.Index(run)));
    llvm::Value* const end = limited(b_.CreateNSWAdd(pair, b_.Index(2 * run)));
    llvm::Value* const in_first = b_.CreateICmpULT(place_, middle);
    llvm::Value* const begin = b_.CreateSelect(in_first, middle, pair);
    llvm::Value* const found = Search(in_first, begin, b_.CreateSelect(in_first, end, middle), run);
    // Places in its own run, and in the other one.
    llvm::Value* const own = b_.CreateNSWSub(place_, b_.CreateSelect(in_first, pair, middle));
    Store(b_.CreateNSWAdd(b_.CreateNSWAdd(pair, own), b_.CreateNSWSub(found, begin)));
  }

 private:
  llvm::Value* PositionOf(llvm::Value* place) {
    return b_.CreateNSWAdd(row_, Scale(b_, place, plan_.stride));
  }

  // What the comparator reads of the elements at a position in memory.
  std::vector<ScalarValue> Load(llvm::Value* position) {
    std::vector<ScalarValue> values;
    for (size_t k = 0; k < from_.size(); ++k)
      values.push_back(plan_.compared[k] ? LoadFrom(b_, from_[k], ElementIndex::Linear(position))
                                         : ScalarValue{});
    return values;
  }

  std::vector<ScalarValue> Choose(llvm::Value* condition, const std::vector<ScalarValue>& x,
                                  const std::vector<ScalarValue>& y) {
    std::vector<ScalarValue> chosen;
    for (size_t k = 0; k < x.size(); ++k)
      chosen.push_back(x[k].re == nullptr ? ScalarValue{}
                                          : EmitSelect(b_, {condition}, x[k], y[k]));
    return chosen;
  }

  llvm::Value* Compare(const std::vector<ScalarValue>& x, const std::vector<ScalarValue>& y) {
    std::vector<ScalarValue> arguments;
    for (size_t k = 0; k < x.size(); ++k) {
      arguments.push_back(x[k]);
      arguments.push_back(y[k]);
    }
    return emitter_.Apply(*plan_.sort().to_apply(), arguments)[0].re;
  }

  // The first of the places from `low` to `high` whose element does not come before this thread's,
  // which is of the first run, or of the second.
  llvm::Value* Search(llvm::Value* in_first, llvm::Value* low, llvm::Value* high, int64_t run) {
    const auto steps = static_cast<int64_t>(absl::bit_width(static_cast<uint64_t>(run)));
    const Values bounds =
        EmitLoopCarrying(b_, steps, {low, high}, [&](llvm::Value*, const Values& range) {
          llvm::Value* const is_open = b_.CreateICmpULT(range[0], range[1]);
          llvm::Value* const half = b_.CreateLShr(b_.CreateNSWSub(range[1], range[0]), b_.Index(1));
          llvm::Value* const middle = b_.CreateNSWAdd(range[0], half);
          llvm::Value* const inside =
              b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, middle, b_.Index(plan_.length - 1));
          const std::vector<ScalarValue> theirs = Load(PositionOf(inside));
          llvm::Value* const less =
              Compare(Choose(in_first, theirs, mine_), Choose(in_first, mine_, theirs));
          // Elements of the first run come before equal ones of the second.
          llvm::Value* const before = b_.CreateXor(less, b_.CreateNot(in_first));
          llvm::Value* const after = b_.CreateNSWAdd(middle, b_.Index(1));
          return Values{
              b_.CreateSelect(b_.CreateAnd(is_open, before), after, range[0]),
              b_.CreateSelect(b_.CreateAnd(is_open, b_.CreateNot(before)), middle, range[1])};
        });
    return bounds[0];
  }

  void Store(llvm::Value* place) {
    const ElementIndex to = ElementIndex::Linear(PositionOf(place));
    for (size_t k = 0; k < from_.size(); ++k)
      StoreTo(b_, to_[k], to,
              plan_.compared[k] ? mine_[k] : LoadFrom(b_, from_[k], ElementIndex::Linear(at_)));
  }

  const SortPlan& plan_;
  Builder& b_;
  ElementEmitter emitter_;
  llvm::Value* const at_;
  llvm::Value* scratch_ = nullptr;
  std::vector<ArrayRef> from_, to_;
  llvm::Value *place_ = nullptr, *row_ = nullptr;  // in its row; the row's first position
  std::vector<ScalarValue> mine_;
};

}  // namespace

ArrayRef SortPlan::Buffer(Builder& b, KernelArrays& arrays, llvm::Value* memory, int64_t k,
                          int64_t number) const {
  if ((kernels - 1 - number) % 2 == 0) return arrays.result(k);
  const auto offset = static_cast<uint64_t>(scratch[static_cast<size_t>(k)]);
  return {b.CreateInBoundsGEP(b.getInt8Ty(), memory, b.getInt64(offset)),
          e.shapes[static_cast<size_t>(k)]};
}

int64_t SortKernelsFor(int64_t length, int64_t chunk) {
  int64_t kernels = 1;
  for (int64_t run = chunk; run < length; run *= 2) ++kernels;
  return kernels;
}

bool CanSortOnGpu(const Instruction& i) {
  if (i.opcode() != Opcode::kSort || !HasStaticArrays(i)) return false;
  for (const Instruction* operand : i.operands())
    if (operand->shape().MinorToMajor() != i.operand(0)->shape().MinorToMajor()) return false;
  for (const ShapeLeaf& leaf : Leaves(i.shape()))
    if (leaf.shape->MinorToMajor() != i.operand(0)->shape().MinorToMajor()) return false;
  return CanEmitElements(*i.to_apply());
}

bool AddSortKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  if (request.expression.subject->opcode() != Opcode::kSort) return false;
  const SortPlan plan = PlanSort(request.expression, request.in_place);
  if (plan.by_tiles) {
    AddTileSortKernels(plan, out);
    return true;
  }
  int64_t run = plan.chunk;
  for (int64_t number = 0; number < plan.kernels; ++number) {
    Kernel kernel;
    kernel.units = plan.e.shapes[0].ElementCount();
    kernel.emit = [plan, number, run](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                      llvm::Value*) {
      SortEmitter emitter(plan, number, b, arrays, begin);
      number == 0 ? emitter.EmitChunks() : emitter.EmitMerge(run);
    };
    out.push_back(std::move(kernel));
    if (number > 0) run *= 2;
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
