// while-loop-all-reduce-code-motion: all-reduces that a loop adds up run once, after the loop.
// Matches parts of a loop's state to which each round adds an all-reduce, perhaps converted between
// floats, reshaped, or multiplied by what all devices of a group know alike (an all-reduce of the
// same groups, constants, and what is computed of these element by element); nothing else in the
// loop may read the part. Leaves rounds that add up what each device has, from zero, and one
// all-reduce of the sum, in the type it had, which is added to what the part was before.
// Reassociates floats. Cost: linear for each loop.
//   while { s = s + all-reduce(x) * c }  ->  t = 0; while { t = t + x * c }; s = s + all-reduce(t)
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/post_order_of.h"

namespace hlokit {
namespace {

// Part k of a loop's state, where each round only adds an all-reduce to it.
struct Sum {
  int64_t part;
  Instruction* read;    // the get-tuple-element of the body
  Instruction* reduce;  // the all-reduce
};

bool IsSum(const Instruction* i) {
  return i->opcode() == Opcode::kAllReduce && i->operand_count() == 1 && i->shape().IsArray() &&
         !HasControlEdges(*i) && ReducerOpcode(*i->to_apply()) == Opcode::kAdd;
}

bool SameGroups(const Instruction* a, const Instruction* b) {
  AllReduceAttrs x = a->attr<AllReduceAttrs>();
  const AllReduceAttrs& y = b->attr<AllReduceAttrs>();
  if (x.channel_id.has_value() != y.channel_id.has_value()) return false;
  x.channel_id = y.channel_id;
  return x == y;
}

// Whether all devices that `reduce` joins compute the same `x` for certain.
bool IsShared(const Instruction* x, const Instruction* reduce) {
  constexpr size_t kMaxLooked = 32;
  std::vector<const Instruction*> work = {x};
  for (size_t k = 0; k < work.size(); ++k) {
    const Instruction* i = work[k];
    if (k == kMaxLooked) return false;
    if (i->IsConstant() || (IsSum(i) && SameGroups(i, reduce))) continue;
    const bool derived = i->operand_count() > 0 && !i->HasSideEffect() &&
                         (HasTrait(i->opcode(), kElementwise) ||
                          i->opcode() == Opcode::kBroadcast || i->opcode() == Opcode::kReshape);
    if (!derived) return false;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return true;
}

// The all-reduce that `x` is, converted, reshaped or scaled, where nothing else reads what is
// between; null where there is none.
Instruction* ReduceBelow(Instruction* x) {
  std::vector<const Instruction*> factors;
  while (x->users().size() == 1 && !IsSum(x)) {
    if (x->opcode() == Opcode::kMultiply) {
      const bool second = x->operand(0)->opcode() == Opcode::kBroadcast;
      factors.push_back(x->operand(second ? 0 : 1));
      x = x->operand(second ? 1 : 0);
      continue;
    }
    const bool converts = x->opcode() == Opcode::kConvert && IsFloat(x->shape().type) &&
                          IsFloat(x->operand(0)->shape().type);
    if (!converts && x->opcode() != Opcode::kReshape) return nullptr;
    x = x->operand(0);
  }
  if (!IsSum(x) || x->users().size() != 1) return nullptr;
  for (const Instruction* factor : factors)
    if (!IsShared(factor, x)) return nullptr;
  return x;
}

// Nothing where part k of the body's result is no such sum.
std::optional<Sum> SumOf(const Computation& body, int64_t k) {
  const Instruction* add = body.root()->operand(k);
  if (add->opcode() != Opcode::kAdd || add->users().size() != 1) return std::nullopt;
  Sum sum{k, nullptr, nullptr};
  for (Instruction* operand : add->operands()) {
    if (operand->opcode() == Opcode::kGetTupleElement && operand->tuple_index() == k &&
        operand->operand(0) == body.parameter(0))
      sum.read = operand;
    else
      sum.reduce = ReduceBelow(operand);
  }
  const bool found = sum.read != nullptr && sum.reduce != nullptr && sum.read->users().size() == 1;
  return found ? std::optional<Sum>(sum) : std::nullopt;
}

// Whether nothing but the sum itself looks at that part of the state.
bool IsAlone(const Instruction& loop, const Sum& sum) {
  for (const Computation* c : {loop.called(1), loop.called(0)})
    for (const Instruction* user : c->parameter(0)->users())
      if (user->opcode() != Opcode::kGetTupleElement ||
          (user->tuple_index() == sum.part && user != sum.read))
        return false;
  const Instruction* root = loop.called(1)->root();
  return std::count(root->operands().begin(), root->operands().end(), root->operand(sum.part)) == 1;
}

std::vector<Sum> SumsOf(const Instruction& loop) {
  std::vector<Sum> sums;
  const Computation& body = *loop.called(1);
  if (body.root()->opcode() != Opcode::kTuple || !loop.shape().IsTuple()) return sums;
  for (int64_t k = 0; k < body.root()->operand_count(); ++k) {
    const std::optional<Sum> sum = SumOf(body, k);
    if (sum && IsAlone(loop, *sum)) sums.push_back(*sum);
  }
  return sums;
}

// A copy of the body that adds what it would have reduced.
Computation* LocalBody(const Computation& body, absl::Span<const Sum> sums) {
  Computation* copy = body.Clone(".local");
  for (const Sum& sum : sums) {
    Instruction* reduce = SumOf(*copy, sum.part)->reduce;
    reduce->ReplaceAllUsesWith(reduce->operand(0));
    copy->Remove(reduce);
  }
  return copy;
}

// The all-reduce of a sum, in the type that the loop's had.
Instruction* ReduceAll(HloWriter& w, const Instruction* reduce, Instruction* local) {
  Instruction* narrow = w.Convert(local, reduce->shape().type);
  return w.Convert(w.rewriter().Clone(reduce, narrow->shape(), {narrow}), local->shape().type);
}

// Readers of parts of `old` read `parts`, all others a tuple of them.
void ReplaceParts(Instruction* old, absl::Span<Instruction* const> parts, HloWriter& w) {
  const std::vector<Instruction*> users(old->users().begin(), old->users().end());
  for (Instruction* user : users)
    if (user->opcode() == Opcode::kGetTupleElement)
      user->ReplaceAllUsesWith(parts[user->tuple_index()]);
  bool others = old->IsRoot();
  for (const Instruction* user : users) others |= user->opcode() != Opcode::kGetTupleElement;
  if (others) old->ReplaceAllUsesWith(w.Tuple(parts));
}

void Move(Instruction* i, const std::vector<Sum>& sums) {
  Rewriter r(*i->parent());
  r.set_subject(i);
  HloWriter w(r);
  std::vector<Instruction*> start, after;
  Computation* body = LocalBody(*i->called(1), sums);
  for (size_t k = 0; k < i->shape().elements.size(); ++k) start.push_back(w.Part(i->operand(0), k));
  const std::vector<Instruction*> given = start;
  for (const Sum& sum : sums) start[sum.part] = w.FillInteger(i->shape().elements[sum.part], 0);
  Instruction* loop = r.Clone(i, i->shape(), {w.Tuple(start)});
  loop->SetCalled(1, body);
  for (size_t k = 0; k < start.size(); ++k) after.push_back(w.Part(loop, k));
  for (const Sum& sum : sums)
    after[sum.part] =
        w.Binary(Opcode::kAdd, given[sum.part], ReduceAll(w, sum.reduce, after[sum.part]));
  ReplaceParts(i, after, w);
}

absl::StatusOr<bool> Run(Module& module, RewriteControl& control) {
  bool changed = false;
  const std::vector<bool> runs = RunningComputations(module);
  for (Computation* c : module.ComputationsPostOrder()) {
    if (!runs[c->id()]) continue;
    for (Instruction* i : PostOrderOf(*c, Opcode::kWhile)) {
      const std::vector<Sum> sums = SumsOf(*i);
      if (sums.empty() || HasControlEdges(*i) ||
          !control.Permit("while-loop-all-reduce-code-motion", *i, *i))
        continue;
      Move(i, sums);
      changed = true;
    }
    if (changed) RemoveDead(*c);
  }
  if (changed) RemoveUncalled(module);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateWhileLoopAllReduceCodeMotion() {
  return MakeModulePass("while-loop-all-reduce-code-motion", Run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
