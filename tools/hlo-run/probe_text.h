// What the flags that look inside a program print.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace hlokit {

// To standard output, after whatever progress stands there.
void PrintOut(absl::string_view text);

// `file.hlo:12:3: ` where the text says where the instruction stands; else empty.
std::string PlaceText(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
