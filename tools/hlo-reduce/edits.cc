// Copies of modules with parts left out.
//
// An edit is a clone with something less: instructions of a computation replaced by zeros or
// parameters or one of its operands, a call, loop or branch replaced by the computation that it
// calls, elements dropped from a loop's state; then the passes that take dead code away. It is null
// where no valid module comes out. Edits never judge: whether the fault is still there is asked by
// the driver, which keeps a smaller module only if it is. Cost: a clone each, linear in the module,
// which is little beside the command that looks for the fault; so the driver tries large parts
// first.
#include "tools/hlo-reduce/edits.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "passes/manager.h"
#include "passes/rewrite/extract.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

// Zeros of any shape but opaque ones and buffers; null for those.
Instruction* Zeros(Computation& computation, const Shape& shape) {
  if (shape.IsToken()) return computation.Add(Opcode::kAfterAll, shape, {});
  if (shape.IsArray()) return Rewriter(computation).Splat(shape, 0);
  if (!shape.IsTuple()) return nullptr;
  std::vector<Instruction*> elements;
  for (const Shape& element : shape.elements) {
    elements.push_back(Zeros(computation, element));
    if (elements.back() == nullptr) return nullptr;
  }
  return computation.Add(Opcode::kTuple, shape, elements);
}

// The clone after `passes`; null where they fail.
std::unique_ptr<Module> After(std::unique_ptr<Module> module, absl::string_view passes) {
  return RunPasses(*module, passes).ok() ? std::move(module) : nullptr;
}

void ResetLayout(Module& module) {
  if (!module.header().entry_layout) return;
  EntryLayout layout;
  for (const Instruction* parameter : module.entry()->parameters())
    layout.parameters.push_back(parameter->shape());
  layout.result = module.entry()->root()->shape();
  module.header().entry_layout = std::move(layout);
}

// The `nth` caller of the entry becomes a call of computation `which` on its operands from `first`.
std::unique_ptr<Module> InlineCaller(const Module& module, int64_t nth, int64_t which,
                                     int64_t first) {
  std::unique_ptr<Module> copy = module.Clone();
  Instruction* i = copy->entry()->Instructions()[nth];
  std::vector<Instruction*> operands(i->operands().begin() + first,
                                     i->opcode() == Opcode::kConditional
                                         ? i->operands().begin() + first + 1
                                         : i->operands().end());
  Instruction* call = copy->entry()->Add(Opcode::kCall, i->shape(), operands);
  call->set_called({i->called(which)});
  i->DropControlEdges();
  i->ReplaceAllUsesWith(call);
  copy->entry()->Remove(i);
  return After(std::move(copy), "call-inliner,tuple-simplifier,dce");
}

}  // namespace

bool IsFiller(const Instruction& i) {
  if (i.IsParameter() || i.IsConstant()) return true;
  if (i.opcode() == Opcode::kBroadcast) return i.operand(0)->IsConstant();
  return i.opcode() == Opcode::kTuple &&
         std::all_of(i.operands().begin(), i.operands().end(), [](const Instruction* operand) {
           return operand->opcode() != Opcode::kTuple && IsFiller(*operand);
         });
}

std::unique_ptr<Module> KeepInEntry(const Module& module, absl::Span<const int64_t> kept) {
  const std::vector<Instruction*> order = module.entry()->PostOrder();
  std::vector<const Instruction*> instructions;
  for (int64_t k : kept) instructions.push_back(order[k]);
  auto cut = ExtractOnly(instructions);
  if (!cut.ok()) return nullptr;
  cut->module->set_name(module.name());
  return std::move(cut->module);
}

std::unique_ptr<Module> KeepInComputation(const Module& module, int64_t computation,
                                          absl::Span<const int64_t> kept) {
  std::unique_ptr<Module> copy = module.Clone();
  Computation* c = copy->Computations()[computation];
  const std::vector<Instruction*> order = c->PostOrder();
  std::vector<bool> stays(order.size());
  for (int64_t k : kept) stays[k] = true;
  c->clear_schedule();
  for (size_t k = 0; k < order.size(); ++k) {
    if (stays[k] || IsFiller(*order[k])) continue;
    Instruction* zeros = Zeros(*c, order[k]->shape());
    if (zeros == nullptr) return nullptr;
    order[k]->DropControlEdges();
    order[k]->ReplaceAllUsesWith(zeros);
  }
  copy->header().is_scheduled = false;
  return After(std::move(copy), "dce");
}

std::vector<Candidate> Bypasses(const Module& module) {
  std::vector<Candidate> candidates = {[&module] { return After(module.Clone(), "cse,dce"); }};
  const std::vector<Computation*> computations = module.Computations();
  const auto add = [&](size_t c, size_t n, int64_t k) {
    candidates.push_back([&module, c, n, k] {
      std::unique_ptr<Module> copy = module.Clone();
      Computation* const computation = copy->Computations()[c];
      Instruction* const i = computation->Instructions()[n];
      i->DropControlEdges();
      i->ReplaceAllUsesWith(i->operand(k));
      computation->clear_schedule();
      copy->header().is_scheduled = false;
      return After(std::move(copy), "dce");
    });
  };
  for (size_t c = 0; c < computations.size(); ++c) {
    if (computations[c]->IsEntry()) continue;
    const std::vector<Instruction*> instructions = computations[c]->Instructions();
    for (size_t n = instructions.size(); n-- > 0;) {
      const Instruction* const i = instructions[n];
      if (IsFiller(*i)) continue;
      for (const bool fillers : {false, true})
        for (int64_t k = 0; k < i->operand_count(); ++k)
          if (IsFiller(*i->operand(k)) == fillers && i->operand(k)->shape() == i->shape())
            add(c, n, k);
    }
  }
  return candidates;
}

std::vector<Candidate> Inlinings(const Module& module) {
  std::vector<Candidate> candidates = {
      [&module] { return After(module.Clone(), "call-inliner,tuple-simplifier,dce"); }};
  const auto add = [&](int64_t nth, int64_t which, int64_t first) {
    candidates.push_back(
        [&module, nth, which, first] { return InlineCaller(module, nth, which, first); });
  };
  const std::vector<Instruction*> instructions = module.entry()->Instructions();
  for (size_t n = 0; n < instructions.size(); ++n) {
    const Instruction* i = instructions[n];
    if (i->opcode() == Opcode::kWhile) add(n, 1, 0);
    if (i->opcode() == Opcode::kFusion || i->opcode() == Opcode::kCall) add(n, 0, 0);
    if (i->opcode() == Opcode::kConditional)
      for (size_t b = 0; b < i->called().size(); ++b) add(n, b, b + 1);
  }
  return candidates;
}

std::vector<Candidate> Bodies(const Module& module) {
  std::vector<std::pair<int64_t, const Computation*>> bodies;  // by size
  for (const Computation* c : module.Computations())
    if (!c->IsEntry() && !c->Callers().empty()) bodies.emplace_back(c->instruction_count(), c);
  std::stable_sort(bodies.begin(), bodies.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Candidate> candidates;
  for (const auto& [size, c] : bodies)
    candidates.push_back([&module, c = c]() -> std::unique_ptr<Module> {
      auto body = ExtractComputation(*c);
      if (!body.ok()) return nullptr;
      (*body)->set_name(module.name());
      (*body)->header().replica_count = module.header().replica_count;
      (*body)->header().num_partitions = module.header().num_partitions;
      return *std::move(body);
    });
  return candidates;
}

namespace {

Instruction* Element(Computation& computation, Instruction* tuple, int64_t k) {
  if (tuple->opcode() == Opcode::kTuple) return tuple->operand(k);
  return computation.Add(Opcode::kGetTupleElement, tuple->shape().elements[k], {tuple},
                         GetTupleElementAttrs{k});
}

// A loop's body or condition, whose parameter is a tuple, reads zeros for element `k`. False where
// something reads the tuple as a whole.
bool ReadZeros(Computation& computation, int64_t k) {
  Instruction* const parameter = computation.parameter(0);
  const std::vector<Instruction*> users(parameter->users().begin(), parameter->users().end());
  if (computation.root() == parameter) return false;
  for (Instruction* user : users) {
    if (user->opcode() != Opcode::kGetTupleElement) return false;
    if (user->tuple_index() != k) continue;
    Instruction* const zeros = Zeros(computation, user->shape());
    if (zeros == nullptr) return false;
    user->DropControlEdges();
    user->ReplaceAllUsesWith(zeros);
    computation.Remove(user);
  }
  computation.clear_schedule();
  return true;
}

// That, and the parameter loses the element.
bool DropElement(Computation& computation, const Shape& without, int64_t k) {
  if (!ReadZeros(computation, k)) return false;
  Instruction* const parameter = computation.parameter(0);
  for (Instruction* user : parameter->users())
    if (const int64_t index = user->tuple_index(); index > k)
      user->mutable_attr<GetTupleElementAttrs>().index = index - 1;
  parameter->mutable_shape() = without;
  return true;
}

// The loop that is the entry's result carries in place of value `k` what this is computed from,
// operand `operand` of it; both of its computations read zeros where they read the value.
std::unique_ptr<Module> WithEarlier(const Module& module, int64_t k, int64_t operand) {
  std::unique_ptr<Module> copy = module.Clone();
  Computation* const entry = copy->entry();
  Instruction* const loop = entry->root();
  Computation* const condition = loop->called(0)->Clone("");
  Computation* const body = loop->called(1)->Clone("");
  std::vector<Instruction*> next(body->root()->operands().begin(), body->root()->operands().end());
  next[k] = next[k]->operand(operand);
  Shape shape = loop->shape();
  shape.elements[k] = next[k]->shape();
  if (!ReadZeros(*condition, k) || !ReadZeros(*body, k)) return nullptr;
  condition->parameter(0)->mutable_shape() = shape;
  body->parameter(0)->mutable_shape() = shape;
  body->set_root(body->Add(Opcode::kTuple, shape, next));
  Instruction* before = loop->operand(0);
  if (before->IsParameter() && before->users().size() == 1) {
    before->mutable_shape() = shape;
  } else {
    std::vector<Instruction*> starts;
    for (int64_t i = 0; i < static_cast<int64_t>(next.size()); ++i)
      starts.push_back(i == k ? Zeros(*entry, shape.elements[k]) : Element(*entry, before, i));
    if (starts[k] == nullptr) return nullptr;
    before = entry->Add(Opcode::kTuple, shape, starts);
  }
  Instruction* const other = entry->Add(Opcode::kWhile, shape, {before});
  other->set_called({condition, body});
  loop->DropControlEdges();
  entry->set_root(other);
  entry->Remove(loop);
  entry->clear_schedule();
  copy->header().is_scheduled = false;
  ResetLayout(*copy);
  return After(std::move(copy), "tuple-simplifier,dce");
}

// Without value `k` of the loop at place `n` of computation `c`: its result is what it was before
// the loop.
std::unique_ptr<Module> WithoutCarried(const Module& module, size_t c, size_t n, int64_t k) {
  std::unique_ptr<Module> copy = module.Clone();
  Computation* const caller = copy->Computations()[c];
  Instruction* const loop = caller->Instructions()[n];
  Shape without = loop->shape();
  without.elements.erase(without.elements.begin() + k);
  Computation* const condition = loop->called(0)->Clone("");
  Computation* const body = loop->called(1)->Clone("");
  if (body->root()->opcode() != Opcode::kTuple || !DropElement(*condition, without, k) ||
      !DropElement(*body, without, k))
    return nullptr;
  std::vector<Instruction*> kept(body->root()->operands().begin(), body->root()->operands().end());
  kept.erase(kept.begin() + k);
  body->set_root(body->Add(Opcode::kTuple, without, kept));
  Instruction* const before = loop->operand(0);
  std::vector<Instruction*> starts, results;
  const auto size = static_cast<int64_t>(loop->shape().elements.size());
  for (int64_t i = 0; i < size; ++i) starts.push_back(Element(*caller, before, i));
  Instruction* const kept_as_it_was = starts[k];
  starts.erase(starts.begin() + k);
  Instruction* const init = caller->Add(Opcode::kTuple, without, starts);
  Instruction* const smaller = caller->Add(Opcode::kWhile, without, {init});
  smaller->set_called({condition, body});
  for (int64_t i = 0; i < size; ++i)
    results.push_back(i == k ? kept_as_it_was : Element(*caller, smaller, i < k ? i : i - 1));
  Instruction* const result = caller->Add(Opcode::kTuple, loop->shape(), results);
  loop->DropControlEdges();
  loop->ReplaceAllUsesWith(result);
  caller->Remove(loop);
  caller->clear_schedule();
  copy->header().is_scheduled = false;
  return After(std::move(copy), "tuple-simplifier,dce");
}

// What WithEarlier can do where the entry's result is a loop: the loop alone, its start a
// parameter, or with the entry as it was.
void AddEarlier(const Module& module, std::vector<Candidate>& candidates) {
  const Instruction& loop = *module.entry()->root();
  if (loop.opcode() != Opcode::kWhile || !loop.shape().IsTuple()) return;
  const Instruction& next = *loop.called(1)->root();
  if (next.opcode() != Opcode::kTuple) return;
  for (int64_t k = 0; k < next.operand_count(); ++k) {
    const Instruction& value = *next.operand(k);
    if (IsFiller(value) || value.opcode() == Opcode::kGetTupleElement) continue;
    for (int64_t i = 0; i < value.operand_count(); ++i)
      if (!IsFiller(*value.operand(i)) && value.operand(i)->shape().IsArray())
        for (const bool alone : {true, false})
          candidates.push_back([&module, k, i, alone]() -> std::unique_ptr<Module> {
            std::unique_ptr<Module> made = WithEarlier(module, k, i);
            if (made == nullptr || !alone) return made;
            return KeepInEntry(*made,
                               {static_cast<int64_t>(made->entry()->PostOrder().size()) - 1});
          });
  }
}

}  // namespace

std::vector<Candidate> FewerCarried(const Module& module) {
  std::vector<Candidate> candidates;
  const std::vector<Computation*> computations = module.Computations();
  for (size_t c = 0; c < computations.size(); ++c) {
    const std::vector<Instruction*> instructions = computations[c]->Instructions();
    for (size_t n = 0; n < instructions.size(); ++n) {
      if (instructions[n]->opcode() != Opcode::kWhile) continue;
      const auto size = static_cast<int64_t>(instructions[n]->shape().elements.size());
      for (int64_t k = size - 1; k >= 0; --k)
        if (size > 1)
          candidates.push_back([&module, c, n, k] { return WithoutCarried(module, c, n, k); });
    }
  }
  AddEarlier(module, candidates);
  return candidates;
}

std::vector<Candidate> Strippings(const Module& module) {
  using Strip = void (*)(Module&);
  const auto each = [](Module& m, void (*strip)(Instruction*)) {
    for (Computation* c : m.Computations())
      for (Instruction* i : c->Instructions()) strip(i);
  };
  static constexpr auto kEach = each;
  static constexpr Strip kStrips[] = {
      [](Module& m) {
        kEach(m, [](Instruction* i) {
          i->set_metadata(Shared<OpMetadata>());
          if (!i->HasExtras()) return;
          i->mutable_extras().statistics.clear();
          i->mutable_extras().origin.clear();
        });
        m.header().stack_frames = {};
      },
      [](Module& m) {
        for (Computation* c : m.Computations()) c->clear_schedule();
        m.header().is_scheduled = false;
      },
      [](Module& m) {
        kEach(m, [](Instruction* i) {
          if (i->HasExtras()) i->mutable_extras().sharding = nullptr;
        });
      },
      [](Module& m) {
        kEach(m, [](Instruction* i) {
          if (i->HasExtras()) i->mutable_extras().backend_config.clear();
        });
      },
      [](Module& m) {
        kEach(m, [](Instruction* i) {
          if (i->HasExtras()) i->mutable_extras().frontend_attributes.clear();
        });
        m.header().frontend_attributes.clear();
        m.header().others.clear();
      },
      [](Module& m) { kEach(m, [](Instruction* i) { i->DropControlEdges(); }); },
      [](Module& m) {
        m.header().aliases.clear();
        m.header().donors.clear();
      },
  };
  std::vector<Candidate> candidates;
  for (Strip strip : kStrips)
    candidates.push_back([&module, strip] {
      std::unique_ptr<Module> copy = module.Clone();
      strip(*copy);
      ResetLayout(*copy);
      return copy;
    });
  return candidates;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
