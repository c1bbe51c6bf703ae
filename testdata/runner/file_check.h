// LLVM's FileCheck as a function.
#pragma once

#include <string>

namespace hlokit {

// Holds `output` against the CHECK lines of `check_text`. True if they match; else `why` says where
// they part.
bool FileCheck(const std::string& check_name, const std::string& check_text,
               const std::string& output, std::string& why);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
