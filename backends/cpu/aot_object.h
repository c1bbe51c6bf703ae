// Objects compiled ahead of time: a module as relocatable code for any machine that LLVM knows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

struct AotOptions {
  std::string name;  // a C identifier; the object defines NAME_model
  // Empty: this machine, with all that it can do. With a triple alone: any machine of that kind.
  std::string triple, cpu, features;
  int opt_level = 2;  // 0 to 3
  // Values of constants in the object, or apart, for a file that is mapped.
  bool weights_in_object = true;
  bool run_passes = true;  // unless the module is scheduled
  // Results are computed in the memory of the arguments that the module donates to them.
  bool donate = false;
};

// One array of the arguments or the result.
struct AotArray {
  std::string name;
  Shape shape;
};

struct AotObject {
  std::string code;     // an object file
  std::string weights;  // what the file of weights must hold; empty where they are in the object
  std::string triple;   // that it is for
  std::vector<AotArray> arguments, results;
  std::vector<int64_t> donated;  // by result: the argument in whose memory it is computed, or -1
  std::vector<std::string> custom_calls;  // symbols that must be linked
  std::vector<Shape> infeeds, outfeeds;   // of what the program takes from its host and gives it
  int64_t arena_bytes = 0, weights_bytes = 0;
};

// The object needs the runtime library alone (runtime/aot.h). A custom call is a call of
// `extern "C" void TARGET(void* out, const void** in)`, arrays only, in the layouts of the
// instruction's shapes; infeed and outfeed go through the queues of a run. Errors: Unimplemented
// for machines that LLVM lacks, for modules of several devices, for dynamic dimensions, and for
// instructions without code of their own, which need the interpreter; each names what it refuses.
// InvalidArgument for a name that is no identifier.
absl::StatusOr<AotObject> CompileAhead(std::unique_ptr<Module> module, const AotOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
