// GetPjrtApi: the table of functions, filled from slots.def.
//
// A framework asks for one function, GetPjrtApi, and finds all others in the table that it returns.
// Each row of slots.def fills one slot. `Guarded` wraps the function behind it: it checks the size
// of the arguments' struct and that handles are not null, and turns a Status or an exception into a
// PJRT_Error, so that no C++ type crosses the interface. What hlokit does not offer is a slot too,
// whose function answers Unimplemented with the reason; no slot is null.
#include "pjrt/abi/api.h"

#include "pjrt/extensions.h"
#include "pjrt/guarded.h"

namespace hlokit {
namespace {

#define HLOKIT_PJRT_SLOT(name, handle)
#define HLOKIT_PJRT_ABSENT(name, reason)                            \
  absl::Status Absent##name(PJRT_##name##_Args&) {                  \
    return Unimplemented("PJRT_" #name " is not offered: " reason); \
  }
#include "pjrt/abi/slots.def"
#undef HLOKIT_PJRT_SLOT
#undef HLOKIT_PJRT_ABSENT

PJRT_Api MakeApi() {
  PJRT_Api api = {};
  api.struct_size = sizeof(PJRT_Api);
  api.extension_start = PjrtExtensions();
  api.pjrt_api_version = {sizeof(PJRT_Api_Version), nullptr, kPjrtMajor, kPjrtMinor};
#define HLOKIT_PJRT_SLOT(name, handle) \
  api.PJRT_##name = &Guarded<PJRT_##name##_Args, Pjrt##name, PjrtHandle::handle>;
#define HLOKIT_PJRT_ABSENT(name, reason) \
  api.PJRT_##name = &Guarded<PJRT_##name##_Args, Absent##name, PjrtHandle::kNone>;
#include "pjrt/abi/slots.def"
#undef HLOKIT_PJRT_SLOT
#undef HLOKIT_PJRT_ABSENT
  return api;
}

}  // namespace

const PJRT_Api* PjrtApi() {
  static const PJRT_Api api = MakeApi();
  return &api;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
