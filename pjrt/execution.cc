// Runs: arguments are buffers of each device, results new buffers. A run has ended when the call
// that starts it returns.
#include <iterator>
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

// One run of the program on every device that it runs on; the results of each. `given`: as
// ExecuteParts has it.
absl::StatusOr<std::vector<Values>> RunAll(const PjrtModule& module,
                                           const std::vector<Values>& arguments,
                                           absl::Span<GlobalData* const> given) {
  std::vector<std::vector<const GlobalData*>> lists(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    lists[d].reserve(arguments[d].size());
    for (const auto& value : arguments[d]) lists[d].push_back(value.get());
  }
  ASSIGN_OR_RETURN(auto results, module.client->ExecuteParts(*module.program, lists, given));
  std::vector<Values> parts;
  parts.reserve(results.size());
  for (auto& of_device : results)
    parts.emplace_back(std::make_move_iterator(of_device.begin()),
                       std::make_move_iterator(of_device.end()));
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

bool MayTake(const PJRT_ExecuteOptions* options, size_t argument) {
  for (size_t k = 0; options != nullptr && k < options->num_non_donatable_input_indices; ++k)
    if (options->non_donatable_input_indices[k] == static_cast<int64_t>(argument)) return false;
  return true;
}

// No array may be donated and used besides. Errors: as XLA words them.
absl::Status CheckDonations(const PjrtModule& module, PJRT_Buffer* const* buffers,
                            const PJRT_ExecuteOptions* options) {
  for (size_t i = 0; i < module.donated.size(); ++i) {
    if (!module.donated[i] || !MayTake(options, i)) continue;
    for (size_t k = 0; k < module.donated.size(); ++k) {
      if (k == i || buffers[k] != buffers[i]) continue;
      const bool both = module.donated[k] && MayTake(options, k);
      if (both && k < i) continue;
      return InvalidArgument("Attempt to donate the same buffer twice in Execute() (flattened ",
                             "argument ", k, ", replica 0). Toy example for this bug: `f(",
                             both ? "donate(a), donate(a))`." : "a, donate(a))`.");
    }
  }
  return absl::OkStatus();
}

// Takes the values of donated arguments from their buffers: the run is their last use. Of a program
// on one device, gives those that the run may write over: nobody else sees them.
std::vector<GlobalData*> TakeDonated(const PjrtModule& module, const std::vector<Values>& arguments,
                                     const PJRT_LoadedExecutable_Execute_Args& args) {
  std::vector<GlobalData*> given;
  if (!module.has_donated) return given;
  const bool alone = args.num_devices == 1;
  if (alone) given.resize(module.donated.size(), nullptr);
  for (size_t i = 0; i < module.donated.size(); ++i) {
    if (!module.donated[i] || !MayTake(args.options, i)) continue;
    for (size_t d = 0; d < args.num_devices; ++d) {
      PJRT_Buffer& buffer = *args.argument_lists[d][i];
      const bool viewed = buffer.HasViews();
      buffer.Release();
      if (alone && !viewed && arguments[0][i].use_count() == 1) given[i] = arguments[0][i].get();
    }
  }
  return given;
}

// Buffers of the results on a device.
absl::Status GiveResults(const PjrtModule& module, PJRT_Device* device, Values& results,
                         PJRT_Buffer** out) {
  RETURN_IF_ERROR(HideTokens(module, results));
  for (size_t i = 0; i < results.size(); ++i) {
    out[i] = new PJRT_Buffer(device, device->memory_list[module.output_kinds.indices[i]],
                             module.outputs[i], std::move(results[i]));
    out[i]->minor_to_major = module.output_orders[i];
  }
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
  std::vector<Values> arguments;
  arguments.reserve(devices.size());
  for (size_t d = 0; d < devices.size(); ++d) {
    ASSIGN_OR_RETURN(arguments.emplace_back(), ArgumentsOf(*module, args.argument_lists[d]));
    if (module->has_donated)
      RETURN_IF_ERROR(CheckDonations(*module, args.argument_lists[d], args.options));
  }
  const std::vector<GlobalData*> given = TakeDonated(*module, arguments, args);
  const bool whole = module->partitions.count > 1;
  if (whole) {
    ASSIGN_OR_RETURN(arguments, WholeArguments(*module, arguments));
  }
  ASSIGN_OR_RETURN(std::vector<Values> results, RunAll(*module, arguments, given));
  if (whole) {
    ASSIGN_OR_RETURN(results, PartsOfResults(*module, results));
  }
  for (size_t d = 0; d < devices.size(); ++d) {
    PJRT_Device* const device =
        devices.size() == 1 && args.execute_device != nullptr ? args.execute_device : devices[d];
    RETURN_IF_ERROR(GiveResults(*module, device, results[d], args.output_lists[d]));
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
