// Damages HLO text a little, as a slip of the hand or another version's printer would.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hlokit {

struct Mutant {
  std::string text;
  std::string what;  // the changes made, by name: "swap", "replace+truncate"
};

// One to three changes to `source`, tokens or lines deleted, doubled, swapped, replaced or cut off.
// The same seed gives the same mutant on every machine.
Mutant Mutate(absl::string_view source, uint64_t seed);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
