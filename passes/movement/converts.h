// convert-mover, simplify-fp-conversions and convert_operand_folding: where types change.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// convert-mover. Matches data movement of widened arrays, and narrowed arrays after data movement;
// leaves the movement on the narrow side. Cost: linear.
std::unique_ptr<Pass> CreateConvertMover();

// simplify-fp-conversions. Matches a conversion between floats of what was converted between
// floats; leaves one conversion from the first type. A rounding in between is lost: results may be
// more exact than before. Cost: linear.
std::unique_ptr<Pass> CreateSimplifyFpConversions();

// convert_operand_folding. Matches dots and convolutions of operands that were widened exactly to a
// type no wider than the result's; leaves the operands as they were, which widens them all the
// same. Cost: linear.
std::unique_ptr<Pass> CreateConvertOperandFolding();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
