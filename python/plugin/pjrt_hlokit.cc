// libpjrt_hlokit.so: what frameworks look up (GetPjrtApi), and what the Python package calls: every
// function hlokit_* of client/c_api.h and client/c_api_modules.h.
//
// One object for both: a process that uses both, as hlokit.from_jax may, must not hold two copies of
// the messages of proto/, which protobuf refuses while the second is being loaded.
#include "client/c_api_modules.h"
#include "ffi/registry.h"
#include "pjrt/abi/api.h"

extern "C" __attribute__((visibility("default"))) const hlokit::PJRT_Api* GetPjrtApi() {
  return hlokit::PjrtApi();
}

// Registers a custom call for the process. 0; 1 where the target has another function.
extern "C" __attribute__((visibility("default"))) int hlokit_pjrt_register_custom_call(
    const char* target, hlokit_ffi_function function) {
  return hlokit::RegisterCustomCall(target, function).ok() ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
