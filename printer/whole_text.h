// The text of a module that reads back as the same module.
#pragma once

#include <string>

#include "printer/printer.h"

namespace hlokit {

// Those of XLA's defaults that would lose something of this module turned off: large constants are
// whole, and asynchronous operations are written out (async-start, calls=) where `negate-start` and
// the like would lose which operand goes where, or a constant.
PrintOptions WholeOptions(const Module& module);

// As Print() has it with these.
inline std::string WholeText(const Module& module) { return Print(module, WholeOptions(module)); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
