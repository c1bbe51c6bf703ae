// Steps about when things happen: tokens, control edges, asynchronous pairs, the host's queues.
#include "absl/strings/str_cat.h"
#include "generator/scope_internal.h"

namespace hlokit {

Instruction* NewToken(GeneratedCode& s) { return s.Make(Opcode::kAfterAll, {}); }

Instruction* ElementOf(GeneratedCode& s, Instruction* tuple, int64_t index) {
  return s.computation().Add(Opcode::kGetTupleElement, tuple->shape().elements[index], {tuple},
                             GetTupleElementAttrs{index});
}

// The host of the one device sees things in the order of the entry's one chain of tokens.
bool MayTalk(GeneratedCode& s) {
  const ModuleHeader& header = s.module().header();
  if (s.kind() != GeneratedCode::Kind::kEntry || header.replica_count * header.num_partitions > 1)
    return false;
  Instruction*& last = s.state().host_token;
  if (last == nullptr) last = NewToken(s);
  return true;
}

ElementType HostType(GeneratedCode& s) {
  return s.random().OneOf({ElementType::kF32, ElementType::kS32, ElementType::kF64,
                           ElementType::kU8, ElementType::kBF16, ElementType::kPred});
}

namespace {

// Now and then several tokens, joined.
Instruction* SomeToken(GeneratedCode& s) {
  if (s.random().Chance(0.7)) return NewToken(s);
  return s.Make(Opcode::kAfterAll, {NewToken(s), NewToken(s)});
}

// What came in, which nothing bounds but the ranges of random arguments.
void KeepReceived(GeneratedCode& s, Instruction* value) { s.Keep(value, {-1, 1, 0}); }

}  // namespace

void OrderByToken(GeneratedCode& s) {
  const RandomValue x = s.Any();
  s.Keep(s.Make(Opcode::kAddDependency, {x.instruction, SomeToken(s)}), x.bounds);
}

void OrderByEdge(GeneratedCode& s) {
  const RandomValue a = s.Any(), b = s.Any();
  Instruction *before = a.instruction, *after = b.instruction;
  if (before->id() > after->id()) std::swap(before, after);
  // What is made later never reads what is made earlier: no circle can close.
  if (before == after || after->IsParameter() || before->IsParameter()) return;
  after->AddControlPredecessor(before);
}

void MarkDomain(GeneratedCode& s) {
  const RandomValue x = s.Any();
  Instruction* made = s.Make(Opcode::kDomain, {x.instruction});
  if (made == nullptr) return;
  Domain& border = made->mutable_attr<DomainAttrs>().domain;
  // As XLA writes neighbours without shardings.
  border.entry.kind = border.exit.kind = Sharding::Kind::kTuple;
  s.Keep(made, x.bounds);
}

void CopyLater(GeneratedCode& s) {
  const RandomValue x = s.Any();
  Instruction* start = s.Make(Opcode::kCopyStart, {x.instruction});
  if (start == nullptr) return;
  Shape source = x.shape(), target = s.WithSomeLayout(x.shape().WithoutLayout());
  if (!source.has_layout) source = source.WithDefaultLayout();
  start->set_shape(Shape::Tuple({target, source, Shape::Scalar(ElementType::kU32)}));
  Instruction* done = s.computation().Add(Opcode::kCopyDone, target, {start});
  s.Keep(done, x.bounds);
}

void CallLater(GeneratedCode& s) {
  Values results;
  const std::optional<CallPlan> plan = PlanCall(s, "async_body", 3);
  if (!plan.has_value()) return;
  std::vector<Shape> operands;
  for (const Instruction* i : plan->operands) operands.push_back(i->shape());
  const Shape result = plan->body->root()->shape();
  const Shape flight =
      Shape::Tuple({Shape::Tuple(std::move(operands)), result, Shape::Scalar(ElementType::kU32)});
  Instruction* last =
      s.MakeCalling(Opcode::kAsyncStart, plan->operands, {plan->body}, AsyncAttrs{}, &flight);
  if (last == nullptr) return;
  last->set_shape(flight);  // with its layouts
  for (int64_t updates = s.random().Between(0, 2); updates > 0; --updates) {
    auto update = std::make_unique<Instruction>(Opcode::kAsyncUpdate, flight,
                                                absl::Span<Instruction* const>{last});
    update->set_called({plan->body});
    last = s.computation().Add(std::move(update));
  }
  auto done = std::make_unique<Instruction>(Opcode::kAsyncDone, result,
                                            absl::Span<Instruction* const>{last});
  done->set_called({plan->body});
  KeepResults(s, s.computation().Add(std::move(done)), *plan);
}

void FeedIn(GeneratedCode& s) {
  if (!MayTalk(s)) return;
  const Shape item = Shape::Array(HostType(s), s.AnyDims()).WithDefaultLayout();
  const Shape declared = Shape::Tuple({item, Shape::Token()});
  Instruction* infeed = s.Make(Opcode::kInfeed, {s.state().host_token}, InfeedAttrs{}, &declared);
  if (infeed == nullptr) return;
  s.state().host_token = ElementOf(s, infeed, 1);
  KeepReceived(s, ElementOf(s, infeed, 0));
}

void FeedOut(GeneratedCode& s) {
  if (!MayTalk(s)) return;
  // The host compares what it gets bit for bit.
  const RandomValue x = s.Plain(s.GetAny(HostType(s), /*exact=*/true));
  OutfeedAttrs attributes;
  attributes.outfeed_shape = x.shape();
  if (Instruction* made =
          s.Make(Opcode::kOutfeed, {x.instruction, s.state().host_token}, attributes))
    s.state().host_token = made;
}

// A message from the device to itself, or by way of the host's queues.
void SendAndReceive(GeneratedCode& s) {
  if (!MayTalk(s)) return;
  const bool host = s.random().Chance(0.5);
  const RandomValue x = s.Plain(s.GetAny(HostType(s), /*exact=*/true));
  SendRecvAttrs attributes{++s.state().channels, host};
  Instruction*& token = s.state().host_token;
  Instruction* send = s.Make(Opcode::kSend, {x.instruction, token}, attributes);
  token = s.Make(Opcode::kSendDone, {send}, attributes);
  const Shape declared =
      Shape::Tuple({x.shape(), Shape::Scalar(ElementType::kU32), Shape::Token()});
  if (host) attributes.channel_id = ++s.state().channels;
  Instruction* recv = s.Make(Opcode::kRecv, {token}, attributes, &declared);
  Instruction* done = s.Make(Opcode::kRecvDone, {recv}, attributes);
  token = ElementOf(s, done, 1);
  if (host) return KeepReceived(s, ElementOf(s, done, 0));
  s.Keep(ElementOf(s, done, 0), x.bounds);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
