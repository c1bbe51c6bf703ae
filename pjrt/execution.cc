// Runs: arguments are buffers of each device, results new buffers. A run has ended when the call
// that starts it returns.
#include <utility>

#include "pjrt/guarded.h"
#include "pjrt/partitions.h"

namespace hlokit {
namespace {

// The values of one device's arguments, held until the run has ended. Errors: those of a buffer;
// InvalidArgument where one was deleted.
absl::StatusOr<Values> ArgumentsOf(const PjrtModule& module, PJRT_Buffer* const* buffers) {
  Values values;
  for (size_t i = 0; i < module.parameters.size(); ++i) {
    if (buffers[i] == nullptr) return InvalidArgument("argument ", i, " is null");
    if (module.parameters[i].IsToken()) {  // frameworks pass an empty array for it
      ASSIGN_OR_RETURN(auto token, module.client->TransferToServer(Literal::Token()));
      values.push_back(std::move(token));
      continue;
    }
    RETURN_IF_ERROR(buffers[i]->error);
    values.push_back(buffers[i]->Value());
    if (values.back() == nullptr)
      return InvalidArgument("argument ", i, " has been deleted or donated");
  }
  return values;
}

// The arrays of one device's result.
absl::StatusOr<Values> PartsOf(const PjrtModule& module, std::unique_ptr<GlobalData> result) {
  Values values;
  if (!module.tuple_result) {
    values.push_back(std::move(result));
    return values;
  }
  ASSIGN_OR_RETURN(auto parts, module.client->DeconstructTuple(*result));
  for (auto& part : parts) values.push_back(std::move(part));
  return values;
}

// One run of the program on every device that it runs on; the results of each.
absl::StatusOr<std::vector<Values>> RunAll(const PjrtModule& module,
                                           const std::vector<Values>& arguments) {
  std::vector<std::vector<const GlobalData*>> lists;
  for (const Values& values : arguments) {
    std::vector<const GlobalData*>& list = lists.emplace_back();
    for (const auto& value : values) list.push_back(value.get());
  }
  std::vector<std::unique_ptr<GlobalData>> results;
  if (lists.size() == 1) {
    ASSIGN_OR_RETURN(results.emplace_back(), module.client->Execute(*module.program, lists[0]));
  } else {
    ASSIGN_OR_RETURN(results, module.client->ExecuteReplicated(*module.program, lists));
  }
  std::vector<Values> parts;
  for (auto& result : results) {
    ASSIGN_OR_RETURN(parts.emplace_back(), PartsOf(module, std::move(result)));
  }
  return parts;
}

// Gives empty arrays for tokens among a device's results, as module.outputs describes them.
absl::Status HideTokens(const PjrtModule& module, Values& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]->shape().IsToken()) continue;
    ASSIGN_OR_RETURN(results[i], module.client->TransferToServer(Literal(module.outputs[i])));
  }
  return absl::OkStatus();
}

// Takes the values of donated arguments from their buffers: the run is their last use.
void ReleaseDonated(const PjrtModule& module, const PJRT_LoadedExecutable_Execute_Args& args) {
  const PJRT_ExecuteOptions* options = args.options;
  for (size_t i = 0; i < module.donated.size(); ++i) {
    bool taken = module.donated[i];
    for (size_t k = 0; options != nullptr && k < options->num_non_donatable_input_indices; ++k)
      if (options->non_donatable_input_indices[k] == static_cast<int64_t>(i)) taken = false;
    for (size_t d = 0; taken && d < args.num_devices; ++d) args.argument_lists[d][i]->Release();
  }
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
  std::vector<Values> arguments;
  for (size_t d = 0; d < devices.size(); ++d) {
    ASSIGN_OR_RETURN(arguments.emplace_back(), ArgumentsOf(*module, args.argument_lists[d]));
  }
  ReleaseDonated(*module, args);
  const bool whole = module->partitions.count > 1;
  if (whole) {
    ASSIGN_OR_RETURN(arguments, WholeArguments(*module, arguments));
  }
  ASSIGN_OR_RETURN(std::vector<Values> results, RunAll(*module, arguments));
  if (whole) {
    ASSIGN_OR_RETURN(results, PartsOfResults(*module, results));
  }
  for (size_t d = 0; d < devices.size(); ++d) {
    PJRT_Device* const device =
        devices.size() == 1 && args.execute_device != nullptr ? args.execute_device : devices[d];
    RETURN_IF_ERROR(HideTokens(*module, results[d]));
    for (size_t i = 0; i < results[d].size(); ++i)
      args.output_lists[d][i] = new PJRT_Buffer(device, device->memory_list.front(),
                                                module->outputs[i], std::move(results[d][i]));
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
