// Evaluates reduce-window and select-and-scatter.
//
// Window position w of output position o reads input element
//   (o * stride + w * window_dilation - pad_low) / base_dilation
// if that is a whole number inside the array, else nothing: WindowMap tabulates the offsets per
// dimension. A row of outputs is reduced at a time, one window position after the other, so that
// the reducer runs on vectors of lanes. A window as long as its dimension (a cumulative sum) takes
// one pass (SlidingReduction) instead of n^2 steps.
#include <algorithm>
#include <cstring>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/lane_reducer.h"
#include "ops/evaluate/reducer.h"
#include "ops/evaluate/scalar_program.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/window.h"
#include "support/status.h"

namespace hlokit {

int64_t WindowIndex(const WindowDim& dim, int64_t out, int64_t w, int64_t size) {
  if (dim.reversal) w = dim.size - 1 - w;
  const int64_t at = out * dim.stride + w * dim.window_dilation - dim.pad_low;
  if (at < 0 || at % dim.base_dilation != 0) return -1;
  return at / dim.base_dilation < size ? at / dim.base_dilation : -1;
}

WindowMap::WindowMap(const Window& window, absl::Span<const int64_t> sizes,
                     absl::Span<const int64_t> strides, absl::Span<const int64_t> out_sizes) {
  for (size_t d = 0; d < window.size(); ++d) {
    window_sizes_.push_back(window[d].size);
    std::vector<int64_t>& table = tables_.emplace_back();
    for (int64_t out = 0; out < out_sizes[d]; ++out) {
      for (int64_t w = 0; w < window[d].size; ++w) {
        const int64_t index = WindowIndex(window[d], out, w, sizes[d]);
        table.push_back(index < 0 ? -1 : index * strides[d]);
      }
    }
  }
}

int64_t WindowMap::Offset(absl::Span<const int64_t> out, absl::Span<const int64_t> w) const {
  int64_t sum = 0;
  for (size_t d = 0; d < out.size(); ++d) {
    const int64_t offset = Offset(d, out[d], w[d]);
    if (offset < 0) return -1;
    sum += offset;
  }
  return sum;
}

namespace {

// One of the arrays under the window, widened, with a row of accumulators.
struct WindowedArray {
  int width;
  std::vector<Complex> storage, row;
  Complex init, some[kChunk], elements[kChunk];

  const uint8_t* at(int64_t i) const {
    return reinterpret_cast<const uint8_t*>(storage.data()) + i * width;
  }
  uint8_t* lane(int64_t i) { return reinterpret_cast<uint8_t*>(row.data()) + i * width; }
};

// Reduces windows, a row of results (the last dimension) at a time.
class WindowReduction {
 public:
  explicit WindowReduction(const EvalContext& context);
  absl::StatusOr<std::vector<Literal>> Run();

 private:
  absl::Status ReduceRow(absl::Span<const int64_t> prefix);
  // Window element w_last of every lane whose window has it; `base` is the offset of the other
  // dimensions.
  absl::Status ReduceLanes(int64_t base, int64_t w_last);
  absl::Status CombineActive(int64_t base);

  Reducer reducer_;
  std::vector<WindowedArray> arrays_;
  std::vector<Literal> results_;
  DimVector out_dims_;
  int64_t row_ = 1;  // results in a row
  std::optional<WindowMap> map_;
  std::vector<std::pair<int64_t, int64_t>> active_;  // lane, offset in the last dimension
  std::vector<void*> accumulators_;
  std::vector<const void*> elements_;
};

WindowReduction::WindowReduction(const EvalContext& context)
    : reducer_(*context.instruction.to_apply(), context.call, kChunk) {
  const Shape& shape = context.instruction.shape();
  const int64_t n = context.operands.size() / 2;
  const Literal& first = *context.operands[0];
  const Window& window = context.instruction.attr<WindowAttrs>().window;
  for (int64_t i = 0; i < n; ++i)
    results_.emplace_back(shape.IsTuple() ? shape.elements[i] : shape);
  out_dims_ = results_[0].shape().dims;
  if (!out_dims_.empty()) row_ = out_dims_.back();
  map_.emplace(window, RuntimeDims(first), RowMajorStrides(first.shape().dims), out_dims_);
  arrays_.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    const Literal& operand = *context.operands[i];
    WindowedArray& array = arrays_[i];
    array.width = WideBytes(operand.type());
    array.storage.resize((operand.element_count() * array.width + 15) / 16);
    array.row.resize(row_);
    LoadWide(operand.type(), operand.data(), operand.element_count(), array.storage.data());
    LoadWide(context.operands[n + i]->type(), context.operands[n + i]->data(), 1, &array.init);
  }
  accumulators_.resize(n);
  elements_.resize(n);
}

absl::Status WindowReduction::CombineActive(int64_t base) {
  const int64_t n = active_.size();
  const bool run = active_[n - 1].second - active_[0].second == n - 1 &&
                   active_[n - 1].first - active_[0].first == n - 1;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    WindowedArray& a = arrays_[i];
    accumulators_[i] = run ? static_cast<void*>(a.lane(active_[0].first)) : a.some;
    elements_[i] = run ? static_cast<const void*>(a.at(base + active_[0].second)) : a.elements;
    for (int64_t k = 0; k < n && !run; ++k) {
      std::memcpy(reinterpret_cast<uint8_t*>(a.some) + k * a.width, a.lane(active_[k].first),
                  a.width);
      std::memcpy(reinterpret_cast<uint8_t*>(a.elements) + k * a.width,
                  a.at(base + active_[k].second), a.width);
    }
  }
  RETURN_IF_ERROR(reducer_.Combine(accumulators_, elements_, n));
  for (WindowedArray& a : arrays_)
    for (int64_t k = 0; k < n && !run; ++k)
      std::memcpy(a.lane(active_[k].first), reinterpret_cast<uint8_t*>(a.some) + k * a.width,
                  a.width);
  return absl::OkStatus();
}

absl::Status WindowReduction::ReduceLanes(int64_t base, int64_t w_last) {
  const int last = static_cast<int>(out_dims_.size()) - 1;
  active_.clear();
  for (int64_t lane = 0; lane < row_; ++lane) {
    const int64_t offset = map_->Offset(last, lane, w_last);
    if (offset >= 0) active_.push_back({lane, offset});
    if (static_cast<int64_t>(active_.size()) == kChunk || (lane == row_ - 1 && !active_.empty())) {
      RETURN_IF_ERROR(CombineActive(base));
      active_.clear();
    }
  }
  return absl::OkStatus();
}

absl::Status WindowReduction::ReduceRow(absl::Span<const int64_t> prefix) {
  for (WindowedArray& a : arrays_)
    for (int64_t lane = 0; lane < row_; ++lane) std::memcpy(a.lane(lane), &a.init, a.width);
  const auto windows = absl::MakeConstSpan(map_->window_sizes());
  absl::Status status;
  ForEachIndex(windows.subspan(0, prefix.size()), [&](absl::Span<const int64_t> w) {
    const int64_t base = map_->Offset(prefix, w);
    for (int64_t last = 0; base >= 0 && last < windows.back() && status.ok(); ++last)
      status = ReduceLanes(base, last);
  });
  return status;
}

absl::StatusOr<std::vector<Literal>> WindowReduction::Run() {
  int64_t done = 0;
  absl::Status status;
  if (row_ == 0) return std::move(results_);
  ForEachIndex(absl::MakeConstSpan(out_dims_).subspan(0, out_dims_.size() - 1), [&](auto prefix) {
    if (status.ok()) status = ReduceRow(prefix);
    for (size_t i = 0; i < results_.size(); ++i)
      StoreWide(results_[i].type(), arrays_[i].row.data(), row_,
                results_[i].data() + done * ByteWidth(results_[i].type()));
    done += row_;
  });
  RETURN_IF_ERROR(status);
  return std::move(results_);
}

// The dimension along which a window is a cumulative reduction (all elements up to, or from, its
// own), or -1.
int RunningDimension(const Window& window, const Shape& shape, bool& reverse) {
  int found = -1;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    if (w == WindowDim{}) continue;
    WindowDim forward, backward;
    forward.size = backward.size = w.size;
    forward.pad_low = backward.pad_high = w.size - 1;
    if (found >= 0 || w.size < shape.dims[d] || (w != forward && w != backward)) return -1;
    reverse = w == backward;
    found = static_cast<int>(d);
  }
  return found;
}

// Cumulative reductions along lines of `size` places, each of `lanes` neighbouring widened values,
// from either end, for reducers whose arguments commute.
class SlidingReduction {
 public:
  SlidingReduction(Reducer& reducer, int64_t lanes, int width, bool reverse)
      : reducer_(reducer),
        lanes_(lanes),
        width_(width),
        reverse_(reverse),
        in_order_(reverse && !reducer.regroups()) {}

  // `block` places start anew; then each block takes what the blocks before it come to, which is
  // found in the same way.
  absl::Status Run(uint8_t* line, int64_t size, int64_t block) {
    const auto place = [&](uint8_t* in, int64_t at) { return in + at * lanes_ * width_; };
    for (int64_t k = 1; k < size; ++k) {
      const int64_t at = reverse_ ? size - 1 - k : k, before = reverse_ ? at + 1 : at - 1;
      if (at / block == before / block && !in_order_)
        RETURN_IF_ERROR(CombinePlace(place(line, at), place(line, before)));
    }
    for (int64_t at = 0; in_order_ && at < size; ++at)
      for (int64_t next = at + 1; next < size && next / block == at / block; ++next)
        RETURN_IF_ERROR(CombinePlace(place(line, at), place(line, next)));
    const int64_t blocks = (size + block - 1) / block;
    if (blocks <= 1) return absl::OkStatus();
    std::vector<Complex> storage((blocks * lanes_ * width_ + 15) / 16);
    uint8_t* totals = reinterpret_cast<uint8_t*>(storage.data());
    for (int64_t b = 0; b < blocks; ++b)
      std::memcpy(place(totals, b),
                  place(line, reverse_ ? b * block : std::min((b + 1) * block, size) - 1),
                  lanes_ * width_);
    RETURN_IF_ERROR(Run(totals, blocks, block));
    for (int64_t at = 0; at < size; ++at) {
      const int64_t before = reverse_ ? at / block + 1 : at / block - 1;
      if (before >= 0 && before < blocks)
        RETURN_IF_ERROR(CombinePlace(place(line, at), place(totals, before)));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CombinePlace(uint8_t* into, const uint8_t* value) {
    for (int64_t lane = 0; lane < lanes_; lane += kChunk) {
      void* const accumulators[] = {into + lane * width_};
      const void* const elements[] = {value + lane * width_};
      RETURN_IF_ERROR(reducer_.Combine(accumulators, elements, std::min(kChunk, lanes_ - lane)));
    }
    return absl::OkStatus();
  }

  Reducer& reducer_;
  int64_t lanes_;
  int width_;
  bool reverse_;
  bool in_order_;  // each place sums up what follows it in its block, the nearest first
};

// A cumulative reduction along dimension d in one pass.
absl::StatusOr<Literal> SlidingReduce(const EvalContext& context, Reducer& reducer, int d,
                                      bool reverse) {
  const Literal& operand = *context.operands[0];
  const Shape& shape = operand.shape();
  const int width = WideBytes(shape.type);
  std::vector<Complex> storage((operand.element_count() * width + 15) / 16), init(1);
  uint8_t* values = reinterpret_cast<uint8_t*>(storage.data());
  LoadWide(shape.type, operand.data(), operand.element_count(), values);
  LoadWide(context.operands[1]->type(), context.operands[1]->data(), 1, init.data());
  const int64_t stride = RowMajorStrides(shape.dims)[d], size = shape.dims[d];
  const int64_t block = RoundedScanBlock(context.instruction, shape).value_or(size);
  SlidingReduction sliding(reducer, stride, width, reverse);
  for (int64_t outer = 0; outer < operand.element_count(); outer += stride * size) {
    uint8_t* first = values + (outer + (reverse ? (size - 1) * stride : 0)) * width;
    for (int64_t k = 0; k < stride; ++k) {
      void* const cell[] = {first + k * width};
      const void* const start[] = {init.data()};
      RETURN_IF_ERROR(reducer.Combine(cell, start, 1));
    }
    RETURN_IF_ERROR(sliding.Run(values + outer * width, size, block));
  }
  Literal result(context.instruction.shape());
  StoreWide(result.type(), values, operand.element_count(), result.data());
  return result;
}

// A window over nothing: each initial value meets one element.
absl::StatusOr<Literal> ReduceScalars(const EvalContext& context) {
  const size_t n = context.operands.size() / 2;
  std::vector<const Literal*> arguments(context.operands.begin() + n, context.operands.end());
  arguments.insert(arguments.end(), context.operands.begin(), context.operands.begin() + n);
  return context.call(*context.instruction.to_apply(), arguments);
}

}  // namespace

absl::StatusOr<Literal> EvaluateReduceWindow(const EvalContext& context) {
  const bool tuple = context.instruction.shape().IsTuple();
  const Window& window = context.instruction.attr<WindowAttrs>().window;
  const Literal& operand = *context.operands[0];
  if (operand.shape().rank() == 0) return ReduceScalars(context);
  const size_t arrays = context.operands.size() / 2;
  for (size_t i = 0; i < arrays; ++i)  // both are computed in the wide type of the array
    if (WideBytes(context.operands[i]->type()) != WideBytes(context.operands[arrays + i]->type()))
      return Unimplemented("reduce-window of ", Text(context.operands[i]->shape()), " from ",
                           Text(context.operands[arrays + i]->shape()));
  bool reverse = false;
  const int running = RunningDimension(window, operand.shape(), reverse);
  if (!tuple && running >= 0 && !HasDynamicSizes(operand) && operand.element_count() > 0) {
    Reducer reducer(*context.instruction.to_apply(), context.call, kChunk);
    const bool any_order = reducer.regroups() || !reverse;
    if ((reducer.simple() && any_order) ||
        RoundedScanBlock(context.instruction, operand.shape()).has_value())
      return SlidingReduce(context, reducer, running, reverse);
  }
  WindowReduction reduction(context);
  ASSIGN_OR_RETURN(std::vector<Literal> results, reduction.Run());
  return tuple ? Literal::Tuple(std::move(results)) : std::move(results[0]);
}

absl::StatusOr<Literal> EvaluateSelectAndScatter(const EvalContext& context) {
  const Literal& operand = *context.operands[0];
  const Literal& source = *context.operands[1];
  const ElementType type = operand.type();
  const int width = WideBytes(type);
  LaneFunction select(*context.instruction.called(0), context.call, 1);
  Reducer scatter(*context.instruction.called(1), context.call, 1);
  const WindowMap map(context.instruction.attr<WindowAttrs>().window, RuntimeDims(operand),
                      RowMajorStrides(operand.shape().dims), source.shape().dims);
  const auto widen = [&](const Literal& literal) {
    std::vector<Complex> wide((literal.element_count() * width + 15) / 16);
    LoadWide(type, literal.data(), literal.element_count(), wide.data());
    return wide;
  };
  Literal result(context.instruction.shape());
  Fill(result, *context.operands[2]);
  std::vector<Complex> values = widen(operand), updates = widen(source), totals = widen(result);
  const auto cell = [&](std::vector<Complex>& all, int64_t i) {
    return static_cast<void*>(reinterpret_cast<uint8_t*>(all.data()) + i * width);
  };
  absl::Status status;
  CopyRuntimeDims(operand, result);
  const DimVector source_strides = RowMajorStrides(source.shape().dims);
  ForEachIndex(RuntimeDims(source), [&](absl::Span<const int64_t> out) {
    int64_t picked = -1, at = 0;
    for (size_t d = 0; d < out.size(); ++d) at += out[d] * source_strides[d];
    ForEachIndex(map.window_sizes(), [&](absl::Span<const int64_t> w) {
      const int64_t candidate = map.Offset(out, w);
      if (candidate < 0 || !status.ok()) return;
      uint64_t keep = 0;
      void* const kept[] = {&keep};
      if (picked >= 0)
        status = select.Run({cell(values, picked), cell(values, candidate)}, kept, 1);
      if (!keep) picked = candidate;
    });
    if (picked >= 0 && status.ok()) {
      void* const into[] = {cell(totals, picked)};
      status = scatter.Combine(into, {cell(updates, at)}, 1);
    }
  });
  RETURN_IF_ERROR(status);
  StoreWide(type, totals.data(), result.element_count(), result.data());
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
