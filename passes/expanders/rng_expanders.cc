// Random numbers as arithmetic.
//
// Expansion of rng and rng-bit-generator.
#include <cmath>
#include <numbers>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
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

// Computations by what they make, so that those who want the same share one.
class MadeComputations {
 public:
  // The computation that `key` stands for, or one that `make` fills.
  template <typename Make>
  Computation* Get(Module& module, const std::string& key, const Make& make) {
    const auto known = made_.find(key);
    Computation* found = known == made_.end() ? nullptr : module.FindComputation(known->second);
    if (found != nullptr) return found;
    Computation* body = module.AddComputation("rng");
    Rewriter inside(*body);
    HloWriter w(inside);
    body->set_root(make(w, *body));
    made_[key] = body->id();
    return body;
  }

 private:
  absl::flat_hash_map<std::string, int64_t> made_;
};

// rng-bit-generator's own states: the key, then a counter of one word, or of two, of which the key
// is the high one where the state has none.
Instruction* GeneratedBits(HloWriter& w, Computation& body, const Instruction& i) {
  const Shape& result = i.shape().elements[0];
  const Shape& values = i.shape().elements[1];
  Instruction* state = Words64(w, body.AddParameter(0, i.operand(0)->shape(), "state"));
  const int64_t words = state->shape().dims[0];
  Instruction* key = w.Reshape(w.SliceOf(state, 0, 0, 1), {});
  RandomBits bits;
  if (i.attr<RngBitGeneratorAttrs>().algorithm == RngAlgorithm::kThreeFry) {
    bits = ThreeFryBits(w, key, w.SliceOf(state, 0, 1, 2), values);
  } else if (words > 2) {
    bits = PhiloxBits(w, key, w.SliceOf(state, 0, 1, 3), values);
  } else {
    bits = PhiloxBits(w, key, w.Reverse(state, {0}), values);
    bits.state = w.SliceOf(bits.state, 0, 0, 1);
  }
  Instruction* next = w.Concatenate({w.Reshape(key, {1}), bits.state}, 0);
  return w.Tuple({WordsAs(w, next, result), w.Bitcast(bits.values, values.type)});
}

absl::StatusOr<Instruction*> ExpandBits(Instruction* i, Rewriter& r, MadeComputations& made) {
  if (i->opcode() != Opcode::kRngBitGenerator || i->shape().HasDynamicDims() ||
      !i->shape().IsTuple())
    return nullptr;
  const Shape& state = i->operand(0)->shape();
  const Shape& values = i->shape().elements[1];
  const bool known =
      (state.type == ElementType::kU64 || state.type == ElementType::kU32) && state.rank() == 1;
  if (!known || state.ElementCount() * BitWidth(state.type) < 128 || values.ElementCount() == 0 ||
      BitWidth(values.type) < 8)
    return nullptr;
  const std::string key = absl::StrCat(Text(i->attr<RngBitGeneratorAttrs>().algorithm), " ",
                                       Text(state), " ", Text(i->shape()));
  Computation* body = made.Get(*i->module(), key, [&](HloWriter& w, Computation& computation) {
    return GeneratedBits(w, computation, *i);
  });
  // A state of more words than the algorithm has comes back with those alone.
  Instruction* call = r.Add(Opcode::kCall, i->shape(), {i->operand(0)});
  call->set_called({body});
  return call;
}

// What rng draws: `low` and `high`, or mean and deviation, are scalars.
struct Drawn {
  HloWriter& w;
  Instruction *key, *state;

  // In [low, high): as many bits as a significand has.
  Instruction* Uniform(Instruction* low, Instruction* high, const Shape& shape) const {
    const int width = BitWidth(shape.type), digits = shape.type == ElementType::kF64 ? 52 : 23;
    Instruction* bits = PhiloxBits(w, key, state, shape).values;
    bits = w.WithInteger(Opcode::kShiftRightLogical, bits, width - digits);
    Instruction* unit =
        w.WithNumber(Opcode::kMultiply, w.Convert(bits, shape.type), std::ldexp(1.0, -digits));
    Instruction* range = w.Binary(Opcode::kSubtract, high, low);
    return Spread(w, Opcode::kAdd, Spread(w, Opcode::kMultiply, unit, range), low);
  }

  // low + bits mod (high - low), added in halves, each of which a signed integer can hold.
  Instruction* Integers(Instruction* low, Instruction* high, const Shape& shape) const {
    Instruction* bits = PhiloxBits(w, key, state, shape).values;
    const ElementType words = bits->shape().type;
    Instruction* range = w.Binary(Opcode::kSubtract, Cast(high, words), Cast(low, words));
    Instruction* rest = Spread(w, Opcode::kRemainder, bits, range);
    Instruction* half = w.WithInteger(Opcode::kShiftRightLogical, rest, 1);
    Instruction* sum = Spread(w, Opcode::kAdd, low, Cast(half, shape.type));
    return w.Binary(Opcode::kAdd, sum, Cast(w.Binary(Opcode::kSubtract, rest, half), shape.type));
  }

  // Box and Muller's: two normal numbers from the radius and the angle that two uniform ones give.
  Instruction* Normal(const Shape& shape) const {
    static constexpr double kLeast = 1.0e-7f;  // the logarithm of 0 is infinite
    const PairedDims pairs(shape.dims);
    Instruction* zero = w.Number(shape.type, 0);
    Instruction* one = w.Number(shape.type, 1);
    Instruction* both = Uniform(zero, one, RowMajor(shape.type, pairs.whole));
    Instruction* first = w.SliceOf(both, pairs.pair, 0, pairs.whole[pairs.pair] / 2);
    Instruction* second =
        w.SliceOf(both, pairs.pair, pairs.whole[pairs.pair] / 2, pairs.whole[pairs.pair]);
    first = w.WithNumber(Opcode::kMaximum, first, kLeast);
    Instruction* angle =
        w.Binary(Opcode::kMultiply, w.FillNumber(second->shape(), 2 * std::numbers::pi), second);
    Instruction* log = w.Unary(Opcode::kLog, first);
    Instruction* radius =
        w.Unary(Opcode::kSqrt, w.Binary(Opcode::kMultiply, w.FillNumber(log->shape(), -2), log));
    Instruction* sines = w.Binary(Opcode::kMultiply, w.Unary(Opcode::kSine, angle), radius);
    Instruction* cosines = w.Binary(Opcode::kMultiply, w.Unary(Opcode::kCosine, angle), radius);
    return pairs.Joined(w, shape.dims, {sines, cosines});
  }

 private:
  // Written also where the type stays.
  Instruction* Cast(Instruction* x, ElementType type) const {
    return w.rewriter().Add(Opcode::kBitcastConvert, RetypedLike(x->shape(), type), {x});
  }
};

Instruction* DrawnNumbers(HloWriter& w, Computation& body, const Shape& shape, const Shape& bound,
                          RngDistribution distribution) {
  const Drawn drawn{w, body.AddParameter(0, RowMajor(ElementType::kU64, {}), "key"),
                    body.AddParameter(1, RowMajor(ElementType::kU64, {2}), "state")};
  Instruction* first = body.AddParameter(2, bound, "a_or_mean");
  Instruction* second = body.AddParameter(3, bound, "b_or_sigma");
  if (distribution == RngDistribution::kUniform)
    return IsFloat(shape.type) ? drawn.Uniform(first, second, shape)
                               : drawn.Integers(first, second, shape);
  Instruction* scaled = Spread(w, Opcode::kMultiply, second, drawn.Normal(shape));
  return Spread(w, Opcode::kAdd, first, scaled);
}

struct RngExpansion {
  int64_t next_key = 0x3ec8f720;
  MadeComputations made;

  absl::StatusOr<Instruction*> operator()(Instruction* i, Rewriter& r) {
    if (i->opcode() != Opcode::kRng || i->operand_count() < 2 || i->shape().HasDynamicDims() ||
        i->shape().ElementCount() == 0)
      return nullptr;
    const ElementType type = i->shape().type;
    const RngDistribution distribution = i->attr<RngAttrs>().distribution;
    if (IsComplex(type) || IsSubByte(type) || IsPred(type) ||
        (!IsFloat(type) && distribution != RngDistribution::kUniform))
      return nullptr;
    HloWriter w(r);
    const ElementType wide = WideType(type);
    const Shape shape = RowMajor(wide, i->shape().dims), bound = RowMajor(wide, {});
    Computation* body =
        made.Get(*i->module(), absl::StrCat(Text(distribution), " ", Text(shape)),
                 [&](HloWriter& inside, Computation& computation) {
                   return DrawnNumbers(inside, computation, shape, bound, distribution);
                 });
    Instruction* key = w.Integer(ElementType::kU64, next_key++);
    const int64_t words = shape.ElementCount() * (BitWidth(wide) / 32);
    Instruction* state = r.Add(Opcode::kRngGetAndUpdateState, RowMajor(ElementType::kU64, {2}), {},
                               RngStateAttrs{words});
    return w.Convert(
        w.Call(body, {key, state, w.Convert(i->operand(0), wide), w.Convert(i->operand(1), wide)}),
        type);
  }

 private:
  // Narrow numbers are drawn in 32 bits.
  static ElementType WideType(ElementType type) {
    if (BitWidth(type) >= 32) return type;
    if (IsFloat(type)) return ElementType::kF32;
    return IsSigned(type) ? ElementType::kS32 : ElementType::kU32;
  }
};

}  // namespace

// rng-bit-generator-expander: calls of functions that compute Philox (also where the algorithm is
// left open) or ThreeFry on arrays of counters. Exact. Cost: some hundred instructions each.
std::unique_ptr<Pass> CreateRngBitGeneratorExpander() {
  return MakeExpander("rng-bit-generator-expander",
                      [made = MadeComputations()](Instruction* i, Rewriter& r) mutable {
                        return ExpandBits(i, r, made);
                      });
}

// rng-expander: rng becomes Philox bits of a key of its own and of the state that the module moves
// on with each run, and what makes numbers of the wanted distribution from them. The numbers are
// others than before the pass.
std::unique_ptr<Pass> CreateRngExpander() {
  return MakeExpander("rng-expander", RngExpansion(), {.keeps_operands = true});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
