// A product of f32 and what programs do to its results one by one:
//   s      = dot(a, b) or convolution(a, b)          f32[rows..., columns]
//   x      = s + broadcast(bias) + residual          either may be missing
//   result = minimum(maximum(x, low), high)          likewise; or a clamp
// Kernels of products do that while a result is in the cache (runtime/dot/finish_internal.h). Other
// elementwise tails, such as x * logistic(x), are code that the target generates and that they call
// for each part of the result.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "ir/instruction.h"

namespace hlokit {

struct ProductFinish {
  const Instruction* product = nullptr;
  const Instruction* bias = nullptr;      // f32[columns]; null: none
  const Instruction* residual = nullptr;  // of the result's shape; null: none
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  // Of generated tails, which have none of these: broadcasts of f32[columns] along the columns or
  // of an f32[], and arrays of the result's shape.
  bool is_generated = false;
  std::vector<const Instruction*> columns, arrays;
  // All instructions from the product to the last, operands before users.
  std::vector<const Instruction*> members;

  // What the members read: operands of the product, then of the rest; some may be null or come
  // twice.
  std::vector<const Instruction*> Operands() const;
};

// The form that ends in `last`, if it is one: nothing of it used elsewhere but scalars and
// broadcasts, rows and columns that repay a call of the runtime, columns last in memory.
std::optional<ProductFinish> FindProductFinish(const Instruction& last);

// The same of a fusion that holds nothing else, its operands being those of the form.
std::optional<ProductFinish> FindFinishedProduct(const Instruction& fusion);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
