// Instructions between the IR and their messages.
//
// Messages refer to things by id: operands, control predecessors and called computations are lists
// of ids. Instructions that were read keep theirs, since buffer assignments and schedules in the
// same file name them; new ones get the numbers after the largest (ForEachNumber).
//   y = add(x, x)   ->   id: 7 opcode: "add" operand_ids: [3, 3]
// The opcode's own attributes are the rows of attribute_rows.cc; this file writes what every
// instruction may have: shape, sharding, frontend attributes, configuration, statistics, origin.
#include "proto/instructions_internal.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "ir/sanitized_name.h"
#include "parser/normalize.h"
#include "proto/attributes_internal.h"
#include "proto/metadata_internal.h"
#include "proto/shapes_internal.h"
#include "proto/shardings_internal.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

using Message = pb::HloInstructionProto;

// Calls number(id, number) with the numbers that things of these ids have, and for those without
// one the next after the largest; given(id) is what UnknownFields says.
template <typename Given, typename Number>
void ForEachNumber(absl::Span<const int64_t> ids, Given given, Number number) {
  int64_t next = 0;
  for (const int64_t id : ids) next = std::max<int64_t>(next, given(id) + int64_t{1});
  for (const int64_t id : ids) number(id, given(id) >= 0 ? given(id) : next++);
}

absl::Status WriteExtras(const Instruction& instruction, Message* out) {
  const InstructionExtras& extras = instruction.extras();
  if (extras.sharding != nullptr) RETURN_IF_ERROR(Write(*extras.sharding, out->mutable_sharding()));
  if (!extras.backend_config.empty()) out->set_backend_config(extras.backend_config.str());
  Write(extras.frontend_attributes, out->mutable_frontend_attributes());
  RETURN_IF_ERROR(WriteStatistics(extras.statistics, out->mutable_statistics_viz()));
  if (!extras.origin.empty())
    RETURN_IF_ERROR(WriteOrigin(extras.origin, out->mutable_original_value()));
  for (const auto& [name, text] : extras.unknown) {
    pb::TextAttribute* attribute = out->add_hlokit_attributes();
    attribute->set_name(name);
    attribute->set_text(text);
  }
  return absl::OkStatus();
}

// A packed list of the ids of `things`, some of which may be null before verification.
template <typename Things>
void AppendIds(WireWriter& out, int field, const Things& things, const ProtoIds& ids) {
  if (things.empty()) return;
  const size_t before = out.size();
  const WireWriter::Message list = out.Open(field, 1);
  for (const auto* thing : things)
    if (thing != nullptr) out.Varint(static_cast<uint64_t>(ids.Of(*thing)));
  if (out.size() == list.start) return out.BackTo(before);
  out.Close(list);
}

absl::Status ReadExtras(const Message& in, Seen& seen, Instruction& instruction) {
  if (in.has_sharding()) {
    auto sharding = std::make_unique<Sharding>();
    RETURN_IF_ERROR(Annotate(Read(in.sharding(), seen, *sharding), "sharding"));
    instruction.mutable_extras().sharding = std::move(sharding);
  }
  if (!in.backend_config().empty()) {
    std::string config = in.backend_config();
    NormalizeBackendConfig(config);
    instruction.mutable_extras().backend_config = config;
  }
  if (in.has_backend_config_payload()) {
    if (in.backend_config().empty() && !in.backend_config_payload().value().empty())
      instruction.mutable_extras().backend_config = in.backend_config_payload().value();
    seen.NoteUnknown();
  }
  seen.Note(in.frontend_attributes());
  if (!in.frontend_attributes().map().empty())
    Read(in.frontend_attributes(), seen, instruction.mutable_extras().frontend_attributes);
  seen.Note(in.statistics_viz());
  if (in.statistics_viz().statistics_size() > 0)
    instruction.mutable_extras().statistics = StatisticsText(in.statistics_viz(), seen);
  if (in.has_original_value())
    instruction.mutable_extras().origin = OriginText(in.original_value(), seen);
  for (const pb::TextAttribute& attribute : in.hlokit_attributes())
    instruction.mutable_extras().unknown.emplace_back(attribute.name(), attribute.text());
  return absl::OkStatus();
}

absl::StatusOr<Opcode> ReadOpcode(const std::string& text) {
  if (const std::optional<Opcode> opcode = OpcodeFromText(text)) return *opcode;
  std::vector<absl::string_view> known;
  for (int i = 0; i < kOpcodeCount; ++i) known.push_back(Text(static_cast<Opcode>(i)));
  return InvalidArgument("opcode: '", text, "' is not known", DidYouMean(text, known));
}

}  // namespace

ProtoIds::ProtoIds(const Module& module, const UnknownFields& unknown,
                   absl::FunctionRef<void(const Instruction&)> visit)
    : computations_(module.computation_id_bound(), 0), instructions_(module.id_bound(), 0) {
  const std::vector<Computation*> computations = module.Computations();
  std::vector<int64_t> ids;
  for (const Computation* c : computations) ids.push_back(c->id());
  ForEachNumber(
      ids, [&](int64_t id) { return unknown.IdOfComputation(id); },
      [&](int64_t id, int64_t number) { computations_[id] = number; });
  for (const Computation* c : computations) {
    ids.clear();
    c->ForEach([&](const Instruction* i) {
      ids.push_back(i->id());
      visit(*i);
    });
    const int64_t above = Of(*c) << 32;
    ForEachNumber(
        ids, [&](int64_t id) { return unknown.IdOfInstruction(id); },
        [&](int64_t id, int64_t number) { instructions_[id] = above | number; });
  }
}

size_t MostOfEdges(const Instruction& instruction) {
  constexpr size_t kLongestId = 10, kLists = 4;
  return kLists * WireWriter::kMaxAround +
         kLongestId * (instruction.operands().size() + instruction.control_predecessors().size() +
                       instruction.called().size());
}

void AppendEdges(const Instruction& instruction, const ProtoIds& ids, WireWriter& out) {
  out.Number(Message::kIdFieldNumber, ids.Of(instruction));
  AppendIds(out, Message::kOperandIdsFieldNumber, instruction.operands(), ids);
  AppendIds(out, Message::kControlPredecessorIdsFieldNumber, instruction.control_predecessors(),
            ids);
  if (instruction.called().empty()) return;
  absl::InlinedVector<const Computation*, 4> called(instruction.called().begin(),
                                                    instruction.called().end());
  // A loop's body stands before its condition.
  if (Info(instruction.opcode()).calls == CallForm::kCondBody)
    std::reverse(called.begin(), called.end());
  AppendIds(out, Message::kCalledComputationIdsFieldNumber, called, ids);
}

absl::Status WriteOthers(const Instruction& instruction, Message* out) {
  absl::Status status = WriteAttributes(instruction, out);
  if (status.ok()) status = WriteExtras(instruction, out);
  return status.ok() ? status : Annotate(status, absl::StrCat("%", instruction.name()));
}

int64_t FrameOf(const Instruction& instruction, const StackFrameNumbering& frames) {
  const int64_t frame = instruction.metadata().stack_frame_id;
  if (frame == 0) return 0;
  const bool has_tables = !instruction.module()->header().stack_frames.empty();
  return has_tables ? frames.NewId(frame) : frame;
}

void WriteMetadata(const Instruction& instruction, const StackFrameNumbering& frames,
                   pb::OpMetadata* out) {
  Write(instruction.metadata(), FrameOf(instruction, frames), out);
}

absl::Status WriteInstruction(const Instruction& instruction, const ProtoIds& ids,
                              const StackFrameNumbering& frames, Message* out) {
  out->set_name(instruction.name());
  const absl::string_view opcode = Text(instruction.opcode());
  out->set_opcode(opcode.data(), opcode.size());
  Write(instruction.shape(), out->mutable_shape());
  WriteMetadata(instruction, frames, out->mutable_metadata());
  WireWriter edges;
  edges.Reserve(MostOfEdges(instruction));
  AppendEdges(instruction, ids, edges);
  if (!out->MergeFromString(edges.Take())) return Internal("edges that do not read back");
  return WriteOthers(instruction, out);
}

absl::StatusOr<std::unique_ptr<Instruction>> ReadInstruction(const Message& in,
                                                             absl::StatusOr<Shared<Shape>> shape,
                                                             Shared<OpMetadata> metadata,
                                                             Seen& seen) {
  seen.Note(in);
  ASSIGN_OR_RETURN(const Opcode opcode, ReadOpcode(in.opcode()));
  if (!shape.ok()) return Annotate(shape.status(), "shape");
  auto made =
      std::make_unique<Instruction>(opcode, *std::move(shape), absl::Span<Instruction* const>());
  made->set_metadata(std::move(metadata));
  made->set_name(SanitizedName(in.name()));
  RETURN_IF_ERROR(ReadAttributes(in, seen, *made));
  RETURN_IF_ERROR(ReadExtras(in, seen, *made));
  return made;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
