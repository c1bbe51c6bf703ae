// Counted loops in LLVM IR, with and without carried values.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "codegen/llvm.h"

namespace hlokit {

using Builder = llvm::IRBuilder<>;

// for (i = begin; i < end; ++i) body(i). Leaves the builder after the loop. Constant bounds are
// proven non-empty here (or the loop left out), others are guarded. A trip count of one makes no
// loop.
void EmitLoop(Builder& b, llvm::Value* begin, llvm::Value* end,
              absl::FunctionRef<void(llvm::Value*)> body);
void EmitLoop(Builder& b, int64_t count, absl::FunctionRef<void(llvm::Value*)> body);

// As above; `body` gets and returns the carried values; the last ones are returned.
using Values = std::vector<llvm::Value*>;
Values EmitLoopCarrying(Builder& b, int64_t count, const Values& initial,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body);
Values EmitLoopCarrying(Builder& b, llvm::Value* begin, llvm::Value* end, const Values& initial,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body);

// if (condition) body().
void EmitIf(Builder& b, llvm::Value* condition, absl::FunctionRef<void()> body);
// condition ? on_true() : on_false(), each in a block of its own.
Values EmitIfElse(Builder& b, llvm::Value* condition, absl::FunctionRef<Values()> on_true,
                  absl::FunctionRef<Values()> on_false);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
