// The runtime calls of products with what follows them: the descriptor of the product, and that of
// bias, residual and limits.
#include <bit>

#include "analysis/product_finish.h"
#include "backends/cpu/library_calls/library_internal.h"

namespace hlokit {
namespace {

int64_t WordOf(float value) { return std::bit_cast<uint32_t>(value); }

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
    site.Call(is_dot ? "hlokit_finished_dot" : "hlokit_finished_conv",
              {site.context(), product, finish, operand(form.product->operand(0)),
               operand(form.product->operand(1)), operand(form.bias), operand(form.residual),
               site.result()});
  }
};

}  // namespace

const LibraryCall* FinishedProductCall() {
  static const FinishedProduct call;
  return &call;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
