// How cuDNN's fused attention is called, as jaxlib and XLA write it: which operands there are, and
// what the configuration says.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ops/vendor/call_config.h"
#include "types/shape.h"

namespace hlokit {

// softmax(scale * Q K^T + bias, masked) V for each batch and head, or its gradients. Q is [batch,
// row, head, depth], or with rows and heads exchanged; K and V are alike, in fewer heads where
// several of Q's share one. Results have heads before rows in either case.
struct AttentionCall {
  bool backward = false, causal = false;
  double scale = 1;
  int64_t window = 0;    // keys that a row sees, up to its own; 0: all
  int64_t head_dim = 2;  // of Q, K, V, the output and its gradient
  int64_t row_dim() const { return 3 - head_dim; }
  int64_t batch = 0, heads = 0, kv_heads = 0, rows = 0, keys = 0, depth = 0, value_depth = 0;
  // Operands; -1 where there is none. Backward, `stats` (the logarithm of the sum of exponentials
  // of each row), the output and its gradient are given.
  int stats = -1, gradient = -1, bias = -1, output = -1, row_counts = -1, key_counts = -1;
};

bool IsAttentionTarget(absl::string_view target);

// Errors: InvalidArgument where operands do not fit together, Unimplemented for dropout, packed and
// paged sequences and other masks, each by name.
absl::StatusOr<AttentionCall> ReadAttentionCall(absl::string_view target, const ConfigValue& config,
                                                absl::Span<const Shape* const> operands);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
