// What passes promise, for those who test them: a pass keeps values and accepts every valid
// module, unless it is named here.
#pragma once

#include "absl/strings/string_view.h"

namespace hlokit {

// It changes values by purpose; what it leaves need only be valid.
bool ChangesValues(absl::string_view pass);

// It refuses modules by purpose, with InvalidArgument: those that hold what it looks for.
bool RefusesModules(absl::string_view pass);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
