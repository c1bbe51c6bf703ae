// Donation: which results may take the memory of which arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// Leaf `parameter` of the entry's parameters (counted through all of them, depth first) gives its
// memory to leaf `result` of the entry's result. The two have one element type and dimensions.
struct Donation {
  int64_t parameter = 0, result = 0;
  bool operator==(const Donation&) const = default;
};

// The header's input_output_alias, then its buffer_donor as MatchDonors deals them out; none of
// arrays that differ in shape or have dynamic dimensions.
std::vector<Donation> FindDonations(const Module& module);

// Gives each donor the first result of its shape that nothing aliases: an alias takes its place in
// the header. Returns whether one was found. Cost: donors times results.
bool MatchDonors(const Computation& entry, ModuleHeader& header);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
