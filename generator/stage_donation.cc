// Donated arguments: results in the memory of parameters.
#include <algorithm>

#include "generator/stages_internal.h"

namespace hlokit {

void DonateParameters(Module& module, Random& random) {
  constexpr double kAliased = 0.5, kDonated = 0.2;
  ModuleHeader& header = module.header();
  const Shape& result = module.entry()->root()->shape();
  std::vector<bool> given(module.entry()->parameter_count(), false);
  for (const ShapeLeaf& leaf : Leaves(result)) {
    if (!leaf.shape->IsArray() || !random.Chance(kAliased)) continue;
    for (const Instruction* parameter : module.entry()->parameters()) {
      const int64_t number = parameter->parameter_number();
      if (given[number] || !parameter->shape().IsArray() ||
          !SameIgnoringLayout(parameter->shape(), *leaf.shape))
        continue;
      given[number] = true;
      InputOutputAlias& alias = header.aliases.emplace_back();
      alias.output = leaf.index;
      alias.parameter = number;
      alias.must_alias = random.Chance(0.3);
      break;
    }
  }
  for (const Instruction* parameter : module.entry()->parameters())
    if (!given[parameter->parameter_number()] && parameter->shape().IsArray() &&
        random.Chance(kDonated))
      header.donors.emplace_back().parameter = parameter->parameter_number();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
