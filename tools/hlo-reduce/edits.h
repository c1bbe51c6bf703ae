// Ways to make a module smaller. Each gives a new module, or null where it does not apply; whether
// the module is valid and still interesting is the caller's to see.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "ir/module.h"
#include "types/literal.h"

namespace hlokit {

using Candidate = std::function<std::unique_ptr<Module>()>;

// True for what holds no computation worth leaving out: parameters, constants, broadcasts of
// constants and tuples of such, which stand where something was left out before.
bool IsFiller(const Instruction& instruction);

// The entry with only these of its instructions, by their places in PostOrder; what they read of
// others becomes parameters.
std::unique_ptr<Module> KeepInEntry(const Module& module, absl::Span<const int64_t> kept);

// A called computation, by its place in Computations(), with zeros in place of all instructions but
// these (places in PostOrder; fillers stay).
std::unique_ptr<Module> KeepInComputation(const Module& module, int64_t computation,
                                          absl::Span<const int64_t> kept);

// Called computations that run by themselves, each as the entry: a loop's body without its loop.
// Smallest first.
std::vector<Candidate> Bodies(const Module& module);

// Loops without one of the values that they carry: its result is what it was before the loop, and
// the loop reads zeros. Where the entry's result is a loop, one that carries what a value of it is
// computed from instead.
std::vector<Candidate> FewerCarried(const Module& module);

// Equal instructions made one; then called computations with an instruction replaced by an operand
// of its shape, which ddmin cannot do there: what it leaves out is zeros, and all that they were
// computed from goes. Operands that hold something come first.
std::vector<Candidate> Bypasses(const Module& module);

// Calls in all computations with what they call in their place; instructions of the entry that
// call: each with its body in its place, loops run once, of conditionals each branch.
std::vector<Candidate> Inlinings(const Module& module);

// Each dimension's size made 1, 2 or its half wherever it stands, alone or with its multiples.
std::vector<Candidate> SmallerShapes(const Module& module);

// The first elements of each dimension: `shape` has the literal's type and rank and no larger
// sizes.
Literal Corner(const Literal& literal, const Shape& shape);

// With every size of more than a few elements as small as leaves the module valid.
std::unique_ptr<Module> WithLeastShapes(std::unique_ptr<Module> module);

// Parts of the module that run on their own: each instruction with operands `height` deep, with the
// least shapes; of those that do the same to the same shapes, one. In the module's order; the
// module must outlive them.
std::vector<Candidate> Cuts(const Module& module, int height);

// Without metadata, schedules, shardings, backend configs, aliases, layouts: one at a time.
std::vector<Candidate> Strippings(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
