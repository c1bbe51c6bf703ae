// The runtime calls of products with what follows them: the descriptor of the product, and that of
// bias, residual and limits, or code for what else follows.
#include <bit>

#include "analysis/product_finish.h"
#include "backends/cpu/library_calls/library_internal.h"
#include "codegen/element_emitter.h"
#include "ir/computation.h"

namespace hlokit {
namespace {

int64_t WordOf(float value) { return std::bit_cast<uint32_t>(value); }

// Rows [row, row + rows) of columns [col, col + cols) of the result, in place: the arguments are
// the result, what is read of columns and scalars, and arrays of the result's shape; then row,
// rows, col and cols.
void EmitTail(Builder& b, llvm::Function& function, const Instruction& fusion) {
  const ProductFinish form = *FindFinishedProduct(fusion);
  const Shape& shape = fusion.shape();
  const auto argument = [&](size_t k) { return function.getArg(static_cast<unsigned>(k)); };
  ElementEmitter emitter(b);
  emitter.set_excess(true);
  llvm::Value* column = nullptr;
  const ArrayRef result = {argument(0), shape};
  emitter.Bind(form.product, result);
  size_t next = 1;
  for (const Instruction* broadcast : form.columns) {
    const Shape& from = broadcast->operand(0)->shape();
    const ArrayRef array = {argument(next++), from};
    emitter.Bind(broadcast, [&b, &column, array](const ElementIndex&) {
      return LoadFrom(b, array, ElementIndex::Linear(array.shape.IsScalar() ? b.Index(0) : column));
    });
  }
  for (const Instruction* array : form.arrays)
    emitter.Bind(array, ArrayRef{argument(next++), array->shape()});
  llvm::Value *row = argument(next), *rows = argument(next + 1), *col = argument(next + 2),
              *cols = argument(next + 3);
  EmitLoop(b, row, b.CreateNSWAdd(row, rows), [&](llvm::Value* r) {
    llvm::Value* const start = b.CreateNSWMul(r, b.getInt64(shape.dims.back()));
    EmitLoop(b, col, b.CreateNSWAdd(col, cols), [&](llvm::Value* c) {
      column = c;
      const ElementIndex index = ElementIndex::Linear(b.CreateNSWAdd(start, c));
      emitter.BeginScope();
      StoreTo(b, result, index, emitter.EmitRounded(fusion.to_apply()->root(), index));
      emitter.EndScope();
    });
  });
}

class FinishedProduct : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override { return FindFinishedProduct(i).has_value(); }

  void Emit(CallSite& site, const Instruction& i) const override {
    const ProductFinish form = *FindFinishedProduct(i);
    const auto operand = [&](const Instruction* parameter) -> llvm::Value* {
      return parameter == nullptr ? nullptr : site.operand(parameter->parameter_number());
    };
    const bool is_dot = form.product->opcode() == Opcode::kDot;
    const int64_t columns = i.shape().dims.back();
    llvm::Value* const product =
        site.Words(is_dot ? DotDescriptor(*form.product) : ConvolutionDescriptor(*form.product));
    llvm::Value* const finish = site.Words(
        {i.shape().ElementCount() / columns, columns, WordOf(form.low), WordOf(form.high)});
    llvm::Value *const lhs = operand(form.product->operand(0)), *const rhs = operand(
                                                                    form.product->operand(1));
    if (!form.is_generated)
      return site.Call(is_dot ? "hlokit_finished_dot" : "hlokit_finished_conv",
                       {site.context(), product, finish, lhs, rhs, operand(form.bias),
                        operand(form.residual), site.result()});
    std::vector<llvm::Value*> arrays = {site.result()};
    for (const Instruction* broadcast : form.columns)
      arrays.push_back(operand(broadcast->operand(0)));
    for (const Instruction* array : form.arrays) arrays.push_back(operand(array));
    llvm::Value* const tail = site.Callback(
        arrays.size(), [&i](Builder& b, llvm::Function& function) { EmitTail(b, function, i); });
    site.Call(
        is_dot ? "hlokit_dot_then" : "hlokit_conv_then",
        {site.context(), product, finish, lhs, rhs, tail, site.Pointers(arrays), site.result()});
  }
};

}  // namespace

const LibraryCall* FinishedProductCall() {
  static const FinishedProduct call;
  return &call;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
