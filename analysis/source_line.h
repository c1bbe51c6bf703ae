// Where in its author's program an instruction comes from.
#pragma once

#include <string>

#include "ir/instruction.h"

namespace hlokit {

// "model.py:31" of the metadata, or of the innermost frame that it names; empty where it names
// none.
std::string SourceLine(const Instruction& instruction);

// The two outermost parts of its op_name, "jit(f)/while", jit(main) not counted; empty where it has
// none.
std::string OuterScope(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
