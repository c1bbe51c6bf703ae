// A compiled module and its runs.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "analysis/buffer_assignment.h"
#include "backends/backend.h"
#include "backends/cpu/executable/memory.h"
#include "backends/cpu/executable/seen_arguments.h"
#include "backends/cpu/jit/jit.h"
#include "interpreter/interpreter.h"
#include "passes/dynamic_entry.h"

namespace hlokit {

class Sanitizer;

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(std::unique_ptr<Module> module, BufferAssignment buffers,
                std::unique_ptr<JitCode> code, CompileStats stats, int threads);
  ~CpuExecutable() override;

  // Puts constants into the layouts that the code expects. Errors: a constant whose value the text
  // left out.
  absl::Status BindConstants();

  const Module& module() const override { return *module_; }
  const CompileStats& stats() const override { return stats_; }
  absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareViews(
      absl::Span<const DeviceViews> arguments) override;
  absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareDonating(
      const DeviceViews& arguments, absl::Span<Literal* const> given) override;

  bool RunsArrays() const override;
  absl::Status RunArrays(absl::Span<const void* const> arguments, ArrayResults& results) override;

  const BufferAssignment& buffers() const { return buffers_; }
  const JitCode& code() const { return *code_; }
  const std::vector<const void*>& constants() const { return constants_; }
  const Instruction* instruction(int64_t id) const { return by_id_[id]; }
  int threads() const { return threads_; }
  // As XLA's CPU does: off unless set before Prepare.
  bool flush_denormals() const { return flush_denormals_; }
  void set_flush_denormals(bool flush) { flush_denormals_ = flush; }
  // Of a program with dynamic dimensions: how its entry stands for the module's.
  const DynamicEntry& dynamic_entry() const { return dynamic_entry_; }
  // Whether results carry sizes, or say whether sizes are in range.
  bool is_dynamic() const { return dynamic_entry_.checked || !dynamic_entry_.results.empty(); }
  void set_dynamic_entry(DynamicEntry entry) { dynamic_entry_ = std::move(entry); }
  // For instructions on reference kernels: the host's queues.
  const InterpreterOptions& reference_options() const { return reference_options_; }
  void set_host(const HostQueues& host) {
    reference_options_.infeed = host.infeed;
    reference_options_.outfeed = host.outfeed;
  }
  // Instructions that one run may take, those of loops in every round; 0: no limit, and no count.
  int64_t step_limit() const { return step_limit_; }
  void set_step_limit(int64_t limit) { step_limit_ = limit; }
  const DeviceAssignment& devices() const override { return devices_; }
  void set_devices(DeviceAssignment devices) { devices_ = std::move(devices); }
  // Packed forms of constants and of frozen parameters, of all runs; which arguments they share.
  SeenArguments& seen_arguments() { return seen_arguments_; }
  PackedCounts packed() const override { return seen_arguments_.forms()->counts(); }
  // By number in the table of arguments: whether an array has the same values in every run; empty
  // where none has.
  const std::vector<bool>& frozen() const { return frozen_; }
  // Whether an array that is not named frozen may be, once several runs had it: it is not donated.
  const std::vector<bool>& may_freeze() const { return may_freeze_; }
  void set_frozen(absl::Span<const int64_t> parameters);
  // Of each run's communicator.
  const CommunicatorFactory& communicators() const { return communicators_; }
  void set_communicators(CommunicatorFactory make) { communicators_ = std::move(make); }
  // Whether compiled code exchanges data with other devices.
  bool uses_communicator() const { return uses_communicator_; }
  void set_uses_communicator(bool uses) { uses_communicator_ = uses; }
  // Whether devices of a run never wait for each other: no collectives, and no reference kernels,
  // which may be of any kind.
  bool RunsApart() const { return !uses_communicator_ && stats_.fallbacks.empty(); }
  // What a device took of the last run of such a program; 0: it has not run.
  double device_seconds() const { return device_seconds_.load(std::memory_order_relaxed); }
  void set_device_seconds(double s) { device_seconds_.store(s, std::memory_order_relaxed); }
  // Whether the code counts the time of instructions.
  bool profile() const { return profile_; }
  // Of code that checks itself; null for other code.
  Sanitizer* sanitizer() const { return sanitizer_.get(); }
  void set_sanitizer(std::unique_ptr<Sanitizer> sanitizer);
  void set_profile(bool profile) { profile_ = profile; }

 private:
  std::unique_ptr<Module> module_;
  BufferAssignment buffers_;
  std::unique_ptr<JitCode> code_;
  CompileStats stats_;
  int threads_;
  bool flush_denormals_ = false;
  DynamicEntry dynamic_entry_;
  InterpreterOptions reference_options_;
  int64_t step_limit_ = 0;
  DeviceAssignment devices_{1, 1};
  CommunicatorFactory communicators_;
  bool uses_communicator_ = false;
  bool profile_ = false;
  std::atomic<double> device_seconds_ = 0;
  std::unique_ptr<Sanitizer> sanitizer_;
  SeenArguments seen_arguments_;
  std::vector<bool> frozen_, may_freeze_;
  std::vector<const void*> constants_;
  std::vector<Bytes> converted_;  // constants in another layout than row-major
  std::vector<const Instruction*> by_id_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
