// collective-permute-cse: what moves between the same devices is moved once.
//   c = collective-permute(x); d = collective-permute(slice(x))   ->   d = slice(c)
// Pairs may stand in any order. Of slices of one array, the one that holds the other is moved; both
// must be dense (stride 1). A control dependence of the larger on the smaller goes, for the smaller
// is then part of it; other control dependences keep a transfer as it is. Exact: devices that
// nothing is sent to get zeros either way. Cost: the square of the transfers of one array.
#include <algorithm>
#include <map>

#include "absl/algorithm/container.h"
#include "passes/collectives/collective_keys.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

// A transfer as that of a part of an array.
struct Transfer {
  Instruction* permute;
  Instruction* base;
  DimVector starts, sizes;
};

Transfer Read(Instruction* permute) {
  Instruction* x = permute->operand(0);
  const bool sliced =
      x->opcode() == Opcode::kSlice &&
      absl::c_all_of(x->attr<SliceAttrs>().slice, [](const SliceDim& d) { return d.stride == 1; });
  Transfer t{permute, sliced ? x->operand(0) : x, DimVector(x->shape().rank(), 0), x->shape().dims};
  for (int64_t d = 0; sliced && d < x->shape().rank(); ++d)
    t.starts[d] = x->attr<SliceAttrs>().slice[d].start;
  return t;
}

bool SamePairs(const Instruction& a, const Instruction& b) {
  const auto& x = a.attr<CollectivePermuteAttrs>();
  const auto& y = b.attr<CollectivePermuteAttrs>();
  IntPairs p = x.source_target_pairs, q = y.source_target_pairs;
  std::sort(p.begin(), p.end());
  std::sort(q.begin(), q.end());
  return p == q && x.channel_id.has_value() == y.channel_id.has_value() && SameMarks(a, b);
}

bool Holds(const Transfer& large, const Transfer& small) {
  for (size_t d = 0; d < large.starts.size(); ++d)
    if (small.starts[d] < large.starts[d] ||
        small.starts[d] + small.sizes[d] > large.starts[d] + large.sizes[d])
      return false;
  return large.permute->shape().type == small.permute->shape().type &&
         SamePairs(*large.permute, *small.permute);
}

// Whether `small` may come from `large`: nothing orders them but that large comes after small.
bool MayFollow(Instruction* large, Instruction* small) {
  if (!small->control_predecessors().empty()) return false;
  for (const Instruction* after : small->control_successors())
    if (after != large) return false;
  for (const Instruction* before : large->control_predecessors())
    if (before != small) return false;
  return large->control_successors().empty() && !Needs(large->operand(0), {small});
}

Instruction* PartOf(const Transfer& large, const Transfer& small, Computation& c) {
  if (large.starts == small.starts && large.sizes == small.sizes) return large.permute;
  SliceAttrs slice;
  for (size_t d = 0; d < large.starts.size(); ++d) {
    const int64_t start = small.starts[d] - large.starts[d];
    slice.slice.push_back(SliceDim{start, start + small.sizes[d], 1});
  }
  Rewriter r(c);
  r.set_subject(small.permute);
  return r.Add(Opcode::kSlice, small.permute->shape(), {large.permute}, std::move(slice));
}

absl::StatusOr<bool> SharePermutes(Computation& c, RewriteControl& control) {
  std::map<int64_t, std::vector<Transfer>> by_base;
  for (Instruction* i : c.PostOrder())
    if (i->opcode() == Opcode::kCollectivePermute && i->shape().IsArray() &&
        i->operand_count() == 1 && i->attr<CollectivePermuteAttrs>().slice_sizes.empty()) {
      const Transfer t = Read(i);
      by_base[t.base->id()].push_back(t);
    }
  bool changed = false;
  for (auto& [id, all] : by_base)
    for (size_t a = 0; a < all.size(); ++a)
      for (size_t b = 0; b < all.size(); ++b) {
        Transfer& large = all[a];
        Transfer& small = all[b];
        if (a == b || large.permute == nullptr || small.permute == nullptr ||
            !Holds(large, small) || (Holds(small, large) && b < a) ||
            !MayFollow(large.permute, small.permute))
          continue;
        if (!control.Permit("collective-permute-cse", *small.permute, *large.permute)) continue;
        small.permute->DropControlEdges();
        small.permute->ReplaceAllUsesWith(PartOf(large, small, c));
        c.RemoveIfDead(small.permute);
        small.permute = nullptr;
        changed = true;
      }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateCollectivePermuteCse() {
  return MakeComputationPass("collective-permute-cse", SharePermutes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
