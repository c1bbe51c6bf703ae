// horizontal_loop_fusion and horizontal_input_fusion: small independent loops made one.
//
// Groups by depth.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/fusions/merged_fusion.h"
#include "passes/fusions/ways.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

// In steps for one element: what one loop must stay under, so that it would run on one thread
// alone, and what makes it worth to wake others.
constexpr double kMaxWork = 400000, kLeastWork = 3000, kLeastTogether = 600000;
constexpr size_t kMaxMembers = 16;
constexpr int64_t kMaxRead = 12, kMaxBytes = int64_t{8} << 20;
constexpr int64_t kMaxSteps = 200;
constexpr int kAtTheEnd = -1;

enum class Kind : uint8_t { kLoop, kInput };

bool IsRootOf(const Instruction& root, Kind kind) {
  return HasTrait(root.opcode(), kElementwise) ||
         (kind == Kind::kInput && root.opcode() == Opcode::kReduce && root.shape().IsArray());
}

bool HasReduce(const Instruction& i) {
  if (i.opcode() == Opcode::kReduce) return true;
  if (i.opcode() != Opcode::kFusion) return false;
  bool any = false;
  i.to_apply()->ForEach([&](const Instruction* part) { any |= part->opcode() == Opcode::kReduce; });
  return any;
}

// The roots of what `i` computes; nothing where it is not of the kind.
std::vector<const Instruction*> RootsOf(const Instruction& i, Kind kind) {
  if (!i.control_predecessors().empty() || !i.control_successors().empty()) return {};
  if (i.IsParameter() || i.IsConstant() || i.operand_count() > kMaxRead) return {};
  if (HasReduce(i) != (kind == Kind::kInput)) return {};
  if (i.opcode() != Opcode::kFusion)
    return CanFuse(i) && IsRootOf(i, kind) ? std::vector<const Instruction*>{&i}
                                           : std::vector<const Instruction*>();
  const FusionKind fused = i.attr<FusionAttrs>().kind;
  if (fused != FusionKind::kLoop && fused != FusionKind::kInput) return {};
  const Computation& body = *i.to_apply();
  if (body.instruction_count() > kMaxSteps) return {};
  std::vector<const Instruction*> roots = {body.root()};
  if (body.root()->opcode() == Opcode::kTuple)
    roots.assign(body.root()->operands().begin(), body.root()->operands().end());
  bool all = std::all_of(roots.begin(), roots.end(),
                         [&](const Instruction* root) { return IsRootOf(*root, kind); });
  body.ForEach([&](const Instruction* part) {
    all &= part->IsParameter() || CanFuse(*part) || part == body.root();
  });
  return all ? roots : std::vector<const Instruction*>();
}

double WorkOf(const Instruction& i) {
  double work = 0;
  const auto add = [&](const Instruction* part) {
    if (part->IsParameter() || part->IsConstant() || !part->shape().IsArray()) return;
    const Shape& shape =
        part->opcode() == Opcode::kReduce ? part->operand(0)->shape() : part->shape();
    work += static_cast<double>(shape.ElementCount());
  };
  if (i.opcode() != Opcode::kFusion) {
    add(&i);
  } else {
    i.to_apply()->ForEach(add);
  }
  return work;
}

bool IsPartOfTuple(const Instruction* user) { return user->opcode() == Opcode::kGetTupleElement; }

// Whether nothing but the computation's result reads it.
bool IsAtTheEnd(const Instruction& i) {
  return std::all_of(i.users().begin(), i.users().end(), [&](const Instruction* user) {
    if (IsPartOfTuple(user) && i.shape().IsTuple()) return IsAtTheEnd(*user);
    return user->IsRoot() && user->opcode() == Opcode::kTuple;
  });
}

class HorizontalFuser {
 public:
  HorizontalFuser(Computation& c, Kind kind) : c_(c), kind_(kind) {}

  bool Run() {
    Ways ways(c_);
    std::map<int64_t, std::vector<Instruction*>> levels;
    for (Instruction* i : c_.PostOrder()) {
      if (Joins(*i)) levels[IsAtTheEnd(*i) ? kAtTheEnd : ways.depth(i)].push_back(i);
    }
    bool changed = false;
    for (const auto& [depth, loops] : levels) changed |= Group(loops);
    return changed;
  }

 private:
  bool Joins(const Instruction& i) const {
    if (i.IsRoot() || RootsOf(i, kind_).empty()) return false;
    if (i.shape().IsTuple() && !std::all_of(i.users().begin(), i.users().end(), IsPartOfTuple))
      return false;
    const double work = WorkOf(i);
    return work >= kLeastWork && work <= kMaxWork && !ReadsUpdated(i);
  }

  static int64_t BytesOf(const Instruction& i) {
    int64_t bytes = TotalBytes(i.shape());
    for (const Instruction* operand : i.operands()) bytes += TotalBytes(operand->shape());
    return bytes;
  }

  bool Group(absl::Span<Instruction* const> loops) {
    bool changed = false;
    std::vector<Instruction*> group;
    int64_t bytes = 0;
    const auto close = [&] {
      double work = 0;
      for (const Instruction* i : group) work += WorkOf(*i);
      if (group.size() > 1 && work >= kLeastTogether) {
        MergeIntoFusion(c_, group, {absl::StrCat(group[0]->name(), "_and_others")});
        changed = true;
      }
      group.clear();
      bytes = 0;
    };
    for (Instruction* i : loops) {
      const int64_t more = BytesOf(*i);
      if (group.size() == kMaxMembers || (!group.empty() && bytes + more > kMaxBytes)) close();
      group.push_back(i);
      bytes += more;
    }
    close();
    return changed;
  }

  Computation& c_;
  const Kind kind_;
};

}  // namespace

// horizontal_loop_fusion. Matches elementwise instructions and loop fusions of such, of any sizes,
// that are too small to be shared out to threads and do not wait for each other: those that only
// the root reads, and those at one depth. Leaves fusions of a tuple with up to sixteen of them and
// at most 8 MiB, whose parts have no array in common, where there is enough work for threads.
// Cost: linear.
std::unique_ptr<Pass> CreateHorizontalLoopFusion() {
  return MakeComputationPass("horizontal_loop_fusion", [](Computation& c) -> absl::StatusOr<bool> {
    return HorizontalFuser(c, Kind::kLoop).Run();
  });
}

// horizontal_input_fusion. The same of reductions, and of fusions that end in some.
std::unique_ptr<Pass> CreateHorizontalInputFusion() {
  return MakeComputationPass("horizontal_input_fusion", [](Computation& c) -> absl::StatusOr<bool> {
    return HorizontalFuser(c, Kind::kInput).Run();
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
