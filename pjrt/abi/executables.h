// Programs: compiled, loaded, run.
// Arguments of the functions, one struct each; see abi/types.h.
#pragma once

#include "pjrt/abi/types.h"

namespace hlokit {

// Bytes of a send or recv with the host; the receiver calls `deleter`.
struct PJRT_Chunk {
  void* data;
  size_t size;
  void (*deleter)(void* data, void* deleter_arg);
  void* deleter_arg;
};
using PJRT_SendCallback = PJRT_Error* (*)(PJRT_Chunk* chunk, PJRT_CallbackError* callback_error,
                                          size_t total_size_in_bytes, bool done, void* user_arg);
using PJRT_RecvCallback = void (*)(PJRT_CopyToDeviceStream* stream, void* user_arg);
struct PJRT_SendCallbackInfo {
  int64_t channel_id;
  void* user_arg;
  PJRT_SendCallback send_callback;
};
struct PJRT_RecvCallbackInfo {
  int64_t channel_id;
  void* user_arg;
  PJRT_RecvCallback recv_callback;
};
struct PJRT_HloOutputCallbackInfo;

// How a program is run.
struct PJRT_ExecuteOptions {
  HLOKIT_PJRT_HEAD
  PJRT_SendCallbackInfo** send_callbacks;
  PJRT_RecvCallbackInfo** recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  PJRT_ExecuteContext* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
  PJRT_MultiSlice_Config* multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  PJRT_HloOutputCallbackInfo* hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
};

struct PJRT_LoadOptions {
  size_t struct_size;
  const int32_t* computation_origin;
  size_t computation_origin_size;
  PJRT_MultiSlice_Config* multi_slice_config;
};

struct PJRT_Executable_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
};

// Gives executable_name, executable_name_size.
struct PJRT_Executable_Name_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  const char* executable_name;
  size_t executable_name_size;
};

// Gives num_replicas.
struct PJRT_Executable_NumReplicas_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  size_t num_replicas;
};

// Gives num_partitions.
struct PJRT_Executable_NumPartitions_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  size_t num_partitions;
};

// Gives num_outputs.
struct PJRT_Executable_NumOutputs_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  size_t num_outputs;
};

// Gives size_in_bytes.
struct PJRT_Executable_SizeOfGeneratedCodeInBytes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  int64_t size_in_bytes;
};

// Gives num_properties, properties.
struct PJRT_Executable_GetCostAnalysis_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  size_t num_properties;
  const PJRT_NamedValue* properties;
};

// Gives memory_kinds, memory_kind_sizes.
struct PJRT_Executable_OutputMemoryKinds_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  size_t num_outputs;
  const char* const* memory_kinds;
  const size_t* memory_kind_sizes;
};

// Gives program.
struct PJRT_Executable_OptimizedProgram_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  PJRT_Program* program;
};

// Gives serialized_bytes, serialized_bytes_size, serialized_executable_deleter.
struct PJRT_Executable_Serialize_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_Executable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  PJRT_SerializedExecutable* serialized_executable;
  void (*serialized_executable_deleter)( PJRT_SerializedExecutable* exec);
};

// Gives loaded_executable.
struct PJRT_Executable_DeserializeAndLoad_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  const char* serialized_executable;
  size_t serialized_executable_size;
  PJRT_LoadedExecutable* loaded_executable;
  const char* overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size;
  PJRT_LoadOptions* load_options;
};

// Gives output_types, num_output_types.
struct PJRT_Executable_OutputElementTypes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  PJRT_Buffer_Type* output_types;
  size_t num_output_types;
};

// Gives dims, dim_sizes.
struct PJRT_Executable_OutputDimensions_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  size_t num_outputs;
  const int64_t* dims;
  const size_t* dim_sizes;
};

// Gives executable_fingerprint, executable_fingerprint_size.
struct PJRT_Executable_Fingerprint_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  const char* executable_fingerprint;
  size_t executable_fingerprint_size;
};

// Gives generated_code_size_in_bytes, argument_size_in_bytes, output_size_in_bytes,
// alias_size_in_bytes, temp_size_in_bytes, host_generated_code_size_in_bytes,
// host_argument_size_in_bytes, host_output_size_in_bytes, host_alias_size_in_bytes,
// host_temp_size_in_bytes, peak_memory_in_bytes, total_size_in_bytes.
struct PJRT_Executable_GetCompiledMemoryStats_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  int64_t generated_code_size_in_bytes;
  int64_t argument_size_in_bytes;
  int64_t output_size_in_bytes;
  int64_t alias_size_in_bytes;
  int64_t temp_size_in_bytes;
  int64_t host_generated_code_size_in_bytes;
  int64_t host_argument_size_in_bytes;
  int64_t host_output_size_in_bytes;
  int64_t host_alias_size_in_bytes;
  int64_t host_temp_size_in_bytes;
  int64_t peak_memory_in_bytes;
  int64_t total_size_in_bytes;
  int64_t total_allocation_bytes;
  int64_t indefinite_allocations;
  int64_t peak_unpadded_heap_bytes;
};

// Gives serialized_bytes, serialized_bytes_size, serialized_compile_options_deleter.
struct PJRT_Executable_GetCompileOptions_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  PJRT_SerializedCompileOptions* serialized_compile_options;
  void (*serialized_compile_options_deleter)( PJRT_SerializedCompileOptions* options);
};

// Gives memory_kinds, memory_kind_sizes.
struct PJRT_Executable_ParameterMemoryKinds_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Executable* executable;
  size_t num_parameters;
  const char* const* memory_kinds;
  const size_t* memory_kind_sizes;
};

struct PJRT_LoadedExecutable_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
};

// Gives executable.
struct PJRT_LoadedExecutable_GetExecutable_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* loaded_executable;
  PJRT_Executable* executable;
};

// Gives addressable_devices, num_addressable_devices.
struct PJRT_LoadedExecutable_AddressableDevices_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
  PJRT_Device* const* addressable_devices;
  size_t num_addressable_devices;
};

struct PJRT_LoadedExecutable_Delete_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
};

// Gives is_deleted.
struct PJRT_LoadedExecutable_IsDeleted_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
  bool is_deleted;
};

// Gives output_lists, device_complete_events.
struct PJRT_LoadedExecutable_Execute_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
  PJRT_ExecuteOptions* options;
  PJRT_Buffer* const* const* argument_lists;
  size_t num_devices;
  size_t num_args;
  PJRT_Buffer** const* output_lists;
  PJRT_Event** device_complete_events;
  PJRT_Device* execute_device;
};

// Gives executable_fingerprint, executable_fingerprint_size.
struct PJRT_LoadedExecutable_Fingerprint_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
  const char* executable_fingerprint;
  size_t executable_fingerprint_size;
};

// Gives serialized_bytes, serialized_bytes_size, serialized_device_assignment_deleter.
struct PJRT_LoadedExecutable_GetDeviceAssignment_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  PJRT_DeviceAssignmentSerialized* serialized_device_assignment;
  void (*serialized_device_assignment_deleter)( PJRT_DeviceAssignmentSerialized* da);
};

// Gives addressable_device_logical_ids, num_addressable_device_logical_ids.
struct PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args {
  HLOKIT_PJRT_HEAD
  PJRT_LoadedExecutable* executable;
  PJRT_LogicalDeviceIds* addressable_device_logical_ids;
  size_t num_addressable_device_logical_ids;
};

// Gives context.
struct PJRT_ExecuteContext_Create_Args {
  HLOKIT_PJRT_HEAD
  PJRT_ExecuteContext* context;
};

struct PJRT_ExecuteContext_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_ExecuteContext* context;
};

struct PJRT_CopyToDeviceStream_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_CopyToDeviceStream* stream;
};

// Gives transfer_complete.
struct PJRT_CopyToDeviceStream_AddChunk_Args {
  HLOKIT_PJRT_HEAD
  PJRT_CopyToDeviceStream* stream;
  PJRT_Chunk* chunk;
  PJRT_Event* transfer_complete;
};

// Gives total_bytes.
struct PJRT_CopyToDeviceStream_TotalBytes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_CopyToDeviceStream* stream;
  int64_t total_bytes;
};

// Gives granule_size_in_bytes.
struct PJRT_CopyToDeviceStream_GranuleSize_Args {
  HLOKIT_PJRT_HEAD
  PJRT_CopyToDeviceStream* stream;
  int64_t granule_size_in_bytes;
};

// Gives current_bytes.
struct PJRT_CopyToDeviceStream_CurrentBytes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_CopyToDeviceStream* stream;
  int64_t current_bytes;
};

// Gives executable.
struct PJRT_Compile_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_TopologyDescription* topology;
  const PJRT_Program* program;
  const char* compile_options;
  size_t compile_options_size;
  PJRT_Client* client;
  PJRT_Executable* executable;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
