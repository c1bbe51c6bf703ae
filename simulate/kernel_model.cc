// Products are told from other arithmetic by the cost class of their opcode; a fusion's are those
// of its body. Their rate goes by the type of their first operand.
#include "simulate/kernel_model.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "ir/computation.h"
#include "ir/op_facts.h"

namespace hlokit {
namespace {

bool ComputesProducts(const Instruction& i) {
  switch (Facts(i.opcode()).cost) {
    case CostClass::kProducts:
    case CostClass::kGroupedProducts:
    case CostClass::kWindowProducts:
    case CostClass::kForeign:
    case CostClass::kFactorization:
    case CostClass::kSubstitution:
      return i.operand_count() > 0;
    default:
      return false;
  }
}

void AddProducts(const Instruction& i, const DeviceModel& device, KernelTime& time) {
  if (i.opcode() == Opcode::kFusion) {
    for (const Instruction* inside : i.to_apply()->Instructions())
      AddProducts(*inside, device, time);
  } else if (ComputesProducts(i)) {
    const double flops = CostOf(i).flops;
    const Shape& operand = i.operand(0)->shape();
    time.product_flops += flops;
    time.ideal_seconds +=
        flops / device.ProductFlops(operand.IsArray() ? operand.type : ElementType::kF32);
  }
}

}  // namespace

absl::string_view Text(Bound bound) {
  constexpr absl::string_view kNames[] = {"", "products", "arithmetic", "memory", "launch"};
  return kNames[static_cast<int>(bound)];
}

KernelTime TimeOfKernel(const Instruction& instruction, const DeviceModel& device) {
  KernelTime time;
  const InstructionCost cost = CostOf(instruction);
  if (cost.flops == 0 && cost.bytes == 0) return time;
  AddProducts(instruction, device, time);
  const double other = std::max(0.0, cost.flops - time.product_flops - cost.transcendentals);
  const struct {
    Bound bound;
    double seconds;
  } parts[] = {
      {Bound::kProducts, time.ideal_seconds / device.product_efficiency},
      {Bound::kArithmetic, other / device.vector_flops + cost.transcendentals / device.functions},
      {Bound::kMemory, cost.bytes / (device.memory_bandwidth * device.memory_efficiency)},
  };
  double longest = 0;
  for (const auto& part : parts) {
    if (part.seconds <= longest) continue;
    longest = part.seconds;
    time.bound = part.bound;
  }
  if (device.launch > longest) time.bound = Bound::kLaunch;
  time.seconds = longest + device.launch;
  return time;
}

bool IsRematerialized(const Instruction& instruction) {
  return absl::StrContains(instruction.metadata().op_name, "rematted_computation");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
