// The parts of attributes that are kept as text.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace hlokit {

// Names and values of `{a=1, b={c=2}, d="x,y"}`; nothing where that is not what `braced` looks
// like.
std::optional<std::vector<std::pair<absl::string_view, absl::string_view>>> RawFields(
    absl::string_view braced);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
