// Select-and-scatter in two kernels: the gradient of a max-pooling of windows of 3, stride 2,
//
//   kernel 0: thread o of the source:  scratch[o] = place of the greatest of x[2 o], ... x[2 o + 2]
//   kernel 1: thread i of the result:  r[i] = 0;  for o in {i / 2 - 1, i / 2}:
//                                                   if (scratch[o] == i) r[i] += source[o]
//
// Places are numbered in memory order, -1 where a window lies in the padding alone. The second
// kernel asks all windows that can have the place, in the order of the source, in which the
// interpreter combines them: the same bits every run. Cost: elements of the source times those of a
// window, and elements of the result times the windows that have one.
#include "backends/cuda/select_scatter_kernels.h"

#include "backends/cuda/thread_group.h"
#include "codegen/scatter_starts.h"

namespace hlokit {
namespace {

class SelectScatterEmitter {
 public:
  SelectScatterEmitter(const Expression& e, Builder& b, KernelArrays& arrays)
      : e_(e),
        s_(*e.roots[0]),
        source_(s_.operand(1)->shape()),
        b_(b),
        arrays_(arrays),
        emitter_(b),
        scratch_(MakeScratch(b, source_.ElementCount() * b.IndexType()->getBitWidth() / 8)) {
    BindLeaves(emitter_, e, arrays);
  }

  void EmitSelection(llvm::Value* unit) {
    const ElementIndex at = WithMulti(b_, ElementIndex::Linear(unit), source_);
    const SelectedElement selected = EmitSelectedElement(emitter_, s_, at);
    llvm::Value* const place = LinearOffset(b_, ElementIndex::Multi(selected.at), e_.shapes[0]);
    b_.CreateStore(b_.CreateSelect(selected.any, place, b_.Index(-1)), PlaceOf(unit));
  }

  void EmitResult(llvm::Value* unit) {
    const ElementIndex index = WithMulti(b_, ElementIndex::Linear(unit), e_.shapes[0]);
    const ScalarValue init = emitter_.Emit(s_.operand(2), ElementIndex::Multi({}));
    std::vector<llvm::Value*> at(index.multi.size());
    const Values total = Windows(index, 0, b_.getTrue(), at, Flatten({init}), {&init, 1});
    StoreTo(b_, arrays_.result(0), index, Unflatten(total, {&init, 1})[0]);
  }

 private:
  // The windows that may have element `index`, from dimension `d` on; `at` is their element of the
  // source, `inside` whether there is one.
  Values Windows(const ElementIndex& index, size_t d, llvm::Value* inside,
                 std::vector<llvm::Value*>& at, const Values& total,
                 absl::Span<const ScalarValue> like) {
    if (d == at.size()) return Combine(index, inside, at, total, like);
    const WindowDim& w = s_.attr<WindowAttrs>().window[d];
    const int64_t extent = (w.size - 1) * w.window_dilation + 1;
    const int64_t count = (extent + w.stride - 1) / w.stride;
    // The last window that begins at or before the element, counted from the first padding.
    llvm::Value* const padded = b_.CreateNSWAdd(index.multi[d], b_.Index(w.pad_low));
    llvm::Value* const last = w.stride == 1 ? padded : b_.CreateSDiv(padded, b_.Index(w.stride));
    return EmitLoopCarrying(b_, count, total, [&](llvm::Value* step, const Values& now) {
      emitter_.BeginScope();
      at[d] = b_.CreateNSWAdd(b_.CreateNSWSub(last, b_.Index(count - 1)), step);
      llvm::Value* const there = b_.CreateICmpULT(at[d], b_.Index(source_.dims[d]));
      Values next = Windows(index, d + 1, b_.CreateAnd(inside, there), at, now, like);
      emitter_.EndScope();
      return next;
    });
  }

  Values Combine(const ElementIndex& index, llvm::Value* inside,
                 const std::vector<llvm::Value*>& at, const Values& total,
                 absl::Span<const ScalarValue> like) {
    const ElementIndex source = ElementIndex::Multi(at);
    return EmitIfElse(
        b_, inside,
        [&] {
          llvm::Value* const selected =
              b_.CreateLoad(b_.IndexType(), PlaceOf(LinearOffset(b_, source, source_)));
          return EmitIfElse(
              b_, b_.CreateICmpEQ(selected, index.linear),
              [&] {
                emitter_.BeginScope();
                const ScalarValue update = emitter_.Emit(s_.operand(1), source);
                Values combined =
                    Flatten(emitter_.Apply(*s_.called(1), {Unflatten(total, like)[0], update}));
                emitter_.EndScope();
                return combined;
              },
              [&] { return total; });
        },
        [&] { return total; });
  }

  llvm::Value* PlaceOf(llvm::Value* source) {
    return b_.CreateInBoundsGEP(b_.IndexType(), scratch_, b_.CreateZExt(source, b_.getInt64Ty()));
  }

  const Expression& e_;
  const Instruction& s_;
  const Shape& source_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  llvm::Value* const scratch_;
};

}  // namespace

bool AddSelectScatterKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kSelectAndScatter) return false;
  const int64_t sources = e.roots[0]->operand(1)->shape().ElementCount();
  const int64_t results = e.shapes[0].ElementCount();
  if (sources == 0 || results == 0 || IsSubByte(e.shapes[0].type)) return false;
  Kernel select, combine;
  select.units = sources;
  select.emit = [e](Builder& b, KernelArrays& arrays, llvm::Value* unit, llvm::Value*) {
    SelectScatterEmitter(e, b, arrays).EmitSelection(unit);
  };
  combine.units = results;
  combine.emit = [e](Builder& b, KernelArrays& arrays, llvm::Value* unit, llvm::Value*) {
    SelectScatterEmitter(e, b, arrays).EmitResult(unit);
  };
  out.push_back(std::move(select));
  out.push_back(std::move(combine));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
