// Rules of maxima, minima, clamps and comparisons.
//   max(x, -inf) -> x                    max(max(x, 1), 2) -> max(x, 2)
//   max(min(x, 6), 0) -> clamp(0, x, 6)  clamp(0, clamp(0, x, 6), 6) -> clamp(0, x, 6)
//   iota[8] < 8 -> true                  u < 0 -> false (unsigned)
// Ranges of integers come from rule.h's RangeOf: iotas, constants, clamps and remainders bound a
// value.
#include <limits>

#include "ops/evaluate/reducer.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

using enum ComparisonDirection;

// Every element is the least (`low`) or the greatest value of its type, infinities counted.
bool IsEnd(const Instruction* i, bool low) {
  const Literal* scalar = SplatValue(i);
  if (scalar == nullptr) return false;
  const ElementType type = scalar->type();
  if (IsFloat(type)) return scalar->GetDouble(0) == EndOf(type, low);
  if (IsPred(type)) return scalar->GetInt(0) == (low ? 0 : 1);
  if (!IsInteger(type)) return false;
  const int bits = BitWidth(type);
  const int64_t value = scalar->GetInt(0);
  if (IsUnsigned(type))
    return low ? value == 0 : static_cast<uint64_t>(value) == ~uint64_t{0} >> (64 - bits);
  const int64_t greatest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return value == (low ? -greatest - 1 : greatest);
}

// max(x, least) is x; max(x, greatest) of what has no NaN is the greatest.
Instruction* BoundOfEnd(Instruction* i, Rewriter&) {
  const bool max = Is(i, Opcode::kMaximum);
  for (int k : {1, 0}) {
    if (IsEnd(i->operand(k), /*low=*/max)) return i->operand(1 - k);
    if (!IsFloat(i->shape().type) && IsEnd(i->operand(k), /*low=*/!max)) return i->operand(k);
  }
  return nullptr;
}

// a < b of two scalars of one type that are no NaN; nothing for what has no order.
std::optional<bool> Less(const Literal& a, const Literal& b) {
  if (IsFloat(a.type())) {
    const double x = a.GetDouble(0), y = b.GetDouble(0);
    return x != x || y != y ? std::nullopt : std::optional<bool>(x < y);
  }
  if (!IsInteger(a.type())) return std::nullopt;
  if (IsUnsigned(a.type()))
    return static_cast<uint64_t>(a.GetInt(0)) < static_cast<uint64_t>(b.GetInt(0));
  return a.GetInt(0) < b.GetInt(0);
}

// max(max(x, 1), 2) is max(x, 2).
Instruction* BoundOfConstants(Instruction* i, Rewriter& r) {
  for (int k : {1, 0}) {
    const Literal* outer = SplatValue(i->operand(k));
    const Instruction* inner = i->operand(1 - k);
    if (outer == nullptr || inner->opcode() != i->opcode()) continue;
    for (int m : {1, 0}) {
      const Literal* constant = SplatValue(inner->operand(m));
      if (constant == nullptr) continue;
      const std::optional<bool> less = Less(*outer, *constant);
      if (!less) return nullptr;
      const bool takes_inner = *less == Is(i, Opcode::kMaximum);
      return r.Add(i->opcode(), i->shape(),
                   {inner->operand(1 - m), takes_inner ? inner->operand(m) : i->operand(k)});
    }
  }
  return nullptr;
}

Instruction* ScalarOf(Instruction* splat) {
  return Is(splat, Opcode::kBroadcast) ? splat->operand(0) : splat;
}

// max(min(x, high), low) and min(max(x, low), high) are clamp(low, x, high) where low < high.
// NaN: clamp, max and min all give NaN for NaN, so floats may use this rule too.
Instruction* BoundsAsClamp(Instruction* i, Rewriter& r) {
  const bool max = Is(i, Opcode::kMaximum);
  for (int k : {1, 0}) {
    const Literal* outer = SplatValue(i->operand(k));
    const Instruction* inner = i->operand(1 - k);
    if (outer == nullptr || !Is(inner, max ? Opcode::kMinimum : Opcode::kMaximum) ||
        inner->users().size() != 1 ||
        inner->operand(0)->shape().type != inner->operand(1)->shape().type)
      continue;
    for (int m : {1, 0}) {
      const Literal* other = SplatValue(inner->operand(m));
      if (other == nullptr || !Less(max ? *outer : *other, max ? *other : *outer).value_or(false))
        continue;
      Instruction* a = ScalarOf(i->operand(k));
      Instruction* b = ScalarOf(inner->operand(m));
      return r.Add(Opcode::kClamp, i->shape(), {max ? a : b, inner->operand(1 - m), max ? b : a});
    }
  }
  return nullptr;
}

bool SameValue(const Instruction* a, const Instruction* b) {
  if (a == b) return true;
  const Literal *x = SplatValue(a), *y = SplatValue(b);
  return x != nullptr && y != nullptr && *x == *y;
}

// clamp(low, clamp(low, x, high), high).
Instruction* ClampRepeated(Instruction* i, Rewriter&) {
  Instruction* inner = i->operand(1);
  return Is(inner, Opcode::kClamp) && SameValue(inner->operand(0), i->operand(0)) &&
                 SameValue(inner->operand(2), i->operand(2))
             ? inner
             : nullptr;
}

// min(high, clamp(low, x, high)) is the clamp, and max(low, clamp(low, x, high)) where low is known
// to be no more than high: else the clamp is high, which is less than low.
Instruction* BoundOfClamp(Instruction* i, Rewriter&) {
  const int64_t bound = Is(i, Opcode::kMaximum) ? 0 : 2;
  for (int k : {0, 1}) {
    Instruction* clamp = i->operand(k);
    if (!Is(clamp, Opcode::kClamp) || clamp->shape() != i->shape()) continue;
    const Instruction* other = i->operand(1 - k);
    const Instruction* limit = clamp->operand(bound);
    const Literal *low = SplatValue(clamp->operand(0)), *high = SplatValue(clamp->operand(2));
    if (bound == 0 && (low == nullptr || high == nullptr || !Less(*low, *high).value_or(false)))
      continue;
    const bool spread = IsSpreadScalar(other) && other->operand(0) == limit;
    if (spread || SameValue(other, limit)) return clamp;
  }
  return nullptr;
}

// The number of a device is no less than 0 and less than how many there are.
Instruction* ClampOfDevice(Instruction* i, Rewriter&) {
  Instruction* x = i->operand(1);
  const ModuleHeader& header = i->parent()->module()->header();
  int64_t devices = 0;
  if (Is(x, Opcode::kPartitionId)) devices = header.num_partitions;
  if (Is(x, Opcode::kReplicaId)) devices = header.replica_count;
  const std::optional<int64_t> low = IntegerSplat(i->operand(0)),
                               high = IntegerSplat(i->operand(2));
  return devices > 0 && low && high && *low == 0 && *high >= devices - 1 ? x : nullptr;
}

// A clamp with an end of the type for a bound is a maximum, a minimum or nothing.
Instruction* ClampOfEnd(Instruction* i, Rewriter& r) {
  const bool no_low = IsEnd(i->operand(0), true), no_high = IsEnd(i->operand(2), false);
  if (no_low && no_high) return i->operand(1);
  if (!no_low && !no_high) return nullptr;
  Instruction* bound = i->operand(no_low ? 2 : 0);
  if (bound->shape().dims != i->shape().dims) bound = r.Broadcast(bound, i->shape(), {});
  return r.Add(no_low ? Opcode::kMinimum : Opcode::kMaximum, i->shape(), {i->operand(1), bound});
}

// Nothing is less than the least value, and the like.
Instruction* CompareWithEnd(Instruction* i, Rewriter& r) {
  const CompareAttrs& attrs = i->attr<CompareAttrs>();
  const ElementType type = i->operand(0)->shape().type;
  if (!IsInteger(type)) return nullptr;
  const bool least = IsEnd(i->operand(1), true), greatest = IsEnd(i->operand(1), false);
  if (least && attrs.direction == kLt) return r.Splat(i->shape(), 0);
  if (least && attrs.direction == kGe) return r.Splat(i->shape(), 1);
  if (greatest && attrs.direction == kGt) return r.Splat(i->shape(), 0);
  if (greatest && attrs.direction == kLe) return r.Splat(i->shape(), 1);
  return nullptr;
}

// x + 1 == 3 is x == 2, of integers, which wrap round.
Instruction* CompareSum(Instruction* i, Rewriter& r) {
  const CompareAttrs& attrs = i->attr<CompareAttrs>();
  const Instruction* sum = i->operand(0);
  if ((attrs.direction != kEq && attrs.direction != kNe) || !Is(sum, Opcode::kAdd) ||
      sum->users().size() != 1)
    return nullptr;
  const std::optional<int64_t> total = IntegerSplat(i->operand(1));
  if (!total) return nullptr;
  for (int k : {1, 0})
    if (const std::optional<int64_t> part = IntegerSplat(sum->operand(k)); part) {
      const auto rest = static_cast<uint64_t>(*total) - static_cast<uint64_t>(*part);
      return r.Add(Opcode::kCompare, i->shape(),
                   {sum->operand(1 - k), r.FillInt(sum->shape(), static_cast<int64_t>(rest))},
                   attrs);
    }
  return nullptr;
}

// convert(p) != 0 and convert(p) == 1 are p.
Instruction* CompareConvertedPred(Instruction* i, Rewriter& r) {
  const CompareAttrs& attrs = i->attr<CompareAttrs>();
  const Instruction* x = i->operand(0);
  if (!Is(x, Opcode::kConvert) || !IsPred(x->operand(0)->shape().type) ||
      (attrs.direction != kEq && attrs.direction != kNe))
    return nullptr;
  const bool zero = IsSplat(i->operand(1), 0);
  if (!zero && !IsSplat(i->operand(1), 1)) return nullptr;
  Instruction* p = x->operand(0);
  return zero == (attrs.direction == kNe) ? p : r.Add(Opcode::kNot, i->shape(), {p});
}

// An iota compared with a number that it never reaches.
Instruction* CompareIotaEnd(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  while (Is(x, Opcode::kBroadcast) || Is(x, Opcode::kReshape)) x = x->operand(0);
  const std::optional<int64_t> limit = IntegerSplat(i->operand(1));
  if (!limit || !Is(x, Opcode::kIota) || BitWidth(x->shape().type) < 32 || *limit < 0)
    return nullptr;
  const int64_t size = x->shape().dims[x->attr<IotaAttrs>().iota_dimension];
  if (size >= (int64_t{1} << 31)) return nullptr;
  const ComparisonDirection how = i->attr<CompareAttrs>().direction;
  if (*limit >= size && (how == kLt || how == kNe)) return r.Splat(i->shape(), 1);
  if (*limit >= size && (how == kGe || how == kEq)) return r.Splat(i->shape(), 0);
  if (*limit >= size - 1 && how == kLe) return r.Splat(i->shape(), 1);
  if (*limit >= size - 1 && how == kGt) return r.Splat(i->shape(), 0);
  return nullptr;
}

// A comparison of x with a number beyond what x can be.
Instruction* CompareOutOfRange(Instruction* i, Rewriter& r) {
  const std::optional<int64_t> number = IntegerSplat(i->operand(1));
  if (!number || IsUnsigned(i->operand(0)->shape().type)) return nullptr;
  const IntegerRange range = RangeOf(i->operand(0));
  const bool above = range.least && *range.least > *number;
  const bool not_below = range.least && *range.least >= *number;
  const bool below = range.greatest && *range.greatest < *number;
  const bool not_above = range.greatest && *range.greatest <= *number;
  switch (i->attr<CompareAttrs>().direction) {
    case kLt:
      return not_below || below ? r.Splat(i->shape(), below) : nullptr;
    case kGe:
      return not_below || below ? r.Splat(i->shape(), not_below) : nullptr;
    case kGt:
      return not_above || above ? r.Splat(i->shape(), above) : nullptr;
    case kLe:
      return not_above || above ? r.Splat(i->shape(), not_above) : nullptr;
    case kEq:
      return above || below ? r.Splat(i->shape(), 0) : nullptr;
    case kNe:
      return above || below ? r.Splat(i->shape(), 1) : nullptr;
  }
  return nullptr;
}

constexpr Rule kBoundRules[] = {
    {"max-of-end", Opcode::kMaximum, BoundOfEnd},
    {"max-repeated", Opcode::kMaximum, RepeatedOperand},
    {"max-of-constants", Opcode::kMaximum, BoundOfConstants},
    {"max-of-clamp", Opcode::kMaximum, BoundOfClamp},
    {"max-min-as-clamp", Opcode::kMaximum, BoundsAsClamp},
    {"min-of-end", Opcode::kMinimum, BoundOfEnd},
    {"min-repeated", Opcode::kMinimum, RepeatedOperand},
    {"min-of-constants", Opcode::kMinimum, BoundOfConstants},
    {"min-of-clamp", Opcode::kMinimum, BoundOfClamp},
    {"min-max-as-clamp", Opcode::kMinimum, BoundsAsClamp},
    {"clamp-repeated", Opcode::kClamp, ClampRepeated},
    {"clamp-of-device", Opcode::kClamp, ClampOfDevice},
    {"clamp-of-end", Opcode::kClamp, ClampOfEnd},
    {"compare-with-end", Opcode::kCompare, CompareWithEnd},
    {"compare-sum", Opcode::kCompare, CompareSum},
    {"compare-converted-pred", Opcode::kCompare, CompareConvertedPred},
    {"compare-iota-end", Opcode::kCompare, CompareIotaEnd},
    {"compare-out-of-range", Opcode::kCompare, CompareOutOfRange},
};

}  // namespace

absl::Span<const Rule> BoundRules() { return kBoundRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
