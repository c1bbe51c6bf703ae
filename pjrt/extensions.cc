// The chain of extensions: FFI alone.
//
// PJRT_Api points to a list of extensions, each with a type and a table of functions; a framework
// walks it for those that it knows. Ours has one entry, by which jax.ffi registers types and custom
// calls. A handler is known by its target's name and the version of the interface that it was
// written for; calls of typed handlers go through ffi/, which makes call frames for them.
#include "pjrt/extensions.h"

#include "ffi/registry.h"
#include "ffi/xla_ffi.h"
#include "pjrt/abi/ffi.h"
#include "pjrt/guarded.h"
#include "pjrt/objects.h"

namespace hlokit {
namespace {

absl::Status RegisterType(PJRT_FFI_TypeID_Register_Args& args) {
  if (args.type_name == nullptr) return InvalidArgument("the type's name is null");
  XlaFfiTypeId type = {args.type_id};
  RETURN_IF_ERROR(RegisterXlaFfiType({args.type_name, args.type_name_size}, type, nullptr));
  args.type_id = type.id;
  return absl::OkStatus();
}

absl::Status AddUserData(PJRT_FFI_UserData_Add_Args& args) {
  const PJRT_FFI_UserData& given = args.user_data;
  return args.context->user_data->Add(given.type_id, given.data, given.deleter);
}

absl::Status RegisterHandler(PJRT_FFI_Register_Handler_Args& args) {
  if (args.target_name == nullptr) return InvalidArgument("the target's name is null");
  return RegisterPjrtCustomCall({args.target_name, args.target_name_size}, args.api_version,
                                {nullptr, nullptr, nullptr, args.handler});
}

PJRT_FFI_Extension MakeFfi() {
  PJRT_FFI_Extension ffi = {};
  ffi.base = {sizeof(PJRT_FFI_Extension), PJRT_Extension_Type_FFI, nullptr};
  ffi.type_id_register = &Guarded<PJRT_FFI_TypeID_Register_Args, RegisterType, PjrtHandle::kNone>;
  ffi.user_data_add = &Guarded<PJRT_FFI_UserData_Add_Args, AddUserData, PjrtHandle::kNeeded>;
  ffi.register_handler =
      &Guarded<PJRT_FFI_Register_Handler_Args, RegisterHandler, PjrtHandle::kNone>;
  return ffi;
}

}  // namespace

absl::Status RegisterPjrtCustomCall(absl::string_view target, int api_version,
                                    const std::array<void*, 4>& handlers) {
  const auto handler = [&](size_t stage) {
    return reinterpret_cast<XlaFfiHandler*>(handlers[stage]);
  };
  if (api_version == 1)
    return RegisterXlaFfiHandler(target, {handler(0), handler(1), handler(2), handler(3)});
  if (api_version == 0)
    return RegisterCustomCall(target, reinterpret_cast<PlainCustomCall>(handlers[3]));
  return InvalidArgument("custom-call target \"", target, "\" is of version ", api_version,
                         ", 0 and 1 are known");
}

PJRT_Extension_Base* PjrtExtensions() {
  static PJRT_FFI_Extension ffi = MakeFfi();
  return &ffi.base;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
