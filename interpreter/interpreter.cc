// Runs whole modules. Arguments are checked against the entry's parameters; then each device runs
// its Machine in a thread of its own, since collectives block until all members of their group
// arrive. The first error that is not a cancellation is the result: the others follow from it.
#include "interpreter/interpreter.h"

#include <unistd.h>

#include <numeric>
#include <optional>
#include <utility>

#include "ffi/surroundings.h"
#include "interpreter/machine_internal.h"
#include "ops/evaluate/values.h"
#include "ops/infer/dynamic_dimensions.h"
#include "runtime/collective/in_process_communicator.h"
#include "support/status.h"
#include "support/together.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxDevices = 4096;

// The default memory limit, in bytes; 8 GiB where the system does not tell.
int64_t HalfOfMemory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? pages / 2 * page : int64_t{1} << 33;
}

// `run`: what custom calls see of it; null: what the options say, or nothing.
RunState StateFor(const InterpreterOptions& options, Collectives* collectives,
                  std::shared_ptr<const FfiRun> run = nullptr) {
  RunState state;
  state.options = &options;
  state.ffi_states =
      options.ffi_states != nullptr ? options.ffi_states : std::make_shared<FfiStates>();
  state.ffi_run = run != nullptr ? std::move(run) : options.ffi_run;
  if (state.ffi_run == nullptr) state.ffi_run = std::make_shared<const FfiRun>();
  state.collectives = collectives;
  state.memory_limit = options.memory_limit_bytes > 0 ? options.memory_limit_bytes : HalfOfMemory();
  if (options.time_limit_s > 0)
    state.deadline = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(options.time_limit_s));
  return state;
}

absl::Status CheckArguments(const Computation& entry, absl::Span<const Literal* const> arguments) {
  if (static_cast<int64_t>(arguments.size()) != entry.parameter_count())
    return InvalidArgument(entry.name(), " takes ", entry.parameter_count(), " arguments, ",
                           arguments.size(), " were given");
  for (int64_t i = 0; i < entry.parameter_count(); ++i) {
    const Shape& expected = entry.parameter(i)->shape();
    if (!Compatible(arguments[i]->shape(), expected))
      return InvalidArgument("parameter ", i, " is ", Text(expected), ", its argument ",
                             Text(arguments[i]->shape()));
  }
  return absl::OkStatus();
}

// Gives a result the layouts and dynamic bits that the entry computation states.
void SetShape(Literal& value, const Shape& shape) {
  for (size_t i = 0; i < value.elements().size() && i < shape.elements.size(); ++i)
    SetShape(value.elements()[i], shape.elements[i]);
  value.set_shape(shape);
}

absl::StatusOr<Literal> RunDevice(const Module& module, absl::Span<const Literal* const> arguments,
                                  const RunState& state, int64_t device, int64_t partitions) {
  std::vector<Value> values;
  for (const Literal* argument : arguments) values.push_back(Value::Borrow(*argument));
  const FlushDenormals flush(state.options->flush_denormals);
  Machine machine(state, device / partitions, device % partitions, device);
  ASSIGN_OR_RETURN(Value result, machine.Run(*module.entry(), std::move(values)));
  Literal literal = std::move(result).Take();
  SetShape(literal, module.entry()->root()->shape());
  return literal;
}

absl::StatusOr<std::vector<Literal>> RunDevices(
    const Module& module, absl::Span<const std::vector<const Literal*>> arguments,
    const InterpreterOptions& options) {
  const int64_t replicas = options.replicas > 0 ? options.replicas : module.header().replica_count;
  const int64_t partitions =
      options.partitions > 0 ? options.partitions : module.header().num_partitions;
  if (replicas < 1 || partitions < 1 || replicas > kMaxDevices / partitions)
    return InvalidArgument(replicas, " replicas of ", partitions, " partitions: at most ",
                           kMaxDevices, " devices");
  std::vector<int64_t> local = options.local_devices;
  if (local.empty()) {
    local.resize(replicas * partitions);
    std::iota(local.begin(), local.end(), 0);
  }
  const auto count = static_cast<int64_t>(local.size());
  if (static_cast<int64_t>(arguments.size()) != count)
    return InvalidArgument("arguments for ", arguments.size(), " devices, the module runs on ",
                           count);
  for (const auto& list : arguments) RETURN_IF_ERROR(CheckArguments(*module.entry(), list));
  std::optional<InProcessCommunicator> own;
  Communicator& communicator =
      options.communicator != nullptr ? *options.communicator : own.emplace(replicas * partitions);
  Collectives collectives(replicas, partitions, communicator);
  const RunState state = StateFor(options, &collectives);
  std::vector<absl::StatusOr<Literal>> results(count, absl::CancelledError("not run"));
  const auto run = [&](int64_t k) {
    results[k] = RunDevice(module, arguments[k], state, local[k], partitions);
    communicator.Leave(local[k], !results[k].ok());
  };
  if (!RunTogether(count, run))
    return ResourceExhausted("the system starts no thread for each of ", count, " devices");
  std::vector<absl::Status> ends;
  for (const auto& result : results) ends.push_back(result.status());
  RETURN_IF_ERROR(FirstFailure(ends));
  std::vector<Literal> literals;
  for (auto& result : results) literals.push_back(*std::move(result));
  return literals;
}

}  // namespace

absl::StatusOr<std::vector<Literal>> InterpretDevices(
    const Module& module, absl::Span<const std::vector<const Literal*>> arguments,
    const InterpreterOptions& options) {
  if (module.entry() == nullptr)
    return InvalidArgument("module ", module.name(), " has no entry computation");
  if (HidesDynamicDimensions(module) || DeclaresUnsizedDimensions(module)) {
    const std::unique_ptr<Module> declared = module.Clone();
    ForgetUnsizedDimensions(*declared);
    DeclareDynamicDimensions(*declared);
    return RunDevices(*declared, arguments, options);
  }
  return RunDevices(module, arguments, options);
}

absl::StatusOr<std::vector<Literal>> Interpret(const Module& module,
                                               absl::Span<const Literal> arguments,
                                               const InterpreterOptions& options) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  return InterpretDevices(module, {pointers}, options);
}

struct DeviceGroup::State {
  State(const InterpreterOptions& options, int64_t replicas, int64_t partitions,
        Communicator* communicator, std::shared_ptr<const FfiRun> ffi_run)
      : collectives(replicas, partitions,
                    communicator != nullptr ? *communicator : own.emplace(replicas * partitions)),
        run(StateFor(options, &collectives, std::move(ffi_run))) {
    for (int64_t device = 0; device < replicas * partitions; ++device)
      machines.push_back(
          std::make_unique<Machine>(run, device / partitions, device % partitions, device));
  }
  std::optional<InProcessCommunicator> own;
  Collectives collectives;
  const RunState run;
  std::vector<std::unique_ptr<Machine>> machines;
};

DeviceGroup::DeviceGroup(const InterpreterOptions& options, int64_t replicas, int64_t partitions,
                         Communicator* communicator, std::shared_ptr<const FfiRun> ffi_run)
    : state_(std::make_unique<State>(options, replicas, partitions, communicator,
                                     std::move(ffi_run))) {}
DeviceGroup::~DeviceGroup() = default;

absl::StatusOr<Literal> DeviceGroup::Evaluate(int64_t device, const Instruction& instruction,
                                              absl::Span<const Literal* const> operands) {
  return state_->machines[device]->EvaluateOne(instruction, operands);
}

absl::Status FirstFailure(absl::Span<const absl::Status> devices) {
  absl::Status failure;
  for (const absl::Status& status : devices)
    if (!status.ok() && (failure.ok() || absl::IsCancelled(failure))) failure = status;
  return failure;
}

namespace {

// Whether evaluation may trust the shapes of `i` and of what it calls: hlo-opt runs passes on
// modules that were not verified, or not as executors need it (VerifyOptions::for_passes).
bool IsWellTyped(const Instruction& i) {
  const absl::StatusOr<Shape> inferred = InferShape(i);
  if (!inferred.ok() || !Compatible(*inferred, i.shape())) return false;
  for (const Computation* called : i.called())
    for (const Instruction* inner : called->Instructions())
      if (!IsWellTyped(*inner)) return false;
  return true;
}

}  // namespace

absl::StatusOr<Literal> EvaluateInstruction(const Instruction& instruction,
                                            absl::Span<const Literal* const> operands,
                                            const InterpreterOptions& options) {
  if (!IsWellTyped(instruction))
    return InvalidArgument(instruction.name(), ": its shape is not what its operands give");
  return DeviceGroup(options, 1, 1).Evaluate(0, instruction, operands);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
