// Executions: at once, in parallel, in the background, on several devices.
#include <thread>

#include "client/client.h"
#include "support/status.h"

namespace hlokit {
namespace {

DeviceArguments LiteralsOf(absl::Span<const GlobalData* const> arguments) {
  DeviceArguments literals;
  for (const GlobalData* argument : arguments) literals.push_back(&argument->literal());
  return literals;
}

absl::Status CheckArguments(absl::Span<const GlobalData* const> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == nullptr) return InvalidArgument("argument ", i, " is null");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> Client::ExecuteReplicated(
    const CompiledProgram& program, absl::Span<const std::vector<const GlobalData*>> arguments) {
  if (static_cast<int64_t>(arguments.size()) != program.device_count())
    return InvalidArgument("the program runs on ", program.device_count(),
                           " devices, arguments for ", arguments.size(), " are given");
  std::vector<DeviceArguments> literals;
  for (const std::vector<const GlobalData*>& device : arguments) {
    RETURN_IF_ERROR(CheckArguments(device));
    if (device.size() != program.program_shape().parameters.size())
      return InvalidArgument("the program takes ", program.program_shape().parameters.size(),
                             " arguments, ", device.size(), " given");
    for (size_t p = 0; p < device.size(); ++p)
      if (!Compatible(program.program_shape().parameters[p], device[p]->shape()))
        return InvalidArgument("argument ", p, " is ", Text(device[p]->shape()), ", expected ",
                               Text(program.program_shape().parameters[p]));
    literals.push_back(LiteralsOf(device));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<PreparedRun> run, program.executable().Prepare(literals));
  RETURN_IF_ERROR(run->Run());
  ASSIGN_OR_RETURN(std::vector<Literal> results, run->TakeResults());
  std::vector<std::unique_ptr<GlobalData>> data;
  for (size_t d = 0; d < results.size(); ++d)
    data.push_back(std::make_unique<GlobalData>(std::move(results[d]), static_cast<int64_t>(d)));
  return data;
}

DataOr Client::Execute(const CompiledProgram& program,
                       absl::Span<const GlobalData* const> arguments) {
  const std::vector<const GlobalData*> one(arguments.begin(), arguments.end());
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<GlobalData>> results,
                   ExecuteReplicated(program, {one}));
  return std::move(results.front());
}

DataOr Client::Execute(const XlaComputation& computation,
                       absl::Span<const GlobalData* const> arguments) {
  ASSIGN_OR_RETURN(const ProgramHandle program, CompiledOnce(computation));
  return Execute(*program, arguments);
}

absl::StatusOr<Literal> Client::ExecuteAndTransfer(const XlaComputation& computation,
                                                   absl::Span<const GlobalData* const> arguments) {
  ASSIGN_OR_RETURN(const std::unique_ptr<GlobalData> result, Execute(computation, arguments));
  return Transfer(*result);
}

std::future<DataOr> Client::ExecuteAsync(const XlaComputation& computation,
                                         std::vector<const GlobalData*> arguments) {
  return std::async(std::launch::async,
                    [this, computation, arguments = std::move(arguments)]() -> DataOr {
                      return Execute(computation, arguments);
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
