// Functions in the form that runs: operands are byte offsets into a frame, branches are indices.
//
// A frame holds one column of 32 lanes an operand: `lanes[32]` of 1, 2, 4, 8 or 16 bytes each, or
// one word of 32 bits for a predicate. Constants have columns too, so that an evaluator never asks
// what kind of operand it has:
//   add.s32 %r3, %r1, 5   ->   eval(op, frame, result): result[i] = frame[op.a][i] + frame[op.b][i]
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptxsim/module.h"
#include "ptxsim/types.h"

namespace hlokit::ptx {

inline constexpr int kLanes = 32;
using LaneMask = uint32_t;
inline constexpr LaneMask kAllLanes = ~LaneMask{0};
inline constexpr uint32_t kNoSlot = ~uint32_t{0};

struct Op;
class Warp;

// Computes all 32 lanes of `result` from the frame; touches nothing else. Lanes that are off may
// hold anything.
using Eval = void (*)(const Op& op, std::byte* frame, void* result);
// Does what has effects beyond its result, for the lanes of `mask`.
using Exec = void (*)(const Op& op, Warp& warp, LaneMask mask);

// A value of a vector operand or a list: its column, and how wide its lanes are (0: a predicate).
struct Slot {
  uint32_t at = kNoSlot;  // kNoSlot: `_`
  uint8_t bytes = 0;
};

struct Op {
  enum Kind : uint8_t { kEval, kExec, kBranch, kBranchIndexed, kCall, kReturn, kExit };

  Kind kind = kEval;
  uint8_t result_bytes = 0;  // a lane of the result; 0: a predicate's word
  bool guard_negated = false;
  bool uniform = false;  // .uni
  Type type = Type::kNone, type2 = Type::kNone;
  Space space = Space::kGeneric;
  uint8_t mode = 0;    // what an evaluator makes of it: rounding, comparison, ...
  uint32_t flags = 0;  // likewise
  uint32_t guard = kNoSlot;
  uint32_t d = kNoSlot, d2 = kNoSlot;
  uint32_t a = 0, b = 0, c = 0, e = 0;
  int64_t offset = 0;                // of an address, or another constant
  uint32_t list = 0, list_size = 0;  // in Code::slots
  uint32_t list2 = 0, list2_size = 0;
  uint32_t target = 0;       // kBranch, kCall: op, function
  uint32_t instruction = 0;  // in the Function, for its place
  Eval eval = nullptr;
  Exec exec = nullptr;
};

// A constant's column: `bytes` wide lanes at `at`.
struct ConstantColumn {
  uint32_t at = 0;
  uint8_t bytes = 0;
  bool is_dynamic = false;  // plus where dynamic shared memory begins: Program::shared_bytes
  uint64_t bits = 0, high = 0;
};

// What a call hands over: argument i of the callee comes from a column or from memory of the
// caller's frame.
struct CallValue {
  Slot slot;           // of a register
  int64_t local = -1;  // byte of the thread's frame in local memory; -1: a register
  int64_t bytes = 0;
};

// Columns of the registers that an instruction reads and writes; its ops are first_op to last_op.
struct RegisterUses {
  uint32_t first_op = 0, last_op = 0;
  std::vector<uint32_t> reads, writes;
};

struct CallSite {
  bool indirect = false;
  uint32_t callee = 0;   // in Program::functions, where direct
  uint32_t address = 0;  // the column of the callee's address, where indirect
  std::vector<CallValue> arguments, results;
};

// A function. `order` ranks its ops: ranks grow along every path but back edges, and those of a
// loop lie together, before what follows the loop (a weak topological order). Lanes that diverged
// meet again because those of the lowest rank run first.
struct Code {
  const Function* function = nullptr;
  std::vector<Op> ops;
  std::vector<uint32_t> order;  // the rank of each op
  std::vector<Slot> slots;
  std::vector<uint32_t> targets;  // of indexed branches: ops
  std::vector<CallSite> calls;
  std::vector<RegisterUses> uses;                  // by instruction
  std::vector<std::shared_ptr<const void>> forms;  // what an instruction needs beyond its Op
  std::vector<ConstantColumn> constants;
  std::vector<CallValue> parameters, results;
  uint32_t frame_bytes = 0;
  int64_t local_bytes = 0;  // of one thread, .param variables included
};

// Variables with an address of their own, and what the module's memory holds at launch.
struct Program {
  std::shared_ptr<const Module> module;
  std::vector<std::unique_ptr<Code>> functions;  // functions[0] is the entry
  std::vector<std::byte> global_image;           // .global and .const variables
  int64_t image_base = 0;                        // where it begins in the image window
  // Functions whose address is taken: number in the module -> index in `functions`, or kNoSlot.
  std::vector<uint32_t> by_address;
  struct GlobalVariable {
    std::string name;
    int64_t offset = 0, size = 0;
    bool is_constant = false;
  };
  std::vector<GlobalVariable> globals;
  int64_t shared_bytes = 0;  // static
  int64_t parameter_bytes = 0;
  struct Parameter {
    std::string name;
    Type type = Type::kB64;
    bool is_array = false, is_pointer = false;
    int64_t offset = 0, size = 0;
  };
  std::vector<Parameter> parameters;
  // Whether the order of atomic operations of different blocks shows in results.
  bool order_matters = false;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
