// Turns one instruction of the text into ops of Code: what the functions behind instructions.def
// work with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ptxsim/module.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

class FunctionDecoder;

class Binder {
 public:
  Binder(FunctionDecoder& decoder, const Instruction& instruction, uint32_t index);

  // Modifiers.
  bool Has(absl::string_view modifier) const { return instruction_.Has(modifier); }
  // The i-th modifier that is a type; kNone past the last.
  Type type(int i = 0) const;
  Space space() const;  // kGeneric where none is named
  int vector_size() const;
  const Instruction& instruction() const { return instruction_; }

  // Operands.
  int size() const { return static_cast<int>(instruction_.operands.size()); }
  const Operand& operand(int i) const { return instruction_.operands[i]; }
  // The column of a value of `type`: a register's own where it is as wide, else a copy.
  uint32_t Source(const Operand& operand, Type type);
  uint32_t Source(int i, Type type) { return Source(operand(i), type); }
  // The same for a register of any width, which is told.
  Slot SourceSlot(const Operand& operand, Type immediate);
  uint32_t Constant(uint64_t bits, int bytes, uint64_t high = 0);
  // The column that takes a result of `type`. A wider register gets it extended afterwards.
  uint32_t Result(const Operand& operand, Type type);
  uint32_t Result(int i, Type type) { return Result(operand(i), type); }
  // A column of 64-bit lanes with the values of one of 32.
  uint32_t Widened(uint32_t column) { return Convert(column, 4, 8, false); }
  // A register as it is; kNoSlot for `_`.
  Slot ResultSlot(const Operand& operand);
  uint32_t Temporary(int bytes);
  // Columns of {a, b, ...}, or of one operand; stored in Code::slots from the returned index on.
  uint32_t SourceList(const Operand& operand, Type type, uint32_t& count);
  uint32_t ResultList(const Operand& operand, uint32_t& count);
  // The integer that an operand must be; reports where it is none.
  int64_t Immediate(int i);
  bool IsImmediate(int i) const { return operand(i).kind == Operand::kInteger; }

  // An address operand: its column of 64-bit lanes (op.a), its constant part (op.offset) and its
  // space (op.space), which a variable's own space refines.
  void Address(const Operand& operand, Op& op);

  // Ops. Each gets the instruction's guard and place.
  Op& Emit(Op op);
  Op MakeEval(Eval eval, Type result, uint32_t d) const;
  Op MakeExec(Exec exec) const;
  // result = eval(sources of `source`), for operand 0 and those after it.
  void Map(Eval eval, Type result, std::initializer_list<Type> sources);
  // Ops that move results from temporaries into registers.
  void Finish();

  void Error(SourcePlace place, const std::string& message);
  // "instruction NAME is not supported": no evaluator for these modifiers.
  void Unsupported();
  bool failed() const { return failed_; }
  FunctionDecoder& decoder() { return decoder_; }
  // The predicate column of the condition code (.cc) of this function.
  uint32_t CarryColumn();
  Code& code();
  // The order in which blocks run shows in results: the launch runs on one thread of the host.
  void OrderMatters();

 private:
  struct Pending {
    Eval eval;
    uint32_t from, to;
    int bytes;
  };

  uint32_t SourceName(const Operand& operand, Type type);
  uint32_t SymbolAddress(const Operand& operand, int bytes);
  uint32_t BaseAddress(const Operand& operand, uint64_t offset, int bytes);
  int ElementBytes(const Operand& operand) const;
  uint32_t Convert(uint32_t at, int from_bytes, int to_bytes, bool is_signed);

  FunctionDecoder& decoder_;
  const Instruction& instruction_;
  uint32_t index_;
  std::vector<Pending> pending_;
  RegisterUses uses_;
  bool failed_ = false;
};

// A row of instructions.def.
struct InstructionRow {
  absl::string_view mnemonic;
  void (*bind)(Binder&);
  int min_operands, max_operands;
  absl::string_view modifiers;  // separated by spaces
  absl::string_view types;      // likewise; "*": any
};

const InstructionRow* FindInstruction(absl::string_view mnemonic);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
