// origin={..} of instructions.
#pragma once

#include <string>

#include "parser/reader_internal.h"

namespace hlokit {

// A tree of `{"name" {index}}`, braces included, into XLA's text of it.
bool ReadOrigin(Reader& reader, std::string& text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
