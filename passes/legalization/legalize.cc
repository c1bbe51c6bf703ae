// The last change of the module before code generation: what is left after it is what the emitters
// know.
//   fusion that no kernel computes     its instructions, one by one
//   constant in a fusion               an operand of the fusion
//   async-start, copy-start            the operation itself, at the start
//   collective on one device           its operand, or a copy
//   vendor custom call                 the HLO it stands for
// A schedule is kept: what replaces an instruction takes its place.
#include "passes/legalization/legalize.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/attention_form.h"
#include "analysis/dot_finish.h"
#include "analysis/emittable.h"
#include "analysis/product_finish.h"
#include "analysis/quantized_product.h"
#include "ir/op_facts.h"
#include "passes/calls/flatten_call_graph.h"
#include "passes/float_types/mixed_types.h"
#include "passes/layouts/boundary_layouts.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/layout_copies.h"
#include "passes/rewrite/rewriter.h"
#include "passes/vendor/vendor_call_expander.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Whether a collective's groups or pairs name no device but the first; others are errors of the
// run.
bool NamesDeviceZero(const Instruction& collective) {
  bool only_zero = true;
  VisitAttributes(collective.opcode(), collective.attributes(), [&](const auto& attributes) {
    if constexpr (requires { attributes.replica_groups; })
      for (const std::vector<int64_t>& group : attributes.replica_groups.Expand())
        for (const int64_t device : group) only_zero &= device == 0;
    if constexpr (requires { attributes.source_target_pairs; })
      for (const auto& [source, target] : attributes.source_target_pairs)
        only_zero &= source == 0 && target == 0;
  });
  return only_zero;
}

// Instructions put into a schedule at the place of another (which may be gone by then).
using Insertions = absl::flat_hash_map<const Instruction*, std::vector<Instruction*>>;

class Legalizer {
 public:
  Legalizer(Computation& computation, bool one_device, Legalize::CanEmit can_emit,
            bool widens_inside)
      : c_(computation),
        one_device_(one_device),
        can_emit_(can_emit),
        widens_inside_(widens_inside) {}

  // Whether anything changed.
  bool Run() {
    const std::vector<Instruction*> order(c_.schedule().begin(), c_.schedule().end());
    for (Instruction* i : c_.Instructions()) LegalizeOne(i);
    // A fusion taken apart may hold fusions.
    std::vector<Instruction*> work = c_.Instructions();
    while (!work.empty()) {
      Instruction* i = work.back();
      work.pop_back();
      if (i->opcode() == Opcode::kCustomCall) ExpandVendor(i);
      WidenOperands(i);
      if (i->opcode() != Opcode::kFusion) continue;
      HoistConstants(i);
      if (can_emit_(*i)) continue;
      for (Instruction* part : TakeApart(i)) work.push_back(part);
    }
    if (!order.empty()) Reschedule(order);
    for (Instruction* dead : dead_) c_.Remove(dead);
    return !inserted_.empty() || !dead_.empty() || hoisted_;
  }

 private:
  void LegalizeOne(Instruction* i) {
    switch (i->opcode()) {
      case Opcode::kAsyncStart:
        Synchronize(i);
        break;
      case Opcode::kCopyStart:
        SynchronizeCopy(i);
        break;
      case Opcode::kRaggedAllToAll:  // its operands differ in shape from its result
        break;
      case Opcode::kCustomCall:
        ConstrainLayouts(i);
        break;
      case Opcode::kCopy:
        if (i->shape().IsTuple()) Replace(i, CopyOf(i->operand(0), i->shape(), i));
        break;
      case Opcode::kConstant:
        if (i->shape().IsTuple()) Replace(i, Spelled(i->shape(), i->literal(), i));
        break;
      default:
        if (HasTrait(i->opcode(), kCollective)) LegalizeCollective(i);
        break;
    }
  }

  void LegalizeCollective(Instruction* i) {
    const bool alone = one_device_ && NamesDeviceZero(*i);
    if (HasTrait(i->opcode(), kAsyncStart))
      alone ? ReceiveAtDone(i) : JoinHalves(i);
    else
      alone ? Replace(i, Received(i, i)) : MatchResult(i);
  }

  // Control edges of `old`, which will be gone. `with` takes them where it stands in old's place; a
  // value that was there before (the operand of a permute, a call at the start of what `old` ends)
  // cannot wait for what comes before `old`, so what comes after `old` does. Null: nothing stands
  // for it.
  void HandOnOrder(const Instruction* old, Instruction* with) {
    const std::vector<Instruction*>& made = inserted_[old];
    const bool in_place = std::find(made.begin(), made.end(), with) != made.end();
    const std::vector<Instruction*> before(old->control_predecessors().begin(),
                                           old->control_predecessors().end());
    const std::vector<Instruction*> after(old->control_successors().begin(),
                                          old->control_successors().end());
    for (Instruction* p : before) {
      if (in_place) with->AddControlPredecessor(p);
      for (Instruction* s : after)
        if (!in_place) s->AddControlPredecessor(p);
    }
    for (Instruction* s : after) {
      const auto operands = s->operands();
      if (with != nullptr && std::find(operands.begin(), operands.end(), with) == operands.end())
        s->AddControlPredecessor(with);
    }
  }

  // Takes out what no users are left of; `with` stands for it in the order.
  void Drop(Instruction* old, Instruction* with = nullptr) {
    HandOnOrder(old, with);
    dead_.push_back(old);
    gone_.insert(old);
  }

  // Users see the layouts that `old` had.
  void Replace(Instruction* old, Instruction* with) {
    if (SameIgnoringLayout(old->shape(), with->shape()))
      with = InLayoutOf(with, old->shape(), inserted_[old]);
    HandOnOrder(old, with);
    old->ReplaceAllUsesWith(with);
    dead_.push_back(old);
    gone_.insert(old);
  }

  // The value of a constant tuple as a tuple of constants, since buffers hold arrays; put where
  // `at` stands.
  Instruction* Spelled(const Shape& shape, const Literal* literal, const Instruction* at) {
    Instruction* made;
    if (shape.IsTuple()) {
      std::vector<Instruction*> elements;
      for (size_t e = 0; e < shape.elements.size(); ++e)
        elements.push_back(
            Spelled(shape.elements[e], literal ? &literal->elements()[e] : nullptr, at));
      made = c_.Add(Opcode::kTuple, shape, elements);
    } else {
      made = c_.Add(Opcode::kConstant, shape, {});
      if (literal != nullptr)
        made->mutable_attr<ConstantAttrs>().literal = std::make_shared<const Literal>(*literal);
    }
    inserted_[at].push_back(made);
    return made;
  }

  // A copy of each array in `value`, in the layouts of `wanted`, put where `at` stands.
  Instruction* CopyOf(Instruction* value, const Shape& wanted, const Instruction* at) {
    std::vector<Instruction*> parts;
    for (size_t e = 0; e < wanted.elements.size(); ++e) {
      Instruction* part = c_.Add(Opcode::kGetTupleElement, value->shape().elements[e], {value},
                                 GetTupleElementAttrs{static_cast<int64_t>(e)});
      inserted_[at].push_back(part);
      parts.push_back(CopyOf(part, wanted.elements[e], at));
    }
    if (!wanted.IsTuple() && !wanted.IsArray()) return value;  // a token
    Instruction* made = wanted.IsTuple() ? c_.Add(Opcode::kTuple, wanted, parts)
                                         : c_.Add(Opcode::kCopy, wanted, {value});
    inserted_[at].push_back(made);
    return made;
  }

  // A call of a vendor's library becomes the operations that it stands for.
  void ExpandVendor(Instruction* call) {
    Rewriter rewriter(c_);
    rewriter.set_subject(call);
    std::vector<Instruction*> parts = ExpandVendorCall(call, rewriter);
    if (parts.empty()) {
      const std::vector<Instruction*> made = rewriter.TakeMade();
      for (size_t k = made.size(); k-- > 0;) c_.Remove(made[k]);
      return;
    }
    Instruction* whole = parts[0];
    if (call->shape().IsTuple()) {
      TakeParts(call, parts);
      // Workspaces cost time to fill, so they are made only where someone reads them.
      if (call->IsRoot() || !call->users().empty()) {
        for (size_t k = parts.size(); k < call->shape().elements.size(); ++k)
          parts.push_back(rewriter.Splat(call->shape().elements[k], 0));
        whole = rewriter.Add(Opcode::kTuple, call->shape(), parts);
      }
    }
    std::vector<Instruction*>& inserted = inserted_[call];
    for (Instruction* made : rewriter.TakeMade()) inserted.push_back(made);
    Replace(call, whole);
  }

  // Operands in types that kernels read together: of products, and of maxima and minima of two
  // floats.
  void WidenOperands(Instruction* product) {
    if (widens_inside_ && IsQuantizedProduct(*product)) return;
    Rewriter rewriter(c_);
    rewriter.set_subject(product);
    Instruction* wide = WidenNarrowOperands(product, rewriter);
    if (wide == nullptr) wide = WidenChoice(product, rewriter);
    if (wide == nullptr) return;
    for (Instruction* made : rewriter.TakeMade()) inserted_[product].push_back(made);
    Replace(product, wide);
  }

  // Users that take one part of a tuple take it from its own instruction.
  void TakeParts(Instruction* tuple, const std::vector<Instruction*>& parts) {
    const std::vector<Instruction*> users(tuple->users().begin(), tuple->users().end());
    for (Instruction* user : users) {
      if (user->opcode() != Opcode::kGetTupleElement) continue;
      const auto k = static_cast<size_t>(user->tuple_index());
      if (k >= parts.size()) continue;
      Replace(user, parts[k]);
      user->RemoveOperand(0);
    }
  }

  // Whether what `start` gives goes to the further parts of its operation only.
  static bool IsTakenByItsOwnOnly(const Instruction& start) {
    std::vector<const Instruction*> work = {&start};
    while (!work.empty()) {
      const Instruction* part = work.back();
      work.pop_back();
      if (part->IsRoot()) return false;
      for (const Instruction* user : part->users()) {
        if (Info(user->opcode()).traits & kAsyncDone) continue;
        if (user->opcode() != Opcode::kAsyncUpdate) return false;
        work.push_back(user);
      }
    }
    return true;
  }

  // What is called runs where its caller does.
  static void MoveToThread(Computation* called, const std::string& thread) {
    std::vector<Computation*> work = {called};
    while (!work.empty()) {
      Computation* c = work.back();
      work.pop_back();
      if (c->execution_thread() == thread) continue;
      c->set_execution_thread(thread);
      for (Instruction* i : c->Instructions())
        if (!IsAsync(i->opcode())) work.insert(work.end(), i->called().begin(), i->called().end());
    }
  }

  // (operands, result, ...) of start is taken apart by done only, through updates.
  void Synchronize(Instruction* start) {
    if (!IsTakenByItsOwnOnly(*start)) return;
    MoveToThread(start->to_apply(), c_.execution_thread());
    auto call = std::make_unique<Instruction>(Opcode::kCall, start->to_apply()->root()->shape(),
                                              start->operands());
    call->set_called({start->to_apply()});
    Instruction* made = c_.Add(std::move(call), start->name());
    inserted_[start].push_back(made);
    CompleteReceives(*start->to_apply());
    FinishAsync(start, made);
  }

  // The receives of an asynchronous computation have no recv-done of their own, as its async-done
  // waits for them. As a call it ends with recv-dones, after all that it sends.
  //   tuple(send, recv)  ->  tuple(send, (data, context, token of recv-done))
  static void CompleteReceives(Computation& body) {
    std::vector<Instruction*> sends, schedule;
    for (Instruction* i : body.ScheduleOrPostOrder())
      if (i->opcode() == Opcode::kSend) sends.push_back(i);
    for (Instruction* recv : body.Instructions()) {
      if (recv->opcode() != Opcode::kRecv || recv->shape().elements.size() != 3) continue;
      if (recv->users().size() != 1 || !recv->users()[0]->IsRoot()) continue;
      const std::vector<Shape>& parts = recv->shape().elements;
      Instruction* done = body.Add(Opcode::kRecvDone, Shape::Tuple({parts[0], parts[2]}), {recv},
                                   recv->attr<SendRecvAttrs>());
      for (Instruction* send : sends) done->AddControlPredecessor(send);
      const auto part = [&](Instruction* of, int64_t k, int64_t what) {
        return body.Add(Opcode::kGetTupleElement, parts[what], {of}, GetTupleElementAttrs{k});
      };
      Instruction *data = part(done, 0, 0), *context = part(recv, 1, 1), *token = part(done, 1, 2);
      Instruction* whole = body.Add(Opcode::kTuple, recv->shape(), {data, context, token});
      recv->ReplaceUseIn(body.root(), whole);
      schedule.insert(schedule.end(), {done, data, context, token, whole});
    }
    if (!body.has_schedule() || schedule.empty()) return;
    std::vector<Instruction*> order(body.schedule().begin(), body.schedule().end());
    order.insert(std::find(order.begin(), order.end(), body.root()), schedule.begin(),
                 schedule.end());
    body.set_schedule(std::move(order));
  }

  void SynchronizeCopy(Instruction* start) {
    if (!IsTakenByItsOwnOnly(*start)) return;
    const std::vector<Instruction*> users(start->users().begin(), start->users().end());
    for (Instruction* done : users) {
      Instruction* copy = c_.Add(Opcode::kCopy, done->shape(), {start->operand(0)}, done->name());
      inserted_[done].push_back(copy);
      Replace(done, copy);
    }
    Drop(start);
  }

  // What a device that is alone receives from `collective`, in the shape of `taker`: what it sends,
  // and zeros where nobody sends to it.
  Instruction* Received(const Instruction* collective, Instruction* taker) {
    const Opcode opcode = collective->opcode();
    const bool permutes = WholeOf(opcode).value_or(opcode) == Opcode::kCollectivePermute;
    const bool sends =
        !permutes || !collective->attr<CollectivePermuteAttrs>().source_target_pairs.empty();
    Rewriter rewriter(c_);
    rewriter.set_subject(taker);
    std::vector<Instruction*> parts;
    for (int64_t o = 0; o < collective->operand_count(); ++o) {
      Instruction* part = collective->operand(o);
      const Shape& wanted = taker->shape().IsTuple() ? taker->shape().elements[o] : taker->shape();
      // Zero bits, whatever they stand for: f8e8m0fnu has no zero.
      if (!sends) part = rewriter.Fill(wanted, Literal(Shape::Scalar(wanted.type)));
      if (part->shape().MinorToMajor() != wanted.MinorToMajor())
        part = rewriter.Add(Opcode::kCopy, wanted, {part});
      parts.push_back(part);
    }
    Instruction* whole =
        taker->shape().IsTuple() ? rewriter.Add(Opcode::kTuple, taker->shape(), parts) : parts[0];
    std::vector<Instruction*>& inserted = inserted_[taker];
    for (Instruction* made : rewriter.TakeMade()) inserted.push_back(made);
    return whole;
  }

  // The same of a collective in two halves, where nothing but its other half takes the first.
  void ReceiveAtDone(Instruction* start) {
    if (!IsTakenByItsOwnOnly(*start)) return;
    const std::vector<Instruction*> users(start->users().begin(), start->users().end());
    for (Instruction* done : users) Replace(done, Received(start, done));
    Drop(start);
  }

  // A collective in two halves as one, where nothing but its other half takes the first.
  void JoinHalves(Instruction* start) {
    if (!IsTakenByItsOwnOnly(*start) || start->users().empty()) return;
    const std::vector<Instruction*> users(start->users().begin(), start->users().end());
    auto whole = std::make_unique<Instruction>(*WholeOf(start->opcode()), users[0]->shape(),
                                               start->operands());
    VisitAttributes(start->opcode(), start->mutable_attributes(), [&](const auto& attributes) {
      using Attributes = std::decay_t<decltype(attributes)>;
      if constexpr (!std::is_same_v<Attributes, NoAttrs>)
        whole->mutable_attr<Attributes>() = attributes;
    });
    whole->set_called({start->called().begin(), start->called().end()});
    whole->set_place(start->place());
    Instruction* made = c_.Add(std::move(whole), start->name());
    inserted_[start].push_back(made);
    MatchResult(made);
    for (Instruction* done : users) Replace(done, made);
    Drop(start, made);
  }

  // Collectives move blocks of memory: operands lie as results do.
  void MatchResult(Instruction* collective) {
    const Shape& shape = collective->shape();
    for (int64_t o = 0; o < collective->operand_count(); ++o) {
      if (shape.IsTuple() && o >= static_cast<int64_t>(shape.elements.size())) return;
      const Shape& result = shape.IsTuple() ? shape.elements[o] : shape;
      Shape wanted = collective->operand(o)->shape();
      if (!result.IsArray() || result.rank() != wanted.rank()) continue;
      wanted.has_layout = result.has_layout;
      wanted.layout = result.layout;
      MatchOperand(collective, o, wanted);
    }
  }

  // An operand that lies in another order is copied.
  void MatchOperand(Instruction* user, int64_t o, const Shape& wanted) {
    const Shape& have = user->operand(o)->shape();
    if (!have.IsArray() || have.MinorToMajor() == wanted.MinorToMajor()) return;
    Instruction* copy = c_.Add(
        Opcode::kCopy, wanted.has_layout ? wanted : wanted.WithDefaultLayout(), {user->operand(o)});
    inserted_[user].push_back(copy);
    user->SetOperand(o, copy);
  }

  // Custom calls read operands in the layouts that they name.
  void ConstrainLayouts(Instruction* call) {
    const auto& constraints = call->attr<CustomCallAttrs>().operand_layout_constraints;
    if (!constraints.has_value()) return;
    const std::vector<Shape>& wanted = *constraints;
    if (static_cast<int64_t>(wanted.size()) != call->operand_count()) return;
    for (int64_t o = 0; o < call->operand_count(); ++o) {
      if (!wanted[o].has_layout) continue;
      Shape shape = call->operand(o)->shape();
      shape.has_layout = true;
      shape.layout = wanted[o].layout;
      MatchOperand(call, o, shape);
    }
  }

  void FinishAsync(Instruction* start, Instruction* value) {
    std::vector<Instruction*> work(start->users().begin(), start->users().end());
    std::vector<Instruction*> updates;
    while (!work.empty()) {
      Instruction* user = work.back();
      work.pop_back();
      if (user->opcode() == Opcode::kAsyncDone) {
        Replace(user, value);
      } else {
        updates.push_back(user);
        work.insert(work.end(), user->users().begin(), user->users().end());
      }
    }
    for (size_t k = updates.size(); k-- > 0;) Drop(updates[k], value);
    Drop(start, value);
  }

  void HoistConstants(Instruction* fusion) {
    Computation* body = fusion->to_apply();
    for (Instruction* i : body->Instructions()) {
      if (!i->IsConstant() || i->shape().IsScalar() || i->literal() == nullptr) continue;
      hoisted_ = true;
      Computation* outer = fusion->parent();
      auto clone = i->CloneWith(i->shape(), {});
      Instruction* outside = outer->Add(std::move(clone));
      Instruction* parameter = body->AddParameter(body->parameter_count(), i->shape(), "hoisted");
      fusion->AppendOperand(outside);
      i->ReplaceAllUsesWith(parameter);
      body->clear_schedule();  // it would name `i`; a fusion needs none
      body->Remove(i);
      if (!outer->has_schedule()) continue;
      std::vector<Instruction*> schedule = {outside};
      schedule.insert(schedule.end(), outer->schedule().begin(), outer->schedule().end());
      outer->set_schedule(std::move(schedule));
    }
  }

  std::vector<Instruction*> TakeApart(Instruction* fusion) {
    absl::flat_hash_map<const Instruction*, Instruction*> map;
    std::vector<Instruction*> made, operands;
    Computation* body = fusion->to_apply();
    for (Instruction* i : body->PostOrder()) {
      if (i->IsParameter()) {
        map[i] = fusion->operand(i->parameter_number());
        continue;
      }
      operands.clear();
      for (Instruction* operand : i->operands()) operands.push_back(map.at(operand));
      map[i] = c_.Add(i->CloneWith(i->shape(), operands));
      made.push_back(map[i]);
    }
    // Behind copies of operands that were put there before.
    std::vector<Instruction*>& inserted = inserted_[fusion];
    inserted.insert(inserted.end(), made.begin(), made.end());
    Replace(fusion, map.at(body->root()));
    return made;
  }

  void Reschedule(const std::vector<Instruction*>& order) {
    // Constants that HoistConstants put first are in the schedule already.
    std::vector<Instruction*> schedule;
    std::function<void(Instruction*)> place = [&](Instruction* i) {
      if (auto found = inserted_.find(i); found != inserted_.end())
        for (Instruction* part : found->second) place(part);
      if (!gone_.contains(i)) schedule.push_back(i);
    };
    const absl::flat_hash_set<const Instruction*> known(order.begin(), order.end());
    for (Instruction* i : c_.schedule())
      if (!known.contains(i)) schedule.push_back(i);
    for (Instruction* i : order) place(i);
    c_.set_schedule(std::move(schedule));
  }

  Computation& c_;
  const bool one_device_;
  const Legalize::CanEmit can_emit_;
  const bool widens_inside_;
  bool hoisted_ = false;
  Insertions inserted_;
  std::vector<Instruction*> dead_;
  absl::flat_hash_set<const Instruction*> gone_;
};

}  // namespace

absl::StatusOr<bool> Legalize::Run(Module& module) {
  ASSIGN_OR_RETURN(bool changed, ConvertLayoutsAtBoundaries(module));
  const std::vector<bool> running = RunningComputations(module);
  const bool one_device = module.header().replica_count * module.header().num_partitions == 1;
  for (Computation* c : module.Computations())
    if (running[c->id()]) changed |= Legalizer(*c, one_device, can_emit_, widens_inside_).Run();
  changed |= RemoveUncalled(module);  // bodies of fusions that are no more
  ASSIGN_OR_RETURN(const bool flattened, FlattenCallGraph().Run(module));
  ASSIGN_OR_RETURN(const bool converted, ConvertLayoutsAtBoundaries(module));
  return changed || flattened || converted;
}

std::unique_ptr<Pass> CreateLegalize(PassArguments& arguments) {
  const bool attention =
      arguments.Flag("attention",
                     "also keep what attention-fusion, product-finish-fusion and "
                     "dot-operand-narrowing make");
  const bool finished =
      arguments.Flag("finished", "also keep what dot-finish-fusion makes of convolutions");
  if (attention)
    return std::make_unique<Legalize>(
        +[](const Instruction& fusion) {
          return CanEmitKernels(fusion) || FindAttentionFusion(fusion).has_value() ||
                 FindFinishedProduct(fusion).has_value();
        },
        /*widens_inside=*/true);
  if (finished)
    return std::make_unique<Legalize>(+[](const Instruction& fusion) {
      return CanEmitKernels(fusion) || FinishesConvolution(fusion);
    });
  return std::make_unique<Legalize>(CanEmitKernels);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
