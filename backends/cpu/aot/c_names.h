// Names that C and C++ programs can use.
#pragma once

#include "absl/strings/string_view.h"

namespace hlokit {

// Whether `name` is an identifier and no word of C or C++, nor what <stdint.h> or a compiler's own
// macros mean by it.
bool IsCName(absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
