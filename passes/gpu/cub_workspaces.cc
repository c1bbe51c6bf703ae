// estimate-cub-sort-scratch-size: calls of CUB's radix sort get their workspace and the form in
// which the runtime calls them.
//   (k[16,128], v[16,128], u8[0]) custom-call(k, v), ..."cub_sort_unassigned_scratch_size"
//     ->  (k, v, u8[N]) custom-call(k, v), ..."cub_sort_pairs",
//         api_version=API_VERSION_TYPED_FFI, backend_config={descending = false, batch_size = 16 :
//         i64}
// XLA's pass asks CUB on the device; one without a device estimates. N here is an estimate too: a
// second copy of what is sorted, the ends of the segments of a batch, and counters. The workspace
// is never read, so values do not depend on it. Cost: linear in the module.
#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr absl::string_view kOldUnassigned = "__cub$DeviceRadixSortUnassignedScratchSize";
constexpr absl::string_view kNewUnassigned = "xla.gpu.ext.cub_sort_unassigned_scratch_size";

// Whether the call is a sort of one or two arrays whose workspace nobody has sized.
bool AwaitsWorkspace(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return false;
  const std::string& target = i.attr<CustomCallAttrs>().target;
  if (target != kOldUnassigned && target != kNewUnassigned) return false;
  const size_t operands = static_cast<size_t>(i.operand_count());
  if ((operands != 1 && operands != 2) || !i.shape().IsTuple() ||
      i.shape().elements.size() != operands + 1)
    return false;
  for (size_t k = 0; k < operands; ++k)
    if (!i.operand(static_cast<int64_t>(k))->shape().IsArray() ||
        i.operand(static_cast<int64_t>(k))->shape().rank() == 0 || !i.shape().elements[k].IsArray())
      return false;
  return i.shape().elements.back().type == ElementType::kU8;
}

int64_t SortWorkspace(const Instruction& sort, int64_t batch) {
  constexpr int64_t kCounters = 256 * 4 * 8;  // a histogram of bytes for each pass over 8 bytes
  const auto aligned = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
  int64_t bytes = aligned(kCounters);
  for (const Instruction* operand : sort.operands()) bytes += aligned(operand->shape().ByteSize());
  if (batch > 1) bytes += aligned((batch + 1) * 4);
  return bytes;
}

// The results in the old call's shape, for readers of the whole: a workspace of the old size.
Instruction* WithOldWorkspace(const Instruction& old, Instruction* sized) {
  Rewriter r(*sized->parent());
  HloWriter w(r);
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < old.operand_count(); ++k) parts.push_back(w.Part(sized, k));
  parts.push_back(r.Splat(old.shape().elements.back(), 0));
  return r.Add(Opcode::kTuple, old.shape(), parts);
}

absl::StatusOr<bool> AssignWorkspaces(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : c.Instructions()) {
    if (!AwaitsWorkspace(*i) || !control.Permit("estimate-cub-sort-scratch-size", *i, *i)) continue;
    const Shape& keys = i->operand(0)->shape();
    const int64_t row = keys.dims.back();
    const int64_t batch = row == 0 ? 1 : keys.ElementCount() / row;
    const bool descending = BackendConfig::Of(*i).Raw("descending") == "true";
    std::vector<Shape> parts = i->shape().elements;
    parts.back() = RowMajor(ElementType::kU8, {SortWorkspace(*i, batch)});
    CustomCallAttrs attrs = i->attr<CustomCallAttrs>();
    attrs.target =
        i->operand_count() == 1 ? "xla.gpu.ext.cub_sort_keys" : "xla.gpu.ext.cub_sort_pairs";
    attrs.api_version = CustomCallApiVersion::kTypedFfi;
    Instruction* sized =
        c.Add(Opcode::kCustomCall, Shape::Tuple(std::move(parts)), i->operands(), std::move(attrs));
    sized->CopyExtrasFrom(*i);
    sized->set_place(i->place());
    sized->mutable_extras().backend_config = SharedText(absl::StrCat(
        "{descending = ", descending ? "true" : "false", ", batch_size = ", batch, " : i64}"));
    bool all = true;
    for (Instruction* user : std::vector<Instruction*>(i->users().begin(), i->users().end())) {
      if (user->opcode() == Opcode::kGetTupleElement && user->tuple_index() < i->operand_count())
        user->SetOperand(0, sized);
      else
        all = false;
    }
    if (!all || i->IsRoot()) i->ReplaceAllUsesWith(WithOldWorkspace(*i, sized));
    c.RemoveIfDead(i);
    changed = true;
  }
  return changed;
}

}  // namespace

// estimate-cub-sort-scratch-size: see above. Exact.
std::unique_ptr<Pass> CreateEstimateCubSortScratchSize() {
  return MakeComputationPass("estimate-cub-sort-scratch-size", AssignWorkspaces);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
