// The PJRT C API, version 0.112, as hlokit declares it: types that several functions share.
// A framework (JAX) calls a plugin through a table of functions. Each takes one struct of
// arguments, whose first field is the size that the caller knows: fields are only ever added at the
// end. Names, order and types of fields are the interface's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlokit {

// What every struct of arguments begins with.
#define HLOKIT_PJRT_HEAD \
  size_t struct_size;    \
  PJRT_Extension_Base* extension_start;

// Handles, defined in objects.h or never.
struct PJRT_Error;
struct PJRT_Event;
struct PJRT_Client;
struct PJRT_Device;
struct PJRT_DeviceDescription;
struct PJRT_Memory;
struct PJRT_Buffer;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_TopologyDescription;
struct PJRT_ExecuteContext;
struct PJRT_AsyncHostToDeviceTransferManager;
struct PJRT_AsyncTrackingEvent;
struct PJRT_CopyToDeviceStream;
struct PJRT_FulfillAliasBufferCallback;
struct PJRT_MultiSlice_Config;
struct PJRT_Device_Attributes;
struct PJRT_SerializedExecutable;
struct PJRT_SerializedCompileOptions;
struct PJRT_SerializedTopology;
struct PJRT_DeviceAssignmentSerialized;

// Which extension a member of the chain is; numbers that hlokit has no use for are left out.
enum PJRT_Extension_Type {
  PJRT_Extension_Type_Layouts = 4,
  PJRT_Extension_Type_FFI = 5,
};
struct PJRT_Extension_Base {
  size_t struct_size;
  PJRT_Extension_Type type;
  PJRT_Extension_Base* next;
};

struct PJRT_Api_Version {
  HLOKIT_PJRT_HEAD
  int major_version;
  int minor_version;
};

// Those of absl::StatusCode.
enum PJRT_Error_Code : int { PJRT_Error_Code_OK = 0 };
using PJRT_Error_PayloadVisitor = void (*)(const char* key, size_t key_size, const char* value,
                                           size_t value_size, void* user_arg);
// Lets a callback of the framework make an error of ours.
using PJRT_CallbackError = PJRT_Error* (*)(PJRT_Error_Code code, const char* message,
                                           size_t message_size);

enum PJRT_NamedValue_Type {
  PJRT_NamedValue_kString = 0,
  PJRT_NamedValue_kInt64,
  PJRT_NamedValue_kInt64List,
  PJRT_NamedValue_kFloat,
  PJRT_NamedValue_kBool
};
// An option or attribute; value_size counts characters or list elements, 1 for scalars.
struct PJRT_NamedValue {
  HLOKIT_PJRT_HEAD
  const char* name;
  size_t name_size;
  PJRT_NamedValue_Type type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;
};

// Element types, numbered in an order of their own (element_types.cc).
enum PJRT_Buffer_Type : int { PJRT_Buffer_Type_INVALID = 0 };

// How long the caller's array stays as it is: for the call, until the copy is made, or as long as
// the buffer lives (which then may lie in it).
enum PJRT_HostBufferSemantics {
  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
  PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
  PJRT_HostBufferSemantics_kImmutableZeroCopy,
  PJRT_HostBufferSemantics_kMutableZeroCopy
};

enum PJRT_Buffer_MemoryLayout_Type {
  PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
  PJRT_Buffer_MemoryLayout_Type_Strides
};
struct PJRT_Buffer_MemoryLayout_Tiled {
  HLOKIT_PJRT_HEAD
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t num_tiles;
};
struct PJRT_Buffer_MemoryLayout_Strides {
  HLOKIT_PJRT_HEAD
  const int64_t* byte_strides;
  size_t num_byte_strides;
};
struct PJRT_Buffer_MemoryLayout {
  HLOKIT_PJRT_HEAD
  union {
    PJRT_Buffer_MemoryLayout_Tiled tiled;
    PJRT_Buffer_MemoryLayout_Strides strides;
  };
  PJRT_Buffer_MemoryLayout_Type type;
};

struct PJRT_ShapeSpec {
  HLOKIT_PJRT_HEAD
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
};

// A module: `format` is "mlir" (text, bytecode or a portable artifact) or "hlo" (HloModuleProto).
struct PJRT_Program {
  HLOKIT_PJRT_HEAD
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
};

struct PJRT_LogicalDeviceIds {
  int replica;
  int partition;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
