// What loggers write in front of lines.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace hlokit {

// The length of what Abseil's and Google's loggers put before a line, `I0521 12:04:45.883 123
// service.cc:186] `, also with the year (`I20260521 ..`), at the start of `text`; 0 where there is
// none. Looks no further than the line.
size_t LogPrefixLength(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
