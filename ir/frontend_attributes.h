// The names and values that frameworks leave on instructions and modules.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hlokit {

// `frontend_attributes={a="b",c={d}}`, in the order of the names; a dictionary keeps its braces.
using FrontendAttributes = std::vector<std::pair<std::string, std::string>>;

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
