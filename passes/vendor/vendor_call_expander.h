// Custom calls of GPUs' and CPUs' libraries as the operations that they compute.
#pragma once

#include "passes/framework/pass.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// Operations for the array results of a call in front, made through `rewriter`; what follows them
// is workspace, which nothing reads. Empty where the call is of no known library or not of a form
// whose meaning is known: the interpreter says what is wrong with it.
std::vector<Instruction*> ExpandVendorCall(Instruction* call, Rewriter& rewriter);

std::unique_ptr<Pass> CreateVendorCallExpander();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
