// Sums and products of bf16, f16 and f8, which round to the narrow type at each step
// (ops/evaluate/reducer.h).
//
// Rounding makes the steps of one result a dependent chain of about 10 cycles each, and no
// regrouping is allowed. So many results are computed at a time, one per vector lane: 16 lanes, in
// several vectors.
// - Results that are contiguous in memory (columns): plain vector loads.
// - Results whose elements are strided (rows): tiles of 16 x 16 words are transposed in registers
// first, so that a vector holds the same step of 16 rows. Cost per element: a load, a convert, an
// add and a rounding, shared by 16 lanes.
#include <algorithm>
#include <numeric>

#include "backends/cpu/kernels/strategies_internal.h"
#include "codegen/scalars/convert.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// Elements of a vector register of the widest machines in f32, and of two in words.
constexpr int64_t kLanes = 16;
constexpr int64_t kPair = 2 * kLanes;

// One dimension of the reduced array.
struct ReducedDim {
  int64_t size, stride;  // of the array, in elements
  int64_t window = 1;    // elements that one result combines
  int64_t pad_low = 0;   // of them before the array in the first window
  int64_t results = 1;   // windows
  bool IsWhole() const { return results * window == size && pad_low == 0; }
};

struct ReductionForm {
  const Instruction* reduce = nullptr;
  int64_t operand = 0;  // of the instruction that runs
  Opcode opcode = Opcode::kAdd;
  ElementType type = ElementType::kBF16;
  float init = 0;
  std::vector<ReducedDim> dims;
  size_t across = 0;   // the dimension along which results are computed in lanes
  int64_t groups = 1;  // vectors of results that are computed together

  int64_t together() const { return groups * kLanes; }
  // Units along `across`.
  int64_t parts() const { return (dims[across].results + together() - 1) / together(); }
  int64_t lane_stride() const { return dims[across].window * dims[across].stride; }
  // Of results that follow each other in dimension `d`.
  int64_t result_stride(size_t d) const {
    int64_t stride = 1;
    while (++d < dims.size()) stride *= dims[d].results;
    return stride;
  }
  bool IsTransposable() const { return ByteWidth(type) == 2; }  // in words of two elements
};

// The windows of a reduce or reduce-window, if they are contiguous without gaps. A reduce of
// no dimensions has none: it gives its operand, whatever the initial value.
bool FindDims(const Instruction& reduce, ReductionForm& form) {
  const Shape& from = reduce.operand(0)->shape();
  const DimVector strides = RowMajorStrides(from.dims);
  for (int64_t d = 0; d < from.rank(); ++d)
    form.dims.push_back({from.dims[d], strides[d], 1, 0, from.dims[d]});
  if (reduce.opcode() == Opcode::kReduce) {
    for (const int64_t d : reduce.attr<DimensionsAttrs>().dimensions) {
      form.dims[d].window = from.dims[d];
      form.dims[d].results = 1;
    }
    return !reduce.attr<DimensionsAttrs>().dimensions.empty();
  }
  for (int64_t d = 0; d < from.rank(); ++d) {
    const WindowDim& w = reduce.attr<WindowAttrs>().window[d];
    ReducedDim& dim = form.dims[d];
    dim.window = w.size;
    dim.pad_low = w.pad_low;
    dim.results = reduce.shape().dims[d];
    const bool adjacent = w.stride == w.size && w.window_dilation == 1 && w.base_dilation == 1 &&
                          !w.reversal && w.pad_low >= 0 && w.pad_low < w.size &&
                          dim.results * w.size >= w.pad_low + dim.size &&
                          (dim.results - 1) * w.size < w.pad_low + dim.size;  // none is empty
    if (!adjacent) return false;
  }
  return true;
}

// Dimensions in which nothing is reduced join the next one, if that has only whole windows: more
// results are then contiguous.
void JoinDims(std::vector<ReducedDim>& dims) {
  for (size_t d = dims.size(); --d > 0;) {
    const ReducedDim outer = dims[d - 1], inner = dims[d];
    if (outer.window != 1 || !outer.IsWhole() || !inner.IsWhole()) continue;
    dims[d - 1] = {outer.size * inner.size, inner.stride, inner.window, 0,
                   outer.results * inner.results};
    dims.erase(dims.begin() + static_cast<int64_t>(d));
  }
}

// Several sums hide each other's latency; strided elements take too much code for that, unless they
// are transposed in blocks.
int64_t GroupsOf(const ReductionForm& form) {
  const ReducedDim& across = form.dims[form.across];
  const ReducedDim& last = form.dims.back();
  const bool transposed =
      form.IsTransposable() && last.window % kPair == 0 && last.IsWhole() && across.IsWhole();
  if (form.lane_stride() != 1 && !transposed) return 1;
  for (const int64_t groups : {8, 4, 2})
    if (across.results % (groups * kLanes) == 0) return groups;
  return 1;
}

bool FindInit(const Instruction& reduce, ReductionForm& form) {
  const Instruction* init = reduce.operand(1);
  if (init->opcode() != Opcode::kConstant || init->literal() == nullptr) return false;
  form.init = static_cast<float>(init->literal()->GetDouble(0));
  return true;
}

std::optional<ReductionForm> FindBlockReduction(const Expression& e) {
  if (e.roots.size() != 1 || e.roots[0] != e.subject) return std::nullopt;
  ReductionForm form;
  form.reduce = e.subject;
  const Instruction& reduce = *form.reduce;
  if (reduce.opcode() != Opcode::kReduce && reduce.opcode() != Opcode::kReduceWindow)
    return std::nullopt;
  if (reduce.operand_count() != 2 || !reduce.shape().IsRowMajor()) return std::nullopt;
  const Shape& from = reduce.operand(0)->shape();
  form.type = reduce.shape().type;
  const std::optional<Opcode> opcode = SimpleReducer(*reduce.to_apply());
  if (!IsNarrowFloat(form.type) || IsSubByte(form.type) || form.type == ElementType::kF8E8M0FNU ||
      !opcode || (*opcode != Opcode::kAdd && *opcode != Opcode::kMultiply) ||
      from.type != form.type || !from.IsRowMajor() || from.rank() == 0 ||
      reduce.shape().ElementCount() == 0 || from.ElementCount() == 0)
    return std::nullopt;
  form.opcode = *opcode;
  if (!FindInit(reduce, form) || !FindDims(reduce, form)) return std::nullopt;
  JoinDims(form.dims);
  size_t across = form.dims.size();
  while (across > 0 && form.dims[across - 1].results < kLanes / 2) --across;
  if (across == 0) return std::nullopt;
  form.across = across - 1;
  form.groups = GroupsOf(form);
  return form;
}

class BlockReduction {
 public:
  BlockReduction(const ReductionForm& form, Builder& b, KernelArrays& arrays)
      : form_(form),
        b_(b),
        from_(arrays.operand(0)),
        to_(arrays.result(0)),
        memory_(MemoryType(b.getContext(), form.type)),
        alignment_(ByteWidth(form.type)) {}

  // Reduces `together` results: part `unit` % parts of row `unit` / parts of results.
  void EmitUnit(llvm::Value* unit) {
    const int64_t parts = form_.parts();
    llvm::Value* row = parts == 1 ? unit : b_.CreateUDiv(unit, b_.getInt64(parts));
    llvm::Value* part = parts == 1 ? b_.getInt64(0) : b_.CreateURem(unit, b_.getInt64(parts));
    first_ = b_.CreateNSWMul(part, b_.getInt64(form_.together()));
    const ReducedDim& across = form_.dims[form_.across];
    llvm::Value* place = b_.getInt64(0);
    start_.assign(form_.dims.size(), nullptr);
    for (size_t d = form_.dims.size(); d-- > 0;) {
      llvm::Value* at = first_;
      if (d != form_.across) {
        llvm::Value* count = b_.getInt64(form_.dims[d].results);
        at = b_.CreateURem(row, count);
        row = b_.CreateUDiv(row, count);
      }
      place = b_.CreateNSWAdd(place, Scale(b_, at, form_.result_stride(d)));
      start_[d] = b_.CreateNSWSub(b_.CreateNSWMul(at, b_.getInt64(form_.dims[d].window)),
                                  b_.getInt64(form_.dims[d].pad_low));
    }
    if (across.IsWhole() && across.results % form_.together() == 0) return Reduce(place, false);
    llvm::Value* end =
        b_.CreateNSWAdd(start_[form_.across], b_.getInt64(form_.together() * across.window));
    llvm::Value* inside = b_.CreateAnd(b_.CreateICmpSGE(start_[form_.across], b_.getInt64(0)),
                                       b_.CreateICmpSLE(end, b_.getInt64(across.size)));
    EmitIf(b_, inside, [&] { Reduce(place, false); });
    EmitIf(b_, b_.CreateNot(inside), [&] { Reduce(place, true); });
  }

 private:
  llvm::Type* Vector(llvm::Type* element, int64_t count = kLanes) const {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(count));
  }

  // With `masked`, lanes may lie outside the array, or beyond the last result.
  void Reduce(llvm::Value* place, bool masked) {
    llvm::Type* vector = Vector(b_.getFloatTy());
    Values sums(form_.groups, llvm::ConstantFP::get(vector, form_.init));
    sums = ReduceDims(0, b_.getInt64(0), sums, masked);
    if (InWords()) return StoreWords(place, sums);
    for (int64_t g = 0; g < form_.groups; ++g) {
      llvm::Value* value = ToMemoryForm(b_, form_.type, {sums[g]});
      if (form_.result_stride(form_.across) != 1) {
        StoreStrided(value, place, g * kLanes);
        continue;
      }
      llvm::Value* at = b_.CreateNSWAdd(place, b_.getInt64(g * kLanes));
      llvm::Value* address = b_.CreateInBoundsGEP(memory_, to_.base, at);
      if (!masked) {
        b_.CreateAlignedStore(value, address, alignment_);
        continue;
      }
      llvm::Value* left = b_.CreateNSWSub(b_.getInt64(form_.dims[form_.across].results),
                                          b_.CreateNSWAdd(first_, b_.getInt64(g * kLanes)));
      b_.CreateMaskedStore(value, address, alignment_,
                           b_.CreateICmpSLT(LaneNumbers(0), b_.CreateVectorSplat(kLanes, left)));
    }
  }

  // Those of the lanes from `lane` on that are results.
  void StoreStrided(llvm::Value* values, llvm::Value* place, int64_t lane) {
    const ReducedDim& across = form_.dims[form_.across];
    const int64_t stride = form_.result_stride(form_.across);
    for (int64_t k = 0; k < kLanes; ++k) {
      const auto store = [&] {
        llvm::Value* at = b_.CreateNSWAdd(place, b_.getInt64((lane + k) * stride));
        b_.CreateAlignedStore(b_.CreateExtractElement(values, static_cast<uint64_t>(k)),
                              b_.CreateInBoundsGEP(memory_, to_.base, at), alignment_);
      };
      if (across.results % form_.together() == 0) {
        store();
      } else {
        llvm::Value* number = b_.CreateNSWAdd(first_, b_.getInt64(lane + k));
        EmitIf(b_, b_.CreateICmpSLT(number, b_.getInt64(across.results)), store);
      }
    }
  }

  // The places of all windows in dimensions `d` and later, in order; `offset` sums up the others'.
  Values ReduceDims(size_t d, llvm::Value* offset, const Values& sums, bool masked) {
    if (d == form_.dims.size()) return ReduceElement(offset, sums, masked);
    const ReducedDim& dim = form_.dims[d];
    llvm::Value* stride = b_.getInt64(dim.stride);
    if (form_.IsTransposable() && d + 1 == form_.dims.size() && !masked &&
        dim.window % kPair == 0 && (d == form_.across || dim.IsWhole()))
      return ReducePairs(offset, sums);
    const auto at = [&](llvm::Value* step) {
      return b_.CreateNSWAdd(offset, b_.CreateNSWMul(b_.CreateNSWAdd(start_[d], step), stride));
    };
    if (dim.window == 1) return ReduceDims(d + 1, at(b_.getInt64(0)), sums, masked);
    llvm::Value* low = b_.getInt64(0);
    llvm::Value* high = b_.getInt64(dim.window);
    if (d != form_.across && !dim.IsWhole()) {
      low = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, low, b_.CreateNSWNeg(start_[d]));
      high = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, high,
                                      b_.CreateNSWSub(b_.getInt64(dim.size), start_[d]));
    }
    return EmitLoopCarrying(b_, low, high, sums, [&](llvm::Value* step, const Values& inner) {
      step_ = d == form_.across ? step : step_;
      return ReduceDims(d + 1, at(step), inner, masked);
    });
  }

  // Whether results are contiguous, which bf16 reads as words of two: every other group sums
  // the low halves, the one after it the high ones, and nothing moves between lanes.
  bool InWords() const {
    return form_.type == ElementType::kBF16 && form_.groups > 1 && form_.lane_stride() == 1;
  }

  llvm::Value* LoadWords(llvm::Value* offset, int64_t lane) {
    return b_.CreateAlignedLoad(Vector(b_.getInt32Ty()), AddressOf(offset, lane), llvm::Align(2));
  }

  Values ReduceWords(llvm::Value* offset, const Values& sums) {
    Values next;
    for (int64_t g = 0; g < form_.groups; g += 2) {
      llvm::Value* words = LoadWords(offset, g * kLanes);
      next.push_back(Combine(sums[g], Half(words, false)));
      next.push_back(Combine(sums[g + 1], Half(words, true)));
    }
    return next;
  }

  void StoreWords(llvm::Value* place, const Values& sums) {
    for (int64_t g = 0; g < form_.groups; g += 2) {
      llvm::Type* words = Vector(b_.getInt32Ty());
      llvm::Value* low = b_.CreateLShr(b_.CreateBitCast(sums[g], words), 16);
      llvm::Value* both = b_.CreateOr(low, b_.CreateBitCast(sums[g + 1], words));
      llvm::Value* at = b_.CreateNSWAdd(place, b_.getInt64(g * kLanes));
      b_.CreateAlignedStore(both, b_.CreateInBoundsGEP(memory_, to_.base, at), llvm::Align(2));
    }
  }

  Values ReduceElement(llvm::Value* offset, const Values& sums, bool masked) {
    if (InWords()) return ReduceWords(offset, sums);
    Values next;
    for (int64_t g = 0; g < form_.groups; ++g) {
      llvm::Value* x = masked                     ? LoadMasked(offset, g)
                       : form_.lane_stride() == 1 ? LoadContiguous(offset, g)
                                                  : LoadStrided(offset, g);
      llvm::Value* combined = Combine(sums[g], x);
      next.push_back(masked ? b_.CreateSelect(inside_, combined, sums[g]) : combined);
    }
    return next;
  }

  llvm::Value* Combine(llvm::Value* sum, llvm::Value* x) {
    const ScalarValue combined = EmitBinary(b_, form_.opcode, ElementType::kF32, {sum}, {x});
    return EmitRoundOwnResult(b_, form_.type, combined).re;
  }

  llvm::Value* LaneNumbers(int64_t first) {
    std::vector<llvm::Constant*> numbers;
    for (int64_t k = 0; k < kLanes; ++k) numbers.push_back(b_.getInt64(first + k));
    return llvm::ConstantVector::get(numbers);
  }

  llvm::Value* AddressOf(llvm::Value* offset, int64_t lane) {
    return b_.CreateInBoundsGEP(memory_, from_.base,
                                b_.CreateNSWAdd(offset, b_.getInt64(lane * form_.lane_stride())));
  }

  llvm::Value* LoadContiguous(llvm::Value* offset, int64_t group) {
    llvm::Value* loaded =
        b_.CreateAlignedLoad(Vector(memory_), AddressOf(offset, group * kLanes), alignment_);
    return FromMemoryForm(b_, form_.type, loaded).re;
  }

  llvm::Value* LoadStrided(llvm::Value* offset, int64_t group) {
    llvm::Value* loaded = llvm::PoisonValue::get(Vector(memory_));
    for (int64_t k = 0; k < kLanes; ++k)
      loaded = b_.CreateInsertElement(
          loaded, b_.CreateAlignedLoad(memory_, AddressOf(offset, group * kLanes + k), alignment_),
          static_cast<uint64_t>(k));
    return FromMemoryForm(b_, form_.type, loaded).re;
  }

  // Of lanes outside the array anything; sets which ones are inside.
  llvm::Value* LoadMasked(llvm::Value* offset, int64_t group) {
    const ReducedDim& across = form_.dims[form_.across];
    if (across.window == 1 && form_.lane_stride() == 1) {
      llvm::Value* at = b_.CreateVectorSplat(kLanes, start_[form_.across]);
      inside_ = b_.CreateICmpULT(b_.CreateNSWAdd(at, LaneNumbers(group * kLanes)),
                                 b_.CreateVectorSplat(kLanes, b_.getInt64(across.size)));
      llvm::Value* loaded = b_.CreateMaskedLoad(Vector(memory_), AddressOf(offset, group * kLanes),
                                                alignment_, inside_);
      return FromMemoryForm(b_, form_.type, loaded).re;
    }
    llvm::Value* loaded = llvm::PoisonValue::get(Vector(memory_));
    inside_ = llvm::Constant::getNullValue(Vector(b_.getInt1Ty()));
    llvm::Value* step = across.window == 1 ? b_.getInt64(0) : step_;
    for (int64_t k = 0; k < kLanes; ++k) {
      const int64_t lane = group * kLanes + k;
      llvm::Value* at = b_.CreateNSWAdd(b_.CreateNSWAdd(start_[form_.across], step),
                                        b_.getInt64(lane * across.window));
      llvm::Value* inside = b_.CreateICmpULT(at, b_.getInt64(across.size));
      llvm::Value* own = b_.CreateNSWAdd(offset, b_.getInt64(lane * form_.lane_stride()));
      llvm::Value* address =
          b_.CreateInBoundsGEP(memory_, from_.base, b_.CreateSelect(inside, own, b_.getInt64(0)));
      loaded = b_.CreateInsertElement(loaded, b_.CreateAlignedLoad(memory_, address, alignment_),
                                      static_cast<uint64_t>(k));
      inside_ = b_.CreateInsertElement(inside_, inside, static_cast<uint64_t>(k));
    }
    return FromMemoryForm(b_, form_.type, loaded).re;
  }

  // The last dimension, where every lane combines neighbours: words of two elements, permuted so
  // that a vector holds the same word of all lanes.
  Values ReducePairs(llvm::Value* offset, const Values& sums) {
    const ReducedDim& dim = form_.dims.back();
    const auto reduce_pair = [&](llvm::Value* step, const Values& carried) {
      llvm::Value* at = b_.CreateNSWAdd(
          offset, b_.CreateNSWAdd(start_.back(), b_.CreateNSWMul(step, b_.getInt64(kPair))));
      return form_.groups == 1 ? ReduceInRegisters(at, carried) : ReduceInScratch(at, carried);
    };
    if (dim.window == kPair) return reduce_pair(b_.getInt64(0), sums);
    return EmitLoopCarrying(b_, dim.window / kPair, sums, reduce_pair);
  }

  Values ReduceInRegisters(llvm::Value* at, const Values& sums) {
    llvm::Value* sum = sums[0];
    for (llvm::Value* words : TransposedWords(at))
      for (const bool high : {false, true}) sum = Combine(sum, Half(words, high));
    return {sum};
  }

  // The words of all groups go through memory in the nearest cache, so that the sums of all groups
  // take their next step together, and the code for both stands once.
  Values ReduceInScratch(llvm::Value* at, const Values& sums) {
    llvm::Type* words = Vector(b_.getInt32Ty());
    llvm::Value* scratch = Scratch();
    const auto place = [&](llvm::Value* group, llvm::Value* word) {
      llvm::Value* row = b_.CreateNSWMul(word, b_.getInt64(form_.groups));
      return b_.CreateInBoundsGEP(words, scratch, b_.CreateNSWAdd(row, group));
    };
    EmitLoop(b_, form_.groups, [&](llvm::Value* group) {
      llvm::Value* group_stride = b_.getInt64(kLanes * form_.lane_stride());
      const Values transposed =
          TransposedWords(b_.CreateNSWAdd(at, b_.CreateNSWMul(group, group_stride)));
      for (int64_t k = 0; k < kLanes; ++k)
        b_.CreateAlignedStore(transposed[k], place(group, b_.getInt64(k)), llvm::Align(64));
    });
    return EmitLoopCarrying(b_, kLanes, sums, [&](llvm::Value* word, const Values& carried) {
      Values next;
      for (int64_t g = 0; g < form_.groups; ++g) {
        llvm::Value* loaded =
            b_.CreateAlignedLoad(words, place(b_.getInt64(g), word), llvm::Align(64));
        next.push_back(Combine(Combine(carried[g], Half(loaded, false)), Half(loaded, true)));
      }
      return next;
    });
  }

  // A vector of words for each group and word, on the function's stack.
  llvm::Value* Scratch() {
    if (scratch_ != nullptr) return scratch_;
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    Builder b(&entry, entry.begin());
    llvm::AllocaInst* scratch =
        b.CreateAlloca(Vector(b.getInt32Ty()), b.getInt64(form_.groups * kLanes));
    scratch->setAlignment(llvm::Align(64));
    return scratch_ = scratch;
  }

  // The low or high elements of words.
  llvm::Value* Half(llvm::Value* words, bool high) {
    if (form_.type == ElementType::kBF16) {
      llvm::Value* bits = high ? b_.CreateAnd(words, 0xffff0000u) : b_.CreateShl(words, 16);
      return b_.CreateBitCast(bits, Vector(b_.getFloatTy()));
    }
    llvm::Value* bits =
        b_.CreateTrunc(high ? b_.CreateLShr(words, 16) : words, Vector(b_.getInt16Ty()));
    return FromMemoryForm(b_, form_.type, b_.CreateBitCast(bits, Vector(memory_))).re;
  }

  // Word k of kLanes lanes, for each k: a tile of words transposed in four rounds.
  Values TransposedWords(llvm::Value* at) {
    Values rows;
    for (int64_t k = 0; k < kLanes; ++k) rows.push_back(LoadWords(at, k));
    for (int64_t distance = 1; distance < kLanes; distance *= 2) {
      std::vector<int> low, high;  // what stays in row k, and in row k + distance
      for (int64_t j = 0; j < kLanes; ++j) {
        const bool upper = (j & distance) != 0;
        low.push_back(static_cast<int>(upper ? kLanes + j - distance : j));
        high.push_back(static_cast<int>(upper ? kLanes + j : j + distance));
      }
      for (int64_t k = 0; k < kLanes; ++k) {
        if ((k & distance) != 0) continue;
        llvm::Value* x = rows[k];
        llvm::Value* y = rows[k + distance];
        rows[k] = b_.CreateShuffleVector(x, y, low);
        rows[k + distance] = b_.CreateShuffleVector(x, y, high);
      }
    }
    return rows;
  }

  const ReductionForm& form_;
  Builder& b_;
  const ArrayRef from_, to_;
  llvm::Type* memory_;
  const llvm::Align alignment_;
  llvm::Value* first_ = nullptr;     // result along `across`, of lane 0
  std::vector<llvm::Value*> start_;  // of lane 0's window, by dimension
  llvm::Value* step_ = nullptr;      // in the window along `across`
  llvm::Value* inside_ = nullptr;
  llvm::Value* scratch_ = nullptr;  // for transposed words
};

}  // namespace

bool AddBlockReductionKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  const std::optional<ReductionForm> form = FindBlockReduction(e);
  if (!form.has_value()) return false;
  Kernel kernel;
  kernel.units = form->parts();
  int64_t steps = 1;
  for (size_t d = 0; d < form->dims.size(); ++d) {
    if (d != form->across) kernel.units *= form->dims[d].results;
    steps *= form->dims[d].window;
  }
  kernel.unit_cost = static_cast<double>(steps * form->groups * 8);
  kernel.emit = [form = *form](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                               llvm::Value* end) {
    BlockReduction reduction(form, b, arrays);
    EmitLoop(b, begin, end, [&](llvm::Value* unit) { reduction.EmitUnit(unit); });
  };
  kernel.in_vectors = true;
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
