// Objects compiled ahead of time: a module as relocatable code for any machine that LLVM knows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

struct AotOptions {
  // An identifier of C and C++ that does not begin with hlokit; the object defines NAME_model.
  std::string name;
  // Empty: this machine, with all that it can do. With a triple alone: any machine of that kind.
  // Features are of LLVM's, each with its + or -: "+avx2,-fma".
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

// An s32[] of arguments or results: how much there is of a dynamic dimension, whose array lies at
// its bounds.
struct AotSize {
  int64_t place;  // of the s32[]; the array's follows
  int64_t array, dimension, bound;
};

struct AotObject {
  std::string code;     // an object file
  std::string weights;  // what the file of weights must hold; empty where they are in the object
  std::string triple;   // that it is for
  std::vector<AotArray> arguments, results;
  // Arguments and results for dynamic dimensions, after those of the module.
  std::vector<AotSize> argument_sizes, result_sizes;
  int64_t check_result = -1;     // a pred[]: whether sizes that the program sets are in range
  std::vector<int64_t> donated;  // by result: the argument in whose memory it is computed, or -1
  std::vector<std::string> custom_calls;  // symbols that must be linked
  std::vector<Shape> infeeds, outfeeds;   // of what the program takes from its host and gives it
  int64_t arena_bytes = 0, weights_bytes = 0;  // of each device; of all
  // Devices are replica * partition_count + partition; each has arguments and results of its own.
  int64_t replica_count = 1, partition_count = 1;
  bool uses_communicator = false;  // whether devices meet
};

// The object needs the runtime library alone (runtime/aot.h). A custom call is a call of
// `extern "C" void TARGET(void* out, const void** in)`, arrays only, in the layouts of the
// instruction's shapes; infeed and outfeed go through the queues of a run. Errors: Unimplemented
// for machines that LLVM or the runtime lacks (it wants 64 bits, little-endian), for dynamic
// dimensions inside tuples or loops, and for instructions without code of their own, which need the
// interpreter; each names what it refuses. InvalidArgument for names that a C program cannot use,
// for processors and features that the target has not got, and for groups of devices that the
// module does not run on.
absl::StatusOr<AotObject> CompileAhead(std::unique_ptr<Module> module, const AotOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
