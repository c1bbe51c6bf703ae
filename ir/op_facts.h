// What ops.def says of an opcode beside its syntax and traits: for costs, messages, graphs and
// emitters. Apart from opcode.h, which every file includes.
#pragma once

#include <optional>

#include "ir/opcode.h"

namespace hlokit {

// What an instruction costs: which count of operations applies (analysis/instruction_cost), and how
// long one element takes (codegen/expression).
enum class CostClass : uint8_t {
  kFree,             // names what exists, or other instructions pay: no arithmetic, no memory
  kMovement,         // memory traffic alone
  kIndexing,         // memory traffic whose addresses or choices take arithmetic
  kUncounted,        // work that no count of floating-point operations describes
  kArithmetic,       // one operation an element
  kDivision,         // one operation of many cycles: quotients, square roots
  kFunction,         // an elementary function with a short polynomial, such as exp
  kLongFunction,     // any other elementary function
  kSums,             // one operation for each element read
  kWindowSums,       // one for each element of each window
  kProducts,         // a multiplication and an addition for each step of each sum
  kGroupedProducts,  // the same, by groups of rows
  kWindowProducts,   // the same, over windows
  kFactorization,    // of matrices
  kSubstitution,     // with triangular matrices
  kTransform,        // n log n
  kBody,             // what its computation costs
  kForeign,          // what its target costs
};

// The kind of work, as XLA's graphs colour it.
enum class Family : uint8_t {
  kGeneral,        // elementwise operations and all others
  kCommunication,  // collectives, host transfers, device numbers
  kAlgebra,        // products, convolutions, transforms, solvers
  kControl,        // calls, loops, branches
  kScope,          // fusions, domains, dynamic sizes
  kMovement,       // the same elements in other places
  kAggregation,    // reductions, windows, gathers, scatters, sorts
  kExpansion,      // broadcasts, updates in place
};

struct OpFacts {
  CostClass cost;
  Family family;
  const char* operands;  // such as "operand, padding value"; empty where they are plain
};

const OpFacts& Facts(Opcode opcode);

// Whether it is async-start, async-update or async-done, whose computation may run on a thread of
// its own.
inline bool IsAsync(Opcode opcode) { return Info(opcode).calls == CallForm::kAsyncCalls; }

// The two halves of an asynchronous operation, by name: all-gather-done waits for what
// all-gather-start begins, send-done for what send does. Nothing for other opcodes.
std::optional<Opcode> DoneOf(Opcode start);
std::optional<Opcode> StartOf(Opcode done);
// all-gather of all-gather-start. Nothing where there is no operation in one piece.
std::optional<Opcode> WholeOf(Opcode start);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
