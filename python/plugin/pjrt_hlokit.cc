// libpjrt_hlokit.so: what frameworks look up (GetPjrtApi), and what the Python package calls: every
// function hlokit_* of client/c_api.h and client/c_api_modules.h.
//
// One object for both: a process that uses both, as hlokit.from_jax may, must not hold two copies
// of the messages of proto/, which protobuf refuses while the second is being loaded.
#include <cstdio>
#include <string>

#include "client/c_api_modules.h"
#include "ffi/registry.h"
#include "ffi/xla_ffi.h"
#include "pjrt/abi/api.h"
#include "pjrt/extensions.h"
#include "pjrt/inspections.h"

extern "C" __attribute__((visibility("default"))) const hlokit::PJRT_Api* GetPjrtApi() {
  return hlokit::PjrtApi();
}

// Registers a custom call for the process. 0; 1 where the target has another function.
extern "C" __attribute__((visibility("default"))) int hlokit_pjrt_register_custom_call(
    const char* target, hlokit_ffi_function function) {
  return hlokit::RegisterCustomCall(target, function).ok() ? 0 : 1;
}
// Registers the functions of a custom call for the process: of version 0 one of XLA's first
// interface, the last; of version 1 typed handlers, by stage. 0; else 1, and why in `message`, of
// `room` bytes.
extern "C" __attribute__((visibility("default"))) int hlokit_pjrt_register_handlers(
    const char* target, int api_version, void* const* handlers, char* message, size_t room) {
  const absl::Status status = hlokit::RegisterPjrtCustomCall(
      target, api_version, {handlers[0], handlers[1], handlers[2], handlers[3]});
  if (!status.ok()) std::snprintf(message, room, "%s", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
// Registers a type of the states that handlers keep: gives it a number where `*type_id` is 0.
// `type_info` has its deleter and may be null. 0; else 1, and why in `message`, of `room` bytes.
extern "C" __attribute__((visibility("default"))) int hlokit_pjrt_register_type(
    const char* name, int64_t* type_id, const hlokit::XlaFfiTypeInfo* type_info, char* message,
    size_t room) {
  hlokit::XlaFfiTypeId type = {*type_id};
  const absl::Status status =
      hlokit::RegisterXlaFfiType(name, type, type_info == nullptr ? nullptr : type_info->deleter);
  if (!status.ok()) std::snprintf(message, room, "%s", std::string(status.message()).c_str());
  *type_id = type.id;
  return status.ok() ? 0 : 1;
}
// Where programs tell how values are cut; of inspections.h.
extern "C" __attribute__((visibility("default"))) void hlokit_pjrt_set_inspector(
    hlokit::PjrtInspector inspector) {
  hlokit::SetPjrtInspector(inspector);
}
// SPDX-License-Identifier: Apache-2.0
