// Asynchronous pairs; see the header.
#include "passes/gpu/async_pairs.h"

#include "absl/strings/str_cat.h"
#include "passes/rewrite/async_body.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

// Threads are a computation's own: what a body calls runs where it runs.
void SetThread(Computation& c, absl::string_view thread) {
  if (c.execution_thread() == thread) return;
  c.set_execution_thread(std::string(thread));
  c.ForEach([&](Instruction* i) {
    for (Computation* called : i->called()) SetThread(*called, thread);
  });
}

void Mark(const Computation& c, std::vector<bool>& marked) {
  if (marked[c.id()]) return;
  marked[c.id()] = true;
  c.ForEach([&](const Instruction* i) {
    for (const Computation* called : i->called()) Mark(*called, marked);
  });
}

}  // namespace

void MoveControlEdges(Instruction* old, Instruction* start, Instruction* done) {
  for (Instruction* before : old->control_predecessors()) start->AddControlPredecessor(before);
  for (Instruction* after : old->control_successors()) after->AddControlPredecessor(done);
  old->DropControlEdges();
}

bool DropFrontendAttribute(Instruction& i, absl::string_view name) {
  if (FrontendAttribute(i, name).empty() && i.extras().frontend_attributes.empty()) return false;
  return std::erase_if(i.mutable_extras().frontend_attributes,
                       [&](const auto& attribute) { return attribute.first == name; }) > 0;
}

Instruction* AddAsyncPair(Computation& c, Computation* body,
                          absl::Span<Instruction* const> operands, const Shape& result,
                          const AsyncPairOptions& options, absl::string_view name) {
  std::vector<Shape> given, started;
  for (const Instruction* operand : operands) given.push_back(operand->shape());
  started.push_back(Shape::Tuple(std::move(given)));
  started.push_back(result);
  started.insert(started.end(), options.contexts.begin(), options.contexts.end());
  AsyncAttrs attrs;
  attrs.async_execution_thread = std::string(options.thread);
  if (!options.thread.empty()) SetThread(*body, options.thread);
  Instruction* start = c.Add(Opcode::kAsyncStart, Shape::Tuple(std::move(started)), operands, attrs,
                             absl::StrCat(name, "-start"));
  start->set_called({body});
  Instruction* done =
      c.Add(Opcode::kAsyncDone, result, {start}, attrs, absl::StrCat(name, "-done"));
  done->set_called({body});
  return done;
}

Instruction* ReplaceByAsyncPair(Instruction* i, const AsyncPairOptions& options) {
  Computation& c = *i->parent();
  Computation* body = BodyHolding(i, "async_computation");
  if (i->opcode() == Opcode::kFusion) body->root()->SetCalled(0, i->to_apply()->Clone(".clone"));
  Instruction* done = AddAsyncPair(c, body, i->operands(), i->shape(), options, Text(i->opcode()));
  Instruction* start = done->operand(0);
  for (Instruction* half : {start, done}) {
    half->set_metadata(i->shared_metadata());
    if (!i->backend_config().empty())
      half->mutable_extras().backend_config = i->extras().backend_config;
  }
  MoveControlEdges(i, start, done);
  i->ReplaceAllUsesWith(done);
  c.Remove(i);
  return done;
}

std::vector<bool> ComputationsOfFusions(const Module& module) {
  std::vector<bool> marked(module.computation_id_bound());
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) {
      if (i->opcode() == Opcode::kFusion) Mark(*i->to_apply(), marked);
    });
  return marked;
}

std::vector<bool> ComputationsOfStarts(const Module& module) {
  std::vector<bool> marked(module.computation_id_bound());
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) {
      if (i->opcode() == Opcode::kAsyncStart) marked[i->to_apply()->id()] = true;
    });
  return marked;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
