// control-flow-flattening: bounds every loop by a counter and replaces communication by calls that
// only give memory, for measurements on one device.
// For measuring how fast a program is away from its host and the other devices: changes values.
// Loops on tuples get a counter at the end of their state, and run as often as the constant says that
// their condition compares with, else `while-execution-count` (1) rounds; at most `max-loop-count`,
// and `max-outer-loop-count` where they are in no other loop. Infeeds, collectives and transfers
// become AllocateBuffer calls, outfeeds and sends NopReturnToken calls, the number of the device 0
// (`keep-infeed-outfeed`, `keep-comm`, `keep-id` leave them; `remove-host-transfer` takes transfers
// to the host even so). Cost: linear.
//   while (c) { body }  ->  while (i < N) { body; ++i }
//   all-reduce(x)       ->  custom-call(x), custom_call_target="AllocateBuffer"
#include <algorithm>
#include <limits>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/post_order_of.h"

namespace hlokit {
namespace {

struct Wishes {
  int64_t rounds = 1, most_rounds = 0, most_outer_rounds = 0;
  bool keep_feeds = false, keep_comm = false, keep_ids = false, host_transfers = false;
};

bool IsInLoop(const Computation* c) {
  const std::vector<Instruction*> callers = c->Callers();
  return std::any_of(callers.begin(), callers.end(), [](const Instruction* caller) {
    return caller->opcode() == Opcode::kWhile || IsInLoop(caller->parent());
  });
}

// The integer that the condition compares with, where it is a constant; 0 where it is not.
int64_t Limit(const Instruction* condition) {
  if (condition->opcode() != Opcode::kCompare) return 0;
  using enum ComparisonDirection;
  const ComparisonDirection how = condition->attr<CompareAttrs>().direction;
  const auto number = [&](int64_t k) -> int64_t {
    const Instruction* x = condition->operand(k);
    const bool is_number = x->IsConstant() && x->literal() != nullptr &&
                           IsInteger(x->shape().type) && x->shape().ElementCount() == 1;
    return is_number ? x->literal()->GetInt(0) : 0;
  };
  if ((how == kLt || how == kLe || how == kNe) && number(1) != 0) return number(1);
  return how == kGt || how == kGe || how == kNe ? number(0) : 0;
}

class Flattener {
 public:
  Flattener(Module& module, const Wishes& wishes) : module_(module), wishes_(wishes) {}

  bool Run() {
    for (Computation* c : module_.ComputationsPostOrder())
      for (Instruction* i : c->PostOrder()) Visit(i);
    return changed_;
  }

 private:
  void Visit(Instruction* i) {
    switch (i->opcode()) {
      case Opcode::kWhile:
        if (i->shape().IsTuple()) Count(i);
        return;
      case Opcode::kInfeed:
        if (!wishes_.keep_feeds) ReplaceInfeed(i);
        return;
      case Opcode::kOutfeed:
        if (!wishes_.keep_feeds) ReplaceByToken(i);
        return;
      case Opcode::kSend:
      case Opcode::kRecv:
      case Opcode::kRecvDone:
        if (IsReplacedTransfer(i)) ReplaceByMemory(i);
        return;
      case Opcode::kSendDone:
        if (IsReplacedTransfer(i)) ReplaceByToken(i);
        return;
      case Opcode::kPartitionId:
      case Opcode::kReplicaId:
        if (!wishes_.keep_ids) Replace(i, Writer(i).r.Splat(i->shape(), 0));
        return;
      default:
        if (!wishes_.keep_comm && IsCollective(i)) ReplaceByMemory(i);
    }
  }

  bool IsReplacedTransfer(const Instruction* i) const {
    return !wishes_.keep_comm ||
           (wishes_.host_transfers && i->attr<SendRecvAttrs>().is_host_transfer);
  }

  static bool IsCollective(const Instruction* i) {
    if (HasTrait(i->opcode(), kCollective)) return true;
    if (!HasTrait(i->opcode(), kAsyncDone)) return false;
    return i->opcode() == Opcode::kAllReduceDone || i->opcode() == Opcode::kAllGatherDone ||
           i->opcode() == Opcode::kCollectivePermuteDone;
  }

  struct Made {
    explicit Made(Instruction* i) : r(*i->parent()), w(r) { r.set_subject(i); }
    Rewriter r;
    HloWriter w;
  };
  static Made Writer(Instruction* i) { return Made(i); }

  void Replace(Instruction* old, Instruction* made) {
    const std::string name = old->name();
    old->ReplaceAllUsesWith(made);
    PassOnControlEdges(old, made, /*is_new=*/true);
    old->parent()->Remove(old);
    if (made->opcode() != Opcode::kTuple) made->set_name(name);
    changed_ = true;
  }

  static Instruction* Call(Instruction* old, absl::string_view target, const Shape& shape,
                           absl::Span<Instruction* const> operands) {
    CustomCallAttrs attrs;
    attrs.target = std::string(target);
    attrs.has_side_effect = target == "NopReturnToken";
    Rewriter r(*old->parent());
    r.set_subject(old);
    return r.Add(Opcode::kCustomCall, shape, operands, std::move(attrs));
  }

  void ReplaceByMemory(Instruction* i) {
    Instruction* made = Call(i, "AllocateBuffer", i->shape(), i->operands());
    if (!i->backend_config().empty())
      made->mutable_extras().backend_config = i->extras().backend_config;
    Replace(i, made);
  }
  void ReplaceByToken(Instruction* i) {
    Replace(i, Call(i, "NopReturnToken", i->shape(), i->operands()));
  }
  void ReplaceInfeed(Instruction* i) {
    Instruction* fed = Call(i, "AllocateBuffer", i->shape().elements[0], {});
    Replace(i, i->parent()->Add(Opcode::kTuple, i->shape(), {fed, i->operand(0)}));
  }

  // The parts of `whole`, and one more.
  static Instruction* Append(Instruction* whole, Instruction* more) {
    Rewriter r(*whole->parent());
    HloWriter w(r);
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < whole->shape().elements.size(); ++k)
      parts.push_back(w.Part(whole, static_cast<int64_t>(k)));
    parts.push_back(more);
    return w.Tuple(parts);
  }

  // `whole` is a tuple of one part more now: those that read it as a tuple read the parts it had.
  static void Extend(Instruction* whole, const Shape& wide) {
    const std::vector<Instruction*> readers(whole->users().begin(), whole->users().end());
    const bool root = whole->IsRoot();
    whole->set_shape(wide);
    if (whole->HasExtras()) whole->mutable_extras().sharding.reset();
    Instruction* narrow = nullptr;
    const auto old = [&] {
      if (narrow != nullptr) return narrow;
      Rewriter r(*whole->parent());
      HloWriter w(r);
      std::vector<Instruction*> parts;
      for (size_t k = 0; k + 1 < wide.elements.size(); ++k)
        parts.push_back(w.Part(whole, static_cast<int64_t>(k)));
      return narrow = w.Tuple(parts);
    };
    for (Instruction* reader : readers)
      if (reader->opcode() != Opcode::kGetTupleElement) whole->ReplaceUseIn(reader, old());
    if (root) whole->parent()->set_root(old());
  }

  int64_t Rounds(const Instruction* loop) const {
    const int64_t limit = Limit(loop->called(0)->root());
    int64_t rounds = limit > 0 ? std::min(limit, wishes_.most_rounds) : wishes_.rounds;
    if (rounds > wishes_.most_outer_rounds && !IsInLoop(loop->parent()))
      rounds = wishes_.most_outer_rounds;
    return rounds;
  }

  void Count(Instruction* loop) {
    for (const Computation* c : loop->called())
      if (c->Callers().size() != 1) return;
    const int64_t rounds = Rounds(loop);
    const auto counter = static_cast<int64_t>(loop->shape().elements.size());
    Made outer(loop);
    Instruction* start =
        Append(loop->operand(0), outer.w.Integer(ElementType::kS32, 0));
    loop->SetOperand(0, start);
    const Shape wide = start->shape();
    Computation &condition = *loop->called(0), &body = *loop->called(1);
    Extend(condition.parameter(0), wide);
    Rewriter test(condition);
    HloWriter t(test);
    condition.set_root(t.Compare(t.Part(condition.parameter(0), counter),
                                 t.Integer(ElementType::kS32, rounds), ComparisonDirection::kLt));
    Extend(body.parameter(0), wide);
    Rewriter step(body);
    HloWriter s(step);
    Instruction* next = s.WithInteger(Opcode::kAdd, s.Part(body.parameter(0), counter), 1);
    body.set_root(Append(body.root(), next));
    Extend(loop, wide);
    changed_ = true;
  }

  Module& module_;
  const Wishes& wishes_;
  bool changed_ = false;
};

class ControlFlowFlattening final : public Pass {
 public:
  explicit ControlFlowFlattening(const Wishes& wishes) : wishes_(wishes) {}
  absl::string_view name() const override { return "control-flow-flattening"; }

  absl::StatusOr<bool> Run(Module& module) override { return Flattener(module, wishes_).Run(); }

 private:
  const Wishes wishes_;
};

}  // namespace

std::unique_ptr<Pass> CreateControlFlowFlattening(PassArguments& arguments) {
  constexpr int64_t kNoLimit = std::numeric_limits<int32_t>::max();
  Wishes wishes;
  wishes.rounds =
      arguments.Int("while-execution-count", 1, "rounds of loops whose limit is no constant");
  wishes.most_rounds = arguments.Int("max-loop-count", kNoLimit, "rounds of a loop, at most");
  wishes.most_outer_rounds =
      arguments.Int("max-outer-loop-count", kNoLimit, "of a loop that is in no other");
  wishes.keep_feeds = arguments.Flag("keep-infeed-outfeed", "leave infeeds and outfeeds");
  wishes.keep_comm = arguments.Flag("keep-comm", "leave collectives and transfers");
  wishes.keep_ids = arguments.Flag("keep-id", "leave the numbers of devices");
  wishes.host_transfers =
      arguments.Flag("remove-host-transfer", "also transfers to the host, with keep-comm");
  return std::make_unique<ControlFlowFlattening>(wishes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
