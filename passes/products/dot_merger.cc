// dot-merger: merges dots that share an operand into one dot of concatenated operands.
// Matches dots of matrices, contracted alike, that share their left side and of which none needs
// another. Leaves one dot with the right sides side by side, and slices of it. Cost: the number of
// dots of one left side, squared.
//   dot(a, b), dot(a, c)  ->  d = dot(a, concatenate(b, c)), slices of d
#include <map>

#include "absl/container/flat_hash_set.h"
#include "passes/framework/pass.h"

namespace hlokit {
namespace {

// Products whose result is no larger than this are merged.
constexpr int64_t kMaxMergedDotBytes = int64_t{32} << 20;

bool IsCandidate(const Instruction* i) {
  if (i->opcode() != Opcode::kDot || i->operand_count() != 2 || i->shape().rank() != 2 ||
      i->shape().HasDynamicDims() || i->shape().ByteSize() > kMaxMergedDotBytes)
    return false;
  const DotAttrs& attrs = i->attr<DotAttrs>();
  return attrs.lhs_batch_dims.empty() && attrs.lhs_contracting_dims.size() == 1 &&
         i->operand(0)->shape().rank() == 2 && i->operand(1)->shape().rank() == 2 &&
         i->control_predecessors().empty() && i->control_successors().empty() &&
         (i->IsRoot() || !i->users().empty());
}

bool Alike(const Instruction* a, const Instruction* b) {
  return a->SameAttributes(*b) && a->shape().type == b->shape().type &&
         a->operand(1)->shape().type == b->operand(1)->shape().type && a->shape().IsRowMajor() &&
         b->shape().IsRowMajor();
}

bool Needs(const Instruction* i, const Instruction* other) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {i};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    if (at == other) return true;
    for (const Instruction* operand : at->operands())
      if (seen.insert(operand).second) work.push_back(operand);
    for (const Instruction* before : at->control_predecessors())
      if (seen.insert(before).second) work.push_back(before);
  }
  return false;
}

void Merge(Instruction* a, Instruction* b) {
  Computation& c = *a->parent();
  const int64_t free = 1 - a->attr<DotAttrs>().rhs_contracting_dims[0];
  Shape right = a->operand(1)->shape().WithDefaultLayout();
  right.dims[free] += b->operand(1)->shape().dims[free];
  Shape both = a->shape();
  both.dims[1] += b->shape().dims[1];
  Instruction* joined =
      c.Add(Opcode::kConcatenate, right, {a->operand(1), b->operand(1)}, DimensionsAttrs{{free}});
  Instruction* dot = c.Add(a->CloneWith(both, {a->operand(0), joined}));
  int64_t begin = 0;
  for (Instruction* part : {a, b}) {
    const int64_t end = begin + part->shape().dims[1];
    part->ReplaceAllUsesWith(c.Add(Opcode::kSlice, part->shape(), {dot},
                                   SliceAttrs{{{0, part->shape().dims[0], 1}, {begin, end, 1}}}));
    begin = end;
    c.Remove(part);
  }
}

absl::StatusOr<bool> Run(Computation& computation, RewriteControl& control) {
  std::map<int64_t, std::vector<Instruction*>> by_left;  // by its id: the same order every time
  for (Instruction* i : computation.PostOrder())
    if (IsCandidate(i)) by_left[i->operand(0)->id()].push_back(i);
  bool changed = false;
  for (auto& [id, dots] : by_left)
    for (size_t a = 0; a < dots.size(); ++a)
      for (size_t b = a + 1; dots[a] != nullptr && b < dots.size(); ++b) {
        if (dots[b] == nullptr || !Alike(dots[a], dots[b]) || Needs(dots[b], dots[a]) ||
            Needs(dots[a], dots[b]) || !control.Permit("dot-merger", *dots[b], *dots[a]))
          continue;
        Merge(dots[a], dots[b]);
        dots[a] = dots[b] = nullptr;  // what was made may merge in the next run
        changed = true;
      }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateDotMerger() { return MakeComputationPass("dot-merger", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
