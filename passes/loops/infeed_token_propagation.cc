// infeed-token-propagation: threads the tokens of infeeds and outfeeds through loops, conditionals
// and calls.
// Infeeds and outfeeds whose token comes out of nowhere (an after-all of nothing) are put in the
// order of the text by tokens: within a loop's body from its state, which gets a token more, and so
// from round to round; before and after the loop through its initial value and its result. Loops
// that share their computations, whose state is read as a whole tuple, and branches of conditionals
// stay. Values stay the same. Cost: linear in the module for each loop.
//
// Tokens through loops.
#include <set>

#include "passes/framework/pass.h"
#include "passes/rewrite/hlo_writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kName = "infeed-token-propagation";

bool IsFresh(const Instruction* token) {
  return token->opcode() == Opcode::kAfterAll && token->operand_count() == 0;
}

// An instruction of a computation that takes a token and gives one: an infeed, an outfeed, or a
// loop whose state has a token last.
struct Link {
  Instruction* user;  // which operand takes the token: of a loop, of its initial value
  int64_t operand;
  Instruction* maker;  // and what gives it
};

class Propagation {
 public:
  Propagation(Module& module, RewriteControl& control) : module_(module), control_(control) {}

  absl::StatusOr<bool> Run() {
    const std::vector<bool> running = RunningComputations(module_);
    for (Computation* c : module_.ComputationsPostOrder()) {  // inner loops first
      if (!running[c->id()]) continue;
      for (Instruction* i : c->PostOrder())
        if (i->opcode() == Opcode::kWhile) Extend(i);
    }
    const std::vector<Link> links = LinksOf(*module_.entry());
    if (links.size() > 1 && control_.Permit(kName, *links[0].maker, *links[1].maker)) {
      Chain(*module_.entry(), links, module_.entry()->Add(Opcode::kAfterAll, Shape::Token(), {}));
      changed_ = true;
    }
    return changed_;
  }

 private:
  std::vector<Link> LinksOf(const Computation& c) const {
    std::vector<Link> links;
    for (Instruction* i : c.PostOrder()) {
      if (i->opcode() == Opcode::kInfeed && IsFresh(i->operand(0))) links.push_back({i, 0, i});
      if (i->opcode() == Opcode::kOutfeed && IsFresh(i->operand(1))) links.push_back({i, 1, i});
      if (extended_.count(i) != 0) {
        Instruction* start = i->operand(0);
        const int64_t last = start->operand_count() - 1;
        if (IsFresh(start->operand(last))) links.push_back({start, last, i});
      }
    }
    return links;
  }

  // Sends the token through all links; gives the last one's.
  static Instruction* Chain(Computation& c, const std::vector<Link>& links, Instruction* token) {
    Rewriter r(c);
    HloWriter w(r);
    for (const Link& link : links) {
      Instruction* fresh = link.user->operand(link.operand);
      link.user->SetOperand(link.operand, token);
      c.RemoveIfDead(fresh);
      token = link.maker;
      if (token->shape().IsTuple())
        token = w.Part(token, static_cast<int64_t>(token->shape().elements.size()) - 1);
    }
    return token;
  }

  static bool OnlyTakenApart(const Instruction* tuple) {
    for (const Instruction* user : tuple->users())
      if (user->opcode() != Opcode::kGetTupleElement) return false;
    return !tuple->IsRoot();
  }

  // Whether the loop's state may get one more part: every reader takes parts of it.
  static bool CanExtend(const Instruction* loop) {
    const Computation& body = *loop->called(1);
    if (!loop->shape().IsTuple() || !OnlyTakenApart(loop)) return false;
    if (body.root()->opcode() != Opcode::kTuple || !body.root()->users().empty()) return false;
    for (const Computation* c : loop->called())
      if (c->Callers().size() != 1 || !OnlyTakenApart(c->parameter(0))) return false;
    return true;
  }

  void Extend(Instruction* loop) {
    Computation& body = *loop->called(1);
    const std::vector<Link> links = LinksOf(body);
    if (links.empty() || !CanExtend(loop) || !control_.Permit(kName, *loop, *loop)) return;
    Shape state = loop->shape();
    state.elements.push_back(Shape::Token());
    const int64_t last = static_cast<int64_t>(state.elements.size()) - 1;
    for (Computation* c : loop->called()) c->parameter(0)->set_shape(state);
    Rewriter inside(body);
    HloWriter w(inside);
    Instruction* token = Chain(body, links, w.Part(body.parameter(0), last));
    body.root()->AppendOperand(token);
    body.root()->set_shape(state);
    ExtendStart(loop, last);
    loop->set_shape(state);
    extended_.insert(loop);
    changed_ = true;
  }

  static void ExtendStart(Instruction* loop, int64_t parts) {
    Rewriter r(*loop->parent());
    HloWriter w(r);
    std::vector<Instruction*> values;
    Instruction* start = loop->operand(0);
    for (int64_t k = 0; k < parts; ++k)
      values.push_back(start->opcode() == Opcode::kTuple ? start->operand(k) : w.Part(start, k));
    values.push_back(r.Add(Opcode::kAfterAll, Shape::Token(), {}));
    loop->SetOperand(0, w.Tuple(values));
    loop->parent()->RemoveIfDead(start);
  }

  Module& module_;
  RewriteControl& control_;
  bool changed_ = false;
  std::set<const Instruction*> extended_;
};

absl::StatusOr<bool> Run(Module& module, RewriteControl& control) {
  return Propagation(module, control).Run();
}

}  // namespace

std::unique_ptr<Pass> CreateInfeedTokenPropagation() { return MakeModulePass(kName, Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
