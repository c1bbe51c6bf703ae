// Shardings: taken over, spread, taken away.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// sharding-propagation: instructions without a sharding get the one that follows from their
// operands, or from their users; shardings that are given stay, but for dimensions left open.
// Parameters and the result of the entry change where the module's header allows it, and where
// every dimension divides evenly. Errors: FailedPrecondition where a loop is on two devices.
std::unique_ptr<Pass> CreateShardingPropagation();

// The same by Shardy's rules where they differ from GSPMD's.
absl::StatusOr<bool> PropagateByShardy(Module& module);

// shardy-xla: Shardy's annotations (xla.sdy.* attributes and custom calls) become shardings of HLO:
// manual computations stand between SPMDFullToShardShape and SPMDShardToFullShape, results carry
// what FuncResultSharding said, and propagation by Shardy's rules follows. Before it each call gets
// a function of its own, constants that a loop only reads go into its body, and each user of a
// constant array gets its own; functions that were cut alike are one again after it.
std::unique_ptr<Pass> CreateShardyXla();

// sharding-remover: shardings go, and custom calls that only mark them (Sharding, and Shardy's)
// with them. Parameters and the root of the entry keep theirs.
std::unique_ptr<Pass> CreateShardingRemover();

// domain_isolator: between an instruction and a user with another sharding stands a domain that
// says both. domain_remover: domains become their operands.
std::unique_ptr<Pass> CreateDomainIsolator();
std::unique_ptr<Pass> CreateDomainRemover();

// domain_verifier: changes nothing. Errors: InvalidArgument where a domain says otherwise than
// its neighbours how they are sharded.
std::unique_ptr<Pass> CreateDomainVerifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
