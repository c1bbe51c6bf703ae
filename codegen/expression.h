// A loop kernel's subject: the instruction (or the body of a fusion) whose results one kernel
// computes.
#pragma once

#include <vector>

#include "codegen/element_emitter.h"

namespace hlokit {

// The roots of an instruction or fusion, one a result leaf, and the leaves that arrays are bound
// to.
struct Expression {
  struct Leaf {
    const Instruction*
        instruction;  // inside the fusion body; the operand itself for a single instruction
    int64_t operand;  // of the instruction that runs
  };
  const Instruction* subject = nullptr;
  std::vector<const Instruction*> roots;  // by result leaf; several may be one variadic reduce
  std::vector<int64_t> root_leaves;       // which part of the root
  std::vector<Shape> shapes;              // of the results
  std::vector<Leaf> leaves;

  static Expression Of(const Instruction* subject);
};

// What one part of a fusion computes (analysis/fusion_parts): an expression over the arrays that
// this part reads, and which result leaves its roots are.
struct ExpressionPart {
  Expression expression;
  std::vector<int64_t> results;
};
// The parts of an expression; itself, with all results, where it has only one.
std::vector<ExpressionPart> PartsOf(const Expression& expression);

// Every instruction that the roots need, leaves left out; operands before users.
std::vector<const Instruction*> Body(const Expression& expression);

// True if element i (in memory order) of every root needs only elements i of arrays of the same
// memory order (and scalars), so that one loop over positions will do.
bool IsLinear(const Expression& expression);

// The shape of a loop over `domain` (row-major, that of a root): as `domain`, but that its fastest
// dimensions are one where nothing asks for the place along one of them. Indices then count along
// the last of these, and are 0 along the others.
Shape WalkedShape(const Expression& expression, const Shape& domain);

// True if the expression reads no floats but bf16, and makes none from bits: then a NaN in it has
// only the bits that bf16 has.
bool HasPlainNaNs(const Expression& expression);

// Rough cost of one element of all roots, in units of a simple float operation.
double ElementCost(const Expression& expression);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
