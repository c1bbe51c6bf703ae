// Runs of an executable of the CPU. A run on several devices starts a thread for each where they
// exchange data; they share the rendezvous of the run, and the first error that is not a
// cancellation is reported. Where they do not, devices run one after the other on the calling
// thread as long as that is quicker than to wake others, else on a thread a core.
#include "backends/cpu/executable/cpu_executable.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "backends/cpu/executable/device_run_internal.h"
#include "backends/cpu/sanitizer/sanitizer_internal.h"
#include "support/clock.h"
#include "support/status.h"
#include "support/together.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

class CpuRun final : public PreparedRun {
 public:
  explicit CpuRun(CpuExecutable& executable) : e_(executable) {
    const absl::Span<const int64_t> local = executable.devices().local();
    for (const int64_t device : local)
      devices_.push_back(
          std::make_unique<DeviceRun>(executable, device, static_cast<int64_t>(local.size())));
  }

  DeviceRun& device(size_t index) { return *devices_[index]; }

  absl::Status Run() override {
    const auto count = static_cast<int64_t>(devices_.size());
    const DeviceAssignment& devices = e_.devices();
    const bool is_alone = devices.device_count() == 1;
    if (!is_alone && e_.RunsApart()) return RunApart();
    if (is_alone && !e_.uses_communicator()) return devices_[0]->Run(nullptr, nullptr, ffi_run());
    const std::unique_ptr<Communicator> communicator =
        MakeCommunicator(e_.communicators(), devices);
    if (is_alone) return devices_[0]->Run(nullptr, communicator.get(), ffi_run());
    std::optional<DeviceGroup> group;
    if (!e_.stats().fallbacks.empty())
      group.emplace(e_.reference_options(), devices.replica_count(), devices.partition_count(),
                    communicator.get(), ffi_run());
    std::vector<absl::Status> ends(devices_.size());
    const auto run = [&](int64_t local) {
      absl::Status& end = ends[static_cast<size_t>(local)];
      end = devices_[static_cast<size_t>(local)]->Run(group.has_value() ? &*group : nullptr,
                                                      communicator.get());
      communicator->Leave(devices.local()[local], !end.ok());
    };
    if (!RunTogether(count, run))
      return ResourceExhausted("the system starts no thread for each of ", count, " devices");
    return FirstFailure(ends);
  }

  std::vector<InstructionTime> Profile() const override {
    std::vector<InstructionTime> times;
    for (size_t device = 0; device < devices_.size(); ++device)
      for (InstructionTime time : devices_[device]->Profile()) {
        time.device = e_.devices().local()[device];
        times.push_back(time);
      }
    return times;
  }

  std::vector<absl::Status> Findings() const override {
    return e_.sanitizer() != nullptr ? e_.sanitizer()->Findings() : std::vector<absl::Status>();
  }

  absl::StatusOr<std::vector<DeviceValue>> TakeValues() override {
    std::vector<DeviceValue> values;
    for (const auto& device : devices_) values.push_back(device->TakeValue());
    return values;
  }

  absl::StatusOr<std::vector<std::vector<DeviceValue>>> TakeParts() override {
    if (e_.is_dynamic() || !e_.module().entry()->root()->shape().IsTuple())
      return PreparedRun::TakeParts();
    std::vector<std::vector<DeviceValue>> parts;
    for (const auto& device : devices_) parts.push_back(device->TakeParts());
    return parts;
  }

  absl::StatusOr<std::vector<Literal>> TakeResults() override {
    std::vector<Literal> results;
    for (const auto& device : devices_) results.push_back(device->TakeResult());
    return results;
  }

 private:
  // Runs that take longer in all are dealt to threads: waking one takes some 10 us.
  static constexpr double kShortSeconds = 50e-6;

  // Of devices that never wait for each other.
  absl::Status RunApart() {
    const size_t count = devices_.size();
    size_t done = 0;
    if (e_.device_seconds() < kShortSeconds) {
      const double start = SteadySeconds();
      double now = start;
      for (; done < count && now - start < kShortSeconds; now = SteadySeconds(), ++done)
        RETURN_IF_ERROR(devices_[done]->Run(nullptr, nullptr));
      if (done > 0) e_.set_device_seconds((now - start) / static_cast<double>(done));
      if (done == count) return absl::OkStatus();
    }
    return RunOnCores(done);
  }

  // The devices from `first` on.
  absl::Status RunOnCores(size_t first) {
    std::vector<absl::Status> ends(devices_.size());
    std::atomic<size_t> next = first;
    const auto run = [&](int64_t) {
      for (size_t k = next++; k < devices_.size(); k = next++) {
        const double start = SteadySeconds();
        ends[k] = devices_[k]->Run(nullptr, nullptr);
        if (k + 1 == devices_.size()) e_.set_device_seconds(SteadySeconds() - start);
      }
    };
    const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
    const int64_t left = static_cast<int64_t>(devices_.size() - first);
    if (!RunTogether(std::clamp<int64_t>(cores, 1, left), run)) run(0);
    return FirstFailure(ends);
  }

  CpuExecutable& e_;
  std::vector<std::unique_ptr<DeviceRun>> devices_;
};

absl::Status PrepareDevice(CpuRun& run, size_t device, const DeviceViews& arguments,
                           absl::Span<Literal* const> given) {
  return WithinMemory("a run's arrays",
                      [&] { return run.device(device).Prepare(arguments, given); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<PreparedRun>> CpuExecutable::PrepareViews(
    absl::Span<const DeviceViews> arguments) {
  if (arguments.size() != devices_.local().size())
    return InvalidArgument("arguments for ", arguments.size(), " devices, the module runs on ",
                           devices_.local().size());
  auto run = std::make_unique<CpuRun>(*this);
  for (size_t device = 0; device < arguments.size(); ++device)
    RETURN_IF_ERROR(PrepareDevice(*run, device, arguments[device], {}));
  return run;
}

namespace {

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && shape.IsRowMajor() && !shape.HasDynamicDims();
}

// Beyond it, sizes are compared with the machine's memory first, as Prepare does.
constexpr int64_t kShortRunBytes = int64_t{16} << 20;

}  // namespace

bool CpuExecutable::RunsArrays() const {
  if (devices_.device_count() != 1 || devices_.local().size() != 1 || uses_communicator_ ||
      profile_ || sanitizer_ != nullptr || step_limit_ > 0 || is_dynamic() ||
      !dynamic_entry_.arguments.empty() || !buffers_.donations().empty())
    return false;
  const Computation& entry = *module_->entry();
  for (int64_t p = 0; p < entry.parameter_count(); ++p)
    if (!IsPlainArray(entry.parameter(p)->shape())) return false;
  const Shape& root = entry.root()->shape();
  if (!root.IsTuple() && !IsPlainArray(root)) return false;
  for (const Shape& element : root.elements)
    if (!IsPlainArray(element)) return false;
  double bytes = static_cast<double>(buffers_.arena_size());
  for (const int64_t size : buffers_.output_sizes()) bytes += static_cast<double>(size);
  return bytes <= static_cast<double>(kShortRunBytes);
}

absl::Status CpuExecutable::RunArrays(absl::Span<const void* const> arguments,
                                      ArrayResults& results) {
  DeviceRun run(*this, devices_.local()[0], 1);
  return run.RunArrays(arguments, results);
}

absl::StatusOr<std::unique_ptr<PreparedRun>> CpuExecutable::PrepareDonating(
    const DeviceViews& arguments, absl::Span<Literal* const> given) {
  auto run = std::make_unique<CpuRun>(*this);
  RETURN_IF_ERROR(PrepareDevice(*run, 0, arguments, given));
  return run;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
