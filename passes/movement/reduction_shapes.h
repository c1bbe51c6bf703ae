// Reductions and concatenations in shapes that some targets want.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// reduction-degenerate-dim-remover: reductions do without dimensions of size one, with reshapes
// around them. One that reduces such dimensions only stays. Exact.
std::unique_ptr<Pass> CreateReductionDegenerateDimRemover();

// reduction-dimension-grouper: neighbours among the reduced dimensions become one, by a reshape.
std::unique_ptr<Pass> CreateReductionDimensionGrouper();

// reduction-splitter: a reduction over dimensions that are no neighbours, of which two are at least
// 8 long, becomes two, the longest dimension first, where the initial value is the identity.
// Reassociates floats.
std::unique_ptr<Pass> CreateReductionSplitter();

// short-row-splitter: a reduction of 32 bits and more over slow dimensions and over rows of less than
// 64 elements, with others between, becomes one of columns, which vectors add up, and one of what
// that leaves. Where the initial value is the identity. Reassociates floats.
std::unique_ptr<Pass> CreateShortRowSplitter();

// reduce-window-resizer: windows over lists go over columns. Exact.
std::unique_ptr<Pass> CreateReduceWindowResizer();

// variadic-op-splitter: concatenations of more operands than this join them in groups. Exact.
inline constexpr int64_t kMaxConcatenated = 128;
std::unique_ptr<Pass> CreateVariadicOpSplitter();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
