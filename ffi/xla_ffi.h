// XLA's typed custom calls (jax.ffi): handlers that are registered here run as custom calls.
//
//   XLA_FFI_DEFINE_HANDLER_SYMBOL(Scale, ScaleImpl, ffi::Ffi::Bind().Arg<...>()...)   // theirs
//   RegisterXlaFfiHandler("scale", {nullptr, nullptr, nullptr, Scale});                // here
//
// Stages run in the order instantiate (before the first call of a site; its state lives as long as
// the program), prepare, initialize, execute. A handler's threads are the caller's: tasks that it
// schedules run at once. User data is what the run's FfiRun lends (surroundings.h).
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ffi/xla_ffi_abi.h"

namespace hlokit {

// For all of the process. Errors: InvalidArgument where there is no execute handler or a handler is
// of another version, AlreadyExists where the target is something else.
absl::Status RegisterXlaFfiHandler(absl::string_view target, const XlaFfiBundle& bundle);

// Gives a type of states or user data its number where `type.id` is 0, else notes the number.
// `deleter` may be null. Errors: InvalidArgument where the name has another number.
absl::Status RegisterXlaFfiType(absl::string_view name, XlaFfiTypeId& type, void (*deleter)(void*));

// The table that handlers call back.
const XlaFfiApi& TheXlaFfiApi();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
