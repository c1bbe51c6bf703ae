// reduce-window-rewriter: scans in blocks, and reduce-windows of lists as ones of matrices.
#pragma once

#include "ir/attributes.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

// The shape that windows over `operand` leave, in its type and layout.
Shape WindowResult(const Shape& operand, const Window& window);

// What is combined from the first element (`reverse`: the last) along `dim` to each, by `function`,
// with which `identity` changes nothing: reduce-windows over blocks of `base` elements and over
// what these give.
Instruction* InclusiveScanInBlocks(HloWriter& w, Instruction* x, int64_t dim, Instruction* identity,
                                   Computation* function, int64_t base, bool reverse);

// A reduce-window that is a scan (the window as long as the dimension, padded on one side) over
// more than `base-length` (16) elements costs their square: it becomes scans of blocks of that
// length, a scan of their totals, and a combination of both. Reassociates floats. Only for
// functions and starts that are known (add with 0, maximum with the lowest, ...). A reduce-window
// of rank 1 becomes one of rank 2 between reshapes, which emitters like better; exact.
std::unique_ptr<Pass> CreateReduceWindowRewriter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
