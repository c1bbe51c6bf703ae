// Inserts copies where a value is passed on under another layout: operand and parameter, call and
// root, loop state, branches, tuples and their elements, the entry and entry_computation_layout.
//
// Layout assignment gives both sides one layout; modules that come without it (--no-passes, dumps)
// need not have one. A first walk only looks, since nearly all modules need nothing; only then a
// second one converts, callers before callees. A tuple is converted element by element. Schedules
// are kept: copies stand next to the instruction they serve.
#include "passes/layouts/boundary_layouts.h"

#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_map.h"
#include "analysis/in_place.h"
#include "passes/calls/flatten_call_graph.h"
#include "passes/rewrite/layout_copies.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Dimensions and types are the verifier's subject.
bool Differ(const Shape& a, const Shape& b) {
  return !SameMemoryOrder(a, b) && SameIgnoringLayout(a, b);
}

class Converter {
 public:
  // only_look: changes nothing.
  Converter(Computation& computation, bool only_look) : c_(computation), only_look_(only_look) {}

  // Returns whether anything differs.
  bool Run() {
    const auto& layout = c_.module()->header().entry_layout;
    const bool is_entry = c_.IsEntry() && layout.has_value();
    for (int64_t p = 0; is_entry && p < c_.parameter_count(); ++p)
      ConvertResult(c_.parameter(p), layout->parameters[p]);
    if (only_look_)
      c_.ForEach([&](Instruction* i) { Visit(i); });
    else
      for (Instruction* i : c_.PostOrder()) Visit(i);
    if (is_entry) ConvertRoot(&c_, layout->result);
    if (found_ && !only_look_ && c_.has_schedule()) Reschedule();
    return found_;
  }

 private:
  void Visit(Instruction* i) {
    switch (i->opcode()) {
      case Opcode::kTuple:
        for (int64_t o = 0; o < i->operand_count(); ++o)
          ConvertOperand(i, o, i->shape().elements[o]);
        break;
      case Opcode::kGetTupleElement:
        ConvertResult(i, i->operand(0)->shape().elements[i->tuple_index()]);
        break;
      case Opcode::kAddDependency:
      case Opcode::kDomain:
      case Opcode::kOptimizationBarrier:
        ConvertOperand(i, 0, i->shape());
        break;
      case Opcode::kAsyncStart:
      case Opcode::kCall:
        for (int64_t p = 0; p < i->operand_count(); ++p)
          ConvertOperand(i, p, i->to_apply()->parameter(p)->shape());
        if (i->opcode() == Opcode::kCall) ConvertResult(i, i->to_apply()->root()->shape());
        break;
      case Opcode::kFusion:
        for (int64_t p = 0; p < i->operand_count(); ++p)
          ConvertResult(i->to_apply()->parameter(p), i->operand(p)->shape());
        ConvertResult(i, i->to_apply()->root()->shape());
        break;
      case Opcode::kConditional:
        for (size_t b = 0; b < i->called().size(); ++b) {
          ConvertOperand(i, b + 1, i->called(b)->parameter(0)->shape());
          ConvertRoot(i->called(b), i->shape());
        }
        break;
      case Opcode::kWhile:
        VisitWhile(i);
        break;
      case Opcode::kSend:
        ConvertOperand(i, 0, i->operand(0)->shape().WithDefaultLayout());
        ConvertPassed(i);
        break;
      case Opcode::kRecv:
        ConvertPassed(i);
        break;
      case Opcode::kRecvDone: {
        Shape received = i->shape();
        received.elements[0] = i->operand(0)->shape().elements[0];
        ConvertResult(i, received);
        break;
      }
      default:
        break;
    }
  }

  // The state lies as the body takes it, which saves its copies in each round.
  void VisitWhile(Instruction* loop) {
    const Shape state = loop->called(1)->parameter(0)->shape();
    ConvertOperand(loop, 0, state);
    ConvertResult(loop->called(0)->parameter(0), state);
    ConvertRoot(loop->called(1), state);
    ConvertResult(loop, state);
  }

  // Those who send and those who receive need not name one layout: what goes between them is
  // row-major.
  void ConvertPassed(Instruction* i) {
    const Shape wanted = i->shape().elements[0].WithDefaultLayout();
    if (Finds(i->shape().elements[0], wanted)) i->mutable_shape().elements[0] = wanted;
  }

  void ConvertOperand(Instruction* user, int64_t o, const Shape& wanted) {
    if (!Finds(user->operand(o)->shape(), wanted)) return;
    user->SetOperand(o, InLayoutOf(user->operand(o), wanted, before_[user]));
  }

  // `i`, here or in a computation called from here, is in truth laid out as `actual` is; its users
  // get what its shape says. Elements of a tuple are converted where they are taken out.
  void ConvertResult(Instruction* i, const Shape& actual) {
    if (!Finds(i->shape(), actual)) return;
    const Shape stated = i->shape();
    std::vector<Instruction*> users(i->users().begin(), i->users().end());
    std::erase_if(
        users, [](const Instruction* user) { return user->opcode() == Opcode::kGetTupleElement; });
    i->set_shape(actual);
    if (users.empty() && !i->IsRoot()) return;
    Converter parent(*i->parent(), false);
    Converter& place = i->parent() == &c_ ? *this : parent;
    Instruction* converted = InLayoutOf(i, stated, place.after_[i]);
    for (Instruction* user : users) i->ReplaceUseIn(user, converted);
    if (i->IsRoot()) i->parent()->set_root(converted);
    if (&place == &parent && i->parent()->has_schedule()) parent.Reschedule();
  }

  void ConvertRoot(Computation* computation, const Shape& wanted) {
    Instruction* root = computation->root();
    if (!Finds(root->shape(), wanted)) return;
    Converter other(*computation, false);
    Converter& place = computation == &c_ ? *this : other;
    computation->set_root(InLayoutOf(root, wanted, place.after_[root]));
    if (&place == &other && computation->has_schedule()) other.Reschedule();
  }

  // Whether to convert between the two.
  bool Finds(const Shape& a, const Shape& b) {
    const bool differ = Differ(a, b);
    found_ |= differ;
    return differ && !only_look_;
  }

  void Reschedule() {
    std::vector<Instruction*> schedule;
    // What was made may itself have been converted again.
    const std::function<void(Instruction*)> place = [&](Instruction* i) {
      if (const auto made = before_.find(i); made != before_.end())
        for (Instruction* part : made->second) place(part);
      schedule.push_back(i);
      if (const auto made = after_.find(i); made != after_.end())
        for (Instruction* part : made->second) place(part);
    };
    for (Instruction* i : c_.schedule()) place(i);
    c_.set_schedule(std::move(schedule));
  }

  Computation& c_;
  const bool only_look_;
  bool found_ = false;
  // What was made, by the instruction before or after which it stands in a schedule.
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> before_, after_;
};

// Callers first: they say how parameters lie.
bool ConvertAll(Module& module, bool only_look) {
  std::vector<Computation*> order = module.ComputationsPostOrder();
  std::reverse(order.begin(), order.end());
  bool found = false;
  for (Computation* c : order) {
    found |= Converter(*c, only_look).Run();
    if (found && only_look) return true;
  }
  return found;
}

}  // namespace

absl::StatusOr<bool> ConvertLayoutsAtBoundaries(Module& module) {
  if (!ConvertAll(module, /*only_look=*/true)) return false;
  RETURN_IF_ERROR(FlattenCallGraph(/*running_only=*/false).Run(module).status());
  return ConvertAll(module, /*only_look=*/false);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
