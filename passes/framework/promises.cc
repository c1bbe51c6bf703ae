// The passes that keep some promise not.
#include "passes/framework/promises.h"

namespace hlokit {

bool ChangesValues(absl::string_view pass) {
  return pass == "rng-expander" ||             // draws other numbers of the same distribution
         pass == "simplify-fp-conversions" ||  // leaves out roundings
         pass == "control-flow-flattening" ||  // is for measuring
         pass == "AssumeGatherIndicesInBoundRewriteToCopy";  // takes indices to be in bounds
}

// A domain between neighbours that are cut otherwise than it says is refused, as XLA's
// HloDomainVerifier refuses it; random modules hold such ones.
bool RefusesModules(absl::string_view pass) {
  return pass == "domain_verifier" ||
         pass == "check-no-data-dependency-in-scheduling-annotations" ||
         pass == "unstable-reduction-detector";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
