// What the host computes: marks, calls, asynchronous calls.
//
// Marks of host computations, and what they become.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "passes/framework/pass.h"
#include "passes/host_memory/host_paths.h"
#include "passes/rewrite/async_body.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsHostCompute(const Instruction& i) {
  return FrontendAttribute(i, kComputeType) == kHostThread;
}

absl::StatusOr<bool> Annotate(Module& module) {
  bool changed = false;
  std::vector<Computation*> order = module.ComputationsPostOrder();
  std::reverse(order.begin(), order.end());  // callers first
  for (Computation* c : order)
    for (Instruction* i : c->Instructions()) {
      if (!IsHostCompute(*i)) continue;
      for (Computation* callee : i->called())
        for (Instruction* inside : callee->Instructions())
          if (!inside->IsParameter())
            changed |= SetFrontendAttribute(*inside, kComputeType, kHostThread);
    }
  return changed;
}

bool MayWrap(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kCall:
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kAfterAll:
      return false;
    default:
      return IsHostCompute(*i) && i->shape().IsArray() && !i->HasSideEffect() &&
             !HasTrait(i->opcode(), kCollective) && !HasTrait(i->opcode(), kAsyncStart) &&
             !HasTrait(i->opcode(), kAsyncDone) && !HasControlEdges(*i);
  }
}

// A call of a computation that holds `root` and all that only it needs and that may be wrapped.
class HostWrapping {
 public:
  explicit HostWrapping(Instruction* root)
      : root_(root), body_(root->module()->AddComputation("host_computation")) {}

  Instruction* Wrap() {
    Collect(root_);
    // Readers before what they read, so that all readers of one are known when it is looked at.
    for (size_t k = 0; k < inside_.size(); ++k)
      for (Instruction* operand : inside_[k]->operands()) Collect(operand);
    std::reverse(inside_.begin(), inside_.end());
    for (const Instruction* i : inside_) Copy(i);
    body_->set_root(copies_.at(root_));
    Instruction* call = root_->parent()->Add(Opcode::kCall, root_->shape(), given_);
    call->set_called({body_});
    call->CopyExtrasFrom(*root_);
    return call;
  }
  // Users before what they use, once the root is gone.
  std::vector<Instruction*> Wrapped() const { return {inside_.rbegin(), inside_.rend()}; }

 private:
  void Collect(Instruction* i) {
    if (!MayWrap(i) || known_.contains(i)) return;
    const bool alone = std::all_of(i->users().begin(), i->users().end(),
                                   [&](const Instruction* user) { return known_.contains(user); });
    if (i != root_ && (!alone || i->IsRoot())) return;
    known_.insert(i);
    inside_.push_back(i);
  }
  void Copy(const Instruction* i) {
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) {
      Instruction*& copy = copies_[x];
      if (copy == nullptr) {
        copy = body_->AddParameter(static_cast<int64_t>(given_.size()), x->shape());
        given_.push_back(x);
      }
      operands.push_back(copy);
    }
    copies_[i] = body_->Add(i->CloneWith(i->shape(), operands), i->name());
  }

  Instruction* root_;
  Computation* body_;
  std::vector<Instruction*> inside_, given_;
  absl::flat_hash_set<const Instruction*> known_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;
};

absl::StatusOr<bool> WrapCalls(Computation& c, RewriteControl& control) {
  bool changed = false;
  std::vector<Instruction*> order = c.PostOrder();
  std::reverse(order.begin(), order.end());  // users first, so that chains become one call
  const bool mixed = std::any_of(order.begin(), order.end(), [](const Instruction* i) {
    return !i->IsParameter() && !IsHostCompute(*i);
  });
  if (!mixed) return false;  // all of it is the host's already
  absl::flat_hash_set<const Instruction*> gone;
  for (Instruction* i : order) {
    if (gone.contains(i) || !MayWrap(i) ||
        !control.Permit("hlo_host_device_type_call_wrapper", *i, *i))
      continue;
    HostWrapping wrapping(i);
    Instruction* call = wrapping.Wrap();
    i->ReplaceAllUsesWith(call);
    for (Instruction* inside : wrapping.Wrapped()) {
      gone.insert(inside);
      c.Remove(inside);
    }
    changed = true;
  }
  return changed;
}

// Copies of all that runs within, so that no other thread shares it.
Computation* CopyForHost(Computation& c, absl::flat_hash_map<Computation*, Computation*>& copies) {
  const auto known = copies.find(&c);
  if (known != copies.end()) return known->second;
  Computation* copy = c.Clone(".host");
  copy->set_execution_thread(std::string(kHostThread));
  for (Instruction* i : copy->Instructions())
    for (int64_t k = 0; k < static_cast<int64_t>(i->called().size()); ++k)
      i->SetCalled(k, CopyForHost(*i->called(k), copies));
  copies[&c] = copy;
  return copy;
}

Made MakeAsync(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kCall || !IsHostCompute(*i) || i->HasSideEffect()) return nullptr;
  absl::flat_hash_map<Computation*, Computation*> copies;
  Computation* body = CopyForHost(*i->to_apply(), copies);
  std::vector<Shape> shapes;
  for (const Instruction* operand : i->operands()) shapes.push_back(operand->shape());
  AsyncAttrs attrs;
  attrs.async_execution_thread = std::string(kHostThread);
  const Shape started =
      Shape::Tuple({Shape::Tuple(std::move(shapes)), i->shape(), RowMajor(ElementType::kU32, {})});
  Instruction* start = r.Add(Opcode::kAsyncStart, started, i->operands(), attrs);
  start->set_called({body});
  Instruction* done = r.Add(Opcode::kAsyncDone, i->shape(), {start}, std::move(attrs));
  done->set_called({body});
  return done;
}

constexpr absl::string_view kHostExecute = "HostExecute";

// What `c` only calls with its own parameters; else `c`.
Computation& Called(Computation& c) {
  const Instruction& root = *c.root();
  if (root.opcode() != Opcode::kCall || root.operand_count() != c.parameter_count()) return c;
  for (int64_t k = 0; k < c.parameter_count(); ++k)
    if (root.operand(k) != c.parameter(k)) return c;
  return *root.to_apply();
}

// A computation that only has the host run `c`.
Computation* RunOnHost(Computation& c) {
  Computation* body = c.module()->AddComputation(c.name());
  body->set_execution_thread(std::string(kHostThread));
  std::vector<Instruction*> parameters;
  for (const Instruction* parameter : c.parameters())
    parameters.push_back(body->AddParameter(parameter->parameter_number(), parameter->shape()));
  CustomCallAttrs attrs;
  attrs.target = std::string(kHostExecute);
  Instruction* call =
      body->Add(Opcode::kCustomCall, c.root()->shape(), parameters, std::move(attrs));
  call->set_called({&Called(c)});
  body->set_root(call);
  return body;
}

bool RunsOnHostAlready(const Computation& c) {
  return c.root()->opcode() == Opcode::kCustomCall &&
         c.root()->attr<CustomCallAttrs>().target == kHostExecute;
}

absl::StatusOr<bool> ConvertToCustomCalls(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    if (i->opcode() != Opcode::kAsyncStart ||
        i->attr<AsyncAttrs>().async_execution_thread != kHostThread ||
        RunsOnHostAlready(*i->to_apply()) || i->HasSideEffect() ||
        !control.Permit("host-offloading-prepare-convert-to-custom-call", *i, *i))
      continue;
    SetAsyncBody(i, RunOnHost(*i->to_apply()));
    changed = true;
  }
  return changed;
}

}  // namespace

// host-offloading-prepare-convert-to-custom-call: what async-start runs on the thread `host`
// becomes one custom call HostExecute of the computation it was, so that nothing looks into it.
// Exact.
std::unique_ptr<Pass> CreateHostOffloadingPrepareConvertToCustomCall() {
  return MakeComputationPass("host-offloading-prepare-convert-to-custom-call",
                             ConvertToCustomCalls);
}

// annotate-host-compute-offload: instructions of computations that a marked instruction calls get
// its mark, the frontend attribute `_xla_compute_type="host"`. Values stay as they were.
std::unique_ptr<Pass> CreateAnnotateHostComputeOffload() {
  return MakeModulePass("annotate-host-compute-offload", Annotate);
}

// hlo_host_device_type_call_wrapper: marked instructions, with those marked that only they need,
// become calls of computations of their own; the call keeps the mark. Not calls, parameters,
// constants, tuples and their parts, and collectives. Exact.
std::unique_ptr<Pass> CreateHostDeviceTypeCallWrapper() {
  return MakeComputationPass("hlo_host_device_type_call_wrapper", WrapCalls);
}

// host_compute_asyncifier: marked calls become async-start and async-done on the thread `host`.
// Calls of computations that others call too get a copy of their own. Exact.
std::unique_ptr<Pass> CreateHostComputeAsyncifier() {
  return MakeExpander("host_compute_asyncifier", MakeAsync);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
