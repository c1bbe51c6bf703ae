// Devices, their memories, and descriptions of machines.
// Arguments of the functions, one struct each; see abi/types.h.
#pragma once

#include "pjrt/abi/types.h"

namespace hlokit {

// Gives id.
struct PJRT_DeviceDescription_Id_Args {
  HLOKIT_PJRT_HEAD
  PJRT_DeviceDescription* device_description;
  int id;
};

// Gives process_index.
struct PJRT_DeviceDescription_ProcessIndex_Args {
  HLOKIT_PJRT_HEAD
  PJRT_DeviceDescription* device_description;
  int process_index;
};

// Gives num_attributes, attributes.
struct PJRT_DeviceDescription_Attributes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_DeviceDescription* device_description;
  size_t num_attributes;
  const PJRT_NamedValue* attributes;
};

// Gives device_kind, device_kind_size.
struct PJRT_DeviceDescription_Kind_Args {
  HLOKIT_PJRT_HEAD
  PJRT_DeviceDescription* device_description;
  const char* device_kind;
  size_t device_kind_size;
};

// Gives debug_string, debug_string_size.
struct PJRT_DeviceDescription_DebugString_Args {
  HLOKIT_PJRT_HEAD
  PJRT_DeviceDescription* device_description;
  const char* debug_string;
  size_t debug_string_size;
};

// Gives to_string, to_string_size.
struct PJRT_DeviceDescription_ToString_Args {
  HLOKIT_PJRT_HEAD
  PJRT_DeviceDescription* device_description;
  const char* to_string;
  size_t to_string_size;
};

// Gives device_description.
struct PJRT_Device_GetDescription_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  PJRT_DeviceDescription* device_description;
};

// Gives is_addressable.
struct PJRT_Device_IsAddressable_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  bool is_addressable;
};

// Gives local_hardware_id.
struct PJRT_Device_LocalHardwareId_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  int local_hardware_id;
};

// Gives memories, num_memories.
struct PJRT_Device_AddressableMemories_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  PJRT_Memory* const* memories;
  size_t num_memories;
};

// Gives memory.
struct PJRT_Device_DefaultMemory_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  PJRT_Memory* memory;
};

// Gives bytes_in_use, peak_bytes_in_use, peak_bytes_in_use_is_set, num_allocs, num_allocs_is_set,
// largest_alloc_size, largest_alloc_size_is_set, bytes_limit, bytes_limit_is_set, bytes_reserved,
// bytes_reserved_is_set, peak_bytes_reserved, peak_bytes_reserved_is_set, bytes_reservable_limit,
// bytes_reservable_limit_is_set, largest_free_block_bytes, largest_free_block_bytes_is_set,
// pool_bytes, pool_bytes_is_set, peak_pool_bytes, peak_pool_bytes_is_set.
struct PJRT_Device_MemoryStats_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  bool peak_bytes_in_use_is_set;
  int64_t num_allocs;
  bool num_allocs_is_set;
  int64_t largest_alloc_size;
  bool largest_alloc_size_is_set;
  int64_t bytes_limit;
  bool bytes_limit_is_set;
  int64_t bytes_reserved;
  bool bytes_reserved_is_set;
  int64_t peak_bytes_reserved;
  bool peak_bytes_reserved_is_set;
  int64_t bytes_reservable_limit;
  bool bytes_reservable_limit_is_set;
  int64_t largest_free_block_bytes;
  bool largest_free_block_bytes_is_set;
  int64_t pool_bytes;
  bool pool_bytes_is_set;
  int64_t peak_pool_bytes;
  bool peak_pool_bytes_is_set;
  int64_t peak_allocated_bytes;
  bool peak_allocated_bytes_is_set;
};

// Gives poisoned.
struct PJRT_Device_PoisonExecution_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  int32_t launch_id;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
  bool poisoned;
  const PJRT_NamedValue* payload;
  size_t num_payload;
};

// Gives event.
struct PJRT_Device_CreateAsyncTrackingEvent_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  const char* description;
  size_t description_size;
  PJRT_AsyncTrackingEvent* event;
};

// Gives attributes, num_attributes, device_attributes, attributes_deleter.
struct PJRT_Device_GetAttributes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
  const PJRT_NamedValue* attributes;
  size_t num_attributes;
  PJRT_Device_Attributes* device_attributes;
  void (*attributes_deleter)(PJRT_Device_Attributes* device_attributes);
};

struct PJRT_Device_ClearMemoryStats_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Device* device;
};

// Gives id.
struct PJRT_Memory_Id_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Memory* memory;
  int id;
};

// Gives kind, kind_size.
struct PJRT_Memory_Kind_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Memory* memory;
  const char* kind;
  size_t kind_size;
};

// Gives debug_string, debug_string_size.
struct PJRT_Memory_DebugString_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Memory* memory;
  const char* debug_string;
  size_t debug_string_size;
};

// Gives to_string, to_string_size.
struct PJRT_Memory_ToString_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Memory* memory;
  const char* to_string;
  size_t to_string_size;
};

// Gives devices, num_devices.
struct PJRT_Memory_AddressableByDevices_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Memory* memory;
  PJRT_Device* const* devices;
  size_t num_devices;
};

// Gives kind_id.
struct PJRT_Memory_Kind_Id_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Memory* memory;
  int kind_id;
};

// Gives topology.
struct PJRT_TopologyDescription_Create_Args {
  HLOKIT_PJRT_HEAD
  const char* topology_name;
  size_t topology_name_size;
  const PJRT_NamedValue* create_options;
  size_t num_options;
  PJRT_TopologyDescription* topology;
};

struct PJRT_TopologyDescription_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_TopologyDescription* topology;
};

// Gives platform_name, platform_name_size.
struct PJRT_TopologyDescription_PlatformName_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_TopologyDescription* topology;
  const char* platform_name;
  size_t platform_name_size;
};

// Gives platform_version, platform_version_size.
struct PJRT_TopologyDescription_PlatformVersion_Args {
  HLOKIT_PJRT_HEAD
  PJRT_TopologyDescription* topology;
  const char* platform_version;
  size_t platform_version_size;
};

// Gives descriptions, num_descriptions.
struct PJRT_TopologyDescription_GetDeviceDescriptions_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_TopologyDescription* topology;
  PJRT_DeviceDescription* const* descriptions;
  size_t num_descriptions;
};

// Gives serialized_bytes, serialized_bytes_size, serialized_topology, serialized_topology_deleter.
struct PJRT_TopologyDescription_Serialize_Args {
  HLOKIT_PJRT_HEAD
  PJRT_TopologyDescription* topology;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  PJRT_SerializedTopology* serialized_topology;
  void (*serialized_topology_deleter)( PJRT_SerializedTopology* serialized_topology);
};

// Gives attributes, num_attributes.
struct PJRT_TopologyDescription_Attributes_Args {
  HLOKIT_PJRT_HEAD
  PJRT_TopologyDescription* topology;
  const PJRT_NamedValue* attributes;
  size_t num_attributes;
};

// Gives topology.
struct PJRT_TopologyDescription_Deserialize_Args {
  HLOKIT_PJRT_HEAD
  const char* serialized_topology;
  size_t serialized_topology_size;
  PJRT_TopologyDescription* topology;
};

// Gives fingerprint.
struct PJRT_TopologyDescription_Fingerprint_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_TopologyDescription* topology;
  uint64_t fingerprint;
};

// Gives serialized_shape, serialized_shape_size, serialized_shape_deleter.
struct PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_TopologyDescription* topology;
  int memory_space_kind_id;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
  const PJRT_Buffer_MemoryLayout* layout;
  const char* serialized_shape;
  size_t serialized_shape_size;
  void (*serialized_shape_deleter)(const char*);
};

// Gives memory_space_kind_ids, num_memory_space_kind_ids.
struct PJRT_TopologyDescription_GetMemorySpaceKindIds_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_TopologyDescription* topology;
  const int* memory_space_kind_ids;
  size_t num_memory_space_kind_ids;
};

struct PJRT_AsyncTrackingEvent_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_AsyncTrackingEvent* event;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
