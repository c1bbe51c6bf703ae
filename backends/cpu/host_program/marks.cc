// Notes and marks for tools that check the code (code_notes.h).
#include <algorithm>

#include "backends/cpu/host_program/module_emitter_internal.h"

namespace hlokit {
namespace {

bool IsWritten(const Slice& slice) {
  return slice.kind == Slice::Kind::kArena || slice.kind == Slice::Kind::kOutput;
}

// Whether the array lies where an operand does, whose elements are then there from the start.
bool LiesOverOperand(const BufferAssignment& buffers, const Instruction& i, const Slice& slice) {
  return std::any_of(i.operands().begin(), i.operands().end(), [&](const Instruction* operand) {
    const auto slices = buffers.slices(operand);
    return std::any_of(slices.begin(), slices.end(),
                       [&](const Slice& s) { return Overlap(s, slice); });
  });
}

}  // namespace

int64_t ModuleEmitter::AddNote(const Instruction* instruction, const Slice& slice) {
  out_.arrays.push_back({instruction, slice});
  return static_cast<int64_t>(out_.arrays.size()) - 1;
}

llvm::Value* ModuleEmitter::Noted(Frame& f, llvm::Value* pointer, const Slice& slice) {
  return options_.notes ? NotedArray(f.b, AddNote(current_, slice), pointer) : pointer;
}

void ModuleEmitter::Mark(Frame& f, const char* mark, const Instruction& i, const Slice& slice) {
  // Not by Pointer: a mark is no use that keeps stores alive.
  llvm::Value* pointer = PointerForStore(f, slice);
  EmitMark(f.b, mark, AddNote(&i, slice), pointer);
}

void ModuleEmitter::MarkBegin(Frame& f, const Instruction& i) {
  if (!options_.notes) return;
  for (const Slice& slice : buffers_.slices(&i))
    if (IsWritten(slice) && !LiesOverOperand(buffers_, i, slice)) Mark(f, kMarkBegin, i, slice);
}

void ModuleEmitter::MarkEnd(Frame& f, const Instruction& i, bool in_registers) {
  if (!options_.notes) return;
  for (const Slice& slice : buffers_.slices(&i)) {
    const bool unread = in_registers && slice.kind == Slice::Kind::kArena;
    if (IsWritten(slice) && !unread) Mark(f, kMarkEnd, i, slice);
  }
}

void ModuleEmitter::MarkRead(Frame& f, const Instruction& i) {
  if (!options_.notes) return;
  for (const Instruction* operand : i.operands()) {
    // What has no code of its own writes nothing: recv-done takes what recv stands for.
    if (operand->opcode() == Opcode::kRecv) continue;
    for (const Slice& slice : buffers_.slices(operand))
      if (IsWritten(slice)) Mark(f, kMarkRead, i, slice);
  }
}

void ModuleEmitter::MarkWritten(Frame& f, const Instruction& i) {
  if (!options_.notes) return;
  for (const Slice& slice : buffers_.slices(&i))
    if (IsWritten(slice)) Mark(f, kMarkWritten, i, slice);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
