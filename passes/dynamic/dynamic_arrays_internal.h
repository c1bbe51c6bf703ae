// Arrays of dynamic size as what stands for them: an array at its bounds, and its sizes.
#pragma once

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

bool IsDynamicArray(const Shape& shape);
// Whether the result or an operand has a dynamic dimension.
bool TouchesDynamic(const Instruction& i);
// The shape, and the parts of a tuple, without dynamic dimensions.
Shape AtBounds(Shape shape);
// What stands for a value of `shape` where it goes through tuples, loops and branches: for an array
// of dynamic size the tuple of the array at its bounds and one s32[] for each dynamic dimension.
Shape Carried(const Shape& shape);

// The values of one computation whose dynamic dimensions are taken out.
class DynamicArrays {
 public:
  using Sizes = std::vector<Instruction*>;  // s32[] by dimension; null: the bound

  explicit DynamicArrays(Computation& c) : c_(c), rewriter_(c), w_(rewriter_) {}
  Computation& computation() { return c_; }
  HloWriter& w() { return w_; }
  Rewriter& rewriter() { return rewriter_; }

  // The array at its bounds; `x` itself where nothing stands for it.
  Instruction* Padded(Instruction* x) const;
  std::vector<Instruction*> PaddedOperands(const Instruction* i) const;
  bool Stands(const Instruction* x) const { return padded_.contains(x); }
  Sizes SizesOf(const Instruction* x) const;
  // Never null: a constant for a bound.
  Instruction* SizeOf(const Instruction* x, int64_t d);

  // Says what stands for `i`.
  void Note(Instruction* i, Instruction* made, Sizes sizes);
  // The sizes are those that come along from the operands, by DimensionMap; where operands differ
  // those of the last, as in XLA.
  void NoteAlong(Instruction* i, Instruction* made);
  // The parts of a tuple of arrays.
  void NoteParts(Instruction* i, absl::Span<Instruction* const> parts,
                 absl::Span<const Sizes> sizes);
  // `made` is of Carried(i's shape).
  void NoteCarried(Instruction* i, Instruction* made);
  // What stands for `x`, of Carried(x's shape).
  Instruction* Carry(Instruction* x);
  // A copy of `i` with its shape and operands at their bounds.
  Instruction* CloneAtBounds(Instruction* i);
  // set-dimension-size(x, size) of dimension d, which becomes dynamic or static.
  Instruction* Sized(Instruction* x, int64_t d, Instruction* size, bool dynamic);
  // `kept`, of i's shape, stands for `i`: what has dynamic sizes of its own.
  void NoteKept(Instruction* i, Instruction* kept);
  // `i` as the outside of the entry sees it: set-dimension-size over what stands for it.
  Instruction* Left(Instruction* i);

  // pred of `dims`: whether the index of dimension d is below `size`.
  Instruction* Below(absl::Span<const int64_t> dims, int64_t d, Instruction* size);
  // pred of x's bounds: whether an element is within the sizes of all dimensions for which `masked`
  // holds; null where those have no sizes.
  using Masked = std::function<bool(int64_t d)>;
  Instruction* Inside(const Instruction* x, const Masked& masked);
  // What stands for x with the scalar `filler`, or elements of such an array, beyond those sizes.
  Instruction* Filled(Instruction* x, Instruction* filler, const Masked& masked);

  // s32 arithmetic on sizes.
  Instruction* Int(int64_t value) { return w_.Integer(ElementType::kS32, value); }
  Instruction* Plus(Instruction* x, int64_t y);
  Instruction* Times(Instruction* x, int64_t y);
  Instruction* Over(Instruction* x, int64_t y);
  Instruction* AtLeast(Instruction* x, int64_t y);
  Instruction* AtMost(Instruction* x, int64_t y);

 private:
  Instruction* Restored(Instruction* carried, const Shape& shape);
  Instruction* Entered(Instruction* x);  // of Carried(x's shape)

  Computation& c_;
  Rewriter rewriter_;
  HloWriter w_;
  absl::flat_hash_map<const Instruction*, Instruction*> kept_;
  absl::flat_hash_map<const Instruction*, Instruction*> padded_;
  absl::flat_hash_map<const Instruction*, Sizes> sizes_;
};

// Which instructions can be computed at their bounds, and how. `can` holds for what `pad` takes,
// and for nothing that depends on elements beyond a size.
struct PadRule {
  Opcode opcode;
  bool (*can)(const Instruction&);
  void (*pad)(DynamicArrays&, Instruction*);
};
// `can` of what needs nothing of its operands.
inline bool Always(const Instruction&) { return true; }
// One table a family.
absl::Span<const PadRule> PadSumRules();
absl::Span<const PadRule> PadOrderRules();
absl::Span<const PadRule> PadMovementRules();
absl::Span<const PadRule> PadIndexRules();
absl::Span<const PadRule> PadSolverRules();
// Elementwise operations, and maps: where operands differ in a size the smallest one holds, but
// that an operand of size 1 is stretched to the size of the others, as XLA broadcasts it.
void PadElementwise(DynamicArrays& a, Instruction* i);

// Whether each dynamic dimension of each operand goes along with one of the result.
bool AllGoAlong(const Instruction& i);
// The identity of a reducer that is one operation, as a scalar.
bool HasKnownIdentity(const Computation& reducer, ElementType type);
Instruction* IdentityOf(const Computation& reducer, ElementType type, HloWriter& w);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
