// Counted loops in LLVM IR, with and without carried values.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "codegen/llvm.h"

namespace hlokit {

// LLVM's builder, which also knows how wide indices are: trip counts, positions, index arithmetic.
class Builder : public llvm::IRBuilder<> {
 public:
  using llvm::IRBuilder<>::IRBuilder;

  // 64, or 32 in kernels whose positions all fit (IndexBitsOf in codegen/kernels.h).
  void set_index_bits(int bits) { index_bits_ = bits; }
  llvm::IntegerType* IndexType() { return getIntNTy(static_cast<unsigned>(index_bits_)); }
  llvm::ConstantInt* Index(int64_t value) {
    return llvm::ConstantInt::getSigned(IndexType(), value);
  }

 private:
  int index_bits_ = 64;
};

// for (i = begin; i < end; ++i) body(i), with i of the type of `begin`. Leaves the builder after
// the loop. Constant bounds are proven non-empty here (or the loop left out), others are guarded. A
// trip count of one makes no loop.
void EmitLoop(Builder& b, llvm::Value* begin, llvm::Value* end,
              absl::FunctionRef<void(llvm::Value*)> body);
void EmitLoop(Builder& b, int64_t count, absl::FunctionRef<void(llvm::Value*)> body);

// As above; `body` gets and returns the carried values; the last ones are returned.
using Values = std::vector<llvm::Value*>;
Values EmitLoopCarrying(Builder& b, int64_t count, const Values& initial,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body);
Values EmitLoopCarrying(Builder& b, llvm::Value* begin, llvm::Value* end, const Values& initial,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body);
// while (condition(carried)) carried = body(carried); returns what is carried at the end.
Values EmitWhile(Builder& b, const Values& initial,
                 absl::FunctionRef<llvm::Value*(const Values&)> condition,
                 absl::FunctionRef<Values(const Values&)> body);

// if (condition) body().
void EmitIf(Builder& b, llvm::Value* condition, absl::FunctionRef<void()> body);
// condition ? on_true() : on_false(), each in a block of its own.
Values EmitIfElse(Builder& b, llvm::Value* condition, absl::FunctionRef<Values()> on_true,
                  absl::FunctionRef<Values()> on_false);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
