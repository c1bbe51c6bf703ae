// Rules of integer arithmetic, which wraps modulo 2^bits, so that sums and products may be
// regrouped:
//   (a + 1) + 2 -> a + 3      (a - b) + b -> a      a * c + b * c -> (a + b) * c
//   u / 8 -> u >> 3           u % 8 -> u & 7        (unsigned: signed division rounds towards 0)
//   (x % n) % n -> x % n      iota[8] % 8 -> iota[8]
#include <bit>

#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

int64_t Combined(Opcode opcode, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (opcode) {
    case Opcode::kAdd:
      return static_cast<int64_t>(x + y);
    case Opcode::kMultiply:
      return static_cast<int64_t>(x * y);
    case Opcode::kAnd:
      return a & b;
    case Opcode::kOr:
      return a | b;
    default:
      return a ^ b;
  }
}

// (a + 1) + 2 is a + 3; so with *, and, or, xor.
Instruction* MergeConstants(Instruction* i, Rewriter& r) {
  if (!Integral(i)) return nullptr;
  for (int k : {1, 0}) {
    const std::optional<int64_t> outer = IntegerSplat(i->operand(k));
    const Instruction* inner = i->operand(1 - k);
    if (!outer || inner->opcode() != i->opcode() || inner->users().size() != 1) continue;
    for (int m : {1, 0})
      if (const std::optional<int64_t> constant = IntegerSplat(inner->operand(m)); constant)
        return r.Add(i->opcode(), i->shape(),
                     {inner->operand(1 - m),
                      r.FillInt(i->shape(), Combined(i->opcode(), *constant, *outer))});
  }
  return nullptr;
}

// (a - b) + b is a.
Instruction* AddSubtracted(Instruction* i, Rewriter&) {
  if (!Integral(i)) return nullptr;
  for (int k : {0, 1}) {
    const Instruction* x = i->operand(k);
    if (Is(x, Opcode::kSubtract) && x->operand(1) == i->operand(1 - k)) return x->operand(0);
  }
  return nullptr;
}

// (a + b) - b is a.
Instruction* SubAdded(Instruction* i, Rewriter&) {
  const Instruction* x = i->operand(0);
  if (!Integral(i) || !Is(x, Opcode::kAdd)) return nullptr;
  for (int k : {0, 1})
    if (x->operand(k) == i->operand(1)) return x->operand(1 - k);
  return nullptr;
}

// a * c + b * c is (a + b) * c.
Instruction* CommonFactor(Instruction* i, Rewriter& r) {
  const Instruction *x = i->operand(0), *y = i->operand(1);
  if (!Integral(i) || !Is(x, Opcode::kMultiply) || !Is(y, Opcode::kMultiply) || x == y ||
      x->users().size() != 1 || y->users().size() != 1)
    return nullptr;
  for (int k : {1, 0})
    for (int m : {1, 0})
      if (x->operand(k) == y->operand(m))
        return r.Add(Opcode::kMultiply, i->shape(),
                     {r.Add(i->opcode(), i->shape(), {x->operand(1 - k), y->operand(1 - m)}),
                      x->operand(k)});
  return nullptr;
}

// The exponent of a power of two above one.
std::optional<int> PowerOfTwo(const Instruction* x) {
  const std::optional<int64_t> value = IntegerSplat(x);
  if (!value || !IsUnsigned(x->shape().type)) return std::nullopt;
  const auto bits = static_cast<uint64_t>(*value);
  if (bits < 2 || !std::has_single_bit(bits)) return std::nullopt;
  return std::countr_zero(bits);
}

Instruction* DivAsShift(Instruction* i, Rewriter& r) {
  const std::optional<int> exponent = PowerOfTwo(i->operand(1));
  if (!exponent) return nullptr;
  return r.Add(Opcode::kShiftRightLogical, i->shape(),
               {i->operand(0), r.FillInt(i->shape(), *exponent)});
}

Instruction* RemAsAnd(Instruction* i, Rewriter& r) {
  const std::optional<int> exponent = PowerOfTwo(i->operand(1));
  if (!exponent) return nullptr;
  return r.Add(Opcode::kAnd, i->shape(),
               {i->operand(0), r.FillInt(i->shape(), (int64_t{1} << *exponent) - 1)});
}

Instruction* RemOne(Instruction* i, Rewriter& r) {
  return Integral(i) && IsSplat(i->operand(1), 1) ? r.Splat(i->shape(), 0) : nullptr;
}

// An iota that never reaches the divisor.
Instruction* RemOfIota(Instruction* i, Rewriter&) {
  Instruction* x = i->operand(0);
  const Instruction* source = x->opcode() == Opcode::kBroadcast ? x->operand(0) : x;
  const std::optional<int64_t> by = IntegerSplat(i->operand(1));
  if (!by || *by <= 0 || !Is(source, Opcode::kIota) || BitWidth(i->shape().type) < 16)
    return nullptr;
  const int64_t size = source->shape().dims[source->attr<IotaAttrs>().iota_dimension];
  return size <= *by && size <= 32767 ? x : nullptr;
}

// All bits shifted out.
Instruction* ShiftOut(Instruction* i, Rewriter& r) {
  const std::optional<int64_t> by = IntegerSplat(i->operand(1));
  if (!by) return nullptr;
  const auto distance = static_cast<uint64_t>(*by);
  return distance >= static_cast<uint64_t>(BitWidth(i->shape().type)) ? r.Splat(i->shape(), 0)
                                                                      : nullptr;
}

Instruction* ShiftOfZero(Instruction* i, Rewriter&) {
  return IsSplat(i->operand(0), 0) ? i->operand(0) : nullptr;
}

// A remainder is less than what it is taken by.
Instruction* RemOfRem(Instruction* i, Rewriter&) {
  Instruction* inner = i->operand(0);
  return inner->opcode() == Opcode::kRemainder && inner->operand(1) == i->operand(1) ? inner
                                                                                     : nullptr;
}

constexpr Rule kIntegerRules[] = {
    {"add-constants", Opcode::kAdd, MergeConstants},
    {"mul-constants", Opcode::kMultiply, MergeConstants},
    {"and-constants", Opcode::kAnd, MergeConstants},
    {"or-constants", Opcode::kOr, MergeConstants},
    {"xor-constants", Opcode::kXor, MergeConstants},
    {"add-subtracted", Opcode::kAdd, AddSubtracted},
    {"sub-added", Opcode::kSubtract, SubAdded},
    {"add-common-factor", Opcode::kAdd, CommonFactor},
    {"sub-common-factor", Opcode::kSubtract, CommonFactor},
    {"div-as-shift", Opcode::kDivide, DivAsShift},
    {"rem-as-and", Opcode::kRemainder, RemAsAnd},
    {"rem-of-rem", Opcode::kRemainder, RemOfRem},
    {"rem-one", Opcode::kRemainder, RemOne},
    {"rem-of-iota", Opcode::kRemainder, RemOfIota},
    {"shift-left-out", Opcode::kShiftLeft, ShiftOut},
    {"shift-right-out", Opcode::kShiftRightLogical, ShiftOut},
    {"shift-left-of-zero", Opcode::kShiftLeft, ShiftOfZero},
    {"shift-right-of-zero", Opcode::kShiftRightLogical, ShiftOfZero},
    {"shift-arithmetic-of-zero", Opcode::kShiftRightArithmetic, ShiftOfZero},
};

}  // namespace

absl::Span<const Rule> IntegerRules() { return kIntegerRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
