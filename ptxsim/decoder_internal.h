// The decoder of a program and of one function, shared by decode.cc and what binds instructions.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ptxsim/module.h"
#include "ptxsim/program.h"
#include "support/diagnostics.h"

namespace hlokit::ptx {

// The addresses of the module's variables, and the functions that the kernel reaches.
class ProgramDecoder {
 public:
  ProgramDecoder(std::shared_ptr<const Module> module, Diagnostics& out, int64_t image_base);

  std::unique_ptr<Program> Run(const Function& kernel);

  Program& program() { return *program_; }
  Diagnostics& out() { return out_; }
  const Module& module() const { return *module_; }

  // The index of a function that runs, which is decoded in its turn.
  uint32_t IndexOf(const Function& function);
  // Its address, the same for all kernels of the module.
  uint64_t AddressOf(const Function& function);
  struct Place {
    Space space = Space::kGlobal;
    uint64_t address = 0;     // in its space
    bool is_dynamic = false;  // counts from the first byte of dynamic shared memory
    int element = 1;          // bytes of an element
  };
  // A module-level variable; nullptr where there is none of the name.
  const Place* FindVariable(absl::string_view name) const;
  // Lays out a variable of a function in .shared, .global or .const.
  Place PlaceVariable(const Variable& variable);

 private:
  void LayOutModule();
  void FillImage(const Variable& variable, int64_t offset);
  void LayOutParameters(const Function& kernel);

  std::shared_ptr<const Module> module_;
  Diagnostics& out_;
  std::unique_ptr<Program> program_;
  absl::flat_hash_map<std::string, Place> variables_;
  absl::flat_hash_map<const Function*, uint32_t> function_indices_;
  std::vector<std::pair<const Variable*, int64_t>> images_;
};

class FunctionDecoder {
 public:
  FunctionDecoder(ProgramDecoder& program, const Function& function);

  std::unique_ptr<Code> Run();

  ProgramDecoder& program() { return program_; }
  const Function& function() const { return function_; }
  Code& code() { return *code_; }

  uint32_t NewColumn(int bytes);  // 0: a predicate
  uint32_t Constant(uint64_t bits, uint64_t high, int bytes, bool is_dynamic = false);
  // A register's column, made when it is first used.
  Slot RegisterColumn(uint32_t index);
  uint32_t CarryColumn();
  // Offset of a .local or .param variable in the thread's frame; -1 for other spaces.
  int64_t LocalOffset(uint32_t variable) const { return local_offsets_[variable]; }
  const ProgramDecoder::Place& VariablePlace(uint32_t v) const { return places_[v]; }
  // Offset of a formal .param of this function (not a kernel's); -1 where there is none.
  int64_t FormalOffset(absl::string_view name) const;
  // A label's op, known once all are decoded.
  void FixTarget(uint32_t op, uint32_t label) { fixups_.push_back({op, label}); }
  uint32_t AddTarget(uint32_t label);  // in Code::targets
  const Symbol* Find(absl::string_view name, uint32_t scope, Symbol& storage) const {
    return function_.Find(name, scope, storage);
  }

 private:
  void LayOutLocals();
  void LayOutFormals();
  void DecodeInstruction(uint32_t index);
  bool CheckForm(const Instruction& instruction);
  bool CheckRounding(const Instruction& instruction);
  bool CheckOperandTypes(const Instruction& instruction);
  bool CheckOperandType(const Instruction& instruction, const Operand& operand, Type want);
  bool CheckWidth(const Instruction& instruction, const Operand& operand, Type want);
  void FixTargets();

  ProgramDecoder& program_;
  const Function& function_;
  std::unique_ptr<Code> code_;
  std::vector<Slot> registers_;
  absl::flat_hash_map<std::string, uint32_t> constants_;
  std::vector<int64_t> local_offsets_;
  std::vector<ProgramDecoder::Place> places_;
  absl::flat_hash_map<std::string, int64_t> formals_;
  std::vector<uint32_t> first_op_;  // of each instruction
  std::vector<std::pair<uint32_t, uint32_t>> fixups_;
  std::vector<std::pair<uint32_t, uint32_t>> target_fixups_;
  uint32_t carry_ = kNoSlot;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
