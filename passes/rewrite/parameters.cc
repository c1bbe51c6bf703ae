// Parameters and their numbers.
#include "passes/rewrite/parameters.h"

namespace hlokit {

void RemoveParameter(Computation& computation, int64_t k) {
  const std::vector<Instruction*> parameters(computation.parameters().begin(),
                                             computation.parameters().end());
  computation.Remove(parameters[k]);
  for (size_t n = k + 1; n < parameters.size(); ++n)
    parameters[n]->mutable_attr<ParameterAttrs>().number = static_cast<int64_t>(n) - 1;
  computation.RebuildParameters();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
