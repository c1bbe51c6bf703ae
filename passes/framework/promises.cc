// The passes that keep some promise not.
#include "passes/framework/promises.h"

namespace hlokit {

bool ChangesValues(absl::string_view pass) {
  return pass == "rng-expander" ||             // draws other numbers of the same distribution
         pass == "simplify-fp-conversions" ||  // leaves out roundings
         pass == "control-flow-flattening" ||  // is for measuring
         pass == "AssumeGatherIndicesInBoundRewriteToCopy";  // takes indices to be in bounds
}

bool RefusesModules(absl::string_view pass) {
  return pass == "check-no-data-dependency-in-scheduling-annotations" ||
         pass == "unstable-reduction-detector";
}

bool HoldsBeforeOthersOnly(absl::string_view pass) { return pass == "domain_verifier"; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
