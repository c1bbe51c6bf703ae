// The description that an object carries of itself: HlokitAotModel, as data of an LLVM module.
#pragma once

#include "analysis/buffer_assignment.h"
#include "backends/cpu/aot/aot_object.h"
#include "codegen/llvm.h"

namespace hlokit {

// What the description needs besides the object's own fields.
struct AotModelParts {
  const std::string& name;
  llvm::Function* entry;
  llvm::Function* host_calls;             // null where there are none
  std::vector<int64_t> constant_offsets;  // in the weights
  std::vector<int64_t> passed_through;    // by result: the argument that it is, or -1
  const std::string& weights;             // their bytes
  bool weights_in_object;
};

// Defines NAME_model in `module`, and the weights where they belong there.
void DefineModel(llvm::Module& module, const AotObject& object, const AotModelParts& parts);

// `void NAME.host_calls(context, id, operands, results)`: for each of `instructions` what it comes
// to. A custom call calls the function that it names; infeed and outfeed go through the queues of
// the run. Errors: Unimplemented where a custom call takes a tuple.
absl::StatusOr<llvm::Function*> DefineHostCalls(
    llvm::Module& module, const std::string& name,
    const std::vector<const Instruction*>& instructions);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
