// Reads the dimensions of products.
#include "ops/vendor/product_config.h"

#include "support/status.h"

namespace hlokit {
namespace {

DimVector Dims(const ConfigValue& config, absl::string_view name) {
  DimVector dims;
  for (int64_t d : config.IntegersOf(name)) dims.push_back(d);
  return dims;
}

}  // namespace

absl::StatusOr<DotAttrs> ReadDotDims(absl::string_view target, const ConfigValue* config) {
  const ConfigValue* dims = config == nullptr ? nullptr : config->Find("dot_dimension_numbers");
  if (dims == nullptr)
    return InvalidArgument("custom-call ", target, ": backend_config has no dot_dimension_numbers");
  DotAttrs attrs;
  attrs.lhs_contracting_dims = Dims(*dims, "lhs_contracting_dimensions");
  attrs.rhs_contracting_dims = Dims(*dims, "rhs_contracting_dimensions");
  attrs.lhs_batch_dims = Dims(*dims, "lhs_batch_dimensions");
  attrs.rhs_batch_dims = Dims(*dims, "rhs_batch_dimensions");
  return attrs;
}

int64_t OperandOfAllBatches(const DotAttrs& dims) {
  if (dims.lhs_batch_dims.empty() == dims.rhs_batch_dims.empty()) return -1;
  return dims.lhs_batch_dims.empty() ? 0 : 1;
}

DotAttrs WithBatchesInFront(DotAttrs dims, int64_t operand) {
  DimVector& batch = operand == 0 ? dims.lhs_batch_dims : dims.rhs_batch_dims;
  const size_t count = (operand == 0 ? dims.rhs_batch_dims : dims.lhs_batch_dims).size();
  for (size_t d = 0; d < count; ++d) batch.push_back(static_cast<int64_t>(d));
  for (int64_t& d : operand == 0 ? dims.lhs_contracting_dims : dims.rhs_contracting_dims)
    d += static_cast<int64_t>(count);
  return dims;
}

absl::StatusOr<RaggedDotAttrs> ReadRaggedDims(absl::string_view target, const ConfigValue& config) {
  const ConfigValue* grouped = config.Find("grouped_gemm_backend_config");
  const ConfigValue* ragged =
      grouped == nullptr ? nullptr : grouped->Find("ragged_dot_dimension_numbers");
  ASSIGN_OR_RETURN(const DotAttrs dot, ReadDotDims(target, ragged));
  const std::string epilogue = GroupedGemmConfig(config).StringOr("epilogue", "DEFAULT");
  if (epilogue != "DEFAULT")
    return Unimplemented("custom-call ", target, " with the epilogue ", epilogue);
  RaggedDotAttrs attrs;
  attrs.lhs_batch_dims = dot.lhs_batch_dims;
  attrs.lhs_contracting_dims = dot.lhs_contracting_dims;
  attrs.rhs_batch_dims = dot.rhs_batch_dims;
  attrs.rhs_contracting_dims = dot.rhs_contracting_dims;
  attrs.lhs_ragged_dims = Dims(*ragged, "lhs_ragged_dimensions");
  attrs.rhs_group_dims = Dims(*ragged, "rhs_group_dimensions");
  return attrs;
}

ConfigValue GroupedGemmConfig(const ConfigValue& config) {
  const ConfigValue* grouped = config.Find("grouped_gemm_backend_config");
  const ConfigValue* gemm = grouped == nullptr ? nullptr : grouped->Find("gemm_backend_config");
  return gemm == nullptr ? ConfigValue() : *gemm;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
