// infeed-token-propagation: threads the tokens of infeeds and outfeeds through loops and
// conditionals.
// Infeeds and outfeeds whose token comes out of nowhere (an after-all of nothing) are put in the
// order of the text by tokens. Within a loop's body the token comes from its state, which gets one
// part more, and so goes from round to round; within a conditional's branch it comes from the
// branch's operand, and every branch gives one. Before and after them it goes through their
// operands and results. What is no tuple becomes one, and who reads a tuple as a whole reads one
// made of its parts. Computations that several instructions call stay as they are. Values stay the
// same. Cost: linear in the module for each loop or conditional.
//   while((n))  ->  while((n, after-all()))   body: infeed(state[1]); root (n', token)
#include <algorithm>
#include <map>

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
// loop or conditional that has got one.
struct Link {
  // Who takes the token, at which operand: of a loop its initial value, of a conditional the
  // operands of branches.
  std::vector<std::pair<Instruction*, int64_t>> takers;
  Instruction* maker;  // and what gives it
};

// The parts of a tuple, or the value itself: a new instruction for each.
std::vector<Instruction*> PartsOf(HloWriter& w, Instruction* value) {
  if (!value->shape().IsTuple()) return {value};
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < value->shape().elements.size(); ++k) parts.push_back(w.Part(value, k));
  return parts;
}

// The last infeed or outfeed of those that pass on the token of `maker` already.
Instruction* EndOfChain(Instruction* maker) {
  while (true) {
    Instruction* next = nullptr;
    const auto look = [&](const Instruction* token) {
      for (Instruction* user : token->users())
        if (user->opcode() == Opcode::kInfeed || user->opcode() == Opcode::kOutfeed) next = user;
    };
    if (maker->shape().IsToken()) look(maker);
    for (const Instruction* part : maker->users())
      if (part->opcode() == Opcode::kGetTupleElement && part->shape().IsToken()) look(part);
    if (next == nullptr) return maker;
    maker = next;
  }
}

// Gives `value` one part more, a token: readers go on with the parts that they know. Returns that
// part's place.
int64_t AddTokenTo(Instruction* value) {
  Computation& c = *value->parent();
  Rewriter r(c);
  HloWriter w(r);
  const bool was_tuple = value->shape().IsTuple();
  const Shape old = value->shape();
  std::vector<Instruction*> readers;
  for (Instruction* user : value->users())
    if (!was_tuple || user->opcode() != Opcode::kGetTupleElement) readers.push_back(user);
  const bool root = value->IsRoot();
  Shape shape = was_tuple ? old : Shape::Tuple({old});
  shape.elements.push_back(Shape::Token());
  const int64_t place = static_cast<int64_t>(shape.elements.size()) - 1;
  value->set_shape(shape);
  if (readers.empty() && !root) return place;
  Instruction* known = nullptr;
  if (was_tuple) {
    std::vector<Instruction*> parts;
    for (int64_t k = 0; k < place; ++k) parts.push_back(w.Part(value, k));
    known = w.Tuple(parts);
    known->set_shape(old);
  } else {
    known = w.Part(value, 0);
  }
  for (Instruction* reader : readers) value->ReplaceUseIn(reader, known);
  if (root) c.set_root(known);
  return place;
}

// The computation gives `token` as one part more.
void AddToRoot(Computation& c, Instruction* token) {
  Rewriter r(c);
  HloWriter w(r);
  Instruction* root = c.root();
  if (root->opcode() == Opcode::kTuple && root->users().empty()) {
    Shape shape = root->shape();
    shape.elements.push_back(Shape::Token());
    root->AppendOperand(token);
    root->set_shape(std::move(shape));
    return;
  }
  std::vector<Instruction*> parts = PartsOf(w, root);
  parts.push_back(token);
  c.set_root(w.Tuple(parts));
}

// Operand k of a call gets a fresh token as one part more: in place where nothing else reads it.
void AddToOperand(Instruction* call, int64_t k) {
  Computation& c = *call->parent();
  Rewriter r(c);
  HloWriter w(r);
  Instruction* old = call->operand(k);
  Instruction* token = r.Add(Opcode::kAfterAll, Shape::Token(), {});
  const auto uses = std::count(call->operands().begin(), call->operands().end(), old);
  if (old->opcode() == Opcode::kTuple && old->users().size() == 1 && uses == 1 && !old->IsRoot()) {
    Shape shape = old->shape();
    shape.elements.push_back(Shape::Token());
    old->AppendOperand(token);
    old->set_shape(std::move(shape));
    return;
  }
  std::vector<Instruction*> parts;
  if (old->opcode() == Opcode::kTuple) {
    parts.assign(old->operands().begin(), old->operands().end());
  } else {
    parts = PartsOf(w, old);
  }
  parts.push_back(token);
  call->SetOperand(k, w.Tuple(parts));
  if (old->users().empty() && !old->IsRoot()) c.RemoveIfDead(old);
}

class Propagation {
 public:
  Propagation(Module& module, RewriteControl& control) : module_(module), control_(control) {}

  absl::StatusOr<bool> Run() {
    const std::vector<bool> running = RunningComputations(module_);
    for (Computation* c : module_.ComputationsPostOrder()) {  // inner ones first
      if (!running[c->id()]) continue;
      for (Instruction* i : c->PostOrder()) {
        if (i->opcode() == Opcode::kWhile) ExtendLoop(i);
        if (i->opcode() == Opcode::kConditional) ExtendConditional(i);
      }
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
      if (i->opcode() == Opcode::kInfeed && IsFresh(i->operand(0)))
        links.push_back({{{i, 0}}, EndOfChain(i)});
      if (i->opcode() == Opcode::kOutfeed && IsFresh(i->operand(1)))
        links.push_back({{{i, 1}}, EndOfChain(i)});
      const auto extended = extended_.find(i);
      if (extended == extended_.end()) continue;
      Link link{{}, EndOfChain(i)};
      for (const int64_t k : extended->second) {
        Instruction* start = i->operand(k);
        const int64_t last = start->operand_count() - 1;
        if (start->opcode() == Opcode::kTuple && last >= 0 && IsFresh(start->operand(last)))
          link.takers.push_back({start, last});
      }
      if (!link.takers.empty()) links.push_back(std::move(link));
    }
    return links;
  }

  // Sends the token through all links; gives the last one's.
  static Instruction* Chain(Computation& c, const std::vector<Link>& links, Instruction* token) {
    Rewriter r(c);
    HloWriter w(r);
    for (const Link& link : links) {
      for (const auto& [taker, k] : link.takers) {
        Instruction* fresh = taker->operand(k);
        taker->SetOperand(k, token);
        if (fresh->users().empty() && !fresh->IsRoot()) c.RemoveIfDead(fresh);
      }
      token = link.maker;
      if (token->shape().IsTuple())
        token = w.Part(token, static_cast<int64_t>(token->shape().elements.size()) - 1);
    }
    return token;
  }

  static bool IsCalledOnce(const Instruction* call) {
    for (const Computation* c : call->called())
      if (c->Callers().size() != 1 ||
          std::count(call->called().begin(), call->called().end(), c) != 1)
        return false;
    return true;
  }

  void ExtendLoop(Instruction* loop) {
    Computation& body = *loop->called(1);
    const std::vector<Link> links = LinksOf(body);
    if (links.empty() || !IsCalledOnce(loop) || !control_.Permit(kName, *loop, *loop)) return;
    const int64_t last = AddTokenTo(body.parameter(0));
    AddTokenTo(loop->called(0)->parameter(0));
    Rewriter inside(body);
    HloWriter w(inside);
    AddToRoot(body, Chain(body, links, w.Part(body.parameter(0), last)));
    AddToOperand(loop, 0);
    AddTokenTo(loop);
    extended_[loop] = {0};
    changed_ = true;
  }

  void ExtendConditional(Instruction* call) {
    std::vector<std::vector<Link>> links;
    bool any = false;
    for (const Computation* branch : call->called()) {
      links.push_back(LinksOf(*branch));
      any |= !links.back().empty();
    }
    if (!any || !IsCalledOnce(call) || !control_.Permit(kName, *call, *call)) return;
    std::vector<int64_t> takers;
    for (size_t k = 0; k < links.size(); ++k) {
      Computation& branch = *call->called(k);
      Rewriter inside(branch);
      HloWriter w(inside);
      if (links[k].empty()) {
        AddToRoot(branch, inside.Add(Opcode::kAfterAll, Shape::Token(), {}));
        continue;
      }
      const int64_t last = AddTokenTo(branch.parameter(0));
      AddToRoot(branch, Chain(branch, links[k], w.Part(branch.parameter(0), last)));
      AddToOperand(call, static_cast<int64_t>(k) + 1);
      takers.push_back(static_cast<int64_t>(k) + 1);
    }
    AddTokenTo(call);
    extended_[call] = std::move(takers);
    changed_ = true;
  }

  Module& module_;
  RewriteControl& control_;
  bool changed_ = false;
  std::map<const Instruction*, std::vector<int64_t>> extended_;  // operands that hold tokens
};

absl::StatusOr<bool> PropagateTokens(Module& module, RewriteControl& control) {
  return Propagation(module, control).Run();
}

}  // namespace

std::unique_ptr<Pass> CreateInfeedTokenPropagation() {
  return MakeModulePass(kName, PropagateTokens);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
