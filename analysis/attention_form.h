// Attention as programs write it: two products, and the softmax of a row between them.
//   scores = dot(queries, keys)                     f32[batch..., rows, keys]
//   x      = scores * scale, and select(mask, x, constant)     both may be missing
//   p      = exp(x - max(x)) / sum(exp(x - max(x)))            along the last dimension
//   result = dot(p, values)                         f32[batch..., rows, value depth]
#pragma once

#include <optional>
#include <vector>

#include "ir/instruction.h"

namespace hlokit {

struct AttentionForm {
  const Instruction* scores = nullptr;   // the first dot: of queries and keys
  const Instruction* product = nullptr;  // the second, which is matched: of p and values
  const Instruction* mask = nullptr;     // pred; null: none
  DimVector mask_dims;                   // which dimension of the scores each of the mask's is
  double scale = 1, masked = 0;
  // All instructions from the scores to the product, operands before users.
  std::vector<const Instruction*> members;
};

// The form that ends in `product`, if it is one: f32, one dimension each of rows, keys, depth and
// value depth, nothing of it used elsewhere but scalars and their broadcasts.
std::optional<AttentionForm> FindAttention(const Instruction& product);

// The same of a fusion that holds nothing else, its operands being those of the form.
std::optional<AttentionForm> FindAttentionFusion(const Instruction& fusion);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
