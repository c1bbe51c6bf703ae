// DOT laid out and painted by Graphviz's libraries.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// `format`: svg, png, pdf, or another that the installed Graphviz has (canon, plain, xdot). An SVG
// shows the way of an edge under the pointer. Errors: InvalidArgument for a format that is not
// there or DOT that does not parse; Internal where the layout fails.
absl::StatusOr<std::string> Render(const std::string& dot, absl::string_view format);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
