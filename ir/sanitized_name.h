// Names that HLO text can hold.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace hlokit {

// Whether no rule of XLA's touches the name, as is so for nearly all: `add.17`, of letters, digits,
// underscores, dashes and points, with a point among them and a letter first.
bool IsUsualName(absl::string_view name);

// A name as XLA makes it of any text: letters, digits, underscores, dashes and points, no type's
// name. Empty stays empty.
std::string SanitizedName(absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
