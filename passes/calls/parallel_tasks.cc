// cpu-parallel-task-assigner: assigns outer_dimension_partitions to expensive instructions, for
// parallel execution.
// Elementwise operations, data movement, reductions and loop fusions that cost enough move into
// computations of their own (calls of parallel_NAME), and their configuration says in how many
// parts each of the outer dimensions is to be computed (outer_dimension_partitions). What moves
// more than it computes gets a part for each 256 KiB, at most the root of the threads; all else one
// for each 100,000 operations. Option: `threads` (8). hlokit's own CPU deals out work by itself.
// Cost: linear.
//   exponential(x)  ->  call parallel_exponential(x), outer_dimension_partitions={8}
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/instruction_cost.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {
namespace {

constexpr double kBytesEach = 256 << 10;
constexpr double kOperationsEach = 100'000;
constexpr double kBytesWeight = 10, kTranscendentalWeight = 2;  // in operations

bool MayBeParallel(const Instruction& i) {
  if (!i.shape().IsArray() || i.shape().HasDynamicDims() || !i.backend_config().empty() ||
      !i.control_predecessors().empty() || !i.control_successors().empty())
    return false;
  switch (i.opcode()) {
    case Opcode::kFusion:
      return i.attr<FusionAttrs>().kind == FusionKind::kLoop;
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return HasTrait(i.opcode(), kElementwise);
  }
}

int64_t PartsOf(const Instruction& i, int64_t threads) {
  const InstructionCost cost = CostOf(i);
  const bool moves = cost.flops <= cost.bytes;
  const double parts = moves ? static_cast<double>(i.shape().ByteSize()) / kBytesEach
                             : (cost.flops + kTranscendentalWeight * cost.transcendentals +
                                kBytesWeight * cost.bytes) /
                                   kOperationsEach;
  const double most = moves ? std::ceil(std::sqrt(threads)) : static_cast<double>(threads);
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(parts, most)));
}

// Parts of each dimension from the outermost in memory on, together about as many as wanted.
std::vector<int64_t> OuterPartitions(const Shape& shape, int64_t wanted) {
  const DimVector minor_to_major = shape.MinorToMajor();
  std::vector<int64_t> partitions;
  int64_t total = 1;
  // The innermost dimension stays whole.
  for (size_t k = minor_to_major.size(); k-- > 1 && total < wanted;) {
    partitions.push_back(std::min(shape.dims[minor_to_major[k]], (wanted + total - 1) / total));
    total *= std::max<int64_t>(partitions.back(), 1);
  }
  if (total == 1) partitions.clear();
  return partitions;
}

void Outline(Instruction* i, const std::vector<int64_t>& partitions) {
  Computation* function = i->module()->AddComputation(absl::StrCat("parallel_", i->name()));
  std::vector<Instruction*> operands;
  for (int64_t k = 0; k < i->operand_count(); ++k)
    operands.push_back(function->AddParameter(k, i->operand(k)->shape(), "p"));
  Instruction* inside = function->Add(i->CloneWith(i->shape(), operands), i->name());
  inside->mutable_extras().backend_config = absl::StrCat(
      "{\"outer_dimension_partitions\":[\"", absl::StrJoin(partitions, "\",\""), "\"]}");
  function->set_root(inside);
  Instruction* call = i->parent()->Add(Opcode::kCall, i->shape(), i->operands(), "call");
  call->set_called({function});
  call->CopyExtrasFrom(*i);
  i->ReplaceAllUsesWith(call);
  i->parent()->Remove(i);
}

class TaskAssigner final : public ComputationPass {
 public:
  explicit TaskAssigner(int64_t threads) : threads_(threads) {}
  absl::string_view name() const override { return "cpu-parallel-task-assigner"; }

  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    bool changed = false;
    if (absl::StartsWith(computation.name(), "parallel_")) return false;
    for (Instruction* i : computation.PostOrder()) {
      if (!MayBeParallel(*i)) continue;
      const std::vector<int64_t> partitions = OuterPartitions(i->shape(), PartsOf(*i, threads_));
      if (partitions.empty() || !control().Permit(name(), *i, *i)) continue;
      Outline(i, partitions);
      changed = true;
    }
    return changed;
  }

 private:
  const int64_t threads_;
};

}  // namespace

std::unique_ptr<Pass> CreateCpuParallelTaskAssigner(PassArguments& arguments) {
  const int64_t threads = arguments.Int("threads", 8, "that share the work");
  return std::make_unique<TaskAssigner>(std::max<int64_t>(threads, 1));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
