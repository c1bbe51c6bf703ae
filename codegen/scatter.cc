// Scatter and select-and-scatter. The base is copied to the result, unless it already is the
// result's buffer; then the updates are combined into it one by one.
//   for each index vector, if its whole window lies inside, for each window element w:
//     result[start + w] = combiner(result[start + w], update)
// Updates to one place are combined in the order of their indices, so that results do not depend on
// the number of threads: threads share the work along a window dimension, never along the updates.
#include <algorithm>

#include "codegen/iteration_space.h"
#include "codegen/kernel_strategies.h"
#include "codegen/scatter_starts.h"
#include "ops/dim_lists.h"

namespace hlokit {
namespace {

using Walk = IterationSpace::Walk;

// One dimension of the windows, cut into parts of so many elements: each part of all updates is
// combined in order, on whichever thread. Windows must all lie at the same place of it.
struct WindowParts {
  int64_t dimension = -1;  // of the updates
  int64_t size = 0;
};

WindowParts PartsOfWindows(const Instruction& scatter) {
  constexpr int64_t kMinSize = 16, kMaxSize = 256;
  const auto& dims = scatter.attr<ScatterAttrs>();
  const int64_t n = (scatter.operand_count() - 1) / 2;
  const Shape& updates = scatter.operand(n + 1)->shape();
  if (dims.update_window_dims.empty()) return {};
  // The last dimension of the base that windows have.
  int64_t d = scatter.operand(0)->shape().rank() - 1;
  while (d >= 0 &&
         (Contains(dims.inserted_window_dims, d) || Contains(dims.input_batching_dims, d)))
    --d;
  if (d < 0 || Contains(dims.scatter_dims_to_operand_dims, d)) return {};
  const int64_t last = dims.update_window_dims.back();
  int64_t size = kMaxSize;
  while (size >= kMinSize && updates.dims[last] % size != 0) size /= 2;
  if (size < kMinSize || updates.dims[last] == size) return {};
  return {last, size};
}

// The loops over updates. An update whose window crosses the base's bounds is skipped whole, as XLA
// defines.
class ScatterEmitter {
 public:
  ScatterEmitter(const Expression& e, Builder& b, KernelArrays& arrays)
      : e_(e),
        s_(e.roots[0]),
        dims_(s_->attr<ScatterAttrs>()),
        b_(b),
        arrays_(arrays),
        emitter_(b),
        n_((s_->operand_count() - 1) / 2) {
    BindLeaves(emitter_, e, arrays);
  }

  // Parts `begin` to `end` of the windows, or all of them where they have none.
  void Emit(const WindowParts& parts, llvm::Value* begin, llvm::Value* end) {
    parts_ = parts;
    begin_ = begin;
    end_ = end;
    // Outer loops run over the scatter dimensions of the updates, inner ones over the window.
    const Shape& updates = s_->operand(n_ + 1)->shape();
    for (int64_t d = 0; d < updates.rank(); ++d)
      (Contains(dims_.update_window_dims, d) ? window_ : batch_).push_back(d);
    index_.resize(updates.rank());
    BatchLoop(0, updates);
  }

 private:
  void BatchLoop(size_t level, const Shape& updates) {
    if (level < batch_.size()) {
      EmitLoop(b_, updates.dims[batch_[level]], [&](llvm::Value* at) {
        index_[batch_[level]] = at;
        emitter_.BeginScope();
        BatchLoop(level + 1, updates);
        emitter_.EndScope();
      });
      return;
    }
    ScatterStart start = EmitScatterStart(emitter_, *s_, index_);
    start_ = std::move(start.at);
    EmitIf(b_, start.inside, [&] {
      emitter_.BeginScope();
      WindowLoop(0, updates);
      emitter_.EndScope();
    });
  }

  void WindowLoop(size_t level, const Shape& updates) {
    if (level < window_.size()) {
      const auto inner = [&](llvm::Value* at) {
        index_[window_[level]] = at;
        emitter_.BeginScope();
        WindowLoop(level + 1, updates);
        emitter_.EndScope();
      };
      if (window_[level] != parts_.dimension)
        return EmitLoop(b_, updates.dims[window_[level]], inner);
      return EmitLoop(b_, begin_, end_, [&](llvm::Value* part) {
        llvm::Value* first = Scale(b_, part, parts_.size);
        EmitLoop(b_, parts_.size, [&](llvm::Value* at) { inner(b_.CreateNSWAdd(first, at)); });
      });
    }
    std::vector<llvm::Value*> at = start_;
    size_t next = 0;
    for (size_t d = 0; d < at.size(); ++d)
      if (!Contains(dims_.inserted_window_dims, d) && !Contains(dims_.input_batching_dims, d))
        at[d] = b_.CreateNSWAdd(at[d], index_[dims_.update_window_dims[next++]]);
    const ElementIndex target = ElementIndex::Multi(std::move(at));
    const ElementIndex source = ElementIndex::Multi(index_);
    std::vector<ScalarValue> arguments;
    for (int64_t k = 0; k < n_; ++k)
      arguments.push_back(LoadFrom(b_, {arrays_.result(k).base, e_.shapes[k]}, target));
    for (int64_t k = 0; k < n_; ++k)
      arguments.push_back(emitter_.Emit(s_->operand(n_ + 1 + k), source));
    const std::vector<ScalarValue> combined = emitter_.Apply(*s_->to_apply(), arguments);
    for (int64_t k = 0; k < n_; ++k)
      StoreTo(b_, {arrays_.result(k).base, e_.shapes[k]}, target, combined[k]);
  }

  const Expression& e_;
  const Instruction* s_;
  const ScatterAttrs& dims_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  int64_t n_;
  std::vector<int64_t> batch_, window_;
  std::vector<llvm::Value*> index_, start_;
  WindowParts parts_;
  llvm::Value *begin_ = nullptr, *end_ = nullptr;
};

// For each source element: the window element that `select` keeps gets it, combined by `scatter`.
void EmitSelectAndScatter(const Expression& e, const TilingPolicy& policy, Builder& b,
                          KernelArrays& arrays) {
  const Instruction* s = e.roots[0];
  const Instruction* source = s->operand(1);
  ElementEmitter emitter(b);
  BindLeaves(emitter, e, arrays);
  const IterationSpace outer(source->shape(), Walk::kDimensions, policy);
  outer.Emit(b, b.Index(0), b.Index(outer.units()), [&](const ElementIndex& at) {
    emitter.BeginScope();
    SelectedElement selected = EmitSelectedElement(emitter, *s, at);
    EmitIf(b, selected.any, [&] {
      emitter.BeginScope();
      const ElementIndex target = ElementIndex::Multi(std::move(selected.at));
      const ArrayRef result = arrays.result(0);
      const ScalarValue update = emitter.Emit(source, ElementIndex::Multi(at.multi));
      StoreTo(b, result, target,
              emitter.Apply(*s->called(1), {LoadFrom(b, result, target), update})[0]);
      emitter.EndScope();
    });
    emitter.EndScope();
  });
}

}  // namespace

void AddScatterBase(const KernelRequest& request, const Instruction* base, int64_t leaf,
                    std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  for (const Expression::Leaf& l : e.leaves) {
    if (l.instruction != base) continue;
    if (request.in_place(l.operand, leaf)) return;
    if (base->shape().MinorToMajor() == e.shapes[leaf].MinorToMajor()) {
      out.push_back(CopyKernel(l.operand, leaf, e.shapes[leaf], request.target));
      return;
    }
  }
  const IterationSpace space(e.shapes[leaf], Walk::kDimensions, request.target.tiling);
  Kernel kernel;
  kernel.units = space.units();
  kernel.unit_cost = ElementCost(e) * static_cast<double>(space.elements_per_unit());
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    ElementEmitter emitter(b);
    BindLeaves(emitter, e, arrays);
    space.Emit(b, begin, end, [&](const ElementIndex& index) {
      emitter.BeginScope();
      StoreTo(b, arrays.result(leaf), index, emitter.Emit(base, ElementIndex::Multi(index.multi)));
      emitter.EndScope();
    });
  };
  if (space.units() > 0) out.push_back(std::move(kernel));
}

// Every computation called must be one of elements: the combiner, and select's predicate.
bool AddScatterKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  const Instruction* root = e.roots[0];
  Kernel kernel;
  kernel.units = 1;
  if (root->opcode() == Opcode::kScatter) {
    const int64_t n = (root->operand_count() - 1) / 2;
    for (int64_t k = 0; k < n; ++k) AddScatterBase(request, root->operand(k), k, out);
    if (root->operand(n + 1)->shape().ElementCount() == 0 ||
        root->operand(0)->shape().ElementCount() == 0)
      return true;
    const Shape& updates = root->operand(n + 1)->shape();
    const WindowParts parts = PartsOfWindows(*root);
    if (parts.dimension >= 0) kernel.units = updates.dims[parts.dimension] / parts.size;
    kernel.unit_cost = ElementCost(e) * static_cast<double>(updates.ElementCount() / kernel.units);
    kernel.emit = [e, parts](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                             llvm::Value* end) {
      ScatterEmitter(e, b, arrays).Emit(parts, begin, end);
    };
  } else if (root->opcode() == Opcode::kSelectAndScatter) {
    const IterationSpace space(e.shapes[0], Walk::kDimensions, request.target.tiling);
    Kernel fill;
    fill.units = space.units();
    fill.unit_cost = static_cast<double>(space.elements_per_unit());
    fill.emit = [e, root, space](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                 llvm::Value* end) {
      ElementEmitter emitter(b);
      BindLeaves(emitter, e, arrays);
      const ScalarValue init = emitter.Emit(root->operand(2), ElementIndex::Multi({}));
      space.Emit(b, begin, end,
                 [&](const ElementIndex& index) { StoreTo(b, arrays.result(0), index, init); });
    };
    if (space.units() == 0) return true;
    out.push_back(std::move(fill));
    if (root->operand(1)->shape().ElementCount() == 0) return true;
    kernel.emit = [e, policy = request.target.tiling](Builder& b, KernelArrays& arrays,
                                                      llvm::Value*, llvm::Value*) {
      EmitSelectAndScatter(e, policy, b, arrays);
    };
  } else {
    return false;
  }
  if (kernel.units == 1) kernel.unit_cost = 1e3;  // in order, on one thread
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
