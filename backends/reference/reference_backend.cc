// Executables that hand their module to the interpreter.
#include "backends/reference/reference_backend.h"

#include <utility>

#include "interpreter/interpreter.h"
#include "support/status.h"

namespace hlokit {
namespace {

class ReferenceRun final : public PreparedRun {
 public:
  ReferenceRun(const Module& module, absl::Span<const DeviceArguments> arguments)
      : module_(module), arguments_(arguments.begin(), arguments.end()) {}

  absl::Status Run() override {
    results_.clear();  // before the next ones are made
    ASSIGN_OR_RETURN(results_, InterpretDevices(module_, arguments_));
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<Literal>> TakeResults() override { return std::move(results_); }

 private:
  const Module& module_;
  std::vector<DeviceArguments> arguments_;
  std::vector<Literal> results_;
};

class ReferenceExecutable final : public Executable {
 public:
  explicit ReferenceExecutable(std::unique_ptr<Module> module) : module_(std::move(module)) {}
  const Module& module() const override { return *module_; }
  const CompileStats& stats() const override { return stats_; }
  absl::StatusOr<std::unique_ptr<PreparedRun>> Prepare(absl::Span<const DeviceArguments> arguments) override {
    return std::make_unique<ReferenceRun>(*module_, arguments);
  }

 private:
  std::unique_ptr<Module> module_;
  CompileStats stats_;
};

class ReferenceBackend final : public Backend {
 public:
  absl::string_view name() const override { return "interpreter"; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(std::unique_ptr<Module> module, const CompileOptions&) override {
    return std::make_unique<ReferenceExecutable>(std::move(module));
  }
};

}  // namespace

std::unique_ptr<Backend> MakeReferenceBackend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
