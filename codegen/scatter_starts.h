// Where the windows of a scatter's updates lie, and which elements a select-and-scatter selects.
#pragma once

#include <vector>

#include "codegen/element_emitter.h"

namespace hlokit {

// The dimensions of a scatter's updates that number windows, slowest first.
DimVector ScatterBatchDims(const Instruction& scatter);

// Whether windows have the base's dimension `d`.
bool IsScatterWindowDim(const ScatterAttrs& dims, int64_t d);

// A window's size along dimension `d` of the base: 1 where the updates have no such dimension.
int64_t ScatterWindowSize(const Instruction& scatter, int64_t d);

// The first element of a window, by dimension of the base, and whether the whole window lies inside
// the base: an update whose window crosses its bounds is skipped whole.
struct ScatterStart {
  std::vector<llvm::Value*> at;
  llvm::Value* inside;
};
// Of the window that `index` (by dimension of the updates) numbers.
ScatterStart EmitScatterStart(ElementEmitter& emitter, const Instruction& scatter,
                              absl::Span<llvm::Value* const> index);

// The element of the operand that a select-and-scatter selects for an element of its source: where
// it is, and whether there is one (a window may lie in the padding alone).
struct SelectedElement {
  std::vector<llvm::Value*> at;
  llvm::Value* any;
};
// `source` has its index by dimension.
SelectedElement EmitSelectedElement(ElementEmitter& emitter, const Instruction& select_and_scatter,
                                    const ElementIndex& source);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
