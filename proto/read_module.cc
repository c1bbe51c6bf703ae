// Modules from messages: computations, what they hold and call, the schedule.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "parser/normalize.h"
#include "proto/instructions_internal.h"
#include "proto/modules_internal.h"
#include "proto/rest_internal.h"
#include "proto/shapes_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using InstructionMessage = pb::HloInstructionProto;
using ComputationMessage = pb::HloComputationProto;

// `field[3] (%name)`.
std::string PathOf(absl::string_view field, int index, absl::string_view name) {
  return absl::StrCat(field, "[", index, "] (%", name, ")");
}

// Instructions of one computation by their numbers, which are small as a rule.
class InstructionIds {
 public:
  void Reserve(size_t count) { small_.resize(4 * count + 64, nullptr); }
  // False where the number is taken.
  bool Add(int32_t id, Instruction* instruction) {
    if (static_cast<size_t>(id) >= small_.size())
      return large_.try_emplace(id, instruction).second;
    return small_[id] == nullptr && (small_[id] = instruction);
  }
  Instruction* Find(int64_t id) const {
    const int32_t local = ProtoIds::Local(id);
    if (static_cast<size_t>(local) < small_.size()) return small_[local];
    const auto found = large_.find(local);
    return found == large_.end() ? nullptr : found->second;
  }

 private:
  std::vector<Instruction*> small_;
  absl::flat_hash_map<int32_t, Instruction*> large_;
};

class ModuleReader {
 public:
  explicit ModuleReader(const pb::HloModuleProto& in)
      : in_(in), module_(std::make_unique<Module>(in.name())) {}

  absl::StatusOr<std::unique_ptr<Module>> Run() {
    RETURN_IF_ERROR(ReadHeader(in_, seen_, module_->header()));
    RETURN_IF_ERROR(ReadComputations());
    RETURN_IF_ERROR(SetEntry());
    RETURN_IF_ERROR(Annotate(ReadSchedule(), "schedule"));
    RETURN_IF_ERROR(KeepRests());
    return std::move(module_);
  }

 private:
  struct Body {
    std::unique_ptr<Computation> computation;
    std::vector<std::unique_ptr<Instruction>> instructions;  // in the message's order
    InstructionIds by_id;
  };

  absl::Status ReadComputations();
  absl::Status ReadComputation(const ComputationMessage& in);
  absl::Status ReadBody(const ComputationMessage& in, Body& body);
  absl::Status ReadOne(const InstructionMessage& in, Body& body);
  absl::Status Connect(const InstructionMessage& in, const InstructionIds& by_id,
                       Instruction& instruction);
  absl::Status SetCalled(const InstructionMessage& in, Instruction& instruction);
  absl::Status CheckNames();
  absl::Status SetEntry();
  absl::Status ReadSchedule();
  absl::Status KeepRests();
  absl::Status KeepInstructionRests();

  const pb::HloModuleProto& in_;
  Seen seen_;
  std::unique_ptr<Module> module_;
  std::vector<Body> bodies_;
  absl::flat_hash_map<int32_t, size_t> by_id_;  // computations, as indices into bodies_
  absl::flat_hash_set<absl::string_view> computation_names_;
  std::vector<std::pair<Instruction*, const InstructionMessage*>> names_;
  std::vector<std::pair<Instruction*, const InstructionMessage*>> with_rest_;
  std::vector<std::pair<Computation*, const ComputationMessage*>> computations_with_rest_;
};

absl::Status CheckOperands(const Instruction& instruction) {
  const OpInfo& info = Info(instruction.opcode());
  const int64_t count = instruction.operand_count();
  if (info.exact ? count != info.min_operands : count < info.min_operands)
    return InvalidArgument("operand_ids: ", info.text, " takes ", info.exact ? "" : "at least ",
                           info.min_operands, info.min_operands == 1 ? " operand" : " operands",
                           ", found ", count);
  if (instruction.opcode() != Opcode::kAsyncUpdate && instruction.opcode() != Opcode::kAsyncDone)
    return absl::OkStatus();
  const Opcode before = instruction.operand(0)->opcode();
  if (before == Opcode::kAsyncStart || before == Opcode::kAsyncUpdate) return absl::OkStatus();
  return InvalidArgument("operand_ids: the operand of ", info.text,
                         " is no async-start or async-update");
}

absl::Status CheckCalled(const Instruction& instruction) {
  const auto count = static_cast<int64_t>(instruction.called().size());
  int64_t least = 1;
  int64_t most = 1;
  switch (Info(instruction.opcode()).calls) {
    case CallForm::kCondBody:
    case CallForm::kSelectScatter:
      least = most = 2;
      break;
    case CallForm::kBranches:
      most = count;
      break;
    case CallForm::kNoCalls:
    case CallForm::kCustomCalls:
      return absl::OkStatus();
    case CallForm::kAsyncCalls:
      if (instruction.opcode() != Opcode::kAsyncStart) return absl::OkStatus();
      break;
    default:
      break;
  }
  if (count >= least && count <= most) return absl::OkStatus();
  return InvalidArgument("called_computation_ids: ", Text(instruction.opcode()), " calls ", least,
                         least == 1 ? " computation" : " computations", ", found ", count);
}

// An async-start is of ((operands...), results, state...).
absl::Status CheckAsyncShape(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  if (instruction.opcode() != Opcode::kAsyncStart) return absl::OkStatus();
  if (shape.IsTuple() && shape.elements.size() >= 2 && shape.elements[0].IsTuple())
    return absl::OkStatus();
  return InvalidArgument("shape: an async-start is of ((operands...), results, state...)");
}

// The message joins the sizes of all slices; each has as many as its operand has dimensions.
void SplitSliceSizes(const InstructionMessage& in, Instruction& instruction) {
  if (instruction.opcode() != Opcode::kCollectivePermute &&
      instruction.opcode() != Opcode::kCollectivePermuteStart)
    return;
  auto& lists = instruction.mutable_attr<CollectivePermuteAttrs>().slice_sizes;
  const Shape& operand = instruction.operand(0)->shape();
  size_t part = 0;
  for (int at = 0; at < in.dynamic_slice_sizes_size();) {
    const Shape& shape = operand.IsTuple() && !operand.elements.empty()
                             ? operand.elements[part++ % operand.elements.size()]
                             : operand;
    const int rank = std::clamp(shape.rank(), 1, in.dynamic_slice_sizes_size() - at);
    DimVector& list = lists.emplace_back();
    for (int d = 0; d < rank; ++d) list.push_back(in.dynamic_slice_sizes(at++));
  }
}

absl::Status CheckParameters(Computation& computation) {
  std::vector<const Instruction*> parameters;
  for (const Instruction* i : computation.Instructions())
    if (i->IsParameter()) parameters.push_back(i);
  std::vector<bool> taken(parameters.size(), false);
  for (const Instruction* parameter : parameters) {
    const int64_t number = parameter->parameter_number();
    if (number < 0 || number >= static_cast<int64_t>(taken.size()) || taken[number])
      return InvalidArgument("%", parameter->name(), ": parameter_number: ", number,
                             " is not one of 0 to ", taken.size() - 1, ", or is there twice");
    taken[number] = true;
  }
  computation.RebuildParameters();
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadComputations() {
  bodies_.reserve(in_.computations_size());
  for (int c = 0; c < in_.computations_size(); ++c) {
    const absl::Status read = ReadComputation(in_.computations(c));
    if (!read.ok()) return Annotate(read, PathOf("computations", c, in_.computations(c).name()));
  }
  std::vector<size_t> order(bodies_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::vector<Computation*> computations;
  for (const Body& body : bodies_) computations.push_back(body.computation.get());
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return computations[a]->proto_id() < computations[b]->proto_id();
  });
  for (const size_t i : order) module_->Adopt(std::move(bodies_[i].computation));
  return CheckNames();
}

// The module has given equal names numbers, which XLA does not.
absl::Status ModuleReader::CheckNames() {
  for (const auto& [instruction, in] : names_)
    if (instruction->name() != in->name() && instruction->name() != SanitizedName(in->name()))
      return InvalidArgument("%", instruction->parent()->name(), ": %", in->name(),
                             ": name: another instruction has it");
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadComputation(const ComputationMessage& in) {
  seen_.Note(in);
  Body body;
  const int32_t id = ProtoIds::Local(in.id());
  body.computation = std::make_unique<Computation>(module_.get(), SanitizedName(in.name()));
  body.computation->set_proto_id(id);
  if (in.name().empty()) return InvalidArgument("name: is missing");
  if (!computation_names_.insert(in.name()).second)
    return InvalidArgument("name: another computation has it");
  if (in.execution_thread() != "main")
    body.computation->set_execution_thread(in.execution_thread());
  NoteAll(in.program_shape(), seen_);
  if (seen_.TakeRest())
    computations_with_rest_.emplace_back(body.computation.get(), &in);
  RETURN_IF_ERROR(ReadBody(in, body));
  Instruction* root = body.by_id.Find(in.root_id());
  if (root == nullptr) return InvalidArgument("root_id: no instruction has the id ", in.root_id());
  body.computation->set_root(root);
  RETURN_IF_ERROR(CheckParameters(*body.computation));
  if (!by_id_.try_emplace(id, bodies_.size()).second)
    return InvalidArgument("id: another computation has ", in.id());
  bodies_.push_back(std::move(body));
  return absl::OkStatus();
}

// Instructions come with operands first and are kept in the order of their ids.
absl::Status ModuleReader::ReadBody(const ComputationMessage& in, Body& body) {
  const int count = in.instructions_size();
  if (count == 0) return InvalidArgument("instructions: a computation cannot be empty");
  body.instructions.reserve(count);
  body.by_id.Reserve(count);
  for (int i = 0; i < count; ++i) {
    const absl::Status read = ReadOne(in.instructions(i), body);
    if (!read.ok()) return Annotate(read, PathOf("instructions", i, in.instructions(i).name()));
  }
  auto by_id = [](const auto& a, const auto& b) { return a->proto_id() < b->proto_id(); };
  if (!std::is_sorted(body.instructions.begin(), body.instructions.end(), by_id))
    std::sort(body.instructions.begin(), body.instructions.end(), by_id);
  for (auto& instruction : body.instructions) body.computation->Adopt(std::move(instruction));
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadOne(const InstructionMessage& in, Body& body) {
  if (in.name().empty()) return InvalidArgument("name: is missing");
  ASSIGN_OR_RETURN(std::unique_ptr<Instruction> made, ReadInstruction(in, seen_));
  made->set_proto_id(ProtoIds::Local(in.id()));
  Instruction* instruction = made.get();
  body.instructions.push_back(std::move(made));  // operands point at it from here on
  RETURN_IF_ERROR(Connect(in, body.by_id, *instruction));
  RETURN_IF_ERROR(SetCalled(in, *instruction));
  RETURN_IF_ERROR(CheckOperands(*instruction));
  RETURN_IF_ERROR(CheckCalled(*instruction));
  RETURN_IF_ERROR(CheckAsyncShape(*instruction));
  SplitSliceSizes(in, *instruction);
  Normalize(*instruction);
  if (!body.by_id.Add(instruction->proto_id(), instruction))
    return InvalidArgument("id: another instruction has ", in.id());
  names_.emplace_back(instruction, &in);
  if (seen_.TakeRest()) with_rest_.emplace_back(instruction, &in);
  return absl::OkStatus();
}

absl::Status ModuleReader::Connect(const InstructionMessage& in, const InstructionIds& by_id,
                                   Instruction& instruction) {
  for (const int64_t id : in.operand_ids()) {
    Instruction* operand = by_id.Find(id);
    if (operand == nullptr)
      return InvalidArgument("operand_ids: no instruction before this one has the id ", id);
    instruction.AppendOperand(operand);
  }
  for (const int64_t id : in.control_predecessor_ids()) {
    Instruction* before = by_id.Find(id);
    if (before == nullptr)
      return InvalidArgument("control_predecessor_ids: no instruction before this one has the id ",
                             id);
    instruction.AddControlPredecessor(before);
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::SetCalled(const InstructionMessage& in, Instruction& instruction) {
  const CallForm form = Info(instruction.opcode()).calls;
  if (form == CallForm::kNoCalls || in.called_computation_ids().empty()) return absl::OkStatus();
  std::vector<Computation*> called;
  for (const int64_t id : in.called_computation_ids()) {
    const auto found = by_id_.find(ProtoIds::Local(id));
    if (found == by_id_.end())
      return InvalidArgument("called_computation_ids: no computation before this one has the id ",
                             id);
    called.push_back(bodies_[found->second].computation.get());
  }
  if (form == CallForm::kCondBody) std::reverse(called.begin(), called.end());
  instruction.set_called(std::move(called));
  return absl::OkStatus();
}

// Dumps from before entry_computation_id name the entry.
absl::Status ModuleReader::SetEntry() {
  for (Computation* computation : module_->Computations()) {
    const bool is_entry = computation->proto_id() == ProtoIds::Local(in_.entry_computation_id());
    const bool is_named = computation->name() == SanitizedName(in_.entry_computation_name());
    if (is_named || (is_entry && module_->entry() == nullptr)) module_->set_entry(computation);
  }
  if (module_->entry() == nullptr)
    return InvalidArgument("entry_computation_id: no computation has the id ",
                           in_.entry_computation_id());
  auto& layout = module_->header().entry_layout;
  if (layout.has_value()) return absl::OkStatus();
  layout.emplace();
  for (const Instruction* parameter : module_->entry()->parameters())
    layout->parameters.push_back(parameter->shape());
  layout->result = module_->entry()->root()->shape();
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadSchedule() {
  if (!in_.has_schedule()) return absl::OkStatus();
  absl::flat_hash_map<int32_t, Computation*> computations;
  for (Computation* computation : module_->Computations())
    computations[computation->proto_id()] = computation;
  for (const auto& [id, sequence] : in_.schedule().sequences()) {
    const auto found = computations.find(ProtoIds::Local(id));
    if (found == computations.end())
      return InvalidArgument("sequences: no computation has the id ", id);
    Computation* computation = found->second;
    const InstructionIds& by_id = bodies_[by_id_[ProtoIds::Local(id)]].by_id;
    std::vector<Instruction*> schedule;
    absl::flat_hash_set<const Instruction*> taken;
    for (const int64_t instruction_id : sequence.instruction_ids()) {
      Instruction* instruction = by_id.Find(instruction_id);
      if (instruction == nullptr || !taken.insert(instruction).second)
        return InvalidArgument("sequences[", id, "]: ", instruction_id,
                               " is no instruction of %", computation->name(), ", or there twice");
      schedule.push_back(instruction);
    }
    if (static_cast<int64_t>(schedule.size()) != computation->instruction_count())
      return InvalidArgument("sequences[", id, "]: %", computation->name(), " has ",
                             computation->instruction_count(), " instructions, not ",
                             schedule.size());
    computation->set_schedule(std::move(schedule));
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::KeepRests() {
  RETURN_IF_ERROR(KeepInstructionRests());
  for (const auto& [computation, in] : computations_with_rest_) {
    ComputationMessage written;
    WriteProgramShape(*computation, written.mutable_program_shape());
    constexpr int kOwn[] = {ComputationMessage::kNameFieldNumber,
                            ComputationMessage::kInstructionsFieldNumber,
                            ComputationMessage::kIdFieldNumber,
                            ComputationMessage::kRootIdFieldNumber,
                            ComputationMessage::kIsFusionComputationFieldNumber,
                            ComputationMessage::kExecutionThreadFieldNumber};
    computation->set_proto_rest(RestOf(*in, written, kOwn));
  }
  pb::HloModuleProto written;
  WriteHeader(*module_, &written);
  WriteStackFrames(module_->header().stack_frames, written.mutable_stack_frame_index());
  constexpr int kOwn[] = {pb::HloModuleProto::kComputationsFieldNumber,
                          pb::HloModuleProto::kScheduleFieldNumber,
                          pb::HloModuleProto::kEntryComputationIdFieldNumber};
  module_->header().proto_rest = RestOf(in_, written, kOwn);
  return absl::OkStatus();
}

absl::Status ModuleReader::KeepInstructionRests() {
  if (with_rest_.empty()) return absl::OkStatus();
  const ProtoIds ids(*module_);
  StackFrameNumbering frames(module_->header().stack_frames);
  for (const auto& [instruction, in] : with_rest_) {
    frames.Use(instruction->metadata().stack_frame_id);
    InstructionMessage written;
    RETURN_IF_ERROR(WriteInstruction(*instruction, ids, frames, &written));
    std::string rest = RestOf(*in, written, kFormerFields);
    if (!rest.empty()) instruction->mutable_extras().proto_rest = std::move(rest);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ReadModule(const pb::HloModuleProto& in) {
  return ModuleReader(in).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
