// Which instructions come along, and their copies.
//
//   extract r of  a = exp(p)  b = neg(a)  r = add(a, b), height 1
//   ->  p0 = parameter(0) (was %a)   b = neg(p0)   r = add(p0, b)
// A breadth-first walk over operands takes `height` levels; what lies beyond becomes a parameter,
// in the order of first use, and the list of inputs says which instruction each was. Constants
// always come along, as values are part of what is to be looked at, and so do the earlier parts of
// an asynchronous operation, which cannot be cut. Called computations are copied whole.
// Schedules, layouts, shardings and the header's tables are kept, so that the piece compiles as it
// did in its module.
#include "passes/rewrite/extract.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

using InstructionSet = absl::flat_hash_set<const Instruction*>;

class Extractor {
 public:
  Extractor(absl::Span<const Instruction* const> outputs, const ExtractOptions& options)
      : outputs_(outputs.begin(), outputs.end()),
        options_(options),
        from_(*outputs[0]->parent()),
        to_(std::make_unique<Module>(
            absl::StrCat(from_.module()->name(), ".", outputs[0]->name()))) {}

  // `kept` come along besides the outputs.
  void Keep(absl::Span<const Instruction* const> kept) {
    included_.insert(kept.begin(), kept.end());
  }

  absl::StatusOr<Extraction> Run() {
    FindIncluded();
    CopyCalled();
    CopyHeader();
    Computation* entry = to_->AddComputation(from_.name());
    to_->set_entry(entry);
    entry->set_execution_thread(from_.execution_thread());
    AddInputs(*entry);
    for (Instruction* i : from_.ScheduleOrPostOrder())
      if (included_.contains(i)) AddCopy(*entry, *i);
    SetRoot(*entry);
    if (to_->header().is_scheduled) entry->set_schedule(entry->Instructions());
    EntryLayout& layout = to_->header().entry_layout.emplace();
    for (const Instruction* parameter : entry->parameters())
      layout.parameters.push_back(parameter->shape());
    layout.result = entry->root()->shape();
    return Extraction{std::move(to_), std::move(inputs_)};
  }

 private:
  // The constants that what is kept reads.
  void AddConstants() {
    const std::vector<const Instruction*> kept(included_.begin(), included_.end());
    for (const Instruction* i : kept)
      for (const Instruction* operand : i->operands())
        if (operand->IsConstant()) included_.insert(operand);
  }

  // What `i` continues, where it is a further part of an asynchronous operation: such a part runs
  // only with those before it.
  static const Instruction* Continued(const Instruction& i) {
    const bool continues =
        i.opcode() == Opcode::kAsyncUpdate || (Info(i.opcode()).traits & kAsyncDone) != 0;
    return continues && i.operand_count() > 0 ? i.operand(0) : nullptr;
  }

  // Breadth first from the outputs, `height` steps up.
  void FindIncluded() {
    std::vector<const Instruction*> level = outputs_;
    included_.insert(level.begin(), level.end());
    AddConstants();
    for (int height = 0; !level.empty(); ++height) {
      for (size_t k = 0; k < level.size(); ++k)  // grows
        if (const Instruction* before = Continued(*level[k]);
            before != nullptr && included_.insert(before).second)
          level.push_back(before);
      std::vector<const Instruction*> next;
      for (const Instruction* i : level)
        for (const Instruction* operand : i->operands()) {
          const bool free = operand->IsConstant();
          if (!free && options_.height >= 0 && height >= options_.height) continue;
          if (included_.insert(operand).second) next.push_back(operand);
        }
      level = std::move(next);
    }
  }

  // What the included instructions call, and what that calls.
  void CopyCalled() {
    absl::flat_hash_set<const Computation*> wanted;
    std::vector<const Computation*> work;
    const auto want = [&](const Instruction& i) {
      for (const Computation* called : i.called())
        if (wanted.insert(called).second) work.push_back(called);
    };
    for (const Instruction* i : included_) want(*i);
    while (!work.empty()) {
      const Computation* next = work.back();
      work.pop_back();
      for (const Instruction* i : next->Instructions()) want(*i);
    }
    if (wanted.empty()) return;
    for (const Computation* c : from_.module()->ComputationsPostOrder())
      if (wanted.contains(c)) computations_[c] = CopyWhole(*c);
  }

  Computation* CopyWhole(const Computation& from) {
    Computation* copy = to_->AddComputation(from.name());
    copy->set_execution_thread(from.execution_thread());
    copy->set_place(from.place());
    for (Instruction* i : from.ScheduleOrPostOrder()) AddCopy(*copy, *i);
    copy->set_root(copies_.at(from.root()));
    if (from.has_schedule()) copy->set_schedule(copy->Instructions());
    return copy;
  }

  // A copy of an instruction whose operands have copies.
  void AddCopy(Computation& to, const Instruction& i) {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : i.operands()) operands.push_back(copies_.at(operand));
    if (copies_.contains(&i)) return;  // a parameter
    Instruction* copy = to.Add(i.CloneWith(i.shape(), operands), i.name());
    std::vector<Computation*> called;
    for (const Computation* c : i.called()) called.push_back(computations_.at(c));
    copy->set_called(std::move(called));
    for (const Instruction* before : i.control_predecessors())
      if (auto found = copies_.find(before); found != copies_.end())
        copy->AddControlPredecessor(found->second);
    copies_[&i] = copy;
  }

  void AddInputs(Computation& entry) {
    InstructionSet read;
    for (const Instruction* i : included_) {
      if (i->IsParameter()) read.insert(i);
      for (const Instruction* operand : i->operands())
        if (!included_.contains(operand)) read.insert(operand);
    }
    for (const Instruction* parameter : from_.parameters())
      if (options_.all_parameters || read.contains(parameter)) AddInput(entry, *parameter);
    if (read.empty()) return;
    for (const Instruction* i : from_.ScheduleOrPostOrder())
      if (read.contains(i) && !i->IsParameter()) AddInput(entry, *i);
  }

  void AddInput(Computation& entry, const Instruction& i) {
    if (i.shape().IsToken()) {
      copies_[&i] = entry.Add(Opcode::kAfterAll, i.shape(), {}, i.name());
      return;
    }
    Instruction* parameter = entry.AddParameter(entry.parameter_count(), i.shape(), i.name());
    parameter->set_place(i.place());
    parameter->CopyExtrasFrom(i);
    copies_[&i] = parameter;
    inputs_.push_back(&i);
  }

  void SetRoot(Computation& entry) {
    if (outputs_.size() == 1) return entry.set_root(copies_.at(outputs_[0]));
    std::vector<Instruction*> operands;
    std::vector<Shape> shapes;
    for (const Instruction* output : outputs_) {
      operands.push_back(copies_.at(output));
      shapes.push_back(output->shape());
    }
    entry.set_root(entry.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), operands));
  }

  void CopyHeader() {
    const ModuleHeader& header = from_.module()->header();
    to_->header().is_scheduled = header.is_scheduled && from_.has_schedule();
    to_->header().replica_count = header.replica_count;
    to_->header().num_partitions = header.num_partitions;
    to_->header().frontend_attributes = header.frontend_attributes;
    to_->header().stack_frames = header.stack_frames;
    to_->set_source(from_.module()->source());
  }

  const std::vector<const Instruction*> outputs_;
  const ExtractOptions options_;
  const Computation& from_;
  std::unique_ptr<Module> to_;
  InstructionSet included_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;
  absl::flat_hash_map<const Computation*, Computation*> computations_;
  std::vector<const Instruction*> inputs_;
};

}  // namespace

namespace {

absl::Status CheckOutputs(absl::Span<const Instruction* const> outputs) {
  if (outputs.empty()) return InvalidArgument("nothing to extract");
  for (const Instruction* output : outputs)
    if (output->parent() != outputs[0]->parent())
      return InvalidArgument("%", output->name(), " and %", outputs[0]->name(),
                             " are of different computations");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Extraction> ExtractOnly(absl::Span<const Instruction* const> kept) {
  RETURN_IF_ERROR(CheckOutputs(kept));
  const InstructionSet all(kept.begin(), kept.end());
  std::vector<const Instruction*> outputs;
  for (const Instruction* i : kept)
    if (std::none_of(i->users().begin(), i->users().end(),
                     [&](const Instruction* user) { return all.contains(user); }))
      outputs.push_back(i);
  ExtractOptions options;
  options.height = 0;
  Extractor extractor(outputs, options);
  extractor.Keep(kept);
  return extractor.Run();
}

absl::StatusOr<Extraction> Extract(absl::Span<const Instruction* const> outputs,
                                   const ExtractOptions& options) {
  RETURN_IF_ERROR(CheckOutputs(outputs));
  return Extractor(outputs, options).Run();
}

absl::StatusOr<std::unique_ptr<Module>> ExtractComputation(const Computation& computation) {
  ExtractOptions options;
  options.all_parameters = true;
  ASSIGN_OR_RETURN(Extraction whole, Extract({computation.root()}, options));
  return std::move(whole.module);
}

absl::StatusOr<const Instruction*> FindInstruction(const Module& module, absl::string_view name) {
  if (!name.empty() && name[0] == '%') name.remove_prefix(1);
  std::vector<absl::string_view> names;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) {
      if (i->name() == name) return i;
      names.push_back(i->name());
    }
  return NotFound("no instruction ", name, DidYouMean(name, names));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
