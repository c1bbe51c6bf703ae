// Executables of GPUs. A run on several devices has a host thread for each; they meet in the run's
// communicator, and the first error that is not a cancellation is reported.
#include "backends/cuda/cuda_executable.h"

#include "backends/cuda/device_run_internal.h"
#include "ffi/surroundings.h"
#include "support/status.h"
#include "support/together.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

class CudaRun final : public PreparedRun {
 public:
  explicit CudaRun(const CudaExecutable& executable) : e_(executable) {
    for (size_t k = 0; k < executable.devices().local().size(); ++k)
      devices_.push_back(std::make_unique<CudaDeviceRun>(executable.parts(), executable.code(k),
                                                         executable.devices().local()[k]));
  }

  absl::Status Prepare(absl::Span<const DeviceViews> arguments) {
    for (size_t k = 0; k < devices_.size(); ++k)
      RETURN_IF_ERROR(devices_[k]->Prepare(arguments[k]));
    return absl::OkStatus();
  }

  absl::Status Run() override {
    const DeviceAssignment& devices = e_.devices();
    const std::unique_ptr<Communicator> communicator =
        MakeCommunicator(e_.parts().options.communicators, devices);
    DeviceGroup group(e_.host_options(), devices.replica_count(), devices.partition_count(),
                      communicator.get(), ffi_run());
    std::vector<absl::Status> ends(devices_.size());
    const auto run = [&](int64_t local) {
      absl::Status& end = ends[static_cast<size_t>(local)];
      end = devices_[static_cast<size_t>(local)]->Run(group);
      communicator->Leave(devices.local()[local], !end.ok());
    };
    const auto count = static_cast<int64_t>(devices_.size());
    if (!RunTogether(count, run))
      return ResourceExhausted("the system starts no thread for each of ", count, " devices");
    return FirstFailure(ends);
  }

  std::vector<InstructionTime> Profile() const override {
    std::vector<InstructionTime> all;
    for (const auto& device : devices_)
      for (const InstructionTime& time : device->Profile()) all.push_back(time);
    return all;
  }

  absl::StatusOr<std::vector<Literal>> TakeResults() override {
    std::vector<Literal> results;
    for (const auto& device : devices_) {
      ASSIGN_OR_RETURN(Literal result, device->TakeResult());
      results.push_back(std::move(result));
    }
    return results;
  }

 private:
  const CudaExecutable& e_;
  std::vector<std::unique_ptr<CudaDeviceRun>> devices_;
};

}  // namespace

CudaExecutable::CudaExecutable(const CudaDriver& driver, std::unique_ptr<GpuProgram> parts)
    : driver_(driver), parts_(std::move(parts)) {
  host_options_.infeed = parts_->options.host.infeed;
  host_options_.outfeed = parts_->options.host.outfeed;
  host_options_.flush_denormals = parts_->options.flush_denormals;
  host_options_.ffi_states = std::make_shared<FfiStates>();
}

absl::Status CudaExecutable::Load() {
  if (parts_->options.threads > 0) driver_.SetHostThreads(parts_->options.threads);
  const absl::Span<const int64_t> local = parts_->devices.local();
  if (static_cast<int64_t>(local.size()) > driver_.device_count())
    return Unimplemented("the program runs on ", local.size(), " devices, the driver has ",
                         driver_.device_count());
  for (size_t k = 0; k < local.size(); ++k) {
    ASSIGN_OR_RETURN(LoadedCode code, LoadCode(driver_, *parts_, static_cast<int>(k)));
    code_.push_back(std::move(code));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PreparedRun>> CudaExecutable::PrepareViews(
    absl::Span<const DeviceViews> arguments) {
  if (arguments.size() != devices().local().size())
    return InvalidArgument("arguments for ", arguments.size(), " devices, the module runs on ",
                           devices().local().size());
  auto run = std::make_unique<CudaRun>(*this);
  RETURN_IF_ERROR(WithinMemory("a run's arrays", [&] { return run->Prepare(arguments); }));
  return run;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
