// Attention as targets compute it that keep a few rows of scores at hand: a product, whatever work
// on its rows, and a product with what that makes.
//   scores = dot(queries, keys)                      [batch..., rows..., keys]
//   p      = softmax(scores * scale + mask), say     any row computation (row_form.h)
//   result = dot(p, values), or dot(values, p)
// Unlike AttentionForm (attention_form.h), which is what the runtime's function takes, the work in
// between may be any: every type rounds where the program says.
#pragma once

#include <optional>
#include <vector>

#include "analysis/row_form.h"

namespace hlokit {

struct AttentionRows {
  const Instruction* scores = nullptr;   // the first dot
  const Instruction* product = nullptr;  // the second
  const Instruction* probabilities =
      nullptr;  // what it multiplies by the values, or reshapes of it
  // Of a softmax: what it divides by the sum of its exponentials.
  const Instruction* exponentials = nullptr;
  int64_t side = 0;                         // which operand of the product that is
  RowForm form;                             // of the work between
  std::vector<const Instruction*> members;  // scores to product, operands before users
  std::vector<const Instruction*> reads;    // what members read besides each other, each once
};

// The attention that ends in `product`, if it does: floats of two or four bytes; eight or more rows
// a batch, terms and columns; rows that can be reduced in any order; nothing of it used elsewhere
// but constants and what is cheaply made of them. Results of more than kMaxAttentionKeys keys,
// which are summed while scores are at hand part by part, have up to kMaxAttentionColumns columns.
inline constexpr int64_t kMaxAttentionKeys = 1024, kMaxAttentionColumns = 256;
std::optional<AttentionRows> FindAttentionRows(const Instruction& product);

// The same of a fusion that holds nothing else.
std::optional<AttentionRows> FindAttentionRowsFusion(const Instruction& fusion);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
