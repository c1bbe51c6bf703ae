// Notes in emitted IR for tools that check it: what each pointer points to, which instruction each
// piece of code is of, and where arrays begin and end to be written. Emitted where
// EmitOptions::notes asks for them; code that is compiled as it is has none.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/buffer_assignment.h"
#include "codegen/loops.h"
#include "ir/instruction.h"

namespace hlokit {

// An array as one instruction's code uses it. The numbers of notes index EmittedModule::arrays.
struct ArrayNote {
  const Instruction* instruction = nullptr;  // whose code it is
  Slice slice;
};

// Metadata: of an instruction the id of its HLO instruction, where that lies inside another (a
// fusion); of a kernel's function the numbers of its arguments' arrays in order.
inline constexpr char kInstructionNote[] = "hlokit.instruction";
inline constexpr char kArgumentsNote[] = "hlokit.arguments";

// Functions without a body, of (i64 note, ptr array). Code that calls them has to be changed before
// it is linked. The first returns the pointer and hides from LLVM where it comes from, so that the
// note stays with it; the others return nothing.
inline constexpr char kMarkArray[] = "hlokit_mark_array";
inline constexpr char kMarkBegin[] = "hlokit_mark_begin";  // nothing of the array is written yet
inline constexpr char kMarkEnd[] = "hlokit_mark_end";      // all of it is to be written now
inline constexpr char kMarkRead[] = "hlokit_mark_read";    // the runtime reads all of it
inline constexpr char kMarkWritten[] = "hlokit_mark_written";  // the runtime has written all of it

// The pointer with its note.
llvm::Value* NotedArray(Builder& b, int64_t note, llvm::Value* array);
// The number of the array that a value is, as NotedArray made it; -1: it is none.
int64_t ArrayNoteOf(const llvm::Value& value);
// The id in kInstructionNote; -1: none.
int64_t InstructionNoteOf(const llvm::Instruction& at);
void SetArgumentNotes(llvm::Function& function, const std::vector<int64_t>& numbers);
std::vector<int64_t> ArgumentNotes(const llvm::Function& function);
// Calls one of the functions above.
void EmitMark(Builder& b, const char* mark, int64_t note, llvm::Value* array);

// A module whose code is to carry notes.
void WantNotes(llvm::Module& module);
bool WantsNotes(const llvm::Module& module);
inline bool WantsNotes(const Builder& b) { return WantsNotes(*b.GetInsertBlock()->getModule()); }

// While it lives all that `b` inserts is of `instruction`; then of `outer` again, which may be
// null.
class InstructionNote {
 public:
  InstructionNote(Builder& b, const Instruction* instruction, const Instruction* outer)
      : b_(b), outer_(outer) {
    Set(instruction);
  }
  ~InstructionNote() { Set(outer_); }
  InstructionNote(const InstructionNote&) = delete;
  InstructionNote& operator=(const InstructionNote&) = delete;

 private:
  void Set(const Instruction* instruction);

  Builder& b_;
  const Instruction* outer_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
