// Long scans in blocks.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// associative-scan-rewriter. Matches scans of one array by an associative function of one opcode,
// whose carry is the last result, over more than `base-length` (16) steps: leaves scans of blocks
// of so many, and one over what the blocks give. Reassociates.
std::unique_ptr<Pass> CreateAssociativeScanRewriter(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
