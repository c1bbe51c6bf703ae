// Any module's values within limits, for targets that run what they read.
#include "fuzz/evaluate.h"

#include <algorithm>
#include <utility>

#include "ir/opcode.h"
#include "support/status.h"
#include "types/compare.h"
#include "types/element_type.h"
#include "types/random_literal.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxBytes = 1 << 20;  // of one argument, and of all that lives at one time
constexpr int64_t kMaxDevices = 4;

// Results that depend on more than arguments.
bool IsOpen(Opcode opcode) {
  switch (opcode) {
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kRecv:
    case Opcode::kCustomCall:
      return true;
    default:
      return false;
  }
}

// Opcodes that give floats without arithmetic of their own, besides those that move data and those
// that are exact.
bool PassesFloatsOn(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kIota:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSort:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAddDependency:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return true;
    default:
      return false;
  }
}

// A comparison of two keys that are no floats orders them whole; any other may leave the order
// open, and with it the result. So do equal keys, where others are moved with them.
bool OrdersWhole(const Instruction& sort) {
  if (sort.operand_count() > 1 && !sort.attr<SortAttrs>().is_stable) return false;
  const Instruction* const root = sort.called(0)->root();
  if (root->opcode() != Opcode::kCompare) return false;
  return std::all_of(root->operands().begin(), root->operands().end(), [](const Instruction* key) {
    return key->opcode() == Opcode::kParameter && !IsFloat(key->shape().type);
  });
}

bool HasOneValue(const Instruction& i) {
  if (IsOpen(i.opcode())) return false;
  if (i.opcode() == Opcode::kSort) return OrdersWhole(i);
  const auto floats = [](const Shape& shape) {
    const auto leaves = Leaves(shape);
    return std::any_of(leaves.begin(), leaves.end(), [](const ShapeLeaf& leaf) {
      return IsFloat(leaf.shape->type) || IsComplex(leaf.shape->type);
    });
  };
  // Its bits tell payloads of NaN and signs of zeros apart.
  if (i.opcode() == Opcode::kBitcastConvert) return !floats(i.operand(0)->shape());
  return !floats(i.shape()) || HasTrait(i.opcode(), kMovesData) || HasTrait(i.opcode(), kExact) ||
         PassesFloatsOn(i.opcode());
}

// Fills each array of `value` from a stream of its own.
void FillAll(Literal& value, uint64_t& stream) {
  for (Literal& element : value.elements()) FillAll(element, stream);
  if (value.shape().IsArray()) FillRandom(value, stream++, {});
}

}  // namespace

InterpreterOptions LimitsFor(const Module& module) {
  InterpreterOptions options;
  options.replicas = std::clamp<int64_t>(module.header().replica_count, 1, kMaxDevices);
  options.partitions =
      std::clamp<int64_t>(module.header().num_partitions, 1, kMaxDevices / options.replicas);
  options.step_limit = 2000;
  options.memory_limit_bytes = kMaxBytes;
  options.time_limit_s = 1;
  return options;
}

absl::StatusOr<std::vector<Literal>> ArgumentsFor(const Module& module, bool zeros) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    if (TotalBytes(parameter->shape()) > kMaxBytes)
      return ResourceExhausted("an argument of ", Text(parameter->shape()));
    arguments.emplace_back(parameter->shape());
  }
  uint64_t stream = 0;
  if (!zeros)
    for (Literal& argument : arguments) FillAll(argument, stream);
  return arguments;
}

absl::StatusOr<std::vector<Literal>> EvaluateWithin(const Module& module,
                                                    const std::vector<Literal>& arguments,
                                                    const InterpreterOptions& limits) {
  std::vector<const Literal*> of_one_device;
  for (const Literal& argument : arguments) of_one_device.push_back(&argument);
  const std::vector<std::vector<const Literal*>> of_all(limits.replicas * limits.partitions,
                                                        of_one_device);
  return InterpretDevices(module, of_all, limits);
}

void CheckSameResults(const std::vector<Literal>& expected, const std::vector<Literal>& actual,
                      absl::FunctionRef<std::string()> what) {
  CHECK(expected.size() == actual.size()) << what();
  for (size_t d = 0; d < expected.size(); ++d) {
    const CompareResult same = Compare(expected[d], actual[d]);
    CHECK(same.equal) << "device " << d << ": " << same.shape_mismatch << same.Report() << "\n"
                      << what();
  }
}

bool HasOneValue(const Module& module) {
  bool one = true;
  for (const Computation* computation : module.Computations())
    computation->ForEach([&](const Instruction* i) { one = one && HasOneValue(*i); });
  return one;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
