// Executables: what they tell of their program, copies as bytes, and the devices that they run on.
//
// Frameworks ask for sizes first and data after, in arrays that live as long as the executable. The
// optimized module goes out as an HloModuleProtoWithConfig, of which fields are appended by hand.
#include <utility>

#include "absl/strings/str_cat.h"
#include "pjrt/guarded.h"
#include "proto/proto_file.h"

namespace hlokit {

// Bytes that the framework frees through a deleter.
struct PJRT_SerializedExecutable {
  std::string bytes;
};
struct PJRT_SerializedCompileOptions {
  std::string bytes;
};
struct PJRT_DeviceAssignmentSerialized {
  std::string bytes;
};

namespace {

template <typename Holder>
void Free(Holder* holder) {
  delete holder;
}

// Of an array, or of all arrays of a tuple.
int64_t BytesOf(const std::vector<Shape>& shapes) {
  int64_t bytes = 0;
  for (const Shape& shape : shapes)
    if (shape.IsArray()) bytes += shape.ByteSize();
  return bytes;
}

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

uint64_t ReadVarint(absl::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

// The bytes of a field of a message that WriteModuleProto wrote: of varints and bytes alone.
absl::string_view FieldOf(absl::string_view message, uint64_t number) {
  for (size_t at = 0; at < message.size();) {
    const uint64_t tag = ReadVarint(message, at);
    if ((tag & 7) == 0) {
      ReadVarint(message, at);
      continue;
    }
    const size_t size = ReadVarint(message, at);
    if ((tag & 7) != 2 || size > message.size() - at) break;
    if (tag >> 3 == number) return message.substr(at, size);
    at += size;
  }
  return {};
}

void AppendBytes(int field, absl::string_view bytes, std::string& out) {
  out.push_back(static_cast<char>(field << 3 | 2));
  AppendVarint(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
}

// An HloModuleProtoWithConfig: the module (1) and its HloModuleConfigProto (2), of which a
// framework needs the program shape (1; the module's field 4), replicas (4) and partitions (5).
std::string WithConfig(const std::string& module, const PjrtCompileOptions& options) {
  std::string config, out;
  AppendBytes(1, FieldOf(module, 4), config);
  config.push_back(4 << 3);
  AppendVarint(static_cast<uint64_t>(options.replicas), config);
  config.push_back(5 << 3);
  AppendVarint(static_cast<uint64_t>(options.partitions), config);
  AppendBytes(1, module, out);
  AppendBytes(2, config, out);
  return out;
}

// Fields 12 and 14 of an HloModuleProto, by which frameworks know how results and parameters of
// several partitions are cut.
absl::Status AppendShardings(const PjrtPartitions& cuts, std::string& out) {
  if (cuts.count == 1) return absl::OkStatus();
  constexpr int kResult = 12, kParameters = 14;
  std::vector<Sharding> results;
  for (const Tiling& cut : cuts.result_cuts) results.push_back(ShardingOf(cut));
  Sharding all;
  if (results.size() == 1) {
    all = results[0];
  } else if (!results.empty()) {  // of no results XLA expects one sharding, which says nothing
    all.kind = Sharding::Kind::kTuple;
    all.elements = std::move(results);
  }
  ASSIGN_OR_RETURN(const std::string result, WriteShardingProto(all));
  AppendBytes(kResult, result, out);
  for (const Tiling& cut : cuts.parameter_cuts) {
    ASSIGN_OR_RETURN(const std::string parameter, WriteShardingProto(ShardingOf(cut)));
    AppendBytes(kParameters, parameter, out);
  }
  return absl::OkStatus();
}

// Writes the layouts that frameworks were told of into the entry's, where the module keeps them.
void TellLayouts(const EntryWishes& wishes, Module& module) {
  auto& layout = module.header().entry_layout;
  if (!layout) return;
  for (size_t i = 0; i < layout->parameters.size() && i < wishes.arguments.size(); ++i)
    TellLayout(wishes.arguments[i], layout->parameters[i]);
  for (size_t i = 0; i < wishes.results.size(); ++i)
    if (layout->result.IsTuple() && i < layout->result.elements.size())
      TellLayout(wishes.results[i], layout->result.elements[i]);
    else if (!layout->result.IsTuple())
      TellLayout(wishes.results[i], layout->result);
}

// A DeviceAssignmentProto: replica_count (1), computation_count (2), and for each partition the
// devices of its replicas (3: replica_device_ids (1), packed).
std::string AssignmentProto(const PJRT_LoadedExecutable& executable, const PjrtModule& module) {
  std::string out;
  out.push_back(1 << 3);
  AppendVarint(static_cast<uint64_t>(module.options.replicas), out);
  out.push_back(2 << 3);
  AppendVarint(static_cast<uint64_t>(module.options.partitions), out);
  for (int64_t p = 0; p < module.options.partitions; ++p) {
    std::string ids;
    for (int64_t r = 0; r < module.options.replicas; ++r)
      AppendVarint(
          static_cast<uint64_t>(
              executable.devices[static_cast<size_t>(r * module.options.partitions + p)]->id()),
          ids);
    std::string computation(1, 1 << 3 | 2);
    AppendVarint(ids.size(), computation);
    computation += ids;
    out.push_back(3 << 3 | 2);
    AppendVarint(computation.size(), out);
    out += computation;
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PJRT_LoadedExecutable>> LoadModule(
    PJRT_Client* client, std::shared_ptr<PjrtModule> module) {
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  loaded->client = client;
  const PjrtCompileOptions& options = module->options;
  const int64_t count = options.replicas * options.partitions;
  const auto available = static_cast<int64_t>(client->devices.size());
  if (count > available)
    return InvalidArgument("the program runs on ", count, " devices, the client has ", available);
  for (int64_t d = 0; d < count; ++d) {
    const int64_t id = options.devices.empty() ? d : options.devices[static_cast<size_t>(d)];
    if (id < 0 || id >= available) return InvalidArgument("there is no device ", id);
    loaded->devices.push_back(&client->devices[static_cast<size_t>(id)]);
    loaded->logical_ids.push_back(
        {static_cast<int>(d / options.partitions), static_cast<int>(d % options.partitions)});
  }
  loaded->module = std::move(module);
  return loaded;
}

absl::Status PjrtClient_Load(PJRT_Client_Load_Args& args) {
  if (args.executable == nullptr) return InvalidArgument("the executable is null");
  ASSIGN_OR_RETURN(auto loaded, LoadModule(args.client, args.executable->module));
  args.loaded_executable = loaded.release();
  return absl::OkStatus();
}

absl::Status PjrtCompile(PJRT_Compile_Args& args) {
  if (args.program == nullptr || args.client == nullptr)
    return InvalidArgument("compiling takes a program and a client");
  ASSIGN_OR_RETURN(auto module, CompileProgram(args.client->client, *args.program,
                                               {args.compile_options, args.compile_options_size}));
  args.executable = new PJRT_Executable{std::move(module)};
  return absl::OkStatus();
}

absl::Status PjrtExecutable_Destroy(PJRT_Executable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status PjrtExecutable_Name(PJRT_Executable_Name_Args& args) {
  GiveText(args.executable->module->name, args.executable_name, args.executable_name_size);
  return absl::OkStatus();
}

absl::Status PjrtExecutable_NumReplicas(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = static_cast<size_t>(args.executable->module->options.replicas);
  return absl::OkStatus();
}

absl::Status PjrtExecutable_NumPartitions(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = static_cast<size_t>(args.executable->module->options.partitions);
  return absl::OkStatus();
}

absl::Status PjrtExecutable_NumOutputs(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->module->outputs.size();
  return absl::OkStatus();
}

absl::Status PjrtExecutable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  args.size_in_bytes = args.executable->module->program->stats().code_bytes;
  return absl::OkStatus();
}

absl::Status PjrtExecutable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args& args) {
  const PjrtModule& module = *args.executable->module;
  args.num_properties = module.costs.size();
  args.properties = module.costs.data();
  return absl::OkStatus();
}

absl::Status PjrtExecutable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args& args) {
  const PjrtModule& module = *args.executable->module;
  args.num_outputs = module.outputs.size();
  args.memory_kinds = module.output_kinds.names.data();
  args.memory_kind_sizes = module.output_kinds.sizes.data();
  return absl::OkStatus();
}

absl::Status PjrtExecutable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args& args) {
  const PjrtModule& module = *args.executable->module;
  args.num_parameters = module.parameters.size();
  args.memory_kinds = module.parameter_kinds.names.data();
  args.memory_kind_sizes = module.parameter_kinds.sizes.data();
  return absl::OkStatus();
}

absl::Status PjrtExecutable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args& args) {
  PjrtModule& module = *args.executable->module;
  args.output_types = module.output_types.data();
  args.num_output_types = module.output_types.size();
  return absl::OkStatus();
}

absl::Status PjrtExecutable_OutputDimensions(PJRT_Executable_OutputDimensions_Args& args) {
  const PjrtModule& module = *args.executable->module;
  args.num_outputs = module.outputs.size();
  args.dims = module.output_dims.data();
  args.dim_sizes = module.output_ranks.data();
  return absl::OkStatus();
}

// The caller asks for the size first, then again with room for the bytes.
absl::Status PjrtExecutable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args& args) {
  if (args.program == nullptr) return InvalidArgument("the program is null");
  PjrtModule& module = *args.executable->module;
  std::call_once(module.optimized_once, [&] {
    module.optimized = [&]() -> absl::StatusOr<std::string> {
      const std::unique_ptr<Module> told = module.program->module().Clone();
      TellLayouts(module.wishes, *told);
      ASSIGN_OR_RETURN(std::string bytes, WriteModuleProto(*told, ProtoEncoding::kBinary));
      RETURN_IF_ERROR(AppendShardings(module.partitions, bytes));
      return WithConfig(bytes, module.options);
    }();
  });
  RETURN_IF_ERROR(module.optimized.status());
  static constexpr char kFormat[] = "hlo_with_config";
  args.program->format = kFormat;
  args.program->format_size = sizeof(kFormat) - 1;
  if (args.program->code != nullptr) {
    if (args.program->code_size < module.optimized->size())
      return InvalidArgument("room for ", args.program->code_size, " bytes, the program has ",
                             module.optimized->size());
    module.optimized->copy(args.program->code, module.optimized->size());
  }
  args.program->code_size = module.optimized->size();
  return absl::OkStatus();
}

absl::Status PjrtExecutable_Fingerprint(PJRT_Executable_Fingerprint_Args& args) {
  GiveText(args.executable->module->fingerprint, args.executable_fingerprint,
           args.executable_fingerprint_size);
  return absl::OkStatus();
}

absl::Status PjrtExecutable_GetCompiledMemoryStats(
    PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  const PjrtModule& module = *args.executable->module;
  const CompileStats& stats = module.program->stats();
  args.generated_code_size_in_bytes = stats.code_bytes;
  args.argument_size_in_bytes = BytesOf(module.parameters);
  args.output_size_in_bytes = BytesOf(module.outputs);
  args.temp_size_in_bytes = stats.temporary_bytes;
  args.alias_size_in_bytes = stats.donated_bytes;
  args.host_generated_code_size_in_bytes = args.host_argument_size_in_bytes = 0;
  args.host_output_size_in_bytes = args.host_alias_size_in_bytes = 0;
  args.host_temp_size_in_bytes = 0;
  args.peak_memory_in_bytes = args.argument_size_in_bytes + args.output_size_in_bytes +
                              args.temp_size_in_bytes - args.alias_size_in_bytes;
  args.total_size_in_bytes = args.total_allocation_bytes = args.peak_memory_in_bytes;
  args.peak_unpadded_heap_bytes = args.peak_memory_in_bytes;
  args.indefinite_allocations = 0;
  return absl::OkStatus();
}

absl::Status PjrtExecutable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args& args) {
  args.serialized_compile_options =
      new PJRT_SerializedCompileOptions{args.executable->module->options_bytes};
  GiveText(args.serialized_compile_options->bytes, args.serialized_bytes,
           args.serialized_bytes_size);
  args.serialized_compile_options_deleter = &Free<PJRT_SerializedCompileOptions>;
  return absl::OkStatus();
}

absl::Status PjrtExecutable_Serialize(PJRT_Executable_Serialize_Args& args) {
  ASSIGN_OR_RETURN(std::string bytes, SerializeModule(*args.executable->module));
  args.serialized_executable = new PJRT_SerializedExecutable{std::move(bytes)};
  GiveText(args.serialized_executable->bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter = &Free<PJRT_SerializedExecutable>;
  return absl::OkStatus();
}

absl::Status PjrtExecutable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args& args) {
  ASSIGN_OR_RETURN(auto module,
                   DeserializeModule(args.client->client, {args.serialized_executable,
                                                           args.serialized_executable_size}));
  ASSIGN_OR_RETURN(auto loaded, LoadModule(args.client, std::move(module)));
  args.loaded_executable = loaded.release();
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  args.executable = new PJRT_Executable{args.loaded_executable->module};
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_AddressableDevices(
    PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args& args) {
  args.addressable_device_logical_ids = args.executable->logical_ids.data();
  args.num_addressable_device_logical_ids = args.executable->logical_ids.size();
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args& args) {
  args.executable->deleted = true;
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = args.executable->Module() == nullptr;
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args& args) {
  GiveText(args.executable->module->fingerprint, args.executable_fingerprint,
           args.executable_fingerprint_size);
  return absl::OkStatus();
}

absl::Status PjrtLoadedExecutable_GetDeviceAssignment(
    PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  args.serialized_device_assignment = new PJRT_DeviceAssignmentSerialized{
      AssignmentProto(*args.executable, *args.executable->module)};
  GiveText(args.serialized_device_assignment->bytes, args.serialized_bytes,
           args.serialized_bytes_size);
  args.serialized_device_assignment_deleter = &Free<PJRT_DeviceAssignmentSerialized>;
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
