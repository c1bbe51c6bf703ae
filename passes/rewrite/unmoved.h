// Transposes, reshapes and broadcasts that move nothing in memory: the layout of the result follows
// from the operand's, as accelerators want it.
//   f32[2,12]{1,0}  transposed by {1,0}  -> f32[12,2]{0,1}
#pragma once

#include "absl/types/span.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// `x` with dimension d being what permutation[d] was; `x` itself where nothing changes.
Instruction* TransposeUnmoved(Rewriter& r, Instruction* x, absl::Span<const int64_t> permutation);

// `x` as an array of `dims` in row-major order: a bitcast where `x` is row-major, else a reshape.
// `x` itself where it is that already.
Instruction* BitcastTo(Rewriter& r, Instruction* x, absl::Span<const int64_t> dims);

// Operand dimension d becomes dimension where[d] (ascending) of `dims`; a new dimension lies right
// outside of the one that follows it.
Instruction* BroadcastUnmoved(Rewriter& r, Instruction* x, absl::Span<const int64_t> dims,
                              absl::Span<const int64_t> where);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
