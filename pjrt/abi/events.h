// Errors, events and what the plugin says of itself.
// Arguments of the functions, one struct each; see abi/types.h.
#pragma once

#include "pjrt/abi/types.h"

namespace hlokit {

using PJRT_Event_OnReadyCallback = void (*)(PJRT_Error* error, void* user_arg);

struct PJRT_Error_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Error* error;
};

// Gives message, message_size.
struct PJRT_Error_Message_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_Error* error;
  const char* message;
  size_t message_size;
};

// Gives code.
struct PJRT_Error_GetCode_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_Error* error;
  PJRT_Error_Code code;
};

struct PJRT_Error_ForEachPayload_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_Error* error;
  PJRT_Error_PayloadVisitor visitor;
  void* user_arg;
};

struct PJRT_Plugin_Initialize_Args {
  HLOKIT_PJRT_HEAD
};

// Gives attributes, num_attributes.
struct PJRT_Plugin_Attributes_Args {
  HLOKIT_PJRT_HEAD
  const PJRT_NamedValue* attributes;
  size_t num_attributes;
};

struct PJRT_Event_Destroy_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Event* event;
};

// Gives is_ready.
struct PJRT_Event_IsReady_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Event* event;
  bool is_ready;
};

struct PJRT_Event_Error_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Event* event;
};

struct PJRT_Event_Await_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Event* event;
};

struct PJRT_Event_OnReady_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Event* event;
  PJRT_Event_OnReadyCallback callback;
  void* user_arg;
};

// Gives event.
struct PJRT_Event_Create_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Event* event;
};

struct PJRT_Event_Set_Args {
  HLOKIT_PJRT_HEAD
  PJRT_Event* event;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
