// What propagation asks of single instructions, whatever their shardings are.
// An operation stops propagation where it is listed nowhere here: custom calls whose meaning is not
// known, and collectives that have a channel, which are of one device's program already.
#include "passes/spmd/spread_rules.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "ops/collective/device_groups.h"

namespace hlokit {

bool KnownSpreads::Propagates(const Instruction* i) const {
  const Spreads& own = (*this)[i];
  return std::any_of(own.begin(), own.end(), [](const Spread& s) {
    return s.IsTiled() || s.IsReplicated() || s.IsManual();
  });
}

absl::string_view CallTarget(const Instruction& i) {
  return i.opcode() == Opcode::kCustomCall ? absl::string_view(i.attr<CustomCallAttrs>().target)
                                           : "";
}

int64_t FirstLeaf(const Shape& tuple, int64_t element) {
  int64_t first = 0;
  for (int64_t k = 0; k < element; ++k) first += ArrayLeafCount(tuple.elements[k]);
  return first;
}

bool PassesThrough(const Instruction& i, int aggressiveness) {
  switch (i.opcode()) {
    case Opcode::kBroadcast:
      return aggressiveness >= 2;
    case Opcode::kTranspose:
    case Opcode::kReshape:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kWhile:
    case Opcode::kCall:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kOptimizationBarrier:
    case Opcode::kConcatenate:
      return true;
    default:
      return aggressiveness >= 1 || HasTrait(i.opcode(), kElementwise) || i.IsConstant() ||
             CallTarget(i) == "Sharding";
  }
}

bool IsPassedThrough(const Instruction& i) {
  static constexpr absl::string_view kAny[] = {"Sharding", "X64Combine", "LayoutConstraint",
                                               "ShardBarrierFrom", "ShardBarrierTo"};
  static constexpr absl::string_view kOfOne[] = {
      "ResizeNearest", "ResizeBilinear", "ResizeNearestGrad", "ResizeBilinearGrad",
      "Cholesky",      "MoveToDevice",   "MoveToHost"};
  const absl::string_view target = CallTarget(i);
  if (std::find(std::begin(kAny), std::end(kAny), target) != std::end(kAny)) return true;
  return std::find(std::begin(kOfOne), std::end(kOfOne), target) != std::end(kOfOne) &&
         i.operand_count() == 1 && i.shape().IsArray() && i.operand(0)->shape().IsArray() &&
         i.shape().rank() == i.operand(0)->shape().rank();
}

bool UsesChannel(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kSend:
      return !i.attr<SendRecvAttrs>().is_host_transfer;
    case Opcode::kRecv:
      return !i.attr<SendRecvAttrs>().is_host_transfer;
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
      return CollectiveGroupsOf(i)->channel_id.has_value();
    default:
      return false;
  }
}

DimVector UnspecifiedDims(const Instruction& i) {
  absl::string_view text = i.backend_config();
  const size_t open = text.find("unspecified_dims=[");
  if (open == absl::string_view::npos) return {};
  text.remove_prefix(open + sizeof("unspecified_dims=[") - 1);
  DimVector dims;
  for (absl::string_view number : absl::StrSplit(text.substr(0, text.find(']')), ',')) {
    int64_t dim = 0;
    if (absl::SimpleAtoi(number, &dim)) dims.push_back(dim);
  }
  return dims;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
