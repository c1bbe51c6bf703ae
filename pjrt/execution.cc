// Runs: arguments are buffers of each device, results new buffers. A run has ended when the call
// that starts it returns.
#include <utility>

#include "pjrt/guarded.h"

namespace hlokit {
namespace {

using Values = std::vector<std::shared_ptr<GlobalData>>;

// The values of one device's arguments, held until the run has ended. Errors: those of a buffer;
// InvalidArgument where one was deleted.
absl::StatusOr<Values> ArgumentsOf(PJRT_Buffer* const* buffers, size_t count) {
  Values values;
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i] == nullptr) return InvalidArgument("argument ", i, " is null");
    RETURN_IF_ERROR(buffers[i]->error);
    values.push_back(buffers[i]->Value());
    if (values.back() == nullptr)
      return InvalidArgument("argument ", i, " has been deleted or donated");
  }
  return values;
}

// One device's result as buffers.
absl::Status GiveOutputs(const PjrtModule& module, Client& client, PJRT_Device* device,
                         std::unique_ptr<GlobalData> result, PJRT_Buffer** outputs) {
  std::vector<std::unique_ptr<GlobalData>> parts;
  if (module.tuple_result) {
    ASSIGN_OR_RETURN(parts, client.DeconstructTuple(*result));
  } else {
    parts.push_back(std::move(result));
  }
  for (size_t i = 0; i < parts.size(); ++i)
    outputs[i] = new PJRT_Buffer(device, device->memory_list.front(), module.outputs[i],
                                 std::shared_ptr<GlobalData>(std::move(parts[i])));
  return absl::OkStatus();
}

}  // namespace

absl::Status PjrtLoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args& args) {
  const std::shared_ptr<PjrtModule> module = args.executable->Module();
  if (module == nullptr) return InvalidArgument("the executable has been deleted");
  if (args.num_args != module->parameters.size())
    return InvalidArgument("the program takes ", module->parameters.size(), " arguments, not ",
                           args.num_args);
  const std::vector<PJRT_Device*>& devices = args.executable->devices;
  if (args.num_devices != devices.size())
    return InvalidArgument("arguments for ", args.num_devices, " devices, the program runs on ",
                           devices.size());
  Client& client = *module->client;
  std::vector<Values> held;
  std::vector<std::vector<const GlobalData*>> arguments;
  for (size_t d = 0; d < devices.size(); ++d) {
    ASSIGN_OR_RETURN(Values values, ArgumentsOf(args.argument_lists[d], args.num_args));
    std::vector<const GlobalData*>& list = arguments.emplace_back();
    for (const auto& value : values) list.push_back(value.get());
    held.push_back(std::move(values));
  }
  std::vector<std::unique_ptr<GlobalData>> results;
  if (devices.size() == 1) {
    ASSIGN_OR_RETURN(auto result, client.Execute(*module->program, arguments[0]));
    results.push_back(std::move(result));
  } else {
    ASSIGN_OR_RETURN(results, client.ExecuteReplicated(*module->program, arguments));
  }
  for (size_t d = 0; d < devices.size(); ++d) {
    PJRT_Device* const device =
        devices.size() == 1 && args.execute_device != nullptr ? args.execute_device : devices[d];
    RETURN_IF_ERROR(
        GiveOutputs(*module, client, device, std::move(results[d]), args.output_lists[d]));
    if (args.device_complete_events != nullptr) args.device_complete_events[d] = new PJRT_Event;
  }
  return absl::OkStatus();
}

absl::Status PjrtExecuteContext_Create(PJRT_ExecuteContext_Create_Args& args) {
  args.context = new PJRT_ExecuteContext;
  return absl::OkStatus();
}

absl::Status PjrtExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args& args) {
  delete args.context;
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
