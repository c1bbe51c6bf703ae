// Random numbers as arithmetic.
//
// Expansion of rng and rng-bit-generator.
#include <cmath>
#include <numbers>

#include "passes/expanders/rng_bits.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

// A state of u32 pairs as one of u64, and back.
Instruction* Words64(HloWriter& w, Instruction* state) {
  const Shape& shape = state->shape();
  if (shape.type == ElementType::kU64) return state;
  const int64_t words = shape.ElementCount() / 2;
  return w.rewriter().Add(Opcode::kBitcastConvert, RowMajor(ElementType::kU64, {words}),
                          {w.Reshape(state, {words, 2})});
}
Instruction* WordsAs(HloWriter& w, Instruction* state, const Shape& shape) {
  if (shape.type == ElementType::kU64) return state;
  Instruction* pairs = w.rewriter().Add(Opcode::kBitcastConvert,
                                        RowMajor(shape.type, {state->shape().dims[0], 2}), {state});
  return w.Reshape(pairs, shape.dims);
}

absl::StatusOr<Instruction*> ExpandBits(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kRngBitGenerator || i->shape().HasDynamicDims() ||
      !i->shape().IsTuple())
    return nullptr;
  const Shape& state = i->operand(0)->shape();
  const Shape& values = i->shape().elements[1];
  const bool known =
      (state.type == ElementType::kU64 || state.type == ElementType::kU32) && state.rank() == 1;
  if (!known || values.ElementCount() == 0 || BitWidth(values.type) < 8) return nullptr;
  Computation* body = i->module()->AddComputation("rng");
  Rewriter inside(*body);
  HloWriter w(inside);
  Instruction* start = Words64(w, body->AddParameter(0, state, "state"));
  const RandomBits bits = i->attr<RngBitGeneratorAttrs>().algorithm == RngAlgorithm::kThreeFry
                              ? ThreeFryBits(w, start, values)
                              : PhiloxBits(w, start, values);
  body->set_root(w.Tuple({WordsAs(w, bits.state, i->shape().elements[0]), bits.values}));
  return HloWriter(r).Call(body, {i->operand(0)});
}

// Bits in [0, 1): as many as a float's significand has.
Instruction* UnitInterval(HloWriter& w, Instruction* bits, ElementType type) {
  const int width = BitWidth(bits->shape().type), digits = type == ElementType::kF64 ? 53 : 24;
  Instruction* kept = w.WithInteger(Opcode::kShiftRightLogical, bits, width - digits);
  return w.WithNumber(Opcode::kMultiply, w.Convert(kept, type), std::ldexp(1.0, -digits));
}

struct Key {
  int64_t next = 0x3ec8f720;
};

Instruction* FreshBits(HloWriter& w, Key& key, const Shape& shape) {
  return PhiloxBits(w, w.List(ElementType::kU64, {key.next++, 0}), shape).values;
}

// Box and Muller's: radius from one uniform number, angle from another.
Instruction* Normal(HloWriter& w, Key& key, const Shape& bits, ElementType type) {
  Instruction* u = UnitInterval(w, FreshBits(w, key, bits), type);
  Instruction* v = UnitInterval(w, FreshBits(w, key, bits), type);
  Instruction* log = w.Unary(Opcode::kLogPlusOne, w.Unary(Opcode::kNegate, u));
  Instruction* radius = w.Unary(Opcode::kSqrt, w.WithNumber(Opcode::kMultiply, log, -2));
  Instruction* angle = w.WithNumber(Opcode::kMultiply, v, 2 * std::numbers::pi);
  return w.Binary(Opcode::kMultiply, radius, w.Unary(Opcode::kCosine, angle));
}

absl::StatusOr<Instruction*> ExpandRng(Instruction* i, Rewriter& r, Key& key) {
  if (i->opcode() != Opcode::kRng || i->operand_count() != 2 || i->shape().HasDynamicDims() ||
      i->shape().ElementCount() == 0)
    return nullptr;
  const ElementType type = i->shape().type;
  const bool uniform = i->attr<RngAttrs>().distribution == RngDistribution::kUniform;
  if (IsComplex(type) || IsSubByte(type) || IsPred(type) || (!IsFloat(type) && !uniform))
    return nullptr;
  HloWriter w(r);
  Instruction* first = i->operand(0);
  Instruction* second = i->operand(1);
  if (!IsFloat(type)) {  // first + bits mod (second - first)
    const ElementType bits = UnsignedOfWidth(BitWidth(type));
    const Shape shape = RowMajor(bits, i->shape().dims);
    Instruction* range = w.Bitcast(w.Binary(Opcode::kSubtract, second, first), bits);
    Instruction* rest =
        w.Binary(Opcode::kRemainder, FreshBits(w, key, shape), w.Fill(shape, range));
    return w.Binary(Opcode::kAdd, w.Bitcast(rest, type), w.Fill(i->shape(), first));
  }
  const ElementType wide = type == ElementType::kF64 ? type : ElementType::kF32;
  const Shape bits = RowMajor(UnsignedOfWidth(BitWidth(wide)), i->shape().dims);
  Instruction* base = w.Convert(first, wide);
  Instruction* factor = w.Convert(second, wide);
  if (uniform) factor = w.Binary(Opcode::kSubtract, factor, base);
  Instruction* unit =
      uniform ? UnitInterval(w, FreshBits(w, key, bits), wide) : Normal(w, key, bits, wide);
  Instruction* scaled = w.Binary(Opcode::kMultiply, unit, w.Fill(unit->shape(), factor));
  return w.Convert(w.Binary(Opcode::kAdd, scaled, w.Fill(unit->shape(), base)), type);
}

}  // namespace

// rng-bit-generator-expander: calls of functions that compute Philox (also where the algorithm is
// left open) or ThreeFry on arrays of counters. Exact. Cost: some hundred instructions each.
std::unique_ptr<Pass> CreateRngBitGeneratorExpander() {
  return MakeExpander("rng-bit-generator-expander", ExpandBits);
}

// rng-expander: rng becomes Philox bits of a key of its own, and what makes numbers of the wanted
// distribution from them. The numbers are the same in each run of the module, and others than
// before the pass.
std::unique_ptr<Pass> CreateRngExpander() {
  return MakeExpander("rng-expander", [key = Key()](Instruction* i, Rewriter& r) mutable {
    return ExpandRng(i, r, key);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
