// Which arguments may be overwritten by which results: the pairs of input_output_alias, and a
// result of equal shape for each argument of buffer_donor.
//   input_output_alias={ {0}: (1, {}) }, parameter 1 is f32[8]   ->  leaf of parameter 1, result 0
// Pairs whose shapes differ, or that name an argument or a result twice, are ignored: an alias is
// permission, not an obligation.
#include "analysis/donation.h"

#include <algorithm>
#include <optional>

namespace hlokit {
namespace {

bool IsAliased(const ModuleHeader& header, const ShapeIndex& output) {
  return std::any_of(header.aliases.begin(), header.aliases.end(),
                     [&](const InputOutputAlias& alias) { return alias.output == output; });
}

std::optional<int64_t> LeafAt(const std::vector<ShapeLeaf>& leaves, const ShapeIndex& index) {
  for (size_t k = 0; k < leaves.size(); ++k)
    if (leaves[k].index == index) return static_cast<int64_t>(k);
  return std::nullopt;
}

}  // namespace

bool MatchDonors(const Computation& entry, ModuleHeader& header) {
  const std::vector<ShapeLeaf> results = Leaves(entry.root()->shape());
  std::vector<BufferDonor> left;
  for (const BufferDonor& donor : header.donors) {
    const Shape* given = donor.parameter < entry.parameter_count()
                             ? SubShape(entry.parameter(donor.parameter)->shape(), donor.index)
                             : nullptr;
    const auto taken = std::find_if(results.begin(), results.end(), [&](const ShapeLeaf& leaf) {
      return given != nullptr && *leaf.shape == *given && !IsAliased(header, leaf.index);
    });
    if (taken == results.end()) {
      left.push_back(donor);
    } else {
      header.aliases.push_back({taken->index, donor.parameter, donor.index});
    }
  }
  const bool found = left.size() < header.donors.size();
  header.donors = std::move(left);
  return found;
}

std::vector<Donation> FindDonations(const Module& module) {
  const Computation& entry = *module.entry();
  ModuleHeader header;
  header.aliases = module.header().aliases;
  header.donors = module.header().donors;
  if (header.aliases.empty() && header.donors.empty()) return {};
  MatchDonors(entry, header);
  const std::vector<ShapeLeaf> results = Leaves(entry.root()->shape());
  std::vector<int64_t> first;  // leaf of each parameter
  int64_t leaves = 0;
  for (const Instruction* p : entry.parameters()) {
    first.push_back(leaves);
    leaves += static_cast<int64_t>(Leaves(p->shape()).size());
  }
  std::vector<Donation> donations;
  for (const InputOutputAlias& alias : header.aliases) {
    if (alias.parameter < 0 || alias.parameter >= entry.parameter_count()) continue;
    const std::vector<ShapeLeaf> given = Leaves(entry.parameter(alias.parameter)->shape());
    const auto from = LeafAt(given, alias.parameter_index), to = LeafAt(results, alias.output);
    if (!from || !to) continue;
    const Shape &have = *given[*from].shape, &want = *results[*to].shape;
    const Donation donation = {first[alias.parameter] + *from, *to};
    const bool again = std::any_of(donations.begin(), donations.end(), [&](const Donation& other) {
      return other.parameter == donation.parameter || other.result == donation.result;
    });
    if (again || !have.IsArray() || have.ByteSize() == 0 || have.type != want.type ||
        have.dims != want.dims || have.HasDynamicDims() || want.HasDynamicDims())
      continue;
    donations.push_back(donation);
  }
  return donations;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
