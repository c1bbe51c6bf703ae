// The devices of a program.
#include "backends/backend.h"

#include <algorithm>

#include "runtime/collective/in_process_communicator.h"
#include "support/diagnostics.h"
#include "support/limits.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The first instruction by which devices exchange data; null where there is none.
const Instruction* FindCommunication(const Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) {
      const bool message = i->opcode() == Opcode::kSend || i->opcode() == Opcode::kRecv;
      if (message ? !i->attr<SendRecvAttrs>().is_host_transfer : HasTrait(i->opcode(), kCollective))
        return i;
    }
  return nullptr;
}

}  // namespace

std::unique_ptr<Communicator> MakeCommunicator(const CommunicatorFactory& make,
                                               const DeviceAssignment& devices) {
  if (make != nullptr) return make(devices);
  return std::make_unique<InProcessCommunicator>(devices.device_count());
}

absl::StatusOr<std::vector<DeviceValue>> PreparedRun::TakeValues() {
  ASSIGN_OR_RETURN(std::vector<Literal> results, TakeResults());
  std::vector<DeviceValue> values;
  for (Literal& result : results) values.push_back(DeviceValue::TakeOver(std::move(result)));
  return values;
}

absl::StatusOr<std::vector<std::vector<DeviceValue>>> PreparedRun::TakeParts() {
  ASSIGN_OR_RETURN(std::vector<DeviceValue> values, TakeValues());
  std::vector<std::vector<DeviceValue>> parts;
  for (DeviceValue& value : values) {
    std::vector<DeviceValue>& of_device = parts.emplace_back();
    const size_t count = value.shape().IsTuple() ? value.shape().elements.size() : 0;
    for (size_t k = 0; k < count; ++k) of_device.push_back(value.Element(k));
    if (!value.shape().IsTuple()) of_device.push_back(std::move(value));
  }
  return parts;
}

absl::StatusOr<DeviceAssignment> DevicesOf(const Module& module, const CompileOptions& options) {
  const int64_t replicas = std::max<int64_t>(module.header().replica_count, 1);
  const int64_t partitions = std::max<int64_t>(module.header().num_partitions, 1);
  int64_t devices = 0;
  if (__builtin_mul_overflow(replicas, partitions, &devices) || devices > kMaxDevices)
    return InvalidArgument(replicas, " replicas of ", partitions, " partitions are more than ",
                           kMaxDevices, " devices");
  if (!options.devices.has_value()) return DeviceAssignment(replicas, partitions);
  const DeviceAssignment& given = *options.devices;
  if (given.replica_count() != replicas || given.partition_count() != partitions)
    return InvalidArgument("devices are assigned to ", given.replica_count(), " replicas of ",
                           given.partition_count(), " partitions, the module has ", replicas,
                           " of ", partitions);
  const bool reaches_all = given.AllLocal() || options.communicators != nullptr;
  const Instruction* const met = reaches_all ? nullptr : FindCommunication(module);
  if (met != nullptr)
    return WithPlace(Unimplemented("%", met->name(),
                                   " exchanges data with devices of other "
                                   "processes, which nothing reaches"),
                     met->place());
  return given;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
