// What a module's message says beside its computations.
//
// Aliases, donors, entry layouts, stack frames, device counts and recoveries of original values.
// For some of what the text says XLA's messages have no field; WriteModuleExtras keeps that in a
// message of our own, which other readers skip as unknown.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/stack_frames.h"
#include "parser/normalize.h"
#include "proto/metadata_internal.h"
#include "proto/modules_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_values_internal.h"
#include "support/limits.h"
#include "support/status.h"

namespace hlokit {
namespace {

using StackFrames = pb::StackFrameIndexProto;

// More replicas or partitions than any machine has.

void WriteAliases(const ModuleHeader& header, pb::HloModuleProto* out) {
  pb::HloInputOutputAliasProto* aliases = out->mutable_input_output_alias();
  for (const InputOutputAlias& alias : header.aliases) {
    auto* entry = aliases->add_entries();
    Assign(alias.output, entry->mutable_output_shape_index());
    entry->set_parameter_number(alias.parameter);
    Assign(alias.parameter_index, entry->mutable_parameter_shape_index());
    entry->set_kind(alias.must_alias ? pb::MUST_ALIAS : pb::MAY_ALIAS);
  }
  pb::HloBufferDonorProto* donors = out->mutable_buffer_donor();
  for (const BufferDonor& donor : header.donors) {
    auto* entry = donors->add_entries();
    entry->set_parameter_number(donor.parameter);
    Assign(donor.index, entry->mutable_parameter_shape_index());
  }
}

void ReadAliases(const pb::HloModuleProto& in, Seen& seen, ModuleHeader& header) {
  seen.Note(in.input_output_alias());
  seen.Note(in.buffer_donor());
  for (const auto& entry : in.input_output_alias().entries()) {
    seen.Note(entry);
    InputOutputAlias& alias = header.aliases.emplace_back();
    Assign(entry.output_shape_index(), alias.output);
    alias.parameter = entry.parameter_number();
    Assign(entry.parameter_shape_index(), alias.parameter_index);
    alias.must_alias = entry.kind() == pb::MUST_ALIAS;
  }
  std::sort(header.aliases.begin(), header.aliases.end(),
            [](const auto& a, const auto& b) { return a.output < b.output; });
  for (const auto& entry : in.buffer_donor().entries()) {
    seen.Note(entry);
    BufferDonor& donor = header.donors.emplace_back();
    donor.parameter = entry.parameter_number();
    Assign(entry.parameter_shape_index(), donor.index);
  }
  std::sort(header.donors.begin(), header.donors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.parameter, a.index) < std::tie(b.parameter, b.index);
  });
}

void ReadTables(const StackFrames& in, Seen& seen, StackFrameTables& tables) {
  seen.Note(in);
  tables.file_names.assign(in.file_names().begin(), in.file_names().end());
  tables.function_names.assign(in.function_names().begin(), in.function_names().end());
  for (const StackFrames::FileLocation& row : in.file_locations()) {
    seen.Note(row);
    tables.locations.push_back({row.file_name_id(), row.function_name_id(), row.line(),
                                row.end_line(), row.column(), row.end_column()});
  }
  for (const StackFrames::StackFrame& row : in.stack_frames()) {
    seen.Note(row);
    tables.frames.push_back({row.file_location_id(), row.parent_frame_id() + kCallerInText});
  }
}

absl::Status ReadProgramShape(const pb::ProgramShapeProto& in, Seen& seen, EntryLayout& layout) {
  seen.Note(in);
  for (int i = 0; i < in.parameters_size(); ++i)
    if (absl::Status read = Read(in.parameters(i), seen, layout.parameters.emplace_back());
        !read.ok())
      return Annotate(read, absl::StrCat("host_program_shape: parameters[", i, "]"));
  return Annotate(Read(in.result(), seen, layout.result), "host_program_shape: result");
}

void Write(const OriginRecovery::Array& array, pb::OriginalArrayProto* out) {
  out->set_instruction_name(array.instruction);
  Assign(array.index, out->mutable_shape_index());
}

void Read(const pb::OriginalArrayProto& in, Seen& seen, OriginRecovery::Array& array) {
  seen.Note(in);
  array.instruction = in.instruction_name();
  Assign(in.shape_index(), array.index);
}

absl::Status WriteRecoveries(const std::vector<OriginRecovery>& table, pb::HloModuleProto* out) {
  for (const OriginRecovery& row : table) {
    auto* entry = out->mutable_original_value_recovery_table()->add_entries();
    Write(row.lost, entry->mutable_old_original_array());
    Write(row.from, entry->mutable_new_original_array());
    if (row.module != nullptr)
      RETURN_IF_ERROR(WriteModule(*row.module, UnknownFields(), entry->mutable_recovery_module()));
  }
  return absl::OkStatus();
}

absl::Status ReadRecoveries(const pb::OriginalValueRecoveryTableProto& in, Seen& seen,
                            std::vector<OriginRecovery>& table) {
  seen.Note(in);
  for (const auto& entry : in.entries()) {
    seen.Note(entry);
    OriginRecovery& row = table.emplace_back();
    Read(entry.old_original_array(), seen, row.lost);
    Read(entry.new_original_array(), seen, row.from);
    if (!entry.has_recovery_module()) continue;
    seen.NoteUnknown();  // ids, and whatever else that module's message has
    UnknownFields unknown;
    auto module = ReadModule(entry.recovery_module().SerializeAsString(), unknown);
    if (!module.ok())
      return Annotate(module.status(), absl::StrCat("original_value_recovery_table: entries[",
                                                    table.size() - 1, "]: recovery_module"));
    row.module = *std::move(module);
  }
  Normalize(table);
  return absl::OkStatus();
}

// What XLA's own messages have no field for; nothing where nothing is said.
void WriteModuleExtras(const ModuleHeader& header, pb::HloModuleProto* out) {
  pb::ModuleExtras extras;
  if (header.replica_count != 1) extras.set_replica_count(header.replica_count);
  if (header.num_partitions != 1) extras.set_num_partitions(header.num_partitions);
  Assign(header.propagate_sharding_to_parameters,
         extras.mutable_propagate_sharding_to_parameters());
  Assign(header.propagate_sharding_to_output, extras.mutable_propagate_sharding_to_output());
  extras.set_alias_passthrough_params(header.alias_passthrough_params);
  for (const auto& [name, text] : header.others) {
    pb::TextAttribute* attribute = extras.add_others();
    attribute->set_name(name);
    attribute->set_text(text);
  }
  if (extras.ByteSizeLong() > 0) *out->mutable_hlokit() = std::move(extras);
}

absl::Status CheckCount(absl::string_view what, int64_t count) {
  if (count >= 1 && count <= kMaxDevices) return absl::OkStatus();
  return InvalidArgument(what, " is ", count, ", not 1 to ", kMaxDevices);
}

absl::Status ReadModuleExtras(const pb::HloModuleProto& in, ModuleHeader& header) {
  const pb::ModuleExtras& extras = in.hlokit();
  if (in.has_device_assignment()) {
    header.replica_count = in.device_assignment().replica_count();
    header.num_partitions = in.device_assignment().computation_count();
  }
  if (extras.replica_count() != 0) header.replica_count = extras.replica_count();
  if (extras.num_partitions() != 0) header.num_partitions = extras.num_partitions();
  Assign(extras.propagate_sharding_to_parameters(), header.propagate_sharding_to_parameters);
  Assign(extras.propagate_sharding_to_output(), header.propagate_sharding_to_output);
  header.alias_passthrough_params = extras.alias_passthrough_params();
  for (const pb::TextAttribute& attribute : extras.others())
    header.others.emplace_back(attribute.name(), attribute.text());
  RETURN_IF_ERROR(CheckCount("the number of replicas", header.replica_count));
  return CheckCount("the number of partitions", header.num_partitions);
}

}  // namespace

void WriteStackFrames(const StackFrameTables& tables, StackFrames* out) {
  for (const std::string& name : tables.file_names) out->add_file_names(name);
  for (const std::string& name : tables.function_names) out->add_function_names(name);
  for (const StackFrameTables::Location& location : tables.locations) {
    StackFrames::FileLocation* row = out->add_file_locations();
    row->set_file_name_id(static_cast<int32_t>(location.file_name_id));
    row->set_function_name_id(static_cast<int32_t>(location.function_name_id));
    row->set_line(static_cast<int32_t>(location.line));
    row->set_end_line(static_cast<int32_t>(location.end_line));
    row->set_column(static_cast<int32_t>(location.column));
    row->set_end_column(static_cast<int32_t>(location.end_column));
  }
  for (const StackFrameTables::Frame& frame : tables.frames) {
    StackFrames::StackFrame* row = out->add_stack_frames();
    row->set_file_location_id(static_cast<int32_t>(frame.file_location_id));
    row->set_parent_frame_id(static_cast<int32_t>(frame.parent_frame_id - kCallerInText));
  }
}

// Without a layout of its own the entry computation says what it takes and gives.
void AppendHostShape(const Module& module, WireWriter& out) {
  using Program = pb::ProgramShapeProto;
  const auto& layout = module.header().entry_layout;
  const Computation& entry = *module.entry();
  const size_t count = layout ? layout->parameters.size() : entry.parameters().size();
  constexpr size_t kUsualShape = 40;
  out.Reserve(WireWriter::kMaxAround);
  const WireWriter::Message message =
      out.Open(pb::HloModuleProto::kHostProgramShapeFieldNumber, count * kUsualShape);
  for (size_t i = 0; i < count; ++i)
    AppendToWire(Program::kParametersFieldNumber,
                 layout ? layout->parameters[i] : entry.parameter(static_cast<int64_t>(i))->shape(),
                 out);
  AppendToWire(Program::kResultFieldNumber, layout ? layout->result : entry.root()->shape(), out);
  for (size_t i = 0; i < count; ++i) {
    const std::string name = absl::StrCat("p", i);
    out.Reserve(name.size() + WireWriter::kMaxAround);
    out.Bytes(Program::kParameterNamesFieldNumber, name);
  }
  out.Reserve(WireWriter::kMaxAround);
  out.Close(message);
}

absl::Status WriteHostShape(const Module& module, pb::HloModuleProto* out) {
  WireWriter shape;
  AppendHostShape(module, shape);
  if (out->MergeFromString(shape.Take())) return absl::OkStatus();
  return Internal("a program's shape that does not read back");
}

absl::Status WriteHeader(const Module& module, pb::HloModuleProto* out) {
  const ModuleHeader& header = module.header();
  out->set_name(module.name());
  out->set_entry_computation_name(module.entry()->name());
  WriteAliases(header, out);
  Write(header.frontend_attributes, out->mutable_frontend_attributes());
  WriteModuleExtras(header, out);
  return WriteRecoveries(header.origin_recovery, out);
}

absl::Status ReadHeader(const pb::HloModuleProto& in, Seen& seen, ModuleHeader& header) {
  header.is_scheduled = in.has_schedule();
  if (in.has_host_program_shape())
    RETURN_IF_ERROR(ReadProgramShape(in.host_program_shape(), seen, header.entry_layout.emplace()));
  ReadAliases(in, seen, header);
  ReadTables(in.stack_frame_index(), seen, header.stack_frames);
  Read(in.frontend_attributes(), seen, header.frontend_attributes);
  RETURN_IF_ERROR(ReadRecoveries(in.original_value_recovery_table(), seen, header.origin_recovery));
  return ReadModuleExtras(in, header);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
