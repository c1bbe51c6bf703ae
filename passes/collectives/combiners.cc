// Many small collectives as one.
//   all-reduce(a); all-reduce(b)   ->   (a', b') = all-reduce(a, b)
// Those that a scheduler keeps together by an annotation stay as they are, and so do those of
// domains with other shardings, or of other groups (collective_keys.h). The one has the shardings
// of all, as a tuple. A module whose collectives are held to layouts is left alone.
#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "passes/collectives/collective_keys.h"
#include "passes/collectives/domains.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/rewriter.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct Limits {
  int64_t bytes, count;
};

bool SameReducer(const Instruction& a, const Instruction& b) {
  if (a.called().empty()) return b.called().empty();
  if (b.called().empty()) return false;
  if (a.to_apply() == b.to_apply()) return true;
  const auto x = ReducerOpcode(*a.to_apply()), y = ReducerOpcode(*b.to_apply());
  return x && x == y;
}

// As SameAttributes, with channels that both exist taken for one.
bool CanJoin(const Instruction& a, const Instruction& b) {
  if (a.opcode() != b.opcode() || a.shape().type != b.shape().type || !SameReducer(a, b) ||
      !SameMarks(a, b))
    return false;
  auto equal = [&]<typename A>(A) {
    A x = a.attr<A>(), y = b.attr<A>();
    if (x.channel_id.has_value() != y.channel_id.has_value()) return false;
    y.channel_id = x.channel_id;
    if constexpr (requires { x.replica_groups; }) {  // however they are written
      if (GroupsOf(a) != GroupsOf(b)) return false;
      y.replica_groups = x.replica_groups;
    }
    return x == y;
  };
  switch (a.opcode()) {
    case Opcode::kAllReduce:
      return equal(AllReduceAttrs());
    case Opcode::kAllGather:
      return equal(AllGatherAttrs());
    case Opcode::kReduceScatter:
      return equal(ReduceScatterAttrs());
    default:
      return equal(CollectivePermuteAttrs());
  }
}

bool IsCandidate(const Instruction* i, Opcode opcode) {
  return i->opcode() == opcode && i->shape().IsArray() && i->operand_count() == 1 &&
         !HasControlEdges(*i) && !HasSchedulingAnnotation(*i);
}

void Join(Computation& c, absl::Span<Instruction* const> group) {
  Rewriter r(c);
  r.set_subject(group[0]);
  HloWriter w(r);
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (Instruction* i : group) {
    operands.push_back(i->operand(0));
    shapes.push_back(i->shape());
  }
  Instruction* joined = r.Clone(group[0], Shape::Tuple(std::move(shapes)), operands);
  if (group[0]->sharding() != nullptr) {
    Sharding all;
    all.kind = Sharding::Kind::kTuple;
    for (const Instruction* i : group)
      all.elements.push_back(i->sharding() != nullptr ? *i->sharding() : Sharding());
    joined->mutable_extras().sharding = std::make_unique<Sharding>(std::move(all));
  }
  for (size_t k = 0; k < group.size(); ++k) {
    group[k]->ReplaceAllUsesWith(w.Part(joined, k));
  }
  for (Instruction* i : group) c.Remove(i);
}

class Combiner final : public ComputationPass {
 public:
  Combiner(absl::string_view name, Opcode opcode, Limits limits)
      : name_(name), opcode_(opcode), limits_(limits) {}
  absl::string_view name() const override { return name_; }

  absl::StatusOr<bool> Run(Module& module) override {
    if (HasConstrainedLayouts(module, opcode_)) return false;
    return ComputationPass::Run(module);
  }

  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    const Domains domains(c);
    absl::flat_hash_set<const Instruction*> open;
    std::vector<Instruction*> order = c.PostOrder();
    for (Instruction* i : order)
      if (IsCandidate(i, opcode_)) open.insert(i);
    bool changed = false;
    while (!open.empty()) {
      const std::vector<Instruction*> group = TakeGroup(order, open, domains);
      if (group.size() < 2 || !control().Permit(name_, *group[0], *group[1])) continue;
      Join(c, group);
      order = c.PostOrder();
      changed = true;
    }
    return changed;
  }

 private:
  // The first in `order` of `open` and those after it that can join; they leave `open`.
  std::vector<Instruction*> TakeGroup(absl::Span<Instruction* const> order,
                                      absl::flat_hash_set<const Instruction*>& open,
                                      const Domains& domains) const {
    std::vector<Instruction*> group;
    absl::flat_hash_set<const Instruction*> after;  // the group, and what needs it
    int64_t bytes = 0;
    for (Instruction* i : order) {
      const auto is_after = [&after](const Instruction* x) { return after.contains(x); };
      const bool needs = !group.empty() && (absl::c_any_of(i->operands(), is_after) ||
                                            absl::c_any_of(i->control_predecessors(), is_after));
      if (needs) after.insert(i);
      if (needs || !open.contains(i)) continue;
      const int64_t size = i->shape().ByteSize();
      if (!group.empty() &&
          (static_cast<int64_t>(group.size()) >= limits_.count || bytes + size > limits_.bytes ||
           !CanJoin(*group[0], *i) || !domains.Same(*group[0], *i)))
        continue;
      group.push_back(i);
      after.insert(i);
      open.erase(i);
      bytes += size;
    }
    return group;
  }

  absl::string_view name_;
  Opcode opcode_;
  Limits limits_;
};

std::unique_ptr<Pass> Make(absl::string_view name, Opcode opcode, PassArguments& arguments) {
  const int64_t bytes =
      arguments.Int("bytes", int64_t{30} << 20, "the most that one collective may hold");
  const int64_t count = arguments.Int("count", 256, "the most operands of one collective");
  return std::make_unique<Combiner>(name, opcode, Limits{bytes, count});
}

}  // namespace

// all-reduce-combiner, all-gather-combiner, reduce-scatter-combiner, collective-permute-combiner:
// collectives of one kind, groups, element type and function of which none needs another become one
// of several operands. Options: `bytes` (at most so many in one; 30 MiB) and `count` (at most so
// many operands; 256). Exact. Cost: linear for each operand of what is made.
std::unique_ptr<Pass> CreateAllReduceCombiner(PassArguments& arguments) {
  return Make("all-reduce-combiner", Opcode::kAllReduce, arguments);
}

// The all-reduce-combiner under the name it has on XLA's CPU.
std::unique_ptr<Pass> CreateCpuAllReduceCombiner(PassArguments& arguments) {
  return Make("cpu-all-reduce-combiner", Opcode::kAllReduce, arguments);
}
std::unique_ptr<Pass> CreateAllGatherCombiner(PassArguments& arguments) {
  return Make("all-gather-combiner", Opcode::kAllGather, arguments);
}
std::unique_ptr<Pass> CreateReduceScatterCombiner(PassArguments& arguments) {
  return Make("reduce-scatter-combiner", Opcode::kReduceScatter, arguments);
}
std::unique_ptr<Pass> CreateCollectivePermuteCombiner(PassArguments& arguments) {
  return Make("collective-permute-combiner", Opcode::kCollectivePermute, arguments);
}

// Combiners under the names that they have on XLA's GPUs, which choose `bytes` by the device.
std::unique_ptr<Pass> CreateGpuAllReduceCombiner(PassArguments& arguments) {
  return Make("gpu-all-reduce-combiner", Opcode::kAllReduce, arguments);
}
std::unique_ptr<Pass> CreateGpuAllGatherCombiner(PassArguments& arguments) {
  return Make("gpu-all-gather-combiner", Opcode::kAllGather, arguments);
}
std::unique_ptr<Pass> CreateGpuReduceScatterCombiner(PassArguments& arguments) {
  return Make("gpu-reduce-scatter-combiner", Opcode::kReduceScatter, arguments);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
