// batched_gather_scatter_normalizer: rewrites batching dimensions of gathers and scatters as
// explicit indices.
// A gather with operand_batching_dims (a scatter with input_batching_dims) reads (writes) each
// batch at its own position: that position becomes part of the index vectors, as an iota next to
// the indices. Exact. Cost: linear.
//   gather, operand_batching_dims={0}, indices i  ->  gather, indices concatenate(iota, i)
#include "passes/expanders/indexed_windows.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

absl::StatusOr<Instruction*> Normalize(Instruction* i, Rewriter& r) {
  HloWriter w(r);
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  if (i->opcode() == Opcode::kGather && !i->attr<GatherAttrs>().operand_batching_dims.empty()) {
    PlainGather plain = WithoutBatching(*i, w);
    operands[1] = plain.indices;
    Instruction* made = r.Clone(i, i->shape(), operands);
    made->mutable_attr<GatherAttrs>() = std::move(plain.attrs);
    return made;
  }
  if (i->opcode() == Opcode::kScatter && !i->attr<ScatterAttrs>().input_batching_dims.empty()) {
    PlainScatter plain = WithoutBatchingOfScatter(*i, w);
    operands[(operands.size() - 1) / 2] = plain.indices;
    Instruction* made = r.Clone(i, i->shape(), operands);
    made->mutable_attr<ScatterAttrs>() = std::move(plain.attrs);
    return made;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Pass> CreateBatchedGatherScatterNormalizer() {
  return MakeExpander("batched_gather_scatter_normalizer", Normalize);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
