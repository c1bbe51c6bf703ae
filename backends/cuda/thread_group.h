// Threads of a block that work together: what they pass to each other.
#pragma once

#include "absl/functional/function_ref.h"
#include "codegen/loops.h"

namespace hlokit {

inline constexpr int64_t kWarp = 32;  // threads

// Says of a kernel what NVPTX has a name for ("reqntidx"), in the module's list.
void AnnotateKernel(llvm::Function& kernel, const char* what, int value);

// Shared memory of `count` values for the kernel that `b` writes, aligned to 16 bytes.
llvm::GlobalVariable* MakeShared(Builder& b, llvm::Type* type, int64_t count);

// Shared memory of `bytes` bytes, aligned to 1024, whose size the launch gives: static memory ends
// at 48 KiB. Once a kernel.
llvm::Value* MakeDynamicShared(Builder& b, int64_t bytes);
// What a kernel asked for; 0 where it did not.
int64_t DynamicSharedBytes(const llvm::Function& kernel);

// A kernel's parameters are pointers into global memory: with generic ones LLVM would convert each
// (cvta.to.global), an instruction a parameter. The rest of the code works with generic pointers,
// which LLVM's address space inference takes back.
inline constexpr unsigned kGlobalSpace = 1;
llvm::Value* ArrayParameter(llvm::Function& kernel, unsigned number);

// Device memory of `bytes` bytes, aligned to 256, that all kernels of a run share: what one kernel
// writes, the next ones of the same step read. For the kernel that `b` writes, whose last parameter
// it is; once a kernel.
llvm::Value* MakeScratch(Builder& b, int64_t bytes);
int64_t ScratchBytes(const llvm::Function& kernel);

// The bits of a value of up to 64 bits as an integer of 32 or 64 bits, and back.
llvm::Value* ToWords(Builder& b, llvm::Value* value);
llvm::Value* FromWords(Builder& b, llvm::Value* words, llvm::Type* type);

// The value that thread `lane` of the warp has; all 32 threads call it together.
llvm::Value* ReadLane(Builder& b, llvm::Value* value, llvm::Value* lane);

// A group of `threads` neighbouring threads: 1, a power of two up to a warp's 32, or a whole block.
// All functions must be reached by all threads of the warp (of the block, for a block) together.
class ThreadGroup {
 public:
  using Combiner = absl::FunctionRef<llvm::Value*(llvm::Value*, llvm::Value*)>;

  // `lane`: which of the group's threads runs, from 0, of the index type.
  ThreadGroup(Builder& b, int64_t threads, llvm::Value* lane)
      : b_(b), threads_(threads), lane_(lane) {}

  int64_t threads() const { return threads_; }
  llvm::Value* lane() const { return lane_; }

  // Every thread's value combined into one, which all threads get, with the same bits. `combine` is
  // commutative. The order of the combinations depends on nothing but `threads`.
  llvm::Value* Combine(llvm::Value* value, Combiner combine);

  // Waits until all of the group's threads are here; what they wrote before can be read after.
  void Meet();

 private:
  llvm::Value* CombineLanes(llvm::Value* value, int64_t lanes, Combiner combine);
  llvm::Value* CombineWarps(llvm::Value* value, Combiner combine);

  Builder& b_;
  const int64_t threads_;
  llvm::Value* const lane_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
