// Orders of dimensions in memory, minor to major, with which reshapes and transposes move nothing.
#pragma once

#include <optional>

#include "ir/instruction.h"

namespace hlokit {

DimVector RowMajorOrder(int64_t rank);
Shape InOrder(const Shape& shape, const DimVector& order);

// The order of a reshape's result with which nothing moves, where its operand lies like `order`;
// dimensions of size one that are new come before all others, unless there are only such. Null
// where there is none.
//   [2,12]{1,0} to [24,1]  ->  {0,1}
std::optional<DimVector> OrderAfterReshape(const Shape& from, const DimVector& order,
                                           const Shape& to);
// The order of a reshape's operand with which nothing moves: row-major, or null.
std::optional<DimVector> OrderBeforeReshape(const Shape& from, const Shape& to,
                                            const DimVector& order);
DimVector OrderAfterTranspose(const Instruction& transpose, const DimVector& order);
DimVector OrderBeforeTranspose(const Instruction& transpose, const DimVector& order);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
