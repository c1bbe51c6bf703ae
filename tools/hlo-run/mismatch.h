// Where in a program results that differ come from.
#pragma once

#include <string>

#include "ir/module.h"
#include "tools/hlo-run/execute.h"
#include "tools/probe/program.h"
#include "types/compare.h"

namespace hlokit {

// Of the worst array that differs: which instruction gives it, its line in the text and in the
// user's source, its op_name, and the operands' values at the worst element, computed by `side` on
// `arguments` (null: without them):
//     result {1} is m.hlo:12:3: %add.5 = f32[8] add(%a, %b)
//     from model.py:31, op_name jit(f)/add
//     there: %a = 1.5, %b = -inf
// Empty where all is equal.
std::string MismatchText(const Module& module, const CompareResult& result, const Side* side,
                         const DeviceArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
