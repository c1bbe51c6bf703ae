// Executions: at once, in parallel, in the background, on several devices.
//
// All forms go through one path: arguments are compared with the program's shapes, become views,
// and a PreparedRun is made, run, and asked for its results. `Launch` does that in a thread of its
// own and returns results that have an event; arguments that are still being computed are awaited
// there, so a chain of launches needs no waiting between them. Where the system has no more threads
// the run fails, and only that run.
#include <string>
#include <system_error>
#include <utility>

#include "client/client.h"
#include "support/status.h"
#include "support/threads.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

absl::Status CheckArguments(absl::Span<const GlobalData* const> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == nullptr) return InvalidArgument("argument ", i, " is null");
  return absl::OkStatus();
}

// What `run` will give, in a thread of its own; an error where the system has no more threads.
std::future<DataOr> InThread(std::function<DataOr()> run) {
  std::string reason = "the system starts no more";
  try {
    if (MayStartThread()) return std::async(std::launch::async, std::move(run));
  } catch (const std::system_error& error) {
    reason = error.what();
  }
  std::promise<DataOr> failed;
  failed.set_value(ResourceExhausted("no thread for a run: ", reason));
  return failed.get_future();
}

// That there are as many arguments as the program takes, of its shapes.
absl::Status CheckAgainst(const CompiledProgram& program,
                          absl::Span<const std::vector<const GlobalData*>> arguments) {
  const auto local = program.executable().devices().local().size();
  if (arguments.size() != local)
    return InvalidArgument("the program runs on ", local, " devices, arguments for ",
                           arguments.size(), " are given");
  const std::vector<Shape>& parameters = program.program_shape().parameters;
  for (const std::vector<const GlobalData*>& device : arguments) {
    RETURN_IF_ERROR(CheckArguments(device));
    if (device.size() != parameters.size())
      return InvalidArgument("the program takes ", parameters.size(), " arguments, ", device.size(),
                             " given");
    for (size_t p = 0; p < device.size(); ++p)
      if (!Compatible(parameters[p], device[p]->shape()))
        return InvalidArgument("argument ", p, " is ", Text(device[p]->shape()), ", expected ",
                               Text(parameters[p]));
  }
  return absl::OkStatus();
}

// A run that has ended, for its results. `given`: of one device, arguments to be written over.
absl::StatusOr<std::unique_ptr<PreparedRun>> RunOnce(
    const CompiledProgram& program, absl::Span<const std::vector<const GlobalData*>> arguments,
    absl::Span<GlobalData* const> given = {}, std::shared_ptr<const FfiRun> ffi_run = nullptr) {
  RETURN_IF_ERROR(CheckAgainst(program, arguments));
  std::vector<DeviceViews> views;
  for (const std::vector<const GlobalData*>& device : arguments) {
    DeviceViews& of_device = views.emplace_back();
    for (const GlobalData* argument : device) {
      RETURN_IF_ERROR(argument->ready().Await());
      of_device.push_back(&argument->value());
    }
  }
  if (given.empty()) {
    ASSIGN_OR_RETURN(std::unique_ptr<PreparedRun> run, program.executable().PrepareViews(views));
    run->set_ffi_run(std::move(ffi_run));
    RETURN_IF_ERROR(run->Run());
    return run;
  }
  std::vector<Literal*> literals;
  for (GlobalData* const argument : given)
    literals.push_back(argument == nullptr ? nullptr : argument->unshared_literal());
  ASSIGN_OR_RETURN(std::unique_ptr<PreparedRun> run,
                   program.executable().PrepareDonating(views.front(), literals));
  run->set_ffi_run(std::move(ffi_run));
  RETURN_IF_ERROR(run->Run());
  return run;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<std::unique_ptr<GlobalData>>>> Client::ExecuteParts(
    const CompiledProgram& program, absl::Span<const std::vector<const GlobalData*>> arguments,
    absl::Span<GlobalData* const> given, std::shared_ptr<const FfiRun> ffi_run) {
  if (!given.empty() && (arguments.size() != 1 || given.size() != arguments[0].size()))
    return InvalidArgument(given.size(), " arguments are given away, of ", arguments.size(),
                           " devices");
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run,
                   RunOnce(program, arguments, given, std::move(ffi_run)));
  ASSIGN_OR_RETURN(std::vector<std::vector<DeviceValue>> values, run->TakeParts());
  const absl::Span<const int64_t> local = program.executable().devices().local();
  std::vector<std::vector<std::unique_ptr<GlobalData>>> parts(values.size());
  for (size_t d = 0; d < values.size(); ++d)
    for (DeviceValue& value : values[d])
      parts[d].push_back(std::make_unique<GlobalData>(std::move(value), local[d]));
  return parts;
}

absl::StatusOr<Client::Arrays> Client::ExecuteArrays(const CompiledProgram& program,
                                                     absl::Span<const void* const> arguments) {
  Executable::ArrayResults results;
  RETURN_IF_ERROR(WithinMemory("a run's arrays",
                               [&] { return program.executable().RunArrays(arguments, results); }));
  const int64_t device = program.executable().devices().local()[0];
  Arrays data;
  data.reserve(results.size());
  for (Literal& result : results)
    data.push_back(std::make_shared<GlobalData>(GlobalData::Array{result}, device));
  return data;
}

absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> Client::ExecuteReplicated(
    const CompiledProgram& program, absl::Span<const std::vector<const GlobalData*>> arguments) {
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run, RunOnce(program, arguments));
  ASSIGN_OR_RETURN(std::vector<DeviceValue> results, run->TakeValues());
  std::vector<std::unique_ptr<GlobalData>> data;
  const absl::Span<const int64_t> local = program.executable().devices().local();
  for (size_t d = 0; d < results.size(); ++d)
    data.push_back(std::make_unique<GlobalData>(std::move(results[d]), local[d]));
  return data;
}

DataOr Client::Execute(const CompiledProgram& program,
                       absl::Span<const GlobalData* const> arguments) {
  const std::vector<const GlobalData*> one(arguments.begin(), arguments.end());
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<GlobalData>> results,
                   ExecuteReplicated(program, {one}));
  return std::move(results.front());
}

DataOr Client::ExecuteDonating(const CompiledProgram& program,
                               std::vector<std::unique_ptr<GlobalData>> arguments) {
  std::vector<const GlobalData*> borrowed;
  for (const auto& argument : arguments) borrowed.push_back(argument.get());
  RETURN_IF_ERROR(CheckArguments(borrowed));
  if (program.device_count() != 1)
    return Unimplemented("donation by one device to a program of ", program.device_count());
  DeviceViews views;
  std::vector<Literal*> given;
  for (const auto& argument : arguments) {
    RETURN_IF_ERROR(argument->ready().Await());
    views.push_back(&argument->value());
    given.push_back(argument->unshared_literal());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<PreparedRun> run,
                   program.executable().PrepareDonating(views, given));
  RETURN_IF_ERROR(run->Run());
  ASSIGN_OR_RETURN(std::vector<DeviceValue> results, run->TakeValues());
  return std::make_unique<GlobalData>(std::move(results.front()), 0);
}

DataOr Client::Execute(const XlaComputation& computation,
                       absl::Span<const GlobalData* const> arguments) {
  ASSIGN_OR_RETURN(const ProgramHandle program, CompiledOnce(computation));
  return Execute(*program, arguments);
}

absl::StatusOr<Literal> Client::ExecuteAndTransfer(const XlaComputation& computation,
                                                   absl::Span<const GlobalData* const> arguments) {
  ASSIGN_OR_RETURN(const ProgramHandle program, CompiledOnce(computation));
  const std::vector<const GlobalData*> one(arguments.begin(), arguments.end());
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run, RunOnce(*program, {one}));
  ASSIGN_OR_RETURN(std::vector<Literal> results, run->TakeResults());
  return std::move(results.front());
}

// What a run in the background holds: its program, and a place in the client's count of such runs.
struct Client::BackgroundRun {
  BackgroundRun(Client& owner, ProgramHandle of) : client(owner), program(std::move(of)) {
    const std::lock_guard<std::mutex> lock(client.mutex_);
    ++client.background_runs_;
  }
  ~BackgroundRun() {
    program.reset();  // before the client may go
    const std::lock_guard<std::mutex> lock(client.mutex_);
    --client.background_runs_;
    client.run_ended_.notify_all();
  }
  Client& client;
  ProgramHandle program;
};

void Client::AwaitBackgroundRuns() {
  std::unique_lock<std::mutex> lock(mutex_);
  run_ended_.wait(lock, [this] { return background_runs_ == 0; });
}

absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> Client::Launch(
    ProgramHandle program, absl::Span<const std::vector<const GlobalData*>> arguments) {
  if (program == nullptr) return InvalidArgument("there is no program to run");
  RETURN_IF_ERROR(CheckAgainst(*program, arguments));
  std::vector<std::vector<PendingValue>> values;
  for (const std::vector<const GlobalData*>& device : arguments) {
    std::vector<PendingValue>& of_device = values.emplace_back();
    for (const GlobalData* argument : device) of_device.push_back(argument->pending());
  }
  ASSIGN_OR_RETURN(const PendingExecution execution,
                   hlokit::Launch(program->executable(), std::move(values),
                                  std::make_shared<BackgroundRun>(*this, program)));
  const absl::Span<const int64_t> local = program->executable().devices().local();
  std::vector<std::unique_ptr<GlobalData>> results;
  for (size_t k = 0; k < local.size(); ++k)
    results.push_back(
        std::make_unique<GlobalData>(program->program_shape().result, execution, k, local[k]));
  return results;
}

std::future<DataOr> Client::ExecuteAsync(const XlaComputation& computation,
                                         std::vector<const GlobalData*> arguments) {
  return InThread([this, computation, arguments = std::move(arguments)]() -> DataOr {
    return Execute(computation, arguments);
  });
}

std::future<DataOr> Client::ExecuteAsync(ProgramHandle program,
                                         std::vector<const GlobalData*> arguments) {
  return InThread(
      [this, program = std::move(program), arguments = std::move(arguments)]() -> DataOr {
        if (program == nullptr) return InvalidArgument("there is no program to run");
        return Execute(*program, arguments);
      });
}

absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> Client::ExecuteParallel(
    absl::Span<const ComputationInstance> computations) {
  std::vector<std::future<DataOr>> running;
  for (const ComputationInstance& instance : computations)
    running.push_back(ExecuteAsync(instance.computation, instance.arguments));
  std::vector<std::unique_ptr<GlobalData>> results;
  absl::Status first;
  for (std::future<DataOr>& future : running) {
    DataOr result = future.get();
    if (result.ok()) {
      results.push_back(*std::move(result));
    } else if (first.ok()) {
      first = result.status();
    }
  }
  if (!first.ok()) return first;
  return results;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
