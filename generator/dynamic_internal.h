// Steps over arrays whose sizes only the run knows.
#pragma once

#include "generator/scope_internal.h"

namespace hlokit {

// Some operations one after the other over arrays with several dynamic dimensions, whose sizes may
// be 0, 1 or unequal between operands. Keeps what comes out by KeepInside.
void DynamicChain(GeneratedCode& s);
// Keeps x, whose floats are at most `most`, with zeros beyond its sizes in an array without
// dynamic dimensions, and the sizes.
void KeepInside(GeneratedCode& s, Instruction* x, double most);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
