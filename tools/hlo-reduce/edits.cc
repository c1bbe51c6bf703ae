// Copies of modules with parts left out.
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

std::vector<Candidate> Inlinings(const Module& module) {
  std::vector<Candidate> candidates;
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
