// slice-sinker, slice-hoister and broadcast_canonicalizer: slices and broadcasts around elementwise
// operations.
//   add(x[0:4], y[0:4]), add(x[4:8], y[4:8]) -> s = add(x, y), s[0:4], s[4:8]
//   (x + y)[0:4] -> x[0:4] + y[0:4]
#include <algorithm>
#include <map>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// The slice that all operands of `i` take of their arrays, which are of one shape; null if there is
// none.
const Instruction* CommonSlice(const Instruction* i) {
  if (!HasTrait(i->opcode(), kElementwise) || i->operand_count() == 0 || !i->shape().IsArray() ||
      i->shape().HasDynamicDims() || HasControlEdges(*i) || (i->users().empty() && !i->IsRoot()))
    return nullptr;
  const Instruction* first = i->operand(0);
  for (const Instruction* x : i->operands())
    if (x->opcode() != Opcode::kSlice || !x->SameAttributes(*first) ||
        x->operand(0)->shape().dims != first->operand(0)->shape().dims ||
        x->shape().dims != i->shape().dims || !x->operand(0)->shape().IsRowMajor())
      return nullptr;
  return first;
}

bool SameWork(const Instruction* a, const Instruction* b) {
  if (!a->SameAttributes(*b) || a->shape().type != b->shape().type ||
      a->operand_count() != b->operand_count())
    return false;
  for (int64_t k = 0; k < a->operand_count(); ++k)
    if (a->operand(k)->operand(0) != b->operand(k)->operand(0)) return false;
  return true;
}

void SinkSlices(const std::vector<Instruction*>& group) {
  Instruction* first = group[0];
  Computation& c = *first->parent();
  std::vector<Instruction*> wholes;
  for (const Instruction* x : first->operands()) wholes.push_back(x->operand(0));
  Shape shape = wholes[0]->shape().WithType(first->shape().type);
  shape.layout = Layout::Default(shape.rank());
  shape.layout.extras = first->shape().layout.extras;
  Instruction* whole = c.Add(first->CloneWith(shape, wholes));
  for (Instruction* i : group) {
    i->ReplaceAllUsesWith(
        c.Add(Opcode::kSlice, i->shape(), {whole}, i->operand(0)->attr<SliceAttrs>()));
    c.RemoveIfDead(i);
  }
}

absl::StatusOr<bool> RunSinker(Computation& computation, RewriteControl& control) {
  std::map<int64_t, std::vector<std::vector<Instruction*>>> groups;  // by the first whole's id
  for (Instruction* i : computation.PostOrder()) {
    const Instruction* slice = CommonSlice(i);
    if (slice == nullptr) continue;
    auto& alike = groups[slice->operand(0)->id()];
    auto found = std::find_if(alike.begin(), alike.end(),
                              [&](const auto& group) { return SameWork(group[0], i); });
    if (found == alike.end()) {
      alike.push_back({i});
    } else {
      found->push_back(i);
    }
  }
  bool changed = false;
  for (const auto& [id, alike] : groups)
    for (const std::vector<Instruction*>& group : alike) {
      int64_t covered = 0;
      for (const Instruction* i : group) covered += i->shape().ElementCount();
      const Instruction* whole = group[0]->operand(0)->operand(0);
      if (group.size() < 2 || covered < whole->shape().ElementCount() ||
          !control.Permit("slice-sinker", *group[0], *whole))
        continue;
      SinkSlices(group);
      changed = true;
    }
  return changed;
}

absl::StatusOr<Instruction*> Hoist(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kSlice) return nullptr;
  const Instruction* sum = i->operand(0);
  const bool transposes = sum->opcode() == Opcode::kTranspose;
  if ((sum->opcode() != Opcode::kAdd && !transposes) || sum->users().size() != 1 || sum->IsRoot() ||
      i->shape().HasDynamicDims() || sum->shape().HasDynamicDims())
    return nullptr;
  if (transposes) {
    const DimVector& order = sum->attr<DimensionsAttrs>().dimensions;
    SliceSpec before(order.size());
    for (size_t d = 0; d < order.size(); ++d) before[order[d]] = i->attr<SliceAttrs>().slice[d];
    HloWriter w(r);
    return r.Clone(sum, i->shape(), {w.Slice(sum->operand(0), std::move(before))});
  }
  std::vector<Instruction*> parts;
  for (Instruction* x : sum->operands())
    parts.push_back(r.Add(Opcode::kSlice, i->shape(), {x}, i->attr<SliceAttrs>()));
  return r.Clone(sum, i->shape(), parts);
}

absl::StatusOr<Instruction*> SortDimensions(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kBroadcast || i->shape().HasDynamicDims()) return nullptr;
  const DimVector& dims = i->attr<BroadcastAttrs>().dimensions;
  if (std::is_sorted(dims.begin(), dims.end())) return nullptr;
  DimVector order(dims.size()), sorted = dims;
  for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int64_t>(k);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  std::sort(sorted.begin(), sorted.end());
  HloWriter w(r);
  return r.Broadcast(w.Transpose(i->operand(0), order), i->shape(), sorted);
}

}  // namespace

// slice-sinker. Matches like elementwise operations on slices of the same arrays that together
// cover at least as many elements as those have. Leaves one operation on the whole arrays, and
// slices of it. Cost: linear but for operations on slices of one array.
std::unique_ptr<Pass> CreateSliceSinker() { return MakeComputationPass("slice-sinker", RunSinker); }

// slice-hoister. Matches slices of additions and transposes that have no other reader; leaves the
// addition, or the transpose, of slices. Cost: linear.
std::unique_ptr<Pass> CreateSliceHoister() { return MakeExpander("slice-hoister", Hoist); }

// broadcast_canonicalizer. Matches broadcasts whose dimensions are not in ascending order; leaves
// one with sorted dimensions, of the operand transposed. Cost: linear.
std::unique_ptr<Pass> CreateBroadcastCanonicalizer() {
  return MakeExpander("broadcast_canonicalizer", SortDimensions);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
