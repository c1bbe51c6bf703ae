// Fusions of chosen instructions.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace hlokit {

struct FusedMembers {
  absl::flat_hash_set<const Instruction*> members;
  FusionKind kind = FusionKind::kCustom;
  absl::string_view computation = "fused_computation", fusion = "fusion";  // their names
};

// Puts a fusion of the members in the place of `root`, which is one of them and the result. What
// they read besides each other become its operands, each once, in the order in which members are
// computed. Members that others read stay outside as well; those that nobody reads then go. The
// fusion takes the root's metadata, sharding and control edges.
Instruction* FuseMembers(Instruction* root, const FusedMembers& what);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
