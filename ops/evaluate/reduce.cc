// Evaluates reduce: lanes of results combine the reduced elements in order, or lanes of one result
// where that is faster.
#include <algorithm>
#include <cstring>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/lane_reducer.h"
#include "ops/evaluate/reducer.h"
#include "ops/evaluate/scalar_program.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kLanes = 128;

// One of the arrays that are reduced together, all of its elements widened.
struct Array {
  ElementType type;
  int width;  // bytes of a widened element
  std::vector<Complex> storage;
  Complex init, lanes[kLanes], elements[kLanes];

  const uint8_t* at(int64_t i) const {
    return reinterpret_cast<const uint8_t*>(storage.data()) + i * width;
  }
  void Spread(void* to, int64_t n) const {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(static_cast<uint8_t*>(to) + i * width, &init, width);
  }
};

class Reduction {
 public:
  // Of `operands`, as the instruction of `context` reduces its own, over `dimensions` into `shape`.
  Reduction(const EvalContext& context, absl::Span<const Literal* const> operands,
            absl::Span<const int64_t> dimensions, const Shape& shape);
  absl::StatusOr<std::vector<Literal>> Run();

 private:
  // Results start .. start + n-1, a lane each.
  absl::Status ReduceResults(int64_t start, int64_t n);
  // One result, its elements spread over lanes: for simple reducers.
  absl::Status ReduceLanes(int64_t result);
  const void* Elements(Array& array, absl::Span<const int64_t> positions, int64_t base);

  Reducer reducer_;
  std::vector<Array> arrays_;
  std::vector<int64_t> kept_, reduced_;  // element = kept_[result] + reduced_[r]
  std::vector<int64_t> places_;          // of the results in their literals
  std::vector<Literal> results_;
  std::vector<void*> accumulators_;
  std::vector<const void*> elements_;
};

Reduction::Reduction(const EvalContext& context, absl::Span<const Literal* const> operands,
                     absl::Span<const int64_t> dimensions, const Shape& shape)
    : reducer_(*context.instruction.to_apply(), context.call, kLanes) {
  const int64_t n = operands.size() / 2;
  const Literal& first = *operands[0];
  const DimVector strides = RowMajorStrides(first.shape().dims), runtime = RuntimeDims(first);
  const DimVector kept = Others(first.shape().rank(), dimensions);
  kept_ = Offsets(Pick(runtime, kept), Pick(strides, kept));
  // Where there is no element, sizes of other dimensions say nothing about what memory holds.
  if (first.element_count() > 0)
    reduced_ = Offsets(Pick(runtime, dimensions), Pick(strides, dimensions));
  for (int64_t i = 0; i < n; ++i) {
    results_.emplace_back(shape.IsTuple() ? shape.elements[i] : shape);
    for (size_t d = 0; d < kept.size(); ++d)
      if (results_[i].shape().IsDynamic(d)) results_[i].set_dynamic_size(d, runtime[kept[d]]);
  }
  places_ = Offsets(Pick(runtime, kept), RowMajorStrides(results_[0].shape().dims));
  arrays_.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    Array& array = arrays_[i];
    const Literal& operand = *operands[i];
    array.type = operand.type();
    array.width = WideBytes(operand.type());
    array.storage.resize((operand.element_count() * array.width + 15) / 16);
    LoadWide(operand.type(), operand.data(), operand.element_count(), array.storage.data());
    LoadWide(operand.type(), operands[n + i]->data(), 1, &array.init);
    accumulators_.push_back(array.lanes);
    elements_.push_back(nullptr);
  }
}

// The elements at positions[i] + base: in place where they are neighbours, else gathered.
const void* Reduction::Elements(Array& array, absl::Span<const int64_t> positions, int64_t base) {
  const int64_t n = positions.size();
  if (positions[n - 1] - positions[0] == n - 1) return array.at(positions[0] + base);
  uint8_t* out = reinterpret_cast<uint8_t*>(array.elements);
  if (array.width == 8) {
    const uint64_t* from = reinterpret_cast<const uint64_t*>(array.storage.data()) + base;
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<uint64_t*>(out)[i] = from[positions[i]];
  } else {
    for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * 16, array.at(positions[i] + base), 16);
  }
  return out;
}

absl::Status Reduction::ReduceResults(int64_t start, int64_t n) {
  const auto positions = absl::MakeConstSpan(kept_).subspan(start, n);
  for (Array& array : arrays_) array.Spread(array.lanes, n);
  for (int64_t base : reduced_) {
    for (size_t i = 0; i < arrays_.size(); ++i)
      elements_[i] = Elements(arrays_[i], positions, base);
    RETURN_IF_ERROR(reducer_.Combine(accumulators_, elements_, n));
  }
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const uint8_t* lanes = reinterpret_cast<const uint8_t*>(arrays_[i].lanes);
    const int width = ByteWidth(results_[i].type());
    for (int64_t lane = 0; lane < n; ++lane)
      StoreWide(results_[i].type(), lanes + lane * arrays_[i].width, 1,
                results_[i].data() + places_[start + lane] * width);
  }
  return absl::OkStatus();
}

absl::Status Reduction::ReduceLanes(int64_t result) {
  Array& array = arrays_[0];
  uint8_t* lanes = reinterpret_cast<uint8_t*>(array.lanes);
  const int64_t count = reduced_.size();
  // The first elements start the lanes; the init value joins at the end.
  const int64_t width = std::min(kLanes, count);
  std::memcpy(lanes,
              Elements(array, absl::MakeConstSpan(reduced_).subspan(0, width), kept_[result]),
              width * array.width);
  for (int64_t at = width; at < count; at += kLanes) {
    const int64_t n = std::min(kLanes, count - at);
    elements_[0] = Elements(array, absl::MakeConstSpan(reduced_).subspan(at, n), kept_[result]);
    RETURN_IF_ERROR(reducer_.Combine(accumulators_, elements_, n));
  }
  Complex total = array.init;
  void* const into[] = {&total};
  for (int64_t lane = 0; lane < width; ++lane) {
    elements_[0] = lanes + lane * array.width;
    RETURN_IF_ERROR(reducer_.Combine(into, elements_, 1));
  }
  StoreWide(results_[0].type(), &total, 1,
            results_[0].data() + places_[result] * ByteWidth(results_[0].type()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Literal>> Reduction::Run() {
  const int64_t results = kept_.size(), count = reduced_.size();
  const bool rows = reducer_.regroups() && arrays_.size() == 1 && count >= 32 &&
                    (reduced_[1] - reduced_[0] == 1 || results < 8);
  for (int64_t at = 0; at < results; at += rows ? 1 : kLanes)
    RETURN_IF_ERROR(rows ? ReduceLanes(at) : ReduceResults(at, std::min(kLanes, results - at)));
  return std::move(results_);
}

// `x` with each dimension split in two, blocks and places in them; `padding` where the window pads.
Literal InBlocks(const Literal& x, const Literal& padding, const Window& window) {
  Shape split = Shape::Array(x.type(), {});
  DimVector places;
  int64_t first = 0;
  const DimVector& dims = x.shape().dims;
  DimVector padded;
  for (size_t d = 0; d < window.size(); ++d) {
    padded.push_back(dims[d] + window[d].pad_low + window[d].pad_high);
    split.dims.push_back(padded[d] / window[d].size);
    split.dims.push_back(window[d].size);
  }
  const DimVector strides = RowMajorStrides(padded);
  for (size_t d = 0; d < window.size(); ++d) first += window[d].pad_low * strides[d];
  Literal blocks(Shape::Array(x.type(), split.dims));
  Fill(blocks, padding);
  CopyStrided(dims, x.data(), RowMajorStrides(dims), blocks.data() + first * ByteWidth(x.type()),
              strides, ByteWidth(x.type()));
  return blocks;
}

// Blocks first, then what they come to.
absl::StatusOr<Literal> ReduceInBlocks(const EvalContext& context, const Literal& x,
                                       const Window& window) {
  const Instruction& reduce = context.instruction;
  DimVector dims, within;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    dims.push_back((x.shape().dims[d] + w.pad_low + w.pad_high) / w.size);
    within.push_back(static_cast<int64_t>(2 * d + 1));
  }
  const Literal blocks = InBlocks(x, *context.operands[1], window);
  const Shape shape = Shape::Array(x.type(), dims);
  Reduction first(context, {&blocks, context.operands[1]}, within, shape);
  ASSIGN_OR_RETURN(const std::vector<Literal> sums, first.Run());
  if (const std::optional<Window> more = RoundedBlocks(reduce, shape))
    return ReduceInBlocks(context, sums[0], *more);
  Reduction last(context, {&sums[0], context.operands[1]},
                 reduce.attr<DimensionsAttrs>().dimensions, reduce.shape());
  ASSIGN_OR_RETURN(std::vector<Literal> results, last.Run());
  return std::move(results[0]);
}

}  // namespace

absl::StatusOr<Literal> EvaluateReduce(const EvalContext& context) {
  const DimVector& dimensions = context.instruction.attr<DimensionsAttrs>().dimensions;
  const bool tuple = context.instruction.shape().IsTuple();
  if (dimensions.empty()) {  // as in XLA, the operands themselves
    std::vector<Literal> copies;
    for (size_t i = 0; i < context.operands.size() / 2; ++i) copies.push_back(*context.operands[i]);
    return tuple ? Literal::Tuple(std::move(copies)) : std::move(copies[0]);
  }
  if (const std::optional<Window> blocks =
          RoundedBlocks(context.instruction, context.operands[0]->shape()))
    return ReduceInBlocks(context, *context.operands[0], *blocks);
  const size_t n = context.operands.size() / 2;
  std::vector<const Literal*> operands(context.operands.begin(), context.operands.end());
  const auto arrays = context.operands.subspan(0, n);
  const std::vector<Literal> filled = FilledWhereSizesDiffer(arrays, context.operands.subspan(n));
  for (size_t k = 0; k < filled.size(); ++k) operands[k] = &filled[k];
  Reduction reduction(context, operands, dimensions, context.instruction.shape());
  ASSIGN_OR_RETURN(std::vector<Literal> results, reduction.Run());
  if (!filled.empty()) {
    const DimVector kept = Others(filled[0].shape().rank(), dimensions);
    for (Literal& result : results)
      for (size_t d = 0; d < kept.size(); ++d)
        if (result.shape().IsDynamic(static_cast<int>(d)))
          result.set_dynamic_size(static_cast<int>(d), LastSize(arrays, static_cast<int>(kept[d])));
  }
  return tuple ? Literal::Tuple(std::move(results)) : std::move(results[0]);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
