// multi_output_fusion: what GPU kernels compute beside each other becomes one kernel with several
// results, as in XLA.
// Users before their operands, for each instruction: first its users among each other (siblings: a
// fusion takes in another fusion, reduction or elementwise instruction that reads the same array),
// then the instruction itself and one of its users, where the instruction has others too, so that
// it is computed anyway. Both must run over the same positions: the shape that a reduction or a
// transpose reads, and that any other gives. With `elements`, only loops whose threads need nothing
// of each other, and scalars that read nothing in common, too: each would be a launch. At most 8
// reductions, and 96 arrays. Values stay as they were. Cost: linear but for the searches of ways
// between the two, which are bounded.
//   f = fusion(x) [exp], g = fusion(x) [reduce]  ->  t = fusion(x) [exp, reduce], f = t.0, g = t.1
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analysis/fusion_limits.h"
#include "analysis/fusion_parts.h"
#include "analysis/row_form.h"
#include "analysis/row_scan.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/fusions/merged_fusion.h"
#include "passes/fusions/ways.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

constexpr size_t kMaxSmall = 64;  // scalars that are looked through for each
constexpr int64_t kMaxReductions = 8, kMaxArrays = 96, kMaxSharedBytes = 48 << 10;

bool IsFusion(const Instruction* i) { return i->opcode() == Opcode::kFusion; }

bool IsTupleFusion(const Instruction* i) { return IsFusion(i) && i->shape().IsTuple(); }

// What the instruction computes last: the results of a fusion, itself where it is none.
std::vector<const Instruction*> RootsOf(const Instruction* i) {
  if (!IsFusion(i)) return {i};
  const Instruction* root = i->to_apply()->root();
  if (root->opcode() != Opcode::kTuple) return {root};
  return {root->operands().begin(), root->operands().end()};
}

// Reads more positions than it gives, or in another order, and runs over what it reads: a reduction
// or a transpose, alone or as the result of an input fusion.
const Instruction* HeroOf(const Instruction* i) {
  if (IsFusion(i) && i->attr<FusionAttrs>().kind != FusionKind::kInput) return nullptr;
  for (const Instruction* root : RootsOf(i))
    if (root->opcode() == Opcode::kReduce || (IsFusion(i) && root->opcode() == Opcode::kTranspose))
      return root;
  return nullptr;
}

// The positions that its loop runs over.
const DimVector& LoopOf(const Instruction* i) {
  if (const Instruction* hero = HeroOf(i)) return hero->operand(0)->shape().dims;
  return RootsOf(i)[0]->shape().dims;
}

bool SameHeroes(const Instruction* a, const Instruction* b) {
  if (a == nullptr || b == nullptr) return true;
  return a->opcode() == b->opcode() && a->shape() == b->shape() &&
         a->attr<DimensionsAttrs>() == b->attr<DimensionsAttrs>();
}

bool SameLoop(const Instruction* a, const Instruction* b) {
  return LoopOf(a) == LoopOf(b) && SameHeroes(HeroOf(a), HeroOf(b));
}

bool IsLoopFusion(const Instruction* i) {
  return IsFusion(i) && i->attr<FusionAttrs>().kind == FusionKind::kLoop;
}

bool IsElementwise(const Instruction* i) {
  return HasTrait(i->opcode(), kElementwise) && i->operand_count() > 0 && CanFuse(*i) &&
         i->shape().IsArray();
}

// May become one of several results.
bool MayBeResult(const Instruction* i) {
  const bool reduces = i->opcode() == Opcode::kReduce && i->shape().IsArray();
  if (!reduces && !IsLoopFusion(i) && !(IsFusion(i) && HeroOf(i) != nullptr) && !IsElementwise(i))
    return false;
  if (i->IsRoot() || HasControlEdges(*i) || i->shape().HasDynamicDims() || ReadsUpdated(*i))
    return false;
  if (!IsFusion(i) || !i->shape().IsTuple()) return true;
  for (const Instruction* user : i->users())
    if (user->opcode() != Opcode::kGetTupleElement || user->IsRoot()) return false;
  return i->to_apply()->root()->opcode() == Opcode::kTuple;
}

int64_t Reductions(const Instruction* i) {
  int64_t count = 0;
  for (const Instruction* root : RootsOf(i)) count += root->opcode() == Opcode::kReduce;
  return count;
}

// Bytes of shared memory that the reductions of a kernel take: a warp's sums each, two tiles of 32
// by 33 where the fastest dimension is kept.
int64_t SharedBytes(const Instruction* i) {
  int64_t bytes = 0;
  for (const Instruction* root : RootsOf(i)) {
    if (root->opcode() != Opcode::kReduce) continue;
    const int64_t elements = IsColumnReduce(*root) ? 2 * 32 * 33 : 32;
    bytes += elements * ByteWidth(root->operand(0)->shape().type);
  }
  return bytes;
}

// Whether registers, parameters and shared memory suffice for both.
bool FitsInBudget(const Instruction* a, const Instruction* b) {
  if (Reductions(a) + Reductions(b) > kMaxReductions ||
      SharedBytes(a) + SharedBytes(b) > kMaxSharedBytes)
    return false;
  absl::flat_hash_set<const Instruction*> operands(a->operands().begin(), a->operands().end());
  operands.insert(b->operands().begin(), b->operands().end());
  return static_cast<int64_t>(operands.size() + RootsOf(a).size() + RootsOf(b).size()) <=
         kMaxArrays;
}

// The parts of `x` that a loop fusion slices; none where it reads it otherwise.
std::vector<SliceSpec> SlicesOf(const Instruction* user, const Instruction* x) {
  std::vector<SliceSpec> slices;
  if (!IsFusion(user)) return slices;
  for (int64_t k = 0; k < user->operand_count(); ++k) {
    if (user->operand(k) != x) continue;
    for (const Instruction* reader : user->to_apply()->parameter(k)->users()) {
      if (reader->opcode() != Opcode::kSlice) return {};
      slices.push_back(reader->attr<SliceAttrs>().slice);
    }
  }
  return slices;
}

bool Overlap(const SliceSpec& a, const SliceSpec& b) {
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d].limit <= b[d].start || b[d].limit <= a[d].start) return false;
  return true;
}

// Whether the two read elements of `x` in common, so that one reading serves both.
bool ReadInCommon(const Instruction* a, const Instruction* b, const Instruction* x) {
  const std::vector<SliceSpec> of_a = SlicesOf(a, x), of_b = SlicesOf(b, x);
  if (of_a.empty() || of_b.empty()) return true;
  for (const SliceSpec& part : of_a)
    for (const SliceSpec& other : of_b)
      if (Overlap(part, other)) return true;
  return false;
}

// Whether a loop fusion moves elements to other places in memory, which a reduction should not wait
// for.
bool Transposes(const Instruction* i) {
  if (!IsFusion(i)) return false;
  bool found = false;
  i->to_apply()->ForEach([&](const Instruction* part) {
    found |= part->opcode() == Opcode::kTranspose || part->opcode() == Opcode::kCopy;
  });
  return found;
}

int Priority(const Instruction* i) { return IsTupleFusion(i) ? 2 : IsFusion(i) ? 1 : 0; }

// Whether each thread computes elements of its own: no reduction that wants several threads,
// nothing in place, no transposes through tiles.
bool IsOfElements(const Instruction* i) {
  const auto is_of_elements = [](const Instruction* part) {
    if (part->opcode() == Opcode::kReduce)
      return part->shape().IsArray() && part->operand(0)->shape().ElementCount() <=
                                            FusionLimits::kMaxShort * ResultElements(*part);
    if (part->opcode() == Opcode::kTranspose) return !IsStridedTranspose(*part);
    if (part->opcode() == Opcode::kReduceWindow) return !RowScanOf(*part).has_value();
    return part->opcode() != Opcode::kScatter && part->opcode() != Opcode::kDynamicUpdateSlice;
  };
  if (!IsFusion(i)) return is_of_elements(i);
  bool all = true;
  i->to_apply()->ForEach([&](const Instruction* part) { all &= is_of_elements(part); });
  return all;
}

// The rows of a fusion that gives nothing but reductions of them, and what follows on the results.
std::optional<RowForm> RowReductionsOf(const Instruction* i) {
  std::vector<const Instruction*> members;
  if (IsFusion(i)) {
    for (const Instruction* part : i->to_apply()->PostOrder())
      if (part->opcode() != Opcode::kParameter) members.push_back(part);
  } else {
    members.push_back(i);
  }
  std::optional<RowForm> form = FindRowForm(members, FusionLimits::kMaxShort);
  if (!form.has_value()) return std::nullopt;
  for (const RowForm::Reduction& r : form->reductions)
    if (r.pass != 0 || !r.reduce->shape().IsArray()) return std::nullopt;
  for (const Instruction* root : RootsOf(i))
    if (!form->IsRowShaped(root->shape())) return std::nullopt;
  return form;
}

// Whether one reading of an array does for the reductions of both.
bool ReduceSameRows(const Instruction* a, const Instruction* b) {
  const std::optional<RowForm> one = RowReductionsOf(a);
  if (!one.has_value()) return false;
  const std::optional<RowForm> other = RowReductionsOf(b);
  if (!other.has_value() || one->full.dims != other->full.dims || one->within != other->within ||
      static_cast<int64_t>(one->reductions.size() + other->reductions.size()) > kMaxReductions)
    return false;
  return std::any_of(a->operands().begin(), a->operands().end(), [&](const Instruction* x) {
    return x->shape().IsArray() && x->shape().ElementCount() == one->full.ElementCount() &&
           std::find(b->operands().begin(), b->operands().end(), x) != b->operands().end();
  });
}

class KernelMerger {
 public:
  KernelMerger(Computation& c, bool elements, RewriteControl& control)
      : c_(c), elements_(elements), control_(control), ways_(c) {}

  bool Run() {
    std::vector<Instruction*> order = c_.PostOrder();
    bool changed = false;
    for (size_t k = order.size(); k-- > 0;) {
      Instruction* producer = order[k];
      if (gone_.contains(producer) || producer->IsConstant()) continue;
      changed |= MergeSiblings(producer);
      changed |= MergeWithConsumer(producer);
    }
    return elements_ ? MergeScalars() || changed : changed;
  }

 private:
  bool AreApart(Instruction* a, Instruction* b) {
    return !ways_.HasWay({a}, {b}, {a, b}) && !ways_.HasWay({b}, {a}, {a, b});
  }

  static bool Reads(const Instruction* user, const Instruction* x) {
    return std::find(user->operands().begin(), user->operands().end(), x) != user->operands().end();
  }

  bool MergeSiblings(Instruction* parent) {
    if (parent->users().size() > kMaxUsersSeen ||
        (parent->shape().IsArray() && parent->shape().ElementCount() <= 1))
      return false;
    std::vector<Instruction*> siblings;
    for (Instruction* user : parent->users())
      if (MayBeResult(user)) siblings.push_back(user);
    std::stable_sort(
        siblings.begin(), siblings.end(), [](const Instruction* a, const Instruction* b) {
          return Priority(a) != Priority(b) ? Priority(a) > Priority(b) : a->id() < b->id();
        });
    bool changed = false;
    for (size_t a = 0; a < siblings.size(); ++a) {
      if (!IsFusion(siblings[a])) break;
      for (size_t b = a + 1; b < siblings.size();) {
        if (!CanMerge(siblings[a], siblings[b]) ||
            !ReadInCommon(siblings[a], siblings[b], parent) || Reads(siblings[a], siblings[b]) ||
            Reads(siblings[b], siblings[a]) || !AreApart(siblings[a], siblings[b]) ||
            !control_.Permit("multi_output_fusion", *siblings[a], *siblings[b])) {
          ++b;
          continue;
        }
        siblings[a] = Merge(siblings[a], siblings[b], siblings[a]);
        siblings.erase(siblings.begin() + static_cast<std::ptrdiff_t>(b));
        changed = true;
      }
    }
    return changed;
  }

  // Scalars cost a launch and nothing else: they become one kernel, whatever they read, such as
  // the counters of a loop.
  bool MergeScalars() {
    std::vector<Instruction*> small;  // of which no two can be merged
    bool changed = false;
    for (Instruction* i : c_.PostOrder()) {
      if (gone_.contains(i) || !MayBeResult(i) || !IsOfScalars(*i)) continue;
      const auto found = std::find_if(small.begin(), small.end(), [&](Instruction* other) {
        return CanMerge(other, i) && !Reads(i, other) && AreApart(other, i) &&
               control_.Permit("multi_output_fusion", *other, *i);
      });
      if (found != small.end()) {
        *found = Merge(*found, i, *found);
        changed = true;
      } else if (small.size() < kMaxSmall) {
        small.push_back(i);
      }
    }
    return changed;
  }

  bool CanMerge(const Instruction* a, const Instruction* b) const {
    return SameLoop(a, b) && FitsInBudget(a, b) &&
           (!elements_ || (IsOfElements(a) && IsOfElements(b)) || ReduceSameRows(a, b));
  }

  bool MergeWithConsumer(Instruction* producer) {
    const bool once = producer->users().size() + (producer->IsRoot() ? 1 : 0) < 2;
    if (once || IsTupleFusion(producer) || HeroOf(producer) != nullptr || !MayBeResult(producer) ||
        Transposes(producer) || producer->users().size() > kMaxUsersSeen)
      return false;
    Instruction* best = nullptr;
    for (Instruction* user : producer->users())
      if (MayBeResult(user) && CanMerge(producer, user) &&
          (best == nullptr || Priority(user) > Priority(best)) &&
          !ways_.HasWay({user}, {producer}, {user, producer}))
        best = user;
    if (best == nullptr || !control_.Permit("multi_output_fusion", *producer, *best)) return false;
    Merge(producer, best, IsFusion(best) ? best : producer);
    return true;
  }

  // One fusion of both, named after `main`.
  Instruction* Merge(Instruction* a, Instruction* b, Instruction* main) {
    const bool input = HeroOf(a) != nullptr || HeroOf(b) != nullptr;
    const MergedForm form{main->name(), ".clone.1", input ? FusionKind::kInput : FusionKind::kLoop,
                          main == a, elements_};
    for (Instruction* i : {a, b}) {
      gone_.insert(i);
      if (i->shape().IsTuple()) gone_.insert(i->users().begin(), i->users().end());
    }
    const std::vector<Instruction*> parts = MergeIntoFusion(c_, {a, b}, form);
    ways_.Merged(parts);
    return parts[0]->operand(0);
  }

  Computation& c_;
  const bool elements_;
  RewriteControl& control_;
  Ways ways_;
  absl::flat_hash_set<const Instruction*> gone_;
};

class MultiOutputFusion final : public Pass {
 public:
  explicit MultiOutputFusion(bool elements) : elements_(elements) {}
  absl::string_view name() const override { return "multi_output_fusion"; }
  absl::StatusOr<bool> Run(Module& module) override {
    const std::vector<bool> runs = RunningComputations(module);
    bool changed = false;
    for (Computation* c : module.ComputationsPostOrder())
      if (runs[c->id()]) changed |= KernelMerger(*c, elements_, control()).Run();
    if (changed) RemoveUncalled(module);
    return changed;
  }

 private:
  const bool elements_;
};

}  // namespace

std::unique_ptr<Pass> CreateMultiOutputFusion(PassArguments& arguments) {
  return std::make_unique<MultiOutputFusion>(arguments.Flag(
      "elements", "only loops of independent elements, and reductions of the same rows"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
