// What the flags that look inside a program print.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "types/literal.h"

namespace hlokit {

// To standard output, after whatever progress stands there.
void PrintOut(absl::string_view text);

// `file.hlo:12:3: ` where the text says where the instruction stands; else empty.
std::string PlaceText(const Instruction& instruction);

// `  from model.py:31, op_name jit(f)/tanh`, a line; empty where the module does not say.
std::string OriginText(const Instruction& instruction);

// `  there: %a = 1.5, %b = -inf`, a line of the elements at `index` of operands that are of its
// rank; `inputs` are the operands' values. Empty where there are none.
std::string OperandsText(const Instruction& instruction, absl::Span<const Literal> inputs,
                         absl::Span<const int64_t> index);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
