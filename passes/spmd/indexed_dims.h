// Which dimensions of a gather's or scatter's arrays go together.
#pragma once

#include "ir/instruction.h"

namespace hlokit {

// One form for both: `slices` is the gather's result, or an update.
struct IndexedDims {
  DimVector index_to_slices;    // of the indices: which dimension of the slices; -1: coordinates
  DimVector operand_to_slices;  // of the operand, where slices take it whole; else -1
  DimVector parallel_operand, parallel_index;  // dimensions that go together
};

IndexedDims ReadGather(const Instruction& i);
IndexedDims ReadScatter(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
