// Runs: arguments are buffers of each device, results new buffers. A short run has ended when the
// call that starts it returns; a longer one, and one whose arguments a run has still to give, goes
// on in the background.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "pjrt/background.h"
#include "pjrt/guarded.h"
#include "pjrt/partitions.h"
#include "runtime/parallel.h"
#include "support/allocate.h"
#include "support/clock.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

// What a run takes, held until it has ended.
struct Run {
  std::shared_ptr<PjrtModule> module;
  std::vector<std::vector<PjrtValue>> arguments;  // by device
  // By argument of a program on one device: its buffer has given it away, and nobody views it.
  std::vector<bool> donated;
  std::shared_ptr<const FfiRun> ffi_run;  // null: nothing is lent to custom calls
};

// The values of one device's arguments, which may be pending. Errors: those of a buffer;
// InvalidArgument where one was deleted.
absl::StatusOr<std::vector<PjrtValue>> ArgumentsOf(const PjrtModule& module,
                                                   PJRT_Buffer* const* buffers) {
  std::vector<PjrtValue> values;
  values.reserve(module.parameters.size());
  for (size_t i = 0; i < module.parameters.size(); ++i) {
    if (buffers[i] == nullptr) return InvalidArgument("argument ", i, " is null");
    if (module.parameters[i].IsToken()) {  // frameworks pass an empty array for it
      ASSIGN_OR_RETURN(auto token, module.client->TransferToServer(Literal::Token()));
      values.push_back({std::move(token), nullptr});
      continue;
    }
    RETURN_IF_ERROR(buffers[i]->error);
    values.push_back(buffers[i]->Value());
    if (values.back().empty())
      return InvalidArgument(
          "Invalid buffer passed to Execute() as argument ", i,
          " to replica 0: INVALID_ARGUMENT: Buffer has been deleted or donated.");
  }
  return values;
}

// One run of the program on every device that it runs on; the results of each. `given`, `ffi_run`:
// as ExecuteParts has them.
absl::StatusOr<std::vector<Values>> RunAll(const PjrtModule& module,
                                           const std::vector<Values>& arguments,
                                           absl::Span<GlobalData* const> given,
                                           const std::shared_ptr<const FfiRun>& ffi_run) {
  std::vector<std::vector<const GlobalData*>> lists(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    lists[d].reserve(arguments[d].size());
    for (const auto& value : arguments[d]) lists[d].push_back(value.get());
  }
  ASSIGN_OR_RETURN(auto results,
                   module.client->ExecuteParts(*module.program, lists, given, ffi_run));
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

// What the options lend to custom calls; null where they lend nothing.
std::shared_ptr<const FfiRun> FfiRunOf(const PJRT_ExecuteOptions* options) {
  constexpr size_t kWithContext = offsetof(PJRT_ExecuteOptions, context) + sizeof(void*);
  if (options == nullptr || options->struct_size < kWithContext || options->context == nullptr)
    return nullptr;
  return std::make_shared<const FfiRun>(options->context->user_data);
}

bool MayTake(const PJRT_ExecuteOptions* options, size_t argument) {
  for (size_t k = 0; options != nullptr && k < options->num_non_donatable_input_indices; ++k)
    if (options->non_donatable_input_indices[k] == static_cast<int64_t>(argument)) return false;
  return true;
}

// An array that is donated and used besides: what went wrong with argument `at`, which has the
// array of argument `first`. As XLA words it, which JAX's users and tests look for.
absl::Status UsedTwice(const char* what, size_t at, size_t first, const char* example) {
  return InvalidArgument("Attempt to ", what, " Execute() (flattened argument ", at,
                         ", replica 0, partition 0, first use: ", first,
                         "). Toy example for this bug: `", example, "`.");
}

// No array may be donated and used besides.
absl::Status CheckDonations(const PjrtModule& module, PJRT_Buffer* const* buffers,
                            const PJRT_ExecuteOptions* options) {
  for (size_t i = 0; i < module.donated.size(); ++i) {
    if (!module.donated[i] || !MayTake(options, i)) continue;
    for (size_t k = 0; k < module.donated.size(); ++k) {
      if (k == i || buffers[k] != buffers[i]) continue;
      const size_t at = std::max(i, k), first = std::min(i, k);
      if (module.donated[k] && MayTake(options, k))
        return UsedTwice("donate the same buffer twice in", at, first, "f(donate(a), donate(a))");
      if (i < k)
        return UsedTwice("use a buffer that was previously donated in the same call to", at, first,
                         "f(donate(a), a)");
      return UsedTwice("donate a buffer which is also used by the same call to", at, first,
                       "f(a, donate(a))");
    }
  }
  return absl::OkStatus();
}

// Takes the values of donated arguments from their buffers: the run is their last use.
void TakeDonated(const PJRT_LoadedExecutable_Execute_Args& args, Run& run) {
  const std::vector<bool>& donated = run.module->donated;
  if (!run.module->has_donated) return;
  const bool alone = args.num_devices == 1;
  if (alone) run.donated.resize(donated.size(), false);
  for (size_t i = 0; i < donated.size(); ++i) {
    if (!donated[i] || !MayTake(args.options, i)) continue;
    for (size_t d = 0; d < args.num_devices; ++d) {
      PJRT_Buffer& buffer = *args.argument_lists[d][i];
      if (alone && !buffer.HasViews()) run.donated[i] = true;
      buffer.Release();
    }
  }
}

bool IsWorthAThread(const PjrtModule& module) {
  return module.background && !module.recent.IsShort();
}

// Notes how long a run takes, from its making to its end, and whether it is to use other threads.
class TimedRun {
 public:
  explicit TimedRun(const PjrtModule& module)
      : module_(module),
        is_alone_(module.background && module.recent.RunsAlone()),
        alone_(is_alone_),
        start_(module.background ? SteadySeconds() : 0) {}
  ~TimedRun() {
    if (module_.background) module_.recent.Note(SteadySeconds() - start_, is_alone_);
  }
  TimedRun(const TimedRun&) = delete;
  TimedRun& operator=(const TimedRun&) = delete;

 private:
  const PjrtModule& module_;
  const bool is_alone_;
  const ScopedAlone alone_;
  const double start_;
};

// Waits for the arguments, runs, and gives each device's results; the run lets go of its arguments.
// Donated ones are written over where nobody else holds them.
absl::StatusOr<std::vector<Values>> Perform(Run& run) {
  const PjrtModule& module = *run.module;
  std::vector<Values> arguments;
  arguments.reserve(run.arguments.size());
  for (std::vector<PjrtValue>& device : run.arguments) {
    Values& values = arguments.emplace_back();
    values.reserve(device.size());
    for (PjrtValue& value : device) {
      RETURN_IF_ERROR(value.Await());
      values.push_back(std::move(value.data));
    }
  }
  run.arguments.clear();
  const TimedRun timed(module);
  std::vector<GlobalData*> given(run.donated.size(), nullptr);
  for (size_t i = 0; i < given.size(); ++i)
    if (run.donated[i] && arguments[0][i].use_count() == 1) given[i] = arguments[0][i].get();
  const bool whole = module.partitions.count > 1;
  if (whole) {
    ASSIGN_OR_RETURN(arguments, WholeArguments(module, arguments));
  }
  ASSIGN_OR_RETURN(std::vector<Values> results, RunAll(module, arguments, given, run.ffi_run));
  if (whole) {
    ASSIGN_OR_RETURN(results, PartsOfResults(module, results));
  }
  for (Values& device : results) RETURN_IF_ERROR(HideTokens(module, device));
  return results;
}

// The buffer of a result on a device.
PJRT_Buffer* NewResult(const PjrtModule& module, PJRT_Device* device, size_t i, PjrtValue value) {
  return new PJRT_Buffer(device, device->memory_list[module.output_kinds.indices[i]],
                         module.outputs[i], module.output_orders[i], std::move(value));
}

PJRT_Device* DeviceOf(const PJRT_LoadedExecutable_Execute_Args& args, size_t d) {
  const std::vector<PJRT_Device*>& devices = args.executable->devices;
  return devices.size() == 1 && args.execute_device != nullptr ? args.execute_device : devices[d];
}

// The lane of an argument that a run has still to give; kNoLane where there is none.
int LaneAhead(const Run& run) {
  for (const std::vector<PjrtValue>& device : run.arguments)
    for (const PjrtValue& value : device)
      if (value.IsUnderWay()) return value.pending->lane;
  return kNoLane;
}

absl::Status RunNow(Run& run, const PJRT_LoadedExecutable_Execute_Args& args) {
  ASSIGN_OR_RETURN(std::vector<Values> results, Perform(run));
  for (size_t d = 0; d < args.num_devices; ++d) {
    for (size_t i = 0; i < results[d].size(); ++i)
      args.output_lists[d][i] =
          NewResult(*run.module, DeviceOf(args, d), i, {std::move(results[d][i]), nullptr});
    if (args.device_complete_events != nullptr) args.device_complete_events[d] = ReadyEvent();
  }
  return absl::OkStatus();
}

bool SameArray(const Shape& a, const Shape& b) { return a.type == b.type && a.dims == b.dims; }

// Runs a small program of arrays on one device without making lists of views and of devices: for
// `x + y` of eight numbers they took four fifths of the time. False, with nothing done, where an
// argument is not an array that is there, aligned, of the parameter's shape: the long way waits,
// copies, or says what is wrong.
absl::StatusOr<bool> RanAtOnce(const PjrtModule& module,
                               const PJRT_LoadedExecutable_Execute_Args& args) {
  constexpr size_t kFew = 8;
  absl::InlinedVector<std::shared_ptr<GlobalData>, kFew> held;
  absl::InlinedVector<const void*, kFew> elements;
  for (size_t i = 0; i < args.num_args; ++i) {
    PJRT_Buffer* const buffer = args.argument_lists[0][i];
    if (buffer == nullptr || !SameArray(module.parameters[i], buffer->shape)) return false;
    PjrtValue value = buffer->Value();
    if (value.data == nullptr || !value.data->ready().IsReady()) return false;
    const void* const at = value.data->elements();
    if (reinterpret_cast<uintptr_t>(at) % kBlockAlignment != 0) return false;
    elements.push_back(at);
    held.push_back(std::move(value.data));
  }
  const TimedRun timed(module);
  ASSIGN_OR_RETURN(auto results, module.client->ExecuteArrays(*module.program, elements));
  PJRT_Device* const device = DeviceOf(args, 0);
  for (size_t i = 0; i < results.size(); ++i)
    args.output_lists[0][i] = NewResult(module, device, i, {std::move(results[i]), nullptr});
  if (args.device_complete_events != nullptr) args.device_complete_events[0] = ReadyEvent();
  return true;
}

// Gives buffers whose values are pending, and lets the run go on behind `lane`.
void RunLater(Run run, int lane, const PJRT_LoadedExecutable_Execute_Args& args) {
  const PjrtModule& module = *run.module;
  std::vector<std::vector<std::shared_ptr<PjrtPending>>> pending(args.num_devices);
  const auto ended = std::make_shared<EventSource>();
  if (lane == kNoLane) lane = QuietestLane();
  for (size_t d = 0; d < args.num_devices; ++d) {
    for (size_t i = 0; i < module.outputs.size(); ++i) {
      pending[d].push_back(std::make_shared<PjrtPending>());
      pending[d].back()->done = ended->event();
      pending[d].back()->lane = lane;
      args.output_lists[d][i] =
          NewResult(module, DeviceOf(args, d), i, {nullptr, pending[d].back()});
    }
    if (args.device_complete_events != nullptr)
      args.device_complete_events[d] = new PJRT_Event{ended->event(), {}};
  }
  RunInBackground(
      [run = std::make_shared<Run>(std::move(run)), pending = std::move(pending), ended] {
        auto results = WithinMemory("a run", [&] { return Perform(*run); });
        for (size_t d = 0; results.ok() && d < pending.size(); ++d)
          for (size_t i = 0; i < pending[d].size(); ++i)
            pending[d][i]->value = std::move((*results)[d][i]);
        ended->Set(results.status());
      },
      lane);
}

}  // namespace

absl::Status PjrtLoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args& args) {
  const PjrtModule* const module = args.executable->module.get();
  if (args.executable->deleted) return InvalidArgument("the executable has been deleted");
  if (args.num_args != module->parameters.size())
    return InvalidArgument("the program takes ", module->parameters.size(), " arguments, not ",
                           args.num_args);
  const size_t devices = args.executable->devices.size();
  if (args.num_devices != devices)
    return InvalidArgument("arguments for ", args.num_devices, " devices, the program runs on ",
                           devices);
  std::shared_ptr<const FfiRun> ffi_run = FfiRunOf(args.options);
  const bool is_short = !IsWorthAThread(*module);
  if (module->runs_arrays && is_short && ffi_run == nullptr) {
    ASSIGN_OR_RETURN(const bool ran, RanAtOnce(*module, args));
    if (ran) return absl::OkStatus();
  }
  Run run = {args.executable->module, {}, {}, std::move(ffi_run)};
  run.arguments.reserve(devices);
  for (size_t d = 0; d < devices; ++d) {
    ASSIGN_OR_RETURN(run.arguments.emplace_back(), ArgumentsOf(*module, args.argument_lists[d]));
    if (module->has_donated)
      RETURN_IF_ERROR(CheckDonations(*module, args.argument_lists[d], args.options));
  }
  TakeDonated(args, run);
  if (module->calls_out || !MayRunInBackground()) return RunNow(run, args);
  const int lane = LaneAhead(run);
  if (lane == kNoLane && is_short) return RunNow(run, args);
  RunLater(std::move(run), lane, args);
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
