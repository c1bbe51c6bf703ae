// Modules from messages: computations, the entry, the schedule.
//
//   1. The module's fields are split: computations as views of the bytes, all others into a short
//      header that libprotobuf parses.
//   2. Computations are read in the message's order, callees first, then adopted by the module in
//      the order of their ids.
//   3. Names that the module had made unique (`add.0`) become the message's again; XLA keeps names,
//      and refuses two alike.
//   4. Entry, schedule, then what this version does not know (read_unknown_fields.cc).
// Bytes that do not parse set broken_; the caller then asks DescribeDamage where.
#include "proto/module_reader_internal.h"

namespace hlokit {

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
  RETURN_IF_ERROR(KeepUnknownFields());
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
  header_has_unknown_ = seen_.TakeUnknown();
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
    unknown_.SetId(*body->adopted, body->id);
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
  bool has_unknown = parts.has_others;
  RETURN_IF_ERROR(ReadBody(bytes, parts.instruction_count, body));
  for (const absl::string_view shape : parts.program_shapes) {
    if (parts_.Knows(shape)) continue;
    RETURN_IF_ERROR(Parse(shape, program_shape_));
    NoteAll(program_shape_, seen_);
    has_unknown |= seen_.TakeUnknown();
  }
  if (has_unknown) computations_with_unknown_.emplace_back(body.computation.get(), bytes);
  Instruction* root = body.by_id.Find(parts.root_id);
  if (root == nullptr) return InvalidArgument("root_id: no instruction has the id ", parts.root_id);
  body.computation->set_root(root);
  RETURN_IF_ERROR(CheckParameters(*body.computation));
  if (!by_id_.try_emplace(body.id, bodies_.size()).second)
    return InvalidArgument("id: another computation has ", parts.id);
  bodies_.push_back(std::move(body));
  return absl::OkStatus();
}

// Dumps from before entry_computation_id name the entry.
absl::Status ModuleReader::SetEntry() {
  for (Computation* computation : module_->Computations()) {
    const bool is_entry =
        unknown_.IdOf(*computation) == ProtoIds::Local(header_.entry_computation_id());
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

absl::StatusOr<std::unique_ptr<Module>> ReadModule(absl::string_view bytes,
                                                   UnknownFields& unknown) {
  return ModuleReader(bytes, unknown).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
