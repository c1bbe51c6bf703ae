// Clients and transfers to them.
// Arguments of the functions, one struct each; see abi/types.h.
#pragma once

#include "pjrt/abi/types.h"

namespace hlokit {

// How processes of one job exchange values. hlokit runs in one process and calls none of them.
struct PJRT_KeyValueGetCallback_Args;
struct PJRT_KeyValueTryGetCallback_Args;
struct PJRT_KeyValuePutCallback_Args;
using PJRT_KeyValueGetCallback = PJRT_Error* (*)(PJRT_KeyValueGetCallback_Args*);
using PJRT_KeyValueTryGetCallback = PJRT_Error* (*)(PJRT_KeyValueTryGetCallback_Args*);
using PJRT_KeyValuePutCallback = PJRT_Error* (*)(PJRT_KeyValuePutCallback_Args*);

// A process of a job.
enum PJRT_ProcessState : int { PJRT_ProcessState_kUnspecified = 0 };
struct PJRT_ProcessInfo {
  size_t struct_size;
  int task_id;
  uint64_t incarnation_id;
  PJRT_ProcessState state;
  int error_code;
  const char* error_message;
  size_t error_message_size;
};

// Gives client.
struct PJRT_Client_Create_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_NamedValue* create_options;
  size_t num_options;
  PJRT_KeyValueGetCallback kv_get_callback;
  void* kv_get_user_arg;
  PJRT_KeyValuePutCallback kv_put_callback;
  void* kv_put_user_arg;
  PJRT_Client* client;
  PJRT_KeyValueTryGetCallback kv_try_get_callback;
  void* kv_try_get_user_arg;
};

struct PJRT_Client_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
};

// Gives platform_name, platform_name_size.
struct PJRT_Client_PlatformName_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  const char* platform_name;
  size_t platform_name_size;
};

// Gives process_index.
struct PJRT_Client_ProcessIndex_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  int process_index;
};

// Gives platform_version, platform_version_size.
struct PJRT_Client_PlatformVersion_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  const char* platform_version;
  size_t platform_version_size;
};

// Gives devices, num_devices.
struct PJRT_Client_Devices_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_Device* const* devices;
  size_t num_devices;
};

// Gives addressable_devices, num_addressable_devices.
struct PJRT_Client_AddressableDevices_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_Device* const* addressable_devices;
  size_t num_addressable_devices;
};

// Gives device.
struct PJRT_Client_LookupDevice_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  int id;
  PJRT_Device* device;
};

// Gives addressable_device.
struct PJRT_Client_LookupAddressableDevice_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  int local_hardware_id;
  PJRT_Device* addressable_device;
};

// Gives addressable_memories, num_addressable_memories.
struct PJRT_Client_AddressableMemories_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_Memory* const* addressable_memories;
  size_t num_addressable_memories;
};

// Gives executable.
struct PJRT_Client_Compile_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  const PJRT_Program* program;
  const char* compile_options;
  size_t compile_options_size;
  PJRT_LoadedExecutable* executable;
};

// Gives default_assignment.
struct PJRT_Client_DefaultDeviceAssignment_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  int num_replicas;
  int num_partitions;
  size_t default_assignment_size;
  int* default_assignment;
};

// Gives done_with_host_buffer, buffer.
struct PJRT_Client_BufferFromHostBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  const void* data;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  const int64_t* byte_strides;
  size_t num_byte_strides;
  PJRT_HostBufferSemantics host_buffer_semantics;
  PJRT_Device* device;
  PJRT_Memory* memory;
  PJRT_Buffer_MemoryLayout* device_layout;
  PJRT_Event* done_with_host_buffer;
  PJRT_Buffer* buffer;
};

// Gives buffer.
struct PJRT_Client_CreateViewOfDeviceBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  void* device_buffer_ptr;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
  PJRT_Buffer_MemoryLayout* layout;
  PJRT_Device* device;
  void (*on_delete_callback)(void* device_buffer_ptr, void* user_arg);
  void* on_delete_callback_arg;
  intptr_t stream;
  PJRT_Buffer* buffer;
  PJRT_Memory* memory;
};

// Gives topology.
struct PJRT_Client_TopologyDescription_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_TopologyDescription* topology;
};

// Gives transfer_manager.
struct PJRT_Client_CreateBuffersForAsyncHostToDevice_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_ShapeSpec* shape_specs;
  size_t num_shape_specs;
  PJRT_Buffer_MemoryLayout** device_layouts;
  size_t num_device_layouts;
  PJRT_Memory* memory;
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
};

struct PJRT_Client_DmaMap_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  void* data;
  size_t size;
};

struct PJRT_Client_DmaUnmap_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  void* data;
};

// Gives buffer.
struct PJRT_Client_CreateUninitializedBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  PJRT_Buffer_Type shape_element_type;
  PJRT_Buffer_MemoryLayout* shape_layout;
  PJRT_Device* device;
  PJRT_Memory* memory;
  PJRT_Buffer* buffer;
};

struct PJRT_Client_UpdateGlobalProcessInfo_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_ProcessInfo* process_infos;
  size_t num_process_infos;
};

// Gives alias_buffer, fulfill_alias_buffer_cb.
struct PJRT_Client_CreateAliasBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_Memory* memory;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  PJRT_Buffer_Type shape_element_type;
  PJRT_Buffer_MemoryLayout* shape_layout;
  PJRT_Buffer* alias_buffer;
  PJRT_FulfillAliasBufferCallback* fulfill_alias_buffer_cb;
};

struct PJRT_Client_FulfillAliasBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_Buffer* buffer;
  PJRT_Error_Code status_code;
  const char* error_message;
  size_t error_message_size;
  PJRT_FulfillAliasBufferCallback* fulfill_alias_buffer_cb;
};

// Gives buffer.
struct PJRT_Client_CreateErrorBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  PJRT_Buffer_Type shape_element_type;
  PJRT_Buffer_MemoryLayout* shape_layout;
  PJRT_Memory* memory;
  PJRT_Buffer* buffer;
  const PJRT_NamedValue* payload;
  size_t num_payload;
};

// Gives loaded_executable.
struct PJRT_Client_Load_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Client* client;
  PJRT_Executable* executable;
  const char* compile_options;
  size_t compile_options_size;
  PJRT_LoadedExecutable* loaded_executable;
};

struct PJRT_AsyncHostToDeviceTransferManager_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
};

// Gives done_with_h2d_transfer.
struct PJRT_AsyncHostToDeviceTransferManager_TransferData_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  const void* data;
  int64_t offset;
  int64_t transfer_size;
  bool is_last_transfer;
  PJRT_Event* done_with_h2d_transfer;
};

// Gives buffer_out.
struct PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  PJRT_Buffer* buffer_out;
};

// Gives device_out.
struct PJRT_AsyncHostToDeviceTransferManager_Device_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  PJRT_Device* device_out;
};

// Gives buffer_count.
struct PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  size_t buffer_count;
};

// Gives buffer_size.
struct PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  size_t buffer_size;
};

struct PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
};

struct PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  const PJRT_NamedValue* transfer_metadata;
  size_t num_metadata;
};

// Gives done_with_h2d_transfer.
struct PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  const void* data;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  PJRT_Buffer_Type shape_element_type;
  PJRT_Buffer_MemoryLayout* shape_layout;
  PJRT_Event* done_with_h2d_transfer;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
