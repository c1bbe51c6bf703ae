// cublas-gemm-broadcast-folding-rewriter: products of batches by one matrix.
// Matches calls of cuBLAS (__cublas$gemm, __cublas$lt$matmul) of which one operand is a matrix
// broadcast over the batches in front: the call reads the matrix itself, at a stride of 0. Exact.
//   custom-call(x, broadcast(y))  ->  custom-call(x, y), "rhs_stride":"0", no rhs_batch_dimensions
#include "absl/strings/str_cat.h"
#include "ops/vendor/call_config.h"
#include "ops/vendor/product_config.h"
#include "passes/framework/pass.h"
#include "passes/gpu/backend_config.h"

namespace hlokit {
namespace {

constexpr char kGemmConfig[] = "gemm_backend_config", kDims[] = "dot_dimension_numbers";

bool IsGemm(const Instruction* i) {
  if (i->opcode() != Opcode::kCustomCall || i->operand_count() < 2) return false;
  const std::string& target = i->attr<CustomCallAttrs>().target;
  return target == "__cublas$gemm" || target == "__cublas$lt$matmul";
}

bool IsLeading(const DimVector& dims) {
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k] != static_cast<int64_t>(k)) return false;
  return !dims.empty();
}

// Whether `x` is the same matrix in each of so many leading dimensions.
bool IsOneMatrix(const Instruction* x, int64_t batches) {
  if (x->opcode() != Opcode::kBroadcast || x->shape().rank() != batches + 2) return false;
  return x->attr<BroadcastAttrs>().dimensions == DimVector{batches, batches + 1} &&
         x->operand(0)->shape().IsRowMajor() && x->shape().IsRowMajor();
}

bool Fold(Instruction* call, int64_t side) {
  BackendConfig whole = BackendConfig::Of(*call);
  const std::string json(whole.Raw(kGemmConfig));
  const auto parsed = ParseCallConfig(json);
  if (json.empty() || !parsed.ok()) return false;
  const auto dims = ReadDotDims(call->attr<CustomCallAttrs>().target, &*parsed);
  if (!dims.ok() || OperandOfAllBatches(*dims) >= 0) return false;
  const DimVector& batch = side == 0 ? dims->lhs_batch_dims : dims->rhs_batch_dims;
  const DimVector& summed = side == 0 ? dims->lhs_contracting_dims : dims->rhs_contracting_dims;
  const auto count = static_cast<int64_t>(batch.size());
  if (!IsLeading(batch) || summed.size() != 1 || !IsOneMatrix(call->operand(side), count))
    return false;
  const absl::string_view name = side == 0 ? "lhs" : "rhs";
  BackendConfig gemm(json);
  BackendConfig numbers(gemm.Raw(kDims));
  numbers.SetRaw(absl::StrCat(name, "_contracting_dimensions"),
                 absl::StrCat("[\"", summed[0] - count, "\"]"));
  numbers.SetRaw(absl::StrCat(name, "_batch_dimensions"), "[]");
  gemm.SetRaw(kDims, numbers.Json());
  gemm.SetInt(absl::StrCat(name, "_stride"), 0);
  whole.SetRaw(kGemmConfig, gemm.Json());
  whole.WriteTo(*call);
  Instruction* broadcast = call->operand(side);
  call->SetOperand(side, broadcast->operand(0));
  call->parent()->RemoveIfDead(broadcast);
  return true;
}

absl::StatusOr<bool> FoldBroadcasts(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder())
    if (IsGemm(i)) changed |= Fold(i, 0) || Fold(i, 1);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateGemmBroadcastFolding() {
  return MakeComputationPass("cublas-gemm-broadcast-folding-rewriter", FoldBroadcasts);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
