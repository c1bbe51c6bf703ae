// The words of HLO's grammar, taken from the project's own tables.
#pragma once

#include <string>
#include <vector>

namespace hlokit {

// Opcodes, attribute names, enumerators, element types, and what stands in no table. Sorted, each
// once.
const std::vector<std::string>& Dictionary();

// The same as a file for libFuzzer's -dict.
std::string DictionaryFile();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
