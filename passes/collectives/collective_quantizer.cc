// collective-quantizer: narrow what a collective moves.
//   convert(clamp(all-gather(x) / s))   ->  all-gather(convert(clamp(x / s)))
//   all-gather(convert(x) * s)          ->  convert(all-gather(x)) * s
// Plain conversions move in the same way, and copies, reshapes and slices may stand between. The
// scale is a scalar that all devices of a group hold alike: a constant, what a parameter's sharding
// says to be replicated, or an all-reduce over the same groups. Exact: the same elements are
// computed with, elsewhere. Devices that nothing is sent to get zeros, which the bounds must hold.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsMover(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectiveBroadcast:
      return i->shape().IsArray() && i->operand_count() == 1;
    default:
      return false;
  }
}

bool HasOneUser(const Instruction* i) {
  return i->users().size() == 1 && !i->IsRoot() && i->control_successors().empty();
}

bool IsPlain(const Instruction* i) {
  return i->opcode() == Opcode::kCopy || i->opcode() == Opcode::kReshape ||
         i->opcode() == Opcode::kSlice ||
         (i->opcode() == Opcode::kBitcast && i->shape().type == i->operand(0)->shape().type);
}

// What stands between a collective and a conversion, nearest to the conversion first.
struct Chain {
  Instruction* convert = nullptr;
  Instruction* binary = nullptr;  // multiply or divide; null: the conversion is plain
  Instruction* clamp = nullptr;   // of a quantization
  Instruction* scale = nullptr;   // a scalar, or an array of one element
  int scaled = 0;                 // which operand of `binary` is scaled
  std::vector<Instruction*> plain;
};

// Whether the devices of each of the collective's groups hold the same of the scalar `x`.
bool IsAlike(const Instruction* x, const Instruction& mover) {
  constexpr int kFar = 16;
  for (int steps = 0; steps < kFar; ++steps) {
    if (x->IsConstant()) return true;
    if (x->opcode() == Opcode::kCall && x->operand_count() == 1) {
      x = x->to_apply()->root();
      continue;
    }
    if (x->opcode() == Opcode::kAllReduce && x->shape().IsArray()) {
      if (mover.opcode() == Opcode::kCollectivePermute) return GroupsOf(*x).size() == 1;
      return GroupsOf(*x) == GroupsOf(mover) || GroupsOf(*x).size() == 1;
    }
    if (x->IsParameter()) {
      const Sharding* sharding = x->sharding();
      const auto& leaves = x->attr<ParameterAttrs>().replicated;
      return x->parent()->IsEntry() &&
             ((sharding != nullptr && sharding->kind == Sharding::Kind::kReplicated) ||
              (leaves.size() == 1 && leaves[0]));
    }
    if (x->operand_count() != 1 || !(IsPlain(x) || x->opcode() == Opcode::kConvert)) return false;
    x = x->operand(0);
  }
  return false;
}

// A broadcast of one element that the devices hold alike.
bool IsScale(const Instruction* i, const Instruction& mover) {
  return i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().ElementCount() == 1 &&
         IsAlike(i->operand(0), mover);
}

bool TakeScale(Instruction* binary, const Instruction& mover, Chain& chain) {
  if (binary->opcode() != Opcode::kMultiply && binary->opcode() != Opcode::kDivide) return false;
  for (int scaled : {0, 1}) {
    if (scaled == 1 && binary->opcode() == Opcode::kDivide) break;
    if (!IsScale(binary->operand(1 - scaled), mover)) continue;
    chain.binary = binary;
    chain.scaled = scaled;
    chain.scale = binary->operand(1 - scaled)->operand(0);
    return true;
  }
  return false;
}

// Bounds that hold zero.
bool HoldsZero(const Instruction& clamp) {
  const Literal* low = SplatValue(clamp.operand(0));
  const Literal* high = SplatValue(clamp.operand(2));
  return low != nullptr && high != nullptr && IsFloat(low->type()) && low->GetDouble(0) <= 0 &&
         high->GetDouble(0) >= 0;
}

// From the conversion back to a collective that only this chain reads.
Instruction* QuantizedMover(Instruction* convert, Chain& chain) {
  if (BitWidth(convert->shape().type) >= BitWidth(convert->operand(0)->shape().type))
    return nullptr;
  chain.convert = convert;
  Instruction* x = convert->operand(0);
  Instruction* binary = nullptr;
  if (x->opcode() == Opcode::kClamp && HasOneUser(x) && HoldsZero(*x)) {
    chain.clamp = x;
    binary = x->operand(1);
    if (!HasOneUser(binary) || binary->operand_count() != 2) return nullptr;
    x = binary->operand(0);
    if (binary->opcode() == Opcode::kMultiply && x->opcode() == Opcode::kBroadcast)
      x = binary->operand(1);
  }
  for (; IsPlain(x) && HasOneUser(x); x = x->operand(0)) chain.plain.push_back(x);
  if (!IsMover(x) || !HasOneUser(x)) return nullptr;
  if (binary != nullptr && !TakeScale(binary, *x, chain)) return nullptr;
  return x;
}

// The chain's plain operations on x, of the type of x; those farthest from the conversion first.
Instruction* ApplyPlain(const Chain& chain, Instruction* x, Rewriter& r, bool reversed) {
  std::vector<Instruction*> order = chain.plain;
  if (reversed) std::reverse(order.begin(), order.end());
  for (Instruction* i : order) {
    Shape shape = RetypedLike(i->shape(), x->shape().type);
    x = r.Clone(i, shape, {x});
  }
  return x;
}

Instruction* Scaled(const Chain& chain, Instruction* x, HloWriter& w) {
  Instruction* scale = w.Fill(x->shape(), w.Reshape(chain.scale, {}));
  return chain.scaled == 0 ? w.Binary(chain.binary->opcode(), x, scale)
                           : w.Binary(chain.binary->opcode(), scale, x);
}

// Whether `mover` moves arrays of `narrow` as it does wider ones: those that give zeros to devices
// that nobody sends to need a zero, which f8e8m0fnu lacks.
bool Moves(const Instruction& mover, ElementType narrow) {
  return narrow != ElementType::kF8E8M0FNU || (mover.opcode() != Opcode::kCollectivePermute &&
                                               mover.opcode() != Opcode::kCollectiveBroadcast);
}

Made Quantize(Instruction* i, Rewriter& r) {
  Chain chain;
  Instruction* mover = QuantizedMover(i, chain);
  if (mover == nullptr || !Moves(*mover, i->shape().type)) return nullptr;
  HloWriter w(r);
  Instruction* x = mover->operand(0);
  if (chain.binary != nullptr) {
    x = Scaled(chain, x, w);
    const auto bound = [&](int64_t k) {
      return w.Fill(x->shape(), r.Constant(*SplatValue(chain.clamp->operand(k))));
    };
    Instruction* low = bound(0);
    Instruction* high = bound(2);
    x = r.Add(Opcode::kClamp, x->shape(), {low, x, high});
  }
  x = w.Convert(x, i->shape().type);
  x = r.Clone(mover, RetypedLike(mover->shape(), i->shape().type), {x});
  return ApplyPlain(chain, x, r, /*reversed=*/true);
}

// From a collective back to the widening conversion of what it moves.
bool FindWidened(Instruction* mover, Chain& chain) {
  Instruction* x = mover->operand(0);
  for (; IsPlain(x); x = x->operand(0)) chain.plain.push_back(x);
  const auto widens = [](const Instruction* c) {
    return c->opcode() == Opcode::kConvert &&
           BitWidth(c->shape().type) > BitWidth(c->operand(0)->shape().type);
  };
  if (!widens(x)) {
    if (!TakeScale(x, *mover, chain) || !widens(x->operand(chain.scaled))) return false;
    x = x->operand(chain.scaled);
  }
  chain.convert = x;
  return true;
}

Made Dequantize(Instruction* mover, Rewriter& r) {
  Chain chain;
  if (!FindWidened(mover, chain)) return nullptr;
  if (!Moves(*mover, chain.convert->operand(0)->shape().type)) return nullptr;
  HloWriter w(r);
  Instruction* x = ApplyPlain(chain, chain.convert->operand(0), r, /*reversed=*/true);
  x = r.Clone(mover, RetypedLike(mover->shape(), x->shape().type), {x});
  x = w.Convert(x, mover->shape().type);
  return chain.binary == nullptr ? x : Scaled(chain, x, w);
}

Made Visit(Instruction* i, Rewriter& r) {
  if (i->opcode() == Opcode::kConvert) return Quantize(i, r);
  return IsMover(i) ? Dequantize(i, r) : Made(nullptr);
}

}  // namespace

std::unique_ptr<Pass> CreateCollectiveQuantizer() {
  return MakeExpander("collective-quantizer", Visit);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
