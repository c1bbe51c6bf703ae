// call-splitter: splits a call in two at an instruction that a predicate selects.
// Matches calls whose computation holds instructions of the opcode that the option `boundary` names
// (of the computation that `calls` names, where it is given). Those and all that needs them go into
// the second call; the rest stays in the first, which gives a tuple of what the second and the
// caller read of it. A call of which nothing would stay in the first is left alone, as are calls
// with control edges. Without `boundary` nothing changes. Cost: linear.
//   call f  ->  call f_first; call f_second(results of f_first)
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

// A computation that takes values of `from` as parameters and gives a tuple of others.
class PartMaker {
 public:
  PartMaker(const Computation& from, absl::string_view suffix)
      : to_(from.module()->AddComputation(absl::StrCat(from.name(), suffix))) {}

  void Take(Instruction* value) {
    inside_[value] =
        to_->AddParameter(static_cast<int64_t>(taken_.size()), value->shape(), value->name());
    taken_.push_back(value);
  }
  void Copy(const Instruction* i) {
    std::vector<Instruction*> operands;
    for (const Instruction* x : i->operands()) operands.push_back(inside_.at(x));
    inside_[i] = to_->Add(i->CloneWith(i->shape(), operands));
  }
  Computation* Give(absl::Span<Instruction* const> values) {
    std::vector<Instruction*> parts;
    std::vector<Shape> shapes;
    for (const Instruction* value : values) {
      parts.push_back(inside_.at(value));
      shapes.push_back(value->shape());
    }
    to_->set_root(to_->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts));
    return to_;
  }
  Computation* GiveOne(const Instruction* value) {
    to_->set_root(inside_.at(value));
    return to_;
  }
  const std::vector<Instruction*>& taken() const { return taken_; }

 private:
  Computation* to_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
  std::vector<Instruction*> taken_;
};

class Splitter {
 public:
  Splitter(Computation& body, Opcode boundary) : body_(body), order_(body.PostOrder()) {
    for (const Instruction* i : order_) {
      bool second = i->opcode() == boundary;
      for (const Instruction* x : i->operands()) second |= second_.contains(x);
      for (const Instruction* x : i->control_predecessors()) second |= second_.contains(x);
      if (second && !i->IsParameter()) second_.insert(i);
    }
  }

  // Whether there is work on both sides, and the result is on the second.
  bool IsWorthwhile() const {
    if (!second_.contains(body_.root())) return false;
    return std::any_of(order_.begin(), order_.end(), [&](const Instruction* i) {
      return !i->IsParameter() && !i->IsConstant() && !second_.contains(i);
    });
  }

  void Split(Instruction* call) {
    std::vector<Instruction*> shared;  // made by the first, read by the second
    std::vector<Instruction*> given;   // parameters that the second reads
    for (Instruction* i : order_) {
      if (second_.contains(i)) continue;
      const bool read = std::any_of(i->users().begin(), i->users().end(),
                                    [&](const Instruction* u) { return second_.contains(u); });
      if (read) (i->IsParameter() ? given : shared).push_back(i);
    }
    Computation& outer = *call->parent();
    PartMaker first(body_, "_first"), second(body_, "_second");
    for (Instruction* parameter : body_.parameters()) first.Take(parameter);
    for (const Instruction* i : order_)
      if (!second_.contains(i) && !i->IsParameter()) first.Copy(i);
    for (Instruction* i : given) second.Take(i);
    for (Instruction* i : shared) second.Take(i);
    for (const Instruction* i : order_)
      if (second_.contains(i)) second.Copy(i);

    Computation* front = first.Give(shared);
    Instruction* one = outer.Add(Opcode::kCall, front->root()->shape(), call->operands());
    one->CopyExtrasFrom(*call);
    one->set_called({front});
    std::vector<Instruction*> operands;
    for (const Instruction* i : given) operands.push_back(call->operand(i->parameter_number()));
    for (size_t k = 0; k < shared.size(); ++k)
      operands.push_back(outer.Add(Opcode::kGetTupleElement, shared[k]->shape(), {one},
                                   GetTupleElementAttrs{static_cast<int64_t>(k)}));
    Instruction* two = outer.Add(Opcode::kCall, call->shape(), operands);
    two->CopyExtrasFrom(*call);
    two->set_called({second.GiveOne(body_.root())});
    call->ReplaceAllUsesWith(two);
    outer.Remove(call);
  }

 private:
  Computation& body_;
  std::vector<Instruction*> order_;
  absl::flat_hash_set<const Instruction*> second_;
};

class CallSplitter final : public Pass {
 public:
  CallSplitter(std::string boundary, std::string calls)
      : boundary_(std::move(boundary)), calls_(std::move(calls)) {}
  absl::string_view name() const override { return "call-splitter"; }

  absl::StatusOr<bool> Run(Module& module) override {
    if (boundary_.empty()) return false;
    const std::optional<Opcode> boundary = OpcodeFromText(boundary_);
    if (!boundary) return InvalidArgument("no opcode is named '", boundary_, "'");
    bool changed = false;
    for (Computation* c : module.ComputationsPostOrder())
      for (Instruction* i : c->PostOrder()) {
        if (i->opcode() != Opcode::kCall || HasControlEdges(*i) ||
            (!calls_.empty() && i->to_apply()->name() != calls_))
          continue;
        Splitter splitter(*i->to_apply(), *boundary);
        if (!splitter.IsWorthwhile()) continue;
        splitter.Split(i);
        changed = true;
      }
    if (changed) RemoveUncalled(module);
    return changed;
  }

 private:
  std::string boundary_, calls_;
};

}  // namespace

std::unique_ptr<Pass> CreateCallSplitter(PassArguments& arguments) {
  return std::make_unique<CallSplitter>(
      arguments.String("boundary", "", "the opcode with which the second call begins"),
      arguments.String("calls", "", "only calls of this computation"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
