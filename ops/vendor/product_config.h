// The dimensions of matrix products as the configuration of GPU libraries' calls spells them.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/attributes.h"
#include "ops/vendor/call_config.h"

namespace hlokit {

// dot_dimension_numbers inside `config`, which may be null. Errors: InvalidArgument where there are
// none.
absl::StatusOr<DotAttrs> ReadDotDims(absl::string_view target, const ConfigValue* config);

// The operand (0 or 1) that all batches of the other read, as where cuBLAS has a stride of 0; -1
// where each has its own.
int64_t OperandOfAllBatches(const DotAttrs& dims);
// The dimensions where that operand has those of the batches in front.
DotAttrs WithBatchesInFront(DotAttrs dims, int64_t operand);

// What grouped_gemm_backend_config says of __cublas$lt$groupedMatmul's ragged product. Errors:
// InvalidArgument where it says nothing, Unimplemented for an epilogue.
absl::StatusOr<RaggedDotAttrs> ReadRaggedDims(absl::string_view target, const ConfigValue& config);

// The object `gemm_backend_config` inside grouped_gemm_backend_config: alpha and beta. Empty where
// there is none.
ConfigValue GroupedGemmConfig(const ConfigValue& config);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
