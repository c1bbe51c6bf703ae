// Arrays on devices.
// Arguments of the functions, one struct each; see abi/types.h.
#pragma once

#include "pjrt/abi/types.h"

namespace hlokit {

// What the caller of a buffer's future sends back when the memory to copy to is there.
struct PJRT_Buffer_CopyRawToHostFuture_Callback_Args {
  size_t struct_size;
  void* callback_data;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
  void* dst;
};
struct PJRT_Buffer_DonateWithControlDependency_Callback_Args {
  size_t struct_size;
  void* callback_data;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
};

struct PJRT_Buffer_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
};

// Gives type.
struct PJRT_Buffer_ElementType_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Buffer_Type type;
};

// Gives dims, num_dims.
struct PJRT_Buffer_Dimensions_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  const int64_t* dims;
  size_t num_dims;
};

// Gives unpadded_dims, num_dims.
struct PJRT_Buffer_UnpaddedDimensions_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  const int64_t* unpadded_dims;
  size_t num_dims;
};

// Gives dynamic_dim_indices, num_dynamic_dims.
struct PJRT_Buffer_DynamicDimensionIndices_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  const size_t* dynamic_dim_indices;
  size_t num_dynamic_dims;
};

// Gives layout.
struct PJRT_Buffer_GetMemoryLayout_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Buffer_MemoryLayout layout;
};

// Gives on_device_size_in_bytes.
struct PJRT_Buffer_OnDeviceSizeInBytes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  size_t on_device_size_in_bytes;
};

// Gives device.
struct PJRT_Buffer_Device_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Device* device;
};

// Gives memory.
struct PJRT_Buffer_Memory_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Memory* memory;
};

struct PJRT_Buffer_Delete_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
};

// Gives is_deleted.
struct PJRT_Buffer_IsDeleted_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  bool is_deleted;
};

// Gives dst_buffer.
struct PJRT_Buffer_CopyToDevice_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Device* dst_device;
  PJRT_Buffer* dst_buffer;
};

// Gives dst, dst_size, event.
struct PJRT_Buffer_ToHostBuffer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* src;
  PJRT_Buffer_MemoryLayout* host_layout;
  void* dst;
  size_t dst_size;
  PJRT_Event* event;
};

// Gives is_on_cpu.
struct PJRT_Buffer_IsOnCpu_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  bool is_on_cpu;
};

// Gives event.
struct PJRT_Buffer_ReadyEvent_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Event* event;
};

// Gives buffer_pointer.
struct PJRT_Buffer_UnsafePointer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  uintptr_t buffer_pointer;
};

struct PJRT_Buffer_IncreaseExternalReferenceCount_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
};

struct PJRT_Buffer_DecreaseExternalReferenceCount_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
};

// Gives device_memory_ptr.
struct PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  void* device_memory_ptr;
};

// Gives dst_buffer.
struct PJRT_Buffer_CopyToMemory_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Memory* dst_memory;
  PJRT_Buffer* dst_buffer;
};

// Gives event.
struct PJRT_Buffer_CopyRawToHost_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  void* dst;
  int64_t offset;
  int64_t transfer_size;
  PJRT_Event* event;
};

// Gives event, callback_data, future_ready_callback.
struct PJRT_Buffer_CopyRawToHostFuture_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  int64_t offset;
  int64_t transfer_size;
  PJRT_Event* event;
  void* callback_data;
  void (*future_ready_callback)( PJRT_Buffer_CopyRawToHostFuture_Callback_Args* args);
};

// Gives callback_data, out_buffer, dependency_ready_callback.
struct PJRT_Buffer_DonateWithControlDependency_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  void* callback_data;
  void (*dependency_ready_callback)( PJRT_Buffer_DonateWithControlDependency_Callback_Args* args);
  PJRT_Buffer* out_buffer;
};

// Gives out_buffer.
struct PJRT_Buffer_Bitcast_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Buffer* buffer;
  PJRT_Buffer_Type element_type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_MemoryLayout* device_layout;
  PJRT_Buffer* out_buffer;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
