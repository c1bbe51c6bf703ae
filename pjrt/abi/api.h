// The table of functions that GetPjrtApi gives.
#pragma once

#include "pjrt/abi/buffers.h"
#include "pjrt/abi/clients.h"
#include "pjrt/abi/devices.h"
#include "pjrt/abi/events.h"
#include "pjrt/abi/executables.h"

namespace hlokit {

inline constexpr int kPjrtMajor = 0;
inline constexpr int kPjrtMinor = 112;

// One pointer a function, in the order of slots.def. Error_Destroy and Error_Message give nothing
// in the public interface; a caller there ignores what ours give, as the ABI lets it.
struct PJRT_Api {
  HLOKIT_PJRT_HEAD
  PJRT_Api_Version pjrt_api_version;
#define HLOKIT_PJRT_SLOT(name, handle) PJRT_Error* (*PJRT_##name)(PJRT_##name##_Args*);
#define HLOKIT_PJRT_ABSENT(name, reason) PJRT_Error* (*PJRT_##name)(PJRT_##name##_Args*);
#include "pjrt/abi/slots.def"
#undef HLOKIT_PJRT_SLOT
#undef HLOKIT_PJRT_ABSENT
};

// The table, the same at every call, with the extensions chained to it.
const PJRT_Api* PjrtApi();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
