// while_loop_pipeline_unroller and loop-double-buffer-transformer: loops of several rounds at once.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// A body grows to at most so many instructions.
inline constexpr int64_t kMaxRepeatedBody = 10'000;

// while_loop_pipeline_unroller. Matches loops that count from a constant to a constant and whose
// body hands parts of its state on to other places of it; leaves a body of as many rounds as such a
// part lives (for parts that go round in a ring, as many as bring each back), so that none needs a
// copy. Rounds that are left over run before the loop. Cost: the size of what is copied.
std::unique_ptr<Pass> CreateWhileLoopPipelineUnroller();

// loop-double-buffer-transformer. The same with two rounds, of every such loop.
std::unique_ptr<Pass> CreateLoopDoubleBufferTransformer();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
