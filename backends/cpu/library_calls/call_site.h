// Where a computation's code calls the runtime: pointers to operands and results, descriptors,
// declarations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/loops.h"
#include "ir/instruction.h"

namespace hlokit {

// Calls a runtime function of type void(arguments...); a null argument is a null pointer.
void CallRuntime(Builder& b, const char* name, absl::Span<llvm::Value* const> arguments);

class CallSite {
 public:
  virtual ~CallSite() = default;
  virtual Builder& builder() = 0;
  virtual llvm::Value* context() = 0;  // the HlokitRunContext*
  // Pointers to leaf arrays; null for tokens and empty arrays.
  virtual llvm::Value* operand(int64_t o, int64_t leaf = 0) = 0;
  virtual llvm::Value* result(int64_t leaf = 0) = 0;

  // A function void(ptr arrays, i64, i64, i64, i64) that the runtime calls back for parts of the
  // result. `emit` writes what it does into a function of `arrays` pointers, which overlap with
  // none of the others, then the four integers; it is called after Emit.
  using EmitBody = std::function<void(Builder&, llvm::Function&)>;
  virtual llvm::Value* Callback(size_t arrays, EmitBody emit) = 0;

  // A pointer to a constant array of i64: how descriptors are handed over.
  llvm::Value* Words(absl::Span<const int64_t> words);
  // A pointer to an array of pointers, on the stack of the caller.
  llvm::Value* Pointers(absl::Span<llvm::Value* const> pointers);
  void Call(const char* name, absl::Span<llvm::Value* const> arguments) {
    CallRuntime(builder(), name, arguments);
  }
};

// Computes the instruction by one call of the runtime library (dot, convolution, sort, ...) if
// there is a function for it; false, with nothing emitted, if not.
bool EmitLibraryCall(CallSite& site, const Instruction& instruction);
// Whether EmitLibraryCall would; no code is emitted.
bool HasLibraryCall(const Instruction& instruction);

// Computes the instruction by the reference kernel.
void EmitReferenceCall(CallSite& site, const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
