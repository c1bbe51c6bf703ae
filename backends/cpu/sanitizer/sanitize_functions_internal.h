// The checks that sanitized code calls: short ones as IR, for LLVM to inline, and their way to the
// Sanitizer.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "backends/cpu/sanitizer/sanitizer_internal.h"
#include "codegen/llvm.h"

namespace hlokit {

// What a check is about: an address (or a vector of them) in `size` bytes at `base`.
struct CheckedAccess {
  int64_t site;
  llvm::Value* base;
  llvm::Value* address;
  int64_t size;
  uint8_t tag;            // of its bytes; 0: they have no state
  bool may_write = true;  // whether a write is none of its own faults
};

// The checks of one LLVM module; each is written where it is first asked for.
class CheckFunctions {
 public:
  CheckFunctions(llvm::Module& module, Sanitizer& sanitizer);

  // The instruction of an id; null for -1.
  const Instruction* instruction(int64_t id) const;

  // Each returns the address (or addresses) for the access to use.
  llvm::Value* CallCheck(llvm::IRBuilder<>& b, bool write, int64_t bytes, llvm::Align alignment,
                         const CheckedAccess& access);
  llvm::Value* CallMasked(llvm::IRBuilder<>& b, llvm::Value* mask, int64_t element_bytes,
                          const CheckedAccess& access);
  llvm::Value* CallLanes(llvm::IRBuilder<>& b, llvm::Value* mask, int64_t element_bytes,
                         const CheckedAccess& access);
  // `bytes`, or 0 where they are out of bounds.
  llvm::Value* CallBlock(llvm::IRBuilder<>& b, llvm::Value* bytes, const CheckedAccess& access);
  void CallAligned(llvm::IRBuilder<>& b, int64_t site, llvm::Value* address, llvm::Align alignment);
  void CallBegin(llvm::IRBuilder<>& b, llvm::Value* array, int64_t size);
  void CallEnd(llvm::IRBuilder<>& b, const CheckedAccess& access);
  void CallOverflow(llvm::IRBuilder<>& b, int64_t site, llvm::Value* wrong, llvm::Value* x,
                    llvm::Value* y);

 private:
  llvm::Function* NewFunction(const std::string& name, llvm::Type* result,
                              llvm::ArrayRef<llvm::Type*> types);
  llvm::Function* CheckOf(bool write, int64_t bytes, llvm::Align alignment, bool tagged);
  llvm::Function* OverflowFunction();
  // A call of a function of this process, its first argument the Sanitizer.
  llvm::Value* CallProcess(llvm::IRBuilder<>& b, const void* function, llvm::Type* result,
                           llvm::ArrayRef<llvm::Value*> arguments);

  llvm::Module& module_;
  Sanitizer& sanitizer_;
  absl::flat_hash_map<int64_t, const Instruction*> by_id_;
  std::map<std::tuple<bool, int64_t, uint64_t, bool>, llvm::Function*> checks_;
  llvm::Function* overflow_ = nullptr;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
