// Build: from the operations so far to a computation that stands alone.
#include "absl/container/flat_hash_set.h"
#include "builder/xla_builder.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool CallsInfeed(const Instruction& i) {
  std::vector<const Instruction*> work = {&i};
  absl::flat_hash_set<const Computation*> seen;
  while (!work.empty()) {
    const Instruction* next = work.back();
    work.pop_back();
    if (next->opcode() == Opcode::kInfeed) return true;
    for (const Computation* called : next->called())
      if (seen.insert(called).second)
        for (const Instruction* inner : called->Instructions()) work.push_back(inner);
  }
  return false;
}

bool DependsOn(const Instruction& user, const Instruction& value) {
  std::vector<const Instruction*> work = {&user};
  absl::flat_hash_set<const Instruction*> seen;
  while (!work.empty()) {
    const Instruction* next = work.back();
    work.pop_back();
    if (next == &value) return true;
    for (const Instruction* operand : next->operands())
      if (seen.insert(operand).second) work.push_back(operand);
  }
  return false;
}

// Each infeed, or loop with one, needs the one before it.
absl::Status CheckInfeedOrder(const Computation& computation) {
  const Instruction* last = nullptr;
  for (const Instruction* i : computation.PostOrder()) {
    if (!CallsInfeed(*i)) continue;
    if (last != nullptr && !DependsOn(*i, *last))
      return InvalidArgument("infeeds %", last->name(), " and %", i->name(),
                             " have no order: neither needs the other's value");
    last = i;
  }
  return absl::OkStatus();
}

// What is in flight is taken by somebody: the second half, or a loop that pipelines a transfer.
// That it is the right one is for the verifier, who sees whole modules.
absl::Status CheckHalves(const Computation& computation) {
  for (const Instruction* i : computation.Instructions()) {
    if (!HasTrait(i->opcode(), kAsyncStart) || !i->users().empty()) continue;
    const bool transfer = i->opcode() == Opcode::kSend || i->opcode() == Opcode::kRecv;
    return LabeledError(transfer ? "async-c4" : "async-c1", Text(i->opcode()), " %", i->name(),
                        " is a first half without its second");
  }
  return absl::OkStatus();
}

}  // namespace

Instruction* XlaBuilder::RootOrLast() const {
  if (return_value_ != nullptr) return return_value_;
  return ops_.empty() ? nullptr : ops_.back();
}

absl::StatusOr<ProgramShape> XlaBuilder::GetProgramShape() const {
  RETURN_IF_ERROR(first_error_);
  entry_->set_root(RootOrLast());
  return ProgramShapeOf(*entry_);
}

absl::StatusOr<ProgramShape> XlaBuilder::GetProgramShape(XlaOp root) const {
  ASSIGN_OR_RETURN(Instruction * found, Checked(root));
  entry_->set_root(found);
  return ProgramShapeOf(*entry_);
}

absl::Status XlaBuilder::SetReturnValue(XlaOp op) {
  ASSIGN_OR_RETURN(return_value_, Checked(op));
  return absl::OkStatus();
}

absl::StatusOr<XlaComputation> XlaBuilder::Build() {
  RETURN_IF_ERROR(first_error_);
  return BuildWithRoot(RootOrLast());
}

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root) {
  ASSIGN_OR_RETURN(Instruction * found, Checked(root));
  return BuildWithRoot(found);
}

absl::StatusOr<XlaComputation> XlaBuilder::BuildWithRoot(Instruction* root) {
  entry_->set_root(root);
  const absl::StatusOr<ProgramShape> shape = ProgramShapeOf(*entry_);
  if (!shape.ok()) return Annotate(shape.status(), "Build");
  RETURN_IF_ERROR(CheckHalves(*entry_));
  if (require_ordered_infeeds_) RETURN_IF_ERROR(CheckInfeedOrder(*entry_));
  EntryLayout& layout = module_->header().entry_layout.emplace();
  layout.parameters = shape->parameters;
  layout.result = shape->result;
  return XlaComputation(module_->Clone());
}

XlaComputation XlaBuilder::BuildAndNoteError() {
  absl::StatusOr<XlaComputation> built = Build();
  if (built.ok()) return *std::move(built);
  XlaBuilder* to = parent_ != nullptr ? parent_ : this;
  if (to->first_error_.ok())
    to->first_error_ = Annotate(built.status(), absl::StrCat("in computation ", name_));
  return XlaComputation();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
