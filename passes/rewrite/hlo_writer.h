// Short ways to write instructions: shapes follow from operands.
#pragma once

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "ir/module.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// Writes into the computation of a Rewriter, in row-major layouts where no operand gives another.
// Operands must have the shapes their ops want; nothing is checked here, the verifier does.
class HloWriter {
 public:
  explicit HloWriter(Rewriter& rewriter) : r_(rewriter) {}
  Rewriter& rewriter() { return r_; }

  // Scalars of any real type, lists of integers, and arrays of one value.
  Instruction* Integer(ElementType type, int64_t value);
  Instruction* Number(ElementType type, double value);
  Instruction* List(ElementType type, absl::Span<const int64_t> values);
  Instruction* Fill(const Shape& shape, Instruction* scalar);
  Instruction* FillInteger(const Shape& shape, int64_t value);
  Instruction* FillNumber(const Shape& shape, double value);
  // The least and the greatest value of the type (infinities of floats that have them).
  Instruction* Lowest(ElementType type);
  Instruction* Highest(ElementType type);
  // The scalar that changes nothing when a CombiningOpcode combines another with it. For sums of
  // floats that is -0: 0 would turn -0 into 0.
  Instruction* Identity(Opcode opcode, ElementType type);
  Instruction* Iota(ElementType type, absl::Span<const int64_t> dims, int64_t dimension);

  // Elementwise; the shape is the first operand's.
  Instruction* Unary(Opcode opcode, Instruction* x);
  Instruction* Binary(Opcode opcode, Instruction* x, Instruction* y);
  // The second operand an array of one integer.
  Instruction* WithInteger(Opcode opcode, Instruction* x, int64_t y);
  Instruction* WithNumber(Opcode opcode, Instruction* x, double y);
  Instruction* Compare(Instruction* x, Instruction* y, ComparisonDirection direction);
  Instruction* Select(Instruction* which, Instruction* x, Instruction* y);
  // `x` itself where it has the type.
  Instruction* Convert(Instruction* x, ElementType type);
  Instruction* Bitcast(Instruction* x, ElementType type);  // of the same width

  // Movement. `x` itself where nothing moves.
  Instruction* Reshape(Instruction* x, absl::Span<const int64_t> dims);
  Instruction* Transpose(Instruction* x, absl::Span<const int64_t> permutation);
  // Operand dimension d becomes dimension where[d] of `dims`.
  Instruction* Broadcast(Instruction* x, absl::Span<const int64_t> dims,
                         absl::Span<const int64_t> where);
  Instruction* Slice(Instruction* x, SliceSpec slice);
  // start to limit of one dimension, all of the others.
  Instruction* SliceOf(Instruction* x, int64_t dimension, int64_t start, int64_t limit);
  Instruction* Pad(Instruction* x, Instruction* value, PaddingConfig padding);
  Instruction* Reverse(Instruction* x, absl::Span<const int64_t> dims);
  Instruction* Concatenate(absl::Span<Instruction* const> parts, int64_t dimension);
  Instruction* DynamicSlice(Instruction* x, absl::Span<Instruction* const> starts,
                            absl::Span<const int64_t> sizes);
  Instruction* DynamicUpdateSlice(Instruction* x, Instruction* update,
                                  absl::Span<Instruction* const> starts);
  // Element k of a list as a scalar.
  Instruction* ElementOf(Instruction* list, int64_t k);

  Instruction* Reduce(Instruction* x, Instruction* init, absl::Span<const int64_t> dims,
                      Computation* reducer);
  // Contracts dimension x_dim of x with y_dim of y; the first `batch` dimensions of both are batch.
  Instruction* Dot(Instruction* x, Instruction* y, int64_t x_dim, int64_t y_dim, int64_t batch = 0);
  Instruction* Tuple(absl::Span<Instruction* const> parts);
  Instruction* Part(Instruction* tuple, int64_t index);
  Instruction* Call(Computation* callee, absl::Span<Instruction* const> operands);

 private:
  Rewriter& r_;
};

// A new computation of `module` that combines two scalars with `opcode`: a reducer.
Computation* MakeReducer(Module& module, Opcode opcode, ElementType type);
// The opcode of an instruction that combines two different parameters and has an identity: add,
// multiply, maximum, minimum, and, or, xor.
std::optional<Opcode> CombiningOpcode(const Instruction& i);
// That of the root of a computation of two parameters. Conversions around it are not looked
// through, as SimpleReducer (ops/evaluate/reducer.h) does.
std::optional<Opcode> ReducerOpcode(const Computation& computation);
// That of a scatter of 32 or 64 bits whose updates memory combines itself, in any order: of
// integers all of these but multiply, of floats maximum and minimum.
std::optional<Opcode> OrderlessCombiner(const Instruction& scatter);
// Whether `value` changes nothing when `opcode` combines it with another: 0 for add. Conversions of
// constants count.
bool IsIdentity(const Instruction* value, Opcode opcode);

// A counted loop: body(i, state) gives the next state, for i (s32) from 0 below `count`. Returns
// the parts of the state after the last round. `name` starts the names of the computations.
using LoopBody = std::function<std::vector<Instruction*>(HloWriter&, Instruction* i,
                                                         absl::Span<Instruction* const> state)>;
std::vector<Instruction*> CountedLoop(HloWriter& w, absl::string_view name, int64_t count,
                                      absl::Span<Instruction* const> state, const LoopBody& body);

// Whether the computation is elementwise on scalars throughout, so that InlineElementwise takes it.
bool IsElementwiseScalar(const Computation& computation);
// The function of scalars `computation` on arrays of one shape, element by element: what its root,
// or each part of a root tuple, gives. Needs IsElementwiseScalar.
std::vector<Instruction*> InlineElementwise(HloWriter& w, const Computation& computation,
                                            absl::Span<Instruction* const> arguments);

// The type with the layout's order kept and what belongs to packed types taken off.
Shape RetypedLike(const Shape& shape, ElementType type);
// u8, u16, u32 or u64.
ElementType UnsignedOfWidth(int bits);
// An array shape of default layout.
Shape RowMajor(ElementType type, absl::Span<const int64_t> dims);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
