// Shows a file or an address in a browser.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hlokit {

// Starts `program`, looked for in PATH, with one argument, its output thrown away, and does not
// wait for it. NotFound where it cannot be started.
absl::Status OpenWith(const std::string& program, const std::string& what);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
