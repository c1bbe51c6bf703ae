// Modules from messages: computations, what they hold and call, the schedule.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ir/sanitized_name.h"
#include "parser/normalize.h"
#include "proto/computation_parts_internal.h"
#include "proto/instruction_ids_internal.h"
#include "proto/instructions_internal.h"
#include "proto/metadata_internal.h"
#include "proto/modules_internal.h"
#include "proto/read_checks_internal.h"
#include "proto/recurring_internal.h"
#include "proto/rest_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using InstructionMessage = pb::HloInstructionProto;
using ComputationMessage = pb::HloComputationProto;

// `field[3] (%name)`.
std::string PathOf(absl::string_view field, size_t index, absl::string_view name) {
  return absl::StrCat(field, "[", index, "] (%", name, ")");
}

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

class ModuleReader {
 public:
  ModuleReader(absl::string_view bytes, ProtoRest& rest) : bytes_(bytes), rest_(rest) {}
  absl::StatusOr<std::unique_ptr<Module>> Run();

 private:
  struct Body {
    int32_t id = 0;
    std::unique_ptr<Computation> computation;
    Computation* adopted = nullptr;
    InstructionIds by_id;
  };
  // An instruction before it has its place.
  struct Made {
    std::unique_ptr<Instruction> instruction;
    int32_t id = 0;
  };

  std::optional<EntryLayout> TakeEntryLayout(std::string& others);
  absl::Status ReadComputations(absl::Span<const absl::string_view> messages);
  absl::Status RestoreNames();
  absl::Status ReadComputation(absl::string_view bytes);
  absl::Status ReadBody(absl::string_view bytes, int64_t count, Body& body);
  absl::Status ReadOne(absl::string_view bytes, InstructionIds& by_id, Made& made);
  absl::Status ReadParts(const InstructionIds& by_id, Made& made);
  bool MakeKnown(Made& made);
  absl::Status ReadNew(Made& made);
  absl::StatusOr<std::unique_ptr<Instruction>> ReadOthers(
      const absl::StatusOr<Shared<Shape>>& shape, Shared<OpMetadata> metadata);
  absl::Status Finish(int32_t id, InstructionIds& by_id, Instruction& instruction);
  absl::Status FindOperands(const InstructionIds& by_id);
  void AppendOperands(Instruction& made);
  absl::Status Connect(const InstructionIds& by_id, Instruction& instruction);
  absl::Status SetCalled(Instruction& instruction);
  absl::Status SetEntry();
  absl::Status ReadSchedule();
  absl::Status KeepRests();
  absl::Status KeepInstructionRests();
  absl::Status KeepModuleRest();

  absl::Status ParseInstruction(absl::string_view bytes) {
    arena_.Reset();
    instruction_ = google::protobuf::Arena::CreateMessage<InstructionMessage>(&arena_);
    return Parse(bytes, *instruction_);
  }
  // Parses bytes into a message that is used again and again.
  template <typename M>
  absl::Status Parse(absl::string_view bytes, M& message) {
    return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ? absl::OkStatus()
                                                                                : Broken();
  }
  absl::Status Broken() {
    broken_ = true;
    return InvalidArgument("broken");
  }
  // Calls read(id) for each number while it returns an OK status.
  template <typename Fn>
  absl::Status ForEachId(const WireField& packed, Fn read) {
    WireReader reader(packed);
    for (uint64_t id = 0; !reader.AtEnd();) {
      if (!reader.Varint(id)) return Broken();
      RETURN_IF_ERROR(read(static_cast<int64_t>(id)));
    }
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  ProtoRest& rest_;
  Seen seen_;
  bool broken_ = false;  // some bytes are no message
  bool header_has_rest_ = false;
  pb::HloModuleProto header_;  // without computations
  pb::ProgramShapeProto program_shape_;
  char first_block_[size_t{16} << 10];  // of arena_
  google::protobuf::Arena arena_{first_block_, sizeof(first_block_)};
  InstructionMessage* instruction_ = nullptr;  // the one that is read, in arena_
  absl::string_view name_;                     // of the instruction that is read
  absl::string_view computation_name_;         // of the computation that is read
  std::string header_bytes_;                   // all but the computations; parts_ looks at it
  RecurringParts parts_;
  std::vector<Instruction*> operands_;
  std::unique_ptr<Module> module_;
  std::vector<Body> bodies_;
  absl::flat_hash_map<int32_t, size_t> by_id_;  // computations, as indices into bodies_
  absl::flat_hash_set<std::string> computation_names_;
  std::vector<std::pair<Instruction*, absl::string_view>> names_;
  // What has a rest, with its bytes.
  std::vector<std::pair<Instruction*, absl::string_view>> with_rest_;
  std::vector<std::pair<Computation*, absl::string_view>> computations_with_rest_;
};

absl::StatusOr<std::unique_ptr<Module>> ModuleReader::Run() {
  std::vector<absl::string_view> computations;
  broken_ =
      !TakeField(bytes_, pb::HloModuleProto::kComputationsFieldNumber, computations, header_bytes_);
  std::string others;
  std::optional<EntryLayout> layout = TakeEntryLayout(others);
  absl::Status status = broken_              ? InvalidArgument("broken")
                        : layout.has_value() ? Parse(others, header_)
                                             : Parse(header_bytes_, header_);
  if (status.ok()) {
    module_ = std::make_unique<Module>(header_.name());
    module_->header().entry_layout = std::move(layout);
    status = ReadHeader(header_, seen_, module_->header());
  }
  if (status.ok()) status = ReadComputations(computations);
  if (broken_) return absl::DataLossError("");
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(SetEntry());
  RETURN_IF_ERROR(Annotate(ReadSchedule(), "schedule"));
  RETURN_IF_ERROR(KeepRests());
  return std::move(module_);
}

// The program shape in the header, with all else of it; none where libprotobuf has to read it.
std::optional<EntryLayout> ModuleReader::TakeEntryLayout(std::string& others) {
  std::vector<absl::string_view> shapes;
  EntryLayout layout;
  const bool taken =
      !broken_ &&
      TakeField(header_bytes_, pb::HloModuleProto::kHostProgramShapeFieldNumber, shapes, others) &&
      shapes.size() == 1 && parts_.ReadProgramShape(shapes[0], layout);
  return taken ? std::make_optional(std::move(layout)) : std::nullopt;
}

absl::Status ModuleReader::ReadComputations(absl::Span<const absl::string_view> messages) {
  header_has_rest_ = seen_.TakeRest();
  bodies_.reserve(messages.size());
  for (size_t c = 0; c < messages.size(); ++c) {
    const absl::Status read = ReadComputation(messages[c]);
    if (!read.ok()) return Annotate(read, PathOf("computations", c, computation_name_));
  }
  std::vector<Body*> order;
  for (Body& body : bodies_) order.push_back(&body);
  std::sort(order.begin(), order.end(), [](const Body* a, const Body* b) { return a->id < b->id; });
  for (Body* body : order) {
    const std::string name = body->computation->name();
    body->adopted = module_->Adopt(std::move(body->computation));
    body->adopted->set_name(name);
    rest_.SetId(*body->adopted, body->id);
  }
  return RestoreNames();
}

// The module spells some names anew, such as add.0, which is add, and those that are taken; XLA
// keeps what messages say, and refuses the latter.
absl::Status ModuleReader::RestoreNames() {
  bool renamed = false;
  for (const auto& [instruction, name] : names_) {
    if (AsAbsl(instruction->name()) == name) continue;
    instruction->set_name(SanitizedName(name));
    renamed = true;
  }
  if (!renamed) return absl::OkStatus();
  TextTable<bool> taken;
  size_t next = 0;
  for (size_t c = 0; c < bodies_.size(); ++c) {
    for (int64_t i = 0; i < bodies_[c].adopted->instruction_count(); ++i) {
      const absl::string_view name = names_[next++].second;
      if (!taken.Add(name, true))
        return InvalidArgument(PathOf("computations", c, bodies_[c].adopted->name()), ": ",
                               PathOf("instructions", i, name),
                               ": name: another instruction has it");
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadComputation(absl::string_view bytes) {
  ComputationParts parts;
  if (!hlokit::ReadParts(bytes, parts)) return Broken();
  computation_name_ = parts.name;
  if (parts.name.empty()) return InvalidArgument("name: is missing");
  if (!computation_names_.emplace(parts.name).second)
    return InvalidArgument("name: another computation has it");
  Body body;
  body.id = ProtoIds::Local(parts.id);
  body.computation = std::make_unique<Computation>(module_.get(), SanitizedName(parts.name));
  if (parts.execution_thread != "main")
    body.computation->set_execution_thread(std::string(parts.execution_thread));
  bool has_rest = parts.has_others;
  RETURN_IF_ERROR(ReadBody(bytes, parts.instruction_count, body));
  for (const absl::string_view shape : parts.program_shapes) {
    if (parts_.Knows(shape)) continue;
    RETURN_IF_ERROR(Parse(shape, program_shape_));
    NoteAll(program_shape_, seen_);
    has_rest |= seen_.TakeRest();
  }
  if (has_rest) computations_with_rest_.emplace_back(body.computation.get(), bytes);
  Instruction* root = body.by_id.Find(parts.root_id);
  if (root == nullptr) return InvalidArgument("root_id: no instruction has the id ", parts.root_id);
  body.computation->set_root(root);
  RETURN_IF_ERROR(CheckParameters(*body.computation));
  if (!by_id_.try_emplace(body.id, bodies_.size()).second)
    return InvalidArgument("id: another computation has ", parts.id);
  bodies_.push_back(std::move(body));
  return absl::OkStatus();
}

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
    rest_.SetId(*adopted, each.id);
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
  // What goes by the operands, or has a rest, is read each time.
  const bool by_operands = instruction_->dynamic_slice_sizes_size() > 0;
  if (own.TakeRest()) {
    seen_.NoteRest();
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
  if (seen_.TakeRest()) with_rest_.emplace_back(made.instruction.get(), bytes);
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

// Dumps from before entry_computation_id name the entry.
absl::Status ModuleReader::SetEntry() {
  for (Computation* computation : module_->Computations()) {
    const bool is_entry =
        rest_.IdOf(*computation) == ProtoIds::Local(header_.entry_computation_id());
    const bool is_named = computation->name() == SanitizedName(header_.entry_computation_name());
    if (is_named || (is_entry && module_->entry() == nullptr)) module_->set_entry(computation);
  }
  if (module_->entry() == nullptr)
    return InvalidArgument("entry_computation_id: no computation has the id ",
                           header_.entry_computation_id());
  auto& layout = module_->header().entry_layout;
  if (layout.has_value()) return absl::OkStatus();
  layout.emplace();
  for (const Instruction* parameter : module_->entry()->parameters())
    layout->parameters.push_back(parameter->shape());
  layout->result = module_->entry()->root()->shape();
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadSchedule() {
  if (!header_.has_schedule()) return absl::OkStatus();
  for (const auto& [id, sequence] : header_.schedule().sequences()) {
    const auto found = by_id_.find(ProtoIds::Local(id));
    if (found == by_id_.end()) return InvalidArgument("sequences: no computation has the id ", id);
    Computation* computation = bodies_[found->second].adopted;
    const InstructionIds& by_id = bodies_[found->second].by_id;
    std::vector<Instruction*> schedule;
    absl::flat_hash_set<const Instruction*> taken;
    for (const int64_t instruction_id : sequence.instruction_ids()) {
      Instruction* instruction = by_id.Find(instruction_id);
      if (instruction == nullptr || !taken.insert(instruction).second)
        return InvalidArgument("sequences[", id, "]: ", instruction_id, " is no instruction of %",
                               computation->name(), ", or there twice");
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
  for (const auto& [computation, bytes] : computations_with_rest_) {
    constexpr int kInstructions[] = {ComputationMessage::kInstructionsFieldNumber};
    ComputationMessage message, written;
    RETURN_IF_ERROR(Parse(FieldsBeyond(bytes, kInstructions), message));
    WriteProgramShape(*computation, written.mutable_program_shape());
    constexpr int kOwn[] = {
        ComputationMessage::kNameFieldNumber, ComputationMessage::kIdFieldNumber,
        ComputationMessage::kRootIdFieldNumber, ComputationMessage::kIsFusionComputationFieldNumber,
        ComputationMessage::kExecutionThreadFieldNumber};
    rest_.Keep(*computation, RestOf(message, written, kOwn));
  }
  return KeepModuleRest();
}

// Fields that the header takes whole are looked into only where they hold unknown ones.
absl::Status ModuleReader::KeepModuleRest() {
  using M = pb::HloModuleProto;
  constexpr int kTaken[] = {M::kScheduleFieldNumber,
                            M::kEntryComputationIdFieldNumber,
                            M::kNameFieldNumber,
                            M::kEntryComputationNameFieldNumber,
                            M::kHostProgramShapeFieldNumber,
                            M::kInputOutputAliasFieldNumber,
                            M::kBufferDonorFieldNumber,
                            M::kFrontendAttributesFieldNumber,
                            M::kStackFrameIndexFieldNumber,
                            M::kOriginalValueRecoveryTableFieldNumber,
                            M::kHlokitFieldNumber};
  constexpr size_t kNeverWritten = 2;  // the first ones
  const absl::Span<const int> taken(kTaken);
  if (!header_has_rest_) {
    rest_.KeepOfModule(FieldsBeyond(header_bytes_, taken));
    return absl::OkStatus();
  }
  pb::HloModuleProto written;
  RETURN_IF_ERROR(WriteHeader(*module_, &written));
  RETURN_IF_ERROR(WriteHostShape(*module_, &written));
  WriteStackFrames(module_->header().stack_frames, written.mutable_stack_frame_index());
  rest_.KeepOfModule(RestOf(header_, written, taken.first(kNeverWritten)));
  return absl::OkStatus();
}

absl::Status ModuleReader::KeepInstructionRests() {
  if (with_rest_.empty()) return absl::OkStatus();
  const ProtoIds ids(*module_, rest_);
  StackFrameNumbering frames(module_->header().stack_frames);
  for (const auto& [instruction, bytes] : with_rest_) {
    RETURN_IF_ERROR(ParseInstruction(bytes));
    frames.Use(instruction->metadata().stack_frame_id);
    InstructionMessage written;
    RETURN_IF_ERROR(WriteInstruction(*instruction, ids, frames, &written));
    rest_.Keep(*instruction, RestOf(*instruction_, written, kFormerFields));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ReadModule(absl::string_view bytes, ProtoRest& rest) {
  return ModuleReader(bytes, rest).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
