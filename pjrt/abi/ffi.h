// The FFI extension of the PJRT C API, version 2: custom calls of the framework's own.
#pragma once

#include "pjrt/abi/types.h"

namespace hlokit {

struct PJRT_FFI_TypeID_Register_Args {
  HLOKIT_PJRT_HEAD
  const char* type_name;
  size_t type_name_size;
  int64_t type_id;  // given, or 0 and set
};

// `deleter` may be null; else it is called when neither the context nor a run has the data.
struct PJRT_FFI_UserData {
  int64_t type_id;
  void* data;
  void (*deleter)(void* data);
};
struct PJRT_FFI_UserData_Add_Args {
  HLOKIT_PJRT_HEAD
  PJRT_ExecuteContext* context;
  PJRT_FFI_UserData user_data;
};

// The one struct of arguments without a chain of extensions.
struct PJRT_FFI_Register_Handler_Args {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  int api_version;  // 0: XLA's first interface, 1: typed
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  int traits;
};

struct PJRT_FFI_Extension {
  PJRT_Extension_Base base;
  PJRT_Error* (*type_id_register)(PJRT_FFI_TypeID_Register_Args* args);
  PJRT_Error* (*user_data_add)(PJRT_FFI_UserData_Add_Args* args);
  PJRT_Error* (*register_handler)(PJRT_FFI_Register_Handler_Args* args);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
