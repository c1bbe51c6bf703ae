// algsimp: local algebra, from the rule tables of passes/simplify/.
#pragma once

#include "passes/pass.h"
#include "passes/pass_arguments.h"

namespace hlokit {

// Applies every rule that matches, again to what the rules make and to its users, until none does.
// What has no use is removed. Results agree bit for bit except that the sign of a floating zero may
// be lost, and floats are never reassociated. Cost: linear in the module plus the rewrites.
// Options: disable=RULE;... leaves rules out by name; rounding adds those of simplify/rounding.cc,
// which XLA applies always and whose results may differ in the last places; layout-sensitive adds
// those of simplify/memory_order.cc.
std::unique_ptr<Pass> CreateAlgsimp(PassArguments& arguments);

// test-only-algebraic-simplifier-with-onednn-enabled: the same, as XLA's hlo-opt names it where
// oneDNN computes products; no rule here asks who computes them.
std::unique_ptr<Pass> CreateTestOnlyAlgsimpWithOnednn();

// Names of all rules, in the order they are tried; several rules may share one.
std::vector<absl::string_view> AlgsimpRuleNames();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
