// Rules that XLA applies always and that round otherwise than what they replace.
//   a * convert(p) -> select(p, a, 0)
//   a - c -> a + -c      a / pow(b, c) -> a * pow(b, -c)      log(sqrt(a)) -> 0.5 * log(a)
//   reduce(broadcast(x), 0), add -> x * n      reduce(reduce(x)) -> reduce(x)
//   a reduce-window over whole dimensions -> reshape(reduce(x))
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/dim_lists.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// exp(a) * exp(b) is exp(a + b).
Instruction* ExpProduct(Instruction* i, Rewriter& r) {
  const Instruction *a = i->operand(0), *b = i->operand(1);
  if (!Float(i) || !Is(a, Opcode::kExponential) || !Is(b, Opcode::kExponential)) return nullptr;
  return r.Clone(a, i->shape(), {r.Add(Opcode::kAdd, i->shape(), {a->operand(0), b->operand(0)})});
}

// a * convert(p) of a predicate is a where p holds, else 0: infinity and NaN times 0 are forgotten.
Instruction* MulPredAsSelect(Instruction* i, Rewriter& r) {
  const int k = OperandThat(i, [](const Instruction* x) {
    return Is(x, Opcode::kConvert) && IsPred(x->operand(0)->shape().type);
  });
  if (k < 0 || IsPred(i->shape().type)) return nullptr;
  Instruction* const pred = i->operand(k)->operand(0);
  return r.Add(Opcode::kSelect, i->shape(),
               {pred, i->operand(1 - k), HloWriter(r).FillInteger(i->shape(), 0)});
}

// sqrt(a) * sqrt(a) is a, for a >= 0.
Instruction* SqrtSquare(Instruction* i, Rewriter&) {
  const Instruction* a = i->operand(0);
  return Float(i) && Is(a, Opcode::kSqrt) && a == i->operand(1) && NeverNegative(a->operand(0))
             ? a->operand(0)
             : nullptr;
}

// Whether a constant has subnormal elements whose inverses are infinite: x / 1e-40 is no x * inf.
// (XLA's CPU, which flushes the divisor, has infinity and NaN either way.)
bool InverseOverflows(const Instruction& constant) {
  if (constant.literal() == nullptr) return false;
  Literal inverse = *constant.literal();
  for (int64_t k = 0; k < inverse.element_count(); ++k) {
    const double value = inverse.GetDouble(k);
    inverse.SetDouble(k, 1 / value);
    if (value != 0 && std::isinf(inverse.GetDouble(k))) return true;
  }
  return false;
}

// a / c of a constant c, or one that is broadcast, is a * (1 / c), which is a constant as well. Its
// elements are divided as f64, which rounds once to a type of at most 24 bits (53 >= 2 * 24 + 2).
Instruction* DivByConstant(Instruction* i, Rewriter& r) {
  const Instruction* by = i->operand(1);
  const Instruction* divisor = Is(by, Opcode::kBroadcast) ? by->operand(0) : by;
  if (!Float(i) || BitWidth(i->shape().type) < 16 || !divisor->IsConstant() ||
      divisor->literal() == nullptr || i->operand(0)->IsConstant() || InverseOverflows(*divisor))
    return nullptr;
  Literal inverse = *divisor->literal();
  inverse.set_shape(divisor->shape());
  for (int64_t k = 0; k < inverse.element_count(); ++k)
    inverse.SetDouble(k, 1 / inverse.GetDouble(k));
  Instruction* factor = r.Constant(std::move(inverse));
  if (divisor != by)
    factor = r.Broadcast(factor, by->shape(), by->attr<BroadcastAttrs>().dimensions);
  return r.Add(Opcode::kMultiply, i->shape(), {i->operand(0), factor});
}

// a - c of a constant c, or one that is broadcast, is a + -c. Exact, but XLA's form alone: whoever
// looks for differences no longer finds one.
Instruction* SubConstant(Instruction* i, Rewriter& r) {
  const Instruction* by = i->operand(1);
  const Instruction* constant = Is(by, Opcode::kBroadcast) ? by->operand(0) : by;
  const bool integers =
      i->shape().type == ElementType::kS32 || i->shape().type == ElementType::kS64;
  if ((!Float(i) && !integers) || !constant->IsConstant() || constant->literal() == nullptr ||
      i->operand(0)->IsConstant())
    return nullptr;
  if (IsSplat(by, 0)) return nullptr;  // sub-zero's
  Literal negated = *constant->literal();
  negated.set_shape(constant->shape());
  for (int64_t k = 0; k < negated.element_count(); ++k)
    if (!integers) {
      negated.SetDouble(k, -negated.GetDouble(k));
    } else if (const int64_t value = negated.GetInt(k);
               value == std::numeric_limits<int32_t>::min() ||
               value == std::numeric_limits<int64_t>::min()) {
      return nullptr;  // is its own negative, or one that s32 has not
    } else {
      negated.SetInt(k, -value);
    }
  Instruction* term = r.Constant(std::move(negated));
  if (constant != by) term = r.Broadcast(term, by->shape(), by->attr<BroadcastAttrs>().dimensions);
  return r.Add(Opcode::kAdd, i->shape(), {i->operand(0), term});
}

// a / broadcast(b) is a * broadcast(1 / b); not under a square root or as what is divided again,
// as in XLA.
Instruction* DivByBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* by = i->operand(1);
  if (!Float(i) || !Is(by, Opcode::kBroadcast)) return nullptr;
  if (i->users().size() == 1 &&
      (Is(i->users()[0], Opcode::kSqrt) || Is(i->users()[0], Opcode::kDivide)))
    return nullptr;
  Instruction* divisor = by->operand(0);
  if (divisor->shape().ElementCount() >= i->shape().ElementCount()) return nullptr;
  if (divisor->IsConstant() && InverseOverflows(*divisor)) return nullptr;
  Instruction* inverse =
      r.Add(Opcode::kDivide, divisor->shape(), {r.Splat(divisor->shape(), 1), divisor});
  return r.Add(
      Opcode::kMultiply, i->shape(),
      {i->operand(0), r.Broadcast(inverse, i->shape(), by->attr<BroadcastAttrs>().dimensions)});
}

// (a / b) / c is a / (b * c); a / (b / c) is (a * c) / b.
Instruction* DivOfDiv(Instruction* i, Rewriter& r) {
  if (!Float(i)) return nullptr;
  Instruction *a = i->operand(0), *b = i->operand(1);
  if (Is(a, Opcode::kDivide) && a->users().size() == 1)
    return r.Add(Opcode::kDivide, i->shape(),
                 {a->operand(0), r.Add(Opcode::kMultiply, i->shape(), {a->operand(1), b})});
  if (Is(b, Opcode::kDivide) && b->users().size() == 1)
    return r.Add(Opcode::kDivide, i->shape(),
                 {r.Add(Opcode::kMultiply, i->shape(), {a, b->operand(1)}), b->operand(0)});
  return nullptr;
}

// a / exp(b) is a * exp(-b), a / pow(b, c) is a * pow(b, -c), a / sqrt(b) is a * rsqrt(b),
// a / rsqrt(b) is a * sqrt(b).
Instruction* DivByFunction(Instruction* i, Rewriter& r) {
  const Instruction* by = i->operand(1);
  if (!Float(i) || by->users().size() != 1) return nullptr;
  Instruction* factor = nullptr;
  if (Is(by, Opcode::kExponential)) {
    Instruction* negated = r.Add(Opcode::kNegate, i->shape(), {by->operand(0)});
    factor = r.Clone(by, i->shape(), {negated});
  } else if (Is(by, Opcode::kPower)) {
    Instruction* negated = r.Add(Opcode::kNegate, i->shape(), {by->operand(1)});
    factor = r.Clone(by, i->shape(), {by->operand(0), negated});
  } else if (Is(by, Opcode::kSqrt)) {
    factor = r.Add(Opcode::kRsqrt, i->shape(), {by->operand(0)});
  } else if (Is(by, Opcode::kRsqrt)) {
    factor = r.Add(Opcode::kSqrt, i->shape(), {by->operand(0)});
  }
  return factor == nullptr ? nullptr
                           : r.Add(Opcode::kMultiply, i->shape(), {i->operand(0), factor});
}

// log(exp(a)) is a.
Instruction* LogOfExp(Instruction* i, Rewriter&) {
  const Instruction* a = i->operand(0);
  return Float(i) && Is(a, Opcode::kExponential) ? a->operand(0) : nullptr;
}

// log(sqrt(a)) is 0.5 * log(a), log(rsqrt(a)) is -0.5 * log(a).
Instruction* LogOfRoot(Instruction* i, Rewriter& r) {
  const Instruction* a = i->operand(0);
  if (!Float(i) || (!Is(a, Opcode::kSqrt) && !Is(a, Opcode::kRsqrt))) return nullptr;
  Instruction* log = r.Clone(i, i->shape(), {a->operand(0)});
  return HloWriter(r).WithNumber(Opcode::kMultiply, log, Is(a, Opcode::kSqrt) ? 0.5 : -0.5);
}

// exp(a) to the power b is exp(a * b).
Instruction* PowerOfExp(Instruction* i, Rewriter& r) {
  const Instruction* a = i->operand(0);
  if (!Float(i) || !Is(a, Opcode::kExponential)) return nullptr;
  return r.Clone(a, i->shape(),
                 {r.Add(Opcode::kMultiply, i->shape(), {a->operand(0), i->operand(1)})});
}

// a to the power 3 is a * a * a, to the power -1 it is 1 / a.
Instruction* PowerOfConstant(Instruction* i, Rewriter& r) {
  if (!Float(i)) return nullptr;
  Instruction* a = i->operand(0);
  if (IsSplat(i->operand(1), -1))
    return r.Add(Opcode::kDivide, i->shape(), {r.Splat(i->shape(), 1), a});
  if (!IsSplat(i->operand(1), 3)) return nullptr;
  return r.Add(Opcode::kMultiply, i->shape(), {r.Add(Opcode::kMultiply, i->shape(), {a, a}), a});
}

// What a reduction of one array combines with: add or multiply of floats, whose order rounds.
std::optional<Opcode> FloatReducer(const Instruction* i) {
  if (i->operand_count() != 2 || !Float(i) || i->operand(0)->shape().type != i->shape().type)
    return std::nullopt;
  const std::optional<Opcode> opcode = ReducerOpcode(*i->to_apply());
  return opcode == Opcode::kAdd || opcode == Opcode::kMultiply ? opcode : std::nullopt;
}

// A sum along dimensions that a broadcast added is a multiple.
Instruction* SumOfBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (FloatReducer(i) != Opcode::kAdd || !Is(broadcast, Opcode::kBroadcast) ||
      !IsSplat(i->operand(1), 0) || broadcast->shape().ElementCount() == 0)
    return nullptr;
  const DimVector& summed = i->attr<DimensionsAttrs>().dimensions;
  DimVector dims;
  for (const int64_t d : broadcast->attr<BroadcastAttrs>().dimensions) {
    if (Contains(summed, d)) return nullptr;
    dims.push_back(
        d - std::count_if(summed.begin(), summed.end(), [d](int64_t taken) { return taken < d; }));
  }
  int64_t count = 1;
  for (const int64_t d : summed) count *= broadcast->shape().dims[d];
  Instruction* x = broadcast->operand(0);
  if (x->shape().dims != i->shape().dims) x = r.Broadcast(x, i->shape(), dims);
  return HloWriter(r).WithNumber(Opcode::kMultiply, x, static_cast<double>(count));
}

// One reduction along the dimensions of both.
Instruction* FloatReduceOfReduce(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  const std::optional<Opcode> opcode = FloatReducer(i);
  if (!opcode || !Is(inner, Opcode::kReduce) || inner->users().size() != 1 ||
      FloatReducer(inner) != opcode || !IsSplat(inner->operand(1), *opcode == Opcode::kAdd ? 0 : 1))
    return nullptr;
  const DimVector& first = inner->attr<DimensionsAttrs>().dimensions;
  DimVector reduced = first, left;
  for (int64_t d = 0; d < inner->operand(0)->shape().rank(); ++d)
    if (!Contains(first, d)) left.push_back(d);
  for (const int64_t d : i->attr<DimensionsAttrs>().dimensions) reduced.push_back(left[d]);
  std::sort(reduced.begin(), reduced.end());
  Instruction* made = r.Clone(i, i->shape(), {inner->operand(0), i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = std::move(reduced);
  return made;
}

// A window that is one element or all of each dimension, and does not move.
Instruction* WholeWindow(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  if (i->operand_count() != 2 || !i->shape().IsArray() || x->shape().HasDynamicDims())
    return nullptr;
  DimVector reduced;
  const Window& window = i->attr<WindowAttrs>().window;
  for (size_t d = 0; d < window.size(); ++d) {
    WindowDim w = window[d];
    const int64_t size = w.size;
    w.size = 1;
    if (size != 1) w.stride = 1;
    if (!(w == WindowDim{}) || (size != 1 && size != x->shape().dims[d])) return nullptr;
    if (size != 1) reduced.push_back(static_cast<int64_t>(d));
  }
  if (reduced.empty()) return nullptr;
  HloWriter w(r);
  return r.Reshape(w.Reduce(i->operand(0), i->operand(1), reduced, i->to_apply()), i->shape());
}

constexpr Rule kRoundingRules[] = {
    {"exp-product", Opcode::kMultiply, ExpProduct},
    {"mul-pred-as-select", Opcode::kMultiply, MulPredAsSelect},
    {"sqrt-square", Opcode::kMultiply, SqrtSquare},
    {"sub-constant", Opcode::kSubtract, SubConstant},
    {"div-by-constant", Opcode::kDivide, DivByConstant},
    {"div-by-broadcast", Opcode::kDivide, DivByBroadcast},
    {"div-of-div", Opcode::kDivide, DivOfDiv},
    {"div-by-function", Opcode::kDivide, DivByFunction},
    {"log-of-exp", Opcode::kLog, LogOfExp},
    {"log-of-root", Opcode::kLog, LogOfRoot},
    {"power-of-exp", Opcode::kPower, PowerOfExp},
    {"power-of-constant", Opcode::kPower, PowerOfConstant},
    {"sum-of-broadcast", Opcode::kReduce, SumOfBroadcast},
    {"reduce-of-float-reduce", Opcode::kReduce, FloatReduceOfReduce},
    {"reduce-window-whole", Opcode::kReduceWindow, WholeWindow},
    {"add-float-scatter-to-zeros", Opcode::kAdd, AddScatterToZeros},
    {"add-float-update-of-zeros", Opcode::kAdd, AddUpdateOfZeros},
};

}  // namespace

absl::Span<const Rule> RoundingRules() { return kRoundingRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
