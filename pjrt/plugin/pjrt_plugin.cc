// libpjrt_hlokit.so: the symbol that frameworks look up, and one for custom calls of Python.
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
