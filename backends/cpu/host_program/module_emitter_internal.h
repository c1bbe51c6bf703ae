// The emitter behind EmitModule: state shared by the files that write functions, kernels and
// control flow.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "backends/cpu/host_program/cpu_program.h"
#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/host_program/small_values.h"
#include "backends/cpu/library_calls/call_site.h"
#include "codegen/kernels.h"

namespace hlokit {

struct GroupMember;

class ModuleEmitter {
 public:
  ModuleEmitter(const Module& module, const BufferAssignment& buffers, const EmitOptions& options)
      : module_(module),
        buffers_(buffers),
        options_(options),
        program_(MakeCpuProgram(module, buffers)) {}
  absl::StatusOr<EmittedModule> Run();

 private:
  // One function while it is being written: a computation, with what is called inline.
  struct Frame {
    Frame(llvm::Function* f, llvm::BasicBlock* block) : function(f), b(block) {}
    llvm::Function* function;
    Builder b;
    SmallValues values;
    llvm::Value* context() const { return function->getArg(0); }
    llvm::Value* arena() const { return function->getArg(1); }
    llvm::Value* table() const { return function->getArg(2); }
  };
  class LibrarySite;
  class Arguments;
  class InlineArrays;

  // ---- module_emitter.cc: sequences of steps as functions ----
  void MakeParts();
  // The sequence that a step runs: a body of a loop, a branch, a callee.
  const StepSequence& BodyOf(const Step& step, size_t body) const {
    return program_.sequences[static_cast<size_t>(step.bodies[body])];
  }
  // Its steps, without the copies after them, which are the caller's.
  absl::StatusOr<llvm::Function*> EmitSequence(const StepSequence& sequence,
                                               const std::string& name);
  absl::StatusOr<llvm::Function*> EmitPiece(absl::Span<const Step> steps, const std::string& name);
  absl::Status EmitStep(Frame& f, const Step& step);
  absl::Status EmitByKind(Frame& f, const Step& step);
  absl::Status EmitKernelStep(Frame& f, const Instruction& i);
  // By the library, by the exchange of devices, or by the reference kernel.
  absl::Status EmitRuntimeCall(Frame& f, const Step& step);
  // EmitStep, with its time counted where the module is profiled.
  absl::Status EmitTimed(Frame& f, const Step& step);
  llvm::Function* NewFunction(const std::string& name);
  void EmitDeviceId(Frame& f, const Step& step);
  // An array's place, for any use; ForStore: to be written by a store that DropUnreadStores knows.
  llvm::Value* Pointer(Frame& f, const Slice& slice);
  llvm::Value* PointerForStore(Frame& f, const Slice& slice);
  llvm::Value* TableEntry(Frame& f, int64_t index);

  // ---- marks.cc: notes for tools that check the code (code_notes.h) ----
  // The same pointer, with its note.
  llvm::Value* Noted(Frame& f, llvm::Value* pointer, const Slice& slice);
  int64_t AddNote(const Instruction* instruction, const Slice& slice);
  void Mark(Frame& f, const char* mark, const Instruction& i, const Slice& slice);
  // The instruction's results begin; they are written. In registers: perhaps not in memory.
  void MarkBegin(Frame& f, const Instruction& i);
  void MarkEnd(Frame& f, const Instruction& i, bool in_registers);
  // The runtime reads operands; it has written results.
  void MarkRead(Frame& f, const Instruction& i);
  void MarkWritten(Frame& f, const Instruction& i);

  // ---- kernel_functions.cc: loops as functions, or inline ----
  absl::Status EmitKernels(Frame& f, const Instruction& i);
  std::vector<Slice> SlicesOf(const Instruction& i, const Kernel& kernel) const;
  // Gives the instruction that has no code; null where all is well.
  const Instruction* EmitKernelCall(Frame& f, const Instruction& i, const Kernel& kernel);
  llvm::Function* EmitKernelFunction(const Instruction& i, const Kernel& kernel,
                                     const std::vector<Slice>& slices,
                                     const Instruction** unsupported);
  llvm::Function* EmitKernelFunction(size_t part, const std::string& name, const Instruction& i,
                                     const std::vector<Slice>& slices, const Kernel& kernel,
                                     const Instruction** unsupported);
  llvm::Function* EmitRangeFunction(llvm::Function& kernel, size_t count);
  // ---- kernel_groups.cc ----
  // The kernels of a fusion's parts, which may run side by side, as one loop over all their chunks.
  absl::Status EmitKernelGroup(Frame& f, const Instruction& i, absl::Span<const Kernel> kernels);
  llvm::Function* EmitGroupFunction(llvm::Module& module, const std::string& name,
                                    absl::Span<const GroupMember> members);
  llvm::Function* Declare(llvm::Module& module, llvm::Function& function);

  // ---- small_instructions.cc: results in registers ----
  // Emits an instruction whose results are small, element by element; false where it is not of that
  // kind. `unsupported` as in KernelArrays.
  bool EmitSmall(Frame& f, const Instruction& i, const Instruction** unsupported);
  // Elements of a leaf: known ones, or loaded from its buffer.
  SmallValues::Elements ElementsOf(Frame& f, const Instruction* i, int64_t leaf);
  SmallValues::Elements LoadElements(Frame& f, const Slice& slice, const Shape& shape);
  void StoreElements(Frame& f, const Slice& slice, const Shape& shape,
                     const SmallValues::Elements& elements);
  void DropUnreadStores();

  // ---- control_flow.cc ----
  absl::Status EmitWhile(Frame& f, const Step& step);
  absl::Status EmitInlineWhile(Frame& f, const Step& step);
  absl::Status EmitConditional(Frame& f, const Step& step);
  absl::Status EmitCall(Frame& f, const Step& step);
  // Whether what the step runs stands in its caller's function.
  bool IsInline(const Step& step) const;
  size_t InlineSize(const StepSequence& sequence) const;
  absl::Status EmitInline(Frame& f, const StepSequence& sequence);
  void PassOn(Frame& f, const Instruction* operand, const Instruction* parameter);
  std::vector<int64_t> SmallLeaves(const Shape& shape) const;
  void SetLeaves(Frame& f, std::initializer_list<const Instruction*> holders,
                 const std::vector<int64_t>& leaves, const Values& values);
  llvm::BasicBlock* NewBlock(Frame& f, const char* name);
  llvm::Value* EmitCancellationCheck(Frame& f, const Instruction& loop);
  bool EndsSoon(const Step& loop) const;
  llvm::Value* BranchNumber(Frame& f, const Instruction& i);
  void CallComputation(Frame& f, llvm::Function* function);
  void EmitCopies(Frame& f, const std::vector<BufferCopy>& copies);
  // The same where the leaves of `target` are copied from those of `source` (null: from memory),
  // which may be in registers.
  void EmitStateCopies(Frame& f, const std::vector<BufferCopy>& copies, const Instruction* target,
                       const Instruction* source);

  const Module& module_;
  const BufferAssignment& buffers_;
  const EmitOptions& options_;
  const Program program_;
  EmittedModule out_;
  std::vector<double> work_;                          // LLVM instructions in each part
  absl::flat_hash_map<std::string, size_t> part_of_;  // by the looks of a kernel
  int64_t next_kernel_ = 0;
  const Instruction* current_ = nullptr;  // whose code is being written, for notes
  // Stores of small values, and what of the arena is used otherwise.
  std::vector<std::pair<llvm::StoreInst*, Slice>> small_stores_;
  absl::flat_hash_set<std::pair<int64_t, int64_t>> used_;  // offset, size
};

absl::Status NoCode(const Instruction& unsupported);

// Work (in simple float operations) above which threads share a kernel, in chunks.
inline constexpr double kParallelWork = 150000, kChunkWork = 40000;
// Units in a chunk.
int64_t GrainOf(const Kernel& kernel);
// Whether EmitSmall takes the instruction.
bool IsSmallInstruction(const Instruction& instruction);
const Shape& LeafShape(const Shape& shape, int64_t leaf);

// Pointers to an instruction's arrays, as the computation's function has them.
class ModuleEmitter::LibrarySite final : public CallSite {
 public:
  LibrarySite(ModuleEmitter& emitter, Frame& frame, const Instruction& i)
      : e_(emitter), f_(frame), i_(i) {}
  Builder& builder() override { return f_.b; }
  llvm::Value* context() override { return f_.context(); }
  llvm::Value* operand(int64_t o, int64_t leaf) override {
    return e_.Pointer(f_, e_.buffers_.slice(i_.operand(o), leaf));
  }
  llvm::Value* result(int64_t leaf) override {
    return e_.Pointer(f_, e_.buffers_.slice(&i_, leaf));
  }

 private:
  ModuleEmitter& e_;
  Frame& f_;
  const Instruction& i_;
};

// The same for loops that stand in that function.
class ModuleEmitter::InlineArrays final : public KernelArrays {
 public:
  InlineArrays(ModuleEmitter& emitter, Frame& frame, const Instruction& i)
      : e_(emitter), f_(frame), i_(i) {}
  ArrayRef operand(int64_t o) override;
  ArrayRef result(int64_t leaf) override {
    return {e_.Pointer(f_, e_.buffers_.slice(&i_, leaf)), LeafShape(i_.shape(), leaf)};
  }
  std::optional<SmallValues::Elements> known(int64_t o) override {
    return f_.values.Find(f_.b, i_.operand(o));
  }

 private:
  ModuleEmitter& e_;
  Frame& f_;
  const Instruction& i_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
