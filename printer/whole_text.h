// The text of a module that reads back as the same module.
#pragma once

#include <string>

#include "printer/printer.h"

namespace hlokit {

// As Print() has it, with large constants whole, which XLA's default elides.
inline std::string WholeText(const Module& module) {
  PrintOptions options;
  options.large_constants = true;
  return Print(module, options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
