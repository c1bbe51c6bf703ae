// Executables that hand their module to the interpreter.
#include "backends/reference/reference_backend.h"

#include <deque>
#include <utility>

#include "ffi/surroundings.h"
#include "interpreter/interpreter.h"
#include "support/status.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

class ReferenceRun final : public PreparedRun {
 public:
  ReferenceRun(const Module& module, const InterpreterOptions& options,
               const DeviceAssignment& devices, const CommunicatorFactory& communicators,
               absl::Span<const DeviceViews> arguments)
      : module_(module), options_(options), devices_(devices), communicators_(communicators) {
    for (const DeviceViews& device : arguments) {
      DeviceArguments& literals = arguments_.emplace_back();
      for (const ValueView& view : device) literals.push_back(LiteralOf(view));
    }
  }

  absl::Status Run() override {
    results_.clear();  // before the next ones are made
    const std::unique_ptr<Communicator> communicator = MakeCommunicator(communicators_, devices_);
    InterpreterOptions options = options_;
    options.communicator = communicator.get();
    options.ffi_run = ffi_run();
    ASSIGN_OR_RETURN(results_, InterpretDevices(module_, arguments_, options));
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<Literal>> TakeResults() override { return std::move(results_); }

 private:
  // The interpreter works on literals.
  const Literal* LiteralOf(const ValueView& view) {
    if (view.literal != nullptr) return view.literal;
    if (view.value == nullptr) return Copy(view);
    if (auto literal = view.value->host_literal(); literal != nullptr) return literal.get();
    auto copy = view.value->ToHost();  // of the host's memory: this cannot fail
    return &copies_.emplace_back(*std::move(copy));
  }
  const Literal* Copy(const ValueView& view) {
    Literal& copy = copies_.emplace_back(Literal::Unset(*view.shape));
    if (copy.byte_size() > 0)
      FromLayout(static_cast<const uint8_t*>(view.elements), *view.shape, copy);
    return &copy;
  }

  const Module& module_;
  const InterpreterOptions& options_;
  const DeviceAssignment& devices_;
  const CommunicatorFactory& communicators_;
  std::deque<Literal> copies_;
  std::vector<DeviceArguments> arguments_;
  std::vector<Literal> results_;
};

class ReferenceExecutable final : public Executable {
 public:
  ReferenceExecutable(std::unique_ptr<Module> module, DeviceAssignment devices,
                      const CompileOptions& options)
      : module_(std::move(module)),
        devices_(std::move(devices)),
        communicators_(options.communicators) {
    if (!devices_.AllLocal())
      options_.local_devices.assign(devices_.local().begin(), devices_.local().end());
    options_.ffi_states = std::make_shared<FfiStates>();
    options_.flush_denormals = options.flush_denormals;
    options_.infeed = options.host.infeed;
    options_.outfeed = options.host.outfeed;
    options_.step_limit = options.limits.steps;
    options_.memory_limit_bytes = options.limits.memory_bytes;
  }
  const Module& module() const override { return *module_; }
  const CompileStats& stats() const override { return stats_; }
  const DeviceAssignment& devices() const override { return devices_; }
  absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareViews(
      absl::Span<const DeviceViews> arguments) override {
    return WithinMemory("a run's arrays", [&]() -> absl::StatusOr<std::unique_ptr<PreparedRun>> {
      return std::make_unique<ReferenceRun>(*module_, options_, devices_, communicators_,
                                            arguments);
    });
  }

 private:
  std::unique_ptr<Module> module_;
  DeviceAssignment devices_;
  CommunicatorFactory communicators_;
  InterpreterOptions options_;
  CompileStats stats_;
};

class ReferenceBackend final : public Backend {
 public:
  absl::string_view name() const override { return "interpreter"; }
  const Capabilities& capabilities() const override { return kReferenceCapabilities; }
  Device& device(int64_t) override { return host_; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(std::unique_ptr<Module> module,
                                                      const CompileOptions& options) override {
    ASSIGN_OR_RETURN(DeviceAssignment devices, DevicesOf(*module, options));
    return std::make_unique<ReferenceExecutable>(std::move(module), std::move(devices), options);
  }

 private:
  HostDevice host_;
};

}  // namespace

std::unique_ptr<Backend> MakeReferenceBackend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
