// What the sharding of one instruction says of its operands and users, opcode by opcode.
#pragma once

#include "ir/module.h"
#include "passes/spmd/spreads.h"

namespace hlokit {

// The shardings that are known of each instruction, by id; empty where none is.
struct KnownSpreads {
  std::vector<Spreads> of;
  // Shardy's rules where they differ: the scanned dimension of an associative scan may be cut.
  bool by_shardy = false;
  const Spreads& operator[](const Instruction* i) const { return of[i->id()]; }
  Spreads& operator[](const Instruction* i) { return of[i->id()]; }
  // Whether some part is tiled, replicated or manual: what propagation hands to others.
  bool Propagates(const Instruction* i) const;
};

// How far propagation goes: at 0 only along what moves or computes element by element, at 1 through
// all but broadcasts, at 2 against broadcasts too, at 3 along them.
constexpr int kMaxAggressiveness = 3;
absl::string_view CallTarget(const Instruction& i);
// Custom calls that have their operand's sharding.
bool IsPassedThrough(const Instruction& i);
// Sends to, or receives from, other devices of the program of one of them.
bool UsesChannel(const Instruction& i);
// `unspecified_dims=[1,2]` of a Sharding call.
DimVector UnspecifiedDims(const Instruction& i);
// Which leaf of its user `user` (a reduce, sort, tuple, ...) operand k is, and the first leaf of
// element k of a tuple.
int64_t FirstLeaf(const Shape& tuple, int64_t element);
bool PassesThrough(const Instruction& i, int aggressiveness);

// Which dimension of the operands and of the result of a product are one; -1: none.
struct ProductDims {
  struct Dim {
    int64_t lhs, rhs, output;
  };
  std::vector<Dim> batch, contracting, lhs_free, rhs_free, spatial;
};
// Of a dot, and of a convolution: dimensions that are no windows are those of a dot.
ProductDims ProductDimsOf(const Instruction& i);

// What may become the spreads of an instruction. `moves`: even where what it has would be cut
// otherwise.
struct Candidate {
  Spreads spreads;
  bool moves = false;
};
// In their order, from the operands of `i`.
std::vector<Candidate> FromOperands(const Instruction& i, const KnownSpreads& known,
                                    int aggressiveness);
// What `user`'s spread says of `i`; empty where nothing.
Spreads FromUser(const Instruction& i, const Instruction& user, const KnownSpreads& known,
                 int aggressiveness);

// The same for gathers and scatters.
std::vector<Candidate> FromGatherOperands(const Instruction& i, const KnownSpreads& known);
std::vector<Candidate> FromScatterOperands(const Instruction& i, const KnownSpreads& known);
Spreads FromGatherUser(const Instruction& i, const Instruction& user, const KnownSpreads& known);
Spreads FromScatterUser(const Instruction& i, const Instruction& user, const KnownSpreads& known);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
