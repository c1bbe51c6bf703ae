// A whole HLO module as LLVM modules: control flow, kernels, runtime calls; no interpreter at run
// time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/buffer_assignment.h"
#include "codegen/code_notes.h"
#include "codegen/llvm.h"

namespace hlokit {

struct EmitOptions {
  std::string triple, data_layout;  // of the target machine
  int parts = 2;                    // LLVM modules that may be compiled at the same time
  bool parallel = true;             // split large kernels over threads
  bool profile = false;             // count the time of each instruction
  // Loops take the instructions of each round from steps_left of the context, and end below 0.
  bool count_steps = false;
  // Code carries the notes of code_notes.h and their calls, which have to be changed before it can
  // run.
  bool notes = false;
};

// The entry point is `void hlokit_entry(HlokitRunContext*, char* arena, char** table)`. The table
// holds pointers to the entry parameters' leaves, then the constants, then the results' leaves
// (numbers as in BufferAssignment); where instructions are profiled, then an array of two uint64_t
// for each instruction id: cycles of the processor's clock (inclusive of calls), and executions.
struct EmittedModule {
  struct Part {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> module;
  };
  std::vector<Part> parts;
  // Instructions that call the reference kernel, for want of code of their own.
  std::vector<const Instruction*> reference_calls;
  bool uses_communicator = false;  // whether runs need hlokit::Devices
  std::vector<ArrayNote> arrays;   // by the numbers of notes
};

inline constexpr char kEntrySymbol[] = "hlokit_entry";

// The attribute of functions whose loops are written in vectors.
inline constexpr char kInVectors[] = "hlokit-in-vectors";

// The attribute of functions that run so long that more code pays for a faster loop.
inline constexpr char kRunsLong[] = "hlokit-runs-long";

// Preconditions: as BufferAssignment::Make, whose result for `module` this is. Errors:
// Unimplemented names the instruction that has neither code nor a reference kernel.
absl::StatusOr<EmittedModule> EmitModule(const Module& module, const BufferAssignment& buffers,
                                         const EmitOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
