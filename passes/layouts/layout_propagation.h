// Layouts that follow from each other, as XLA's layout assignment has them.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Gives each array of the module a layout, from those that are fixed: the entry's parameters and
// results, operands and results of custom calls that say so, and row-major ones of dots,
// convolutions and collectives. A layout goes on to whatever computes an operand and to its other
// readers; a copy for each use joins what disagrees. Loops, calls and branches take the layouts
// that their bodies ask for. With `default_results` the entry's results are row-major. Returns
// whether anything changed.
bool PropagateLayouts(Module& module, bool default_results);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
