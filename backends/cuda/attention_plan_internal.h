// How attention is computed by blocks: tiles of both products, and the rows between them.
#pragma once

#include <optional>

#include "analysis/attention_rows.h"
#include "backends/cuda/dot_tile_internal.h"
#include "backends/cuda/row_plan_internal.h"
#include "backends/cuda/tensor_tile_internal.h"

namespace hlokit {

inline constexpr int64_t kMaxAttentionRows = 64;  // of a block
inline constexpr int64_t kStepBytes = 64;         // of p that a step of the product reads
inline constexpr int64_t kSpareLineBytes = 16;

// What a device has for it.
struct AttentionTarget {
  // Of scores, beside up to 30 KiB of tiles: every device from sm_80 on gives a block 99 KiB.
  int64_t score_bytes = 65 << 10;
};

inline int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// One of the two products, in one of two ways. The left side has the rows of the attention.
struct AttentionProduct {
  Expression e;
  DotSides sides;  // as the dot has them
  bool on_tensor_cores = false;
  TensorTilePlan tensor;
  DotTilePlan plain;

  ElementType sum_type() const { return on_tensor_cores ? tensor.sum_type : plain.sum_type; }
  int64_t columns() const { return on_tensor_cores ? tensor.rhs.tile : plain.rhs.tile; }
};

struct AttentionPlan {
  Expression e;
  AttentionRows form;
  GroupRows rows;
  AttentionProduct scores, product;
  int64_t block_rows = kMaxAttentionRows;
  int64_t block_keys = 0;  // of which there are scores at a time; 0: all

  int64_t batches() const { return scores.sides.lhs.batch.size; }
  int64_t batch_rows() const { return form.form.rows / batches(); }
  int64_t BlocksOfBatch() const { return (batch_rows() + block_rows - 1) / block_rows; }
  int64_t Blocks() const { return batches() * BlocksOfBatch(); }
  ElementType score_type() const { return form.scores->shape().type; }
  // What rows in shared memory become.
  ElementType weight_type() const { return form.probabilities->shape().type; }
  int64_t line_bytes() const {
    const int64_t width = std::max(ByteWidth(score_type()), ByteWidth(weight_type()));
    const int64_t keys = block_keys == 0 ? form.form.length : block_keys;
    return RoundUp(keys * width, kStepBytes) + kSpareLineBytes;
  }
};

std::optional<AttentionPlan> PlanAttention(const Expression& e, const AttentionTarget& target);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
