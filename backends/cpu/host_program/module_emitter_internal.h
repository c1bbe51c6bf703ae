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

// A kernel that the host program calls by name, with its arrays as arguments. Its function is
// written after those of the host program, where the part of least work then is.
struct PendingKernel {
  std::string name;
  const Instruction* instruction;
  Kernel kernel;
  std::vector<Slice> slices;  // the arrays
  bool wants_range = false;   // also as a function NAME_range of a table of arrays
};

// A function that a runtime call gets (CallSite::Callback).
struct PendingCallback {
  std::string name;
  size_t arrays;
  CallSite::EmitBody emit;
};

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
  // Its steps, without the copies after them, which are the caller's. As a function that `caller`
  // can call (null: the entry).
  absl::StatusOr<llvm::Function*> EmitSequence(const StepSequence& sequence,
                                               const std::string& name, llvm::Module* caller);
  // The steps from `next` on, up to the size of a piece; `next` is then the first that is left.
  // timed: by its steps.
  absl::StatusOr<llvm::Function*> EmitPiece(const StepSequence& sequence, const std::string& name,
                                            size_t& next, bool timed);
  // Whether the function that is being written has room for the step `next`; in_place: for one of
  // a loop's body or a branch that stands there.
  bool HasRoom(const StepSequence& sequence, size_t next, bool in_place) const;
  // RoughCode of a step, with all that it runs.
  int64_t RoughSize(const Step& step) const;
  absl::Status EmitStep(Frame& f, const Step& step);
  absl::Status EmitByKind(Frame& f, const Step& step);
  absl::Status EmitKernelStep(Frame& f, const Instruction& i);
  // By the library, by the exchange of devices, or by the reference kernel.
  absl::Status EmitRuntimeCall(Frame& f, const Step& step);
  // EmitStep, with its time counted where the module is profiled.
  absl::Status EmitTimed(Frame& f, const Step& step);
  llvm::Function* NewFunction(llvm::Module& module, const std::string& name);
  std::string HostName(const std::string& name);
  // The part with the least work so far.
  size_t LightestPart() const;
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
  void EmitKernelCall(Frame& f, const Instruction& i, Kernel kernel);
  // A kernel whose function is written once the host program is, by the name that it gets.
  PendingKernel& AddKernel(const Instruction& i, Kernel kernel, std::vector<Slice> slices);
  absl::Status EmitPendingKernels();
  absl::StatusOr<llvm::Function*> EmitKernelFunction(llvm::Module& module,
                                                     const PendingKernel& pending);
  // Passes `count` pointers of a table and `integers` on.
  llvm::Function* EmitRangeFunction(llvm::Function& kernel, size_t count, size_t integers = 2);
  void EmitPendingCallbacks();
  // ---- kernel_groups.cc ----
  // The kernels of a fusion's parts, which may run side by side, as one loop over all their chunks.
  absl::Status EmitKernelGroup(Frame& f, const Instruction& i, absl::Span<Kernel> kernels);
  llvm::Function* EmitGroupFunction(llvm::Module& module, const std::string& name,
                                    absl::Span<const GroupMember> members);

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
  std::vector<double> work_;  // of LLVM in each part, in instructions
  std::vector<PendingKernel> kernels_;
  std::vector<PendingCallback> callbacks_;
  int64_t next_function_ = 0;
  // LLVM instructions in the frame's function that count towards the size of a piece (CodeCount):
  // they are the same whatever else is asked of the code (its time, checks).
  size_t piece_code_ = 0;
  const Instruction* current_ = nullptr;  // whose code is being written, for notes
  // Stores of small values, and what of the arena is used otherwise.
  std::vector<std::pair<llvm::StoreInst*, Slice>> small_stores_;
  absl::flat_hash_set<std::pair<int64_t, int64_t>> used_;  // offset, size
};

absl::Status NoCode(const Instruction& unsupported);

// Work (in simple float operations) above which threads share a kernel, in chunks.
inline constexpr double kParallelWork = 150000, kChunkWork = 40000;
// Work below which a kernel stands in its caller.
inline constexpr double kInlineWork = 256;
// Units in a chunk.
int64_t GrainOf(const Kernel& kernel);
// Whether EmitSmall takes the instruction.
bool IsSmallInstruction(const Instruction& instruction);
// Simple operations that a kernel step would write where it stands, roughly; 0 for a call.
int64_t RoughCode(const Instruction& instruction);
const Shape& LeafShape(const Shape& shape, int64_t leaf);

// Adds the LLVM instructions that the function gains meanwhile to a count, blocks as kBlockWork of
// them. Calls of functions that check the code are none of them.
class CodeCount {
 public:
  CodeCount(size_t& count, const llvm::Function& function)
      : count_(count), function_(function), before_(Code()) {}
  ~CodeCount() { count_ += Code() - before_; }

 private:
  size_t Code() const;
  size_t& count_;
  const llvm::Function& function_;
  const size_t before_;
};

// A function of so many pointers, then integers, which some part defines.
llvm::Function* DeclareFunction(llvm::Module& module, const std::string& name, size_t pointers,
                                size_t integers);
// What LLVM will take for a function, roughly, in its time for an instruction.
double CompileWork(const llvm::Function& function);

inline constexpr size_t kCallbackIntegers = 4;

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
  llvm::Value* Callback(size_t arrays, EmitBody emit) override {
    const std::string name = absl::StrCat("callback_", e_.callbacks_.size(), "_", i_.name());
    e_.callbacks_.push_back({name, arrays, std::move(emit)});
    return DeclareFunction(*f_.function->getParent(), name + "_range", 1, kCallbackIntegers);
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
