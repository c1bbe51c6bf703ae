// Instructions from messages: their parts, operands and what they call.
//
// An instruction's bytes are split (recurring.cc) into links (name, id, operands, numbers) and the
// rest. If the rest has been seen before, and shape and metadata too, the instruction is a copy of
// the earlier one with these links: no field is parsed. Else libprotobuf parses what is new, and it
// is remembered.
// Messages give operands before users, as XLA writes them; ids may come in another order than
// instructions, which are kept by id, so a sort follows where they do.
#include "proto/module_reader_internal.h"

namespace hlokit {
namespace {

// What stands among the links, since it tells otherwise equal instructions apart.
void SetNumber(const InstructionLinks& links, Instruction& instruction) {
  if (instruction.IsParameter())
    instruction.mutable_attr<ParameterAttrs>().number = links.parameter_number;
  if (instruction.opcode() == Opcode::kGetTupleElement)
    instruction.mutable_attr<GetTupleElementAttrs>().index = links.tuple_index;
  if (links.channel_id <= 0) return;
  VisitAttributes(instruction.opcode(), instruction.mutable_attributes(), [&](auto& attributes) {
    if constexpr (requires { attributes.channel_id; }) attributes.channel_id = links.channel_id;
  });
}

}  // namespace

// Instructions come with operands first and are kept in the order of their ids.
absl::Status ModuleReader::ReadBody(absl::string_view bytes, int64_t count, Body& body) {
  if (count == 0) return InvalidArgument("instructions: a computation cannot be empty");
  std::vector<Made> made;
  made.reserve(count);
  body.by_id = InstructionIds(count);
  absl::Status status;
  ForEachInstruction(bytes, [&](size_t index, absl::string_view instruction) {
    status = ReadOne(instruction, body.by_id, made.emplace_back());
    if (!status.ok()) status = Annotate(status, PathOf("instructions", index, name_));
    return status.ok();
  });
  RETURN_IF_ERROR(status);
  auto by_id = [](const Made& a, const Made& b) { return a.id < b.id; };
  if (!std::is_sorted(made.begin(), made.end(), by_id)) std::sort(made.begin(), made.end(), by_id);
  for (Made& each : made) {
    const Instruction* adopted = body.computation->Adopt(std::move(each.instruction));
    unknown_.SetId(*adopted, each.id);
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadParts(const InstructionIds& by_id, Made& made) {
  RETURN_IF_ERROR(FindOperands(by_id));
  if (!MakeKnown(made)) RETURN_IF_ERROR(ReadNew(made));
  made.instruction->set_name(parts_.HasUsualName() ? std::string(name_) : SanitizedName(name_));
  SetNumber(parts_.links(), *made.instruction);
  return absl::OkStatus();
}

// False where some part of it is new.
bool ModuleReader::MakeKnown(Made& made) {
  const Shared<Shape>* const shape = parts_.KnownShape();
  const Shared<OpMetadata>* const metadata = parts_.KnownMetadata();
  if (shape == nullptr || metadata == nullptr) return false;
  made.instruction = parts_.MakeKnown(*shape, operands_);
  if (made.instruction == nullptr) return false;
  made.instruction->set_metadata(*metadata);
  return true;
}

absl::Status ModuleReader::ReadNew(Made& made) {
  absl::StatusOr<Shared<Shape>> shape = parts_.ReadShape(seen_);
  absl::StatusOr<Shared<OpMetadata>> metadata = parts_.ReadMetadata(seen_);
  if (absl::IsDataLoss(shape.status()) || absl::IsDataLoss(metadata.status())) return Broken();
  RETURN_IF_ERROR(metadata.status());
  ASSIGN_OR_RETURN(made.instruction, ReadOthers(shape, *std::move(metadata)));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Instruction>> ModuleReader::ReadOthers(
    const absl::StatusOr<Shared<Shape>>& shape, Shared<OpMetadata> metadata) {
  std::unique_ptr<Instruction> known = shape.ok() ? parts_.MakeKnown(*shape, operands_) : nullptr;
  if (known != nullptr) {
    known->set_metadata(std::move(metadata));
    return known;
  }
  RETURN_IF_ERROR(ParseInstruction(parts_.others()));
  Seen own;
  ASSIGN_OR_RETURN(auto made, ReadInstruction(*instruction_, shape, std::move(metadata), own));
  AppendOperands(*made);
  // What goes by the operands, or has unknown fields, is read each time.
  const bool by_operands = instruction_->dynamic_slice_sizes_size() > 0;
  if (own.TakeUnknown()) {
    seen_.NoteUnknown();
  } else if (!by_operands) {
    parts_.Keep(*made);
  }
  return made;
}

absl::Status ModuleReader::ReadOne(absl::string_view bytes, InstructionIds& by_id, Made& made) {
  const bool is_message = parts_.Split(bytes);
  name_ = parts_.name();
  if (!is_message) return Broken();
  if (name_.empty()) return InvalidArgument("name: is missing");
  RETURN_IF_ERROR(ReadParts(by_id, made));
  made.id = ProtoIds::Local(parts_.links().id);
  names_.emplace_back(made.instruction.get(), name_);
  RETURN_IF_ERROR(Finish(made.id, by_id, *made.instruction));
  if (seen_.TakeUnknown()) with_unknown_.emplace_back(made.instruction.get(), bytes);
  return absl::OkStatus();
}

absl::Status ModuleReader::FindOperands(const InstructionIds& by_id) {
  operands_.clear();
  WireReader reader(parts_.links().operands);
  for (uint64_t id = 0; !reader.AtEnd();) {
    if (!reader.Varint(id)) return Broken();
    Instruction* const operand = by_id.Find(static_cast<int64_t>(id));
    if (operand == nullptr)
      return InvalidArgument("operand_ids: no instruction before this one has the id ",
                             static_cast<int64_t>(id));
    operands_.push_back(operand);
  }
  return absl::OkStatus();
}

// After instruction_ was read into `made`.
void ModuleReader::AppendOperands(Instruction& made) {
  for (Instruction* operand : operands_) made.AppendOperand(operand);
  if (instruction_->dynamic_slice_sizes_size() > 0 && !operands_.empty())
    SplitSliceSizes(instruction_->dynamic_slice_sizes(), made);
}

// What takes the instructions and computations before this one.
absl::Status ModuleReader::Finish(int32_t id, InstructionIds& by_id, Instruction& instruction) {
  const InstructionLinks& links = parts_.links();
  if (!links.predecessors.content.empty()) RETURN_IF_ERROR(Connect(by_id, instruction));
  RETURN_IF_ERROR(CheckOperands(instruction));
  if (Info(instruction.opcode()).calls != CallForm::kNoCalls || !links.called.content.empty()) {
    RETURN_IF_ERROR(SetCalled(instruction));
    RETURN_IF_ERROR(CheckCalled(instruction));
    RETURN_IF_ERROR(CheckAsyncShape(instruction));
  }
  Normalize(instruction);
  if (by_id.Add(id, &instruction)) return absl::OkStatus();
  return InvalidArgument("id: another instruction has ", links.id);
}

absl::Status ModuleReader::Connect(const InstructionIds& by_id, Instruction& instruction) {
  return ForEachId(parts_.links().predecessors, [&](int64_t id) {
    Instruction* before = by_id.Find(id);
    if (before == nullptr)
      return InvalidArgument("control_predecessor_ids: no instruction before this one has the id ",
                             id);
    instruction.AddControlPredecessor(before);
    return absl::OkStatus();
  });
}

absl::Status ModuleReader::SetCalled(Instruction& instruction) {
  const CallForm form = Info(instruction.opcode()).calls;
  const WireField& ids = parts_.links().called;
  if (form == CallForm::kNoCalls || ids.content.empty()) return absl::OkStatus();
  std::vector<Computation*> called;
  RETURN_IF_ERROR(ForEachId(ids, [&](int64_t id) {
    const auto found = by_id_.find(ProtoIds::Local(id));
    if (found == by_id_.end())
      return InvalidArgument("called_computation_ids: no computation before this one has the id ",
                             id);
    called.push_back(bodies_[found->second].computation.get());
    return absl::OkStatus();
  }));
  if (form == CallForm::kCondBody) std::reverse(called.begin(), called.end());
  instruction.set_called(std::move(called));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
