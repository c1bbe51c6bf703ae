// convert_triton_gemm_config: says of a product that Triton makes how its result is cut into tiles,
// rather than how its blocks are.
// Matches fusions of kind __triton_gemm with a triton_gemm_config around one dot or scaled-dot with
// a contracting dimension, of which the root is made by elementwise operations, transposes and
// reshapes that keep the dimensions of more than one element: the dot then carries the tile of its
// contracting dimension, the fusion, now __triton_nested_gemm_fusion, that of the result.
//   block_m 64, block_n 256, block_k 32  ->  sizes 32 of the dot, output_tiles 64 x 256
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/gpu/backend_config.h"

namespace hlokit {
namespace {

constexpr char kFusionConfig[] = "fusion_backend_config";
constexpr char kTritonConfig[] = "triton_gemm_config";

std::string SizesText(const DimVector& tile) {
  const auto quoted = [](std::string* out, int64_t size) {
    absl::StrAppend(out, "\"", size, "\"");
  };
  return absl::StrCat("{\"sizes\":[", absl::StrJoin(tile, ",", quoted), "]}");
}

std::optional<int64_t> BlockSize(const BackendConfig& config, absl::string_view name) {
  int64_t number;
  if (!absl::SimpleAtoi(config.Text(name), &number)) return std::nullopt;
  return number;
}

bool IsProduct(const Instruction* i) {
  return i->opcode() == Opcode::kDot || i->opcode() == Opcode::kScaledDot;
}

// The one product of a body; null where there is none, or more.
Instruction* ProductOf(const Computation& body) {
  Instruction* product = nullptr;
  int64_t count = 0;
  body.ForEach([&](Instruction* i) {
    if (!IsProduct(i)) return;
    product = i;
    ++count;
  });
  return count == 1 ? product : nullptr;
}

// The tile of the product's own result: 1 of batch dimensions, `m` and `n` of the others, of which
// each side has one.
std::optional<DimVector> TileOfProduct(const Instruction* product, int64_t m, int64_t n) {
  const auto& attrs = product->attr<DotAttrs>();
  const int64_t batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  if (attrs.lhs_contracting_dims.size() != 1 || product->shape().rank() != batch + 2 ||
      product->operand(0)->shape().rank() != batch + 2)
    return std::nullopt;
  DimVector tile(batch, 1);
  tile.push_back(m);
  tile.push_back(n);
  return tile;
}

// The tile of a reshape's result: that of its operand, where only dimensions of one element come
// and go.
std::optional<DimVector> Reshaped(const DimVector& tile, const Shape& from, const Shape& to) {
  DimVector made(to.rank(), 1);
  int64_t d = 0;
  for (int64_t k = 0; k < to.rank(); ++k) {
    if (to.dims[k] == 1) continue;
    while (d < from.rank() && from.dims[d] == 1) ++d;
    if (d == from.rank() || from.dims[d] != to.dims[k]) return std::nullopt;
    made[k] = tile[d++];
  }
  return made;
}

std::optional<DimVector> TileOfUser(const DimVector& tile, const Instruction* of,
                                    const Instruction* user) {
  if (HasTrait(user->opcode(), kElementwise) && user->shape().dims == of->shape().dims) return tile;
  if (user->opcode() == Opcode::kReshape || user->opcode() == Opcode::kBitcast)
    return Reshaped(tile, of->shape(), user->shape());
  if (user->opcode() != Opcode::kTranspose) return std::nullopt;
  DimVector made;
  for (const int64_t d : user->attr<DimensionsAttrs>().dimensions) made.push_back(tile[d]);
  return made;
}

std::optional<DimVector> TileOfRoot(const Instruction* product, DimVector tile) {
  for (const Instruction* i = product; !i->IsRoot();) {
    if (i->users().size() != 1) return std::nullopt;
    const Instruction* user = i->users()[0];
    const std::optional<DimVector> next = TileOfUser(tile, i, user);
    if (!next) return std::nullopt;
    tile = *next;
    i = user;
  }
  return tile;
}

bool Convert(Instruction* fusion) {
  if (fusion->opcode() != Opcode::kFusion || !fusion->shape().IsArray()) return false;
  BackendConfig whole = BackendConfig::Of(*fusion);
  const BackendConfig own(whole.Raw(kFusionConfig));
  const BackendConfig blocks(own.Raw(kTritonConfig));
  Instruction* product = ProductOf(*fusion->to_apply());
  const auto m = BlockSize(blocks, "block_m"), n = BlockSize(blocks, "block_n"),
             k = BlockSize(blocks, "block_k");
  if (own.Text("kind") != "__triton_gemm" || product == nullptr || !m || !n || !k) return false;
  const std::optional<DimVector> tile = TileOfProduct(product, *m, *n);
  const std::optional<DimVector> result = tile ? TileOfRoot(product, *tile) : std::nullopt;
  if (!result) return false;
  product->mutable_extras().backend_config = SizesText({*k});
  product->mutable_extras().backend_config_is_raw = true;
  whole.SetRaw(kFusionConfig,
               absl::StrCat(R"({"kind":"__triton_nested_gemm_fusion","block_level_fusion_config":)",
                            R"({"num_warps":")", BlockSize(blocks, "num_warps").value_or(1),
                            R"(","output_tiles":[)", SizesText(*result), R"(],"num_ctas":)",
                            BlockSize(blocks, "num_ctas").value_or(1), R"(,"num_stages":)",
                            BlockSize(blocks, "num_stages").value_or(1), "}}"));
  whole.WriteTo(*fusion);
  return true;
}

absl::StatusOr<bool> ConvertConfigs(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    c->ForEach([&](Instruction* i) { changed |= Convert(i); });
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateConvertTritonGemmConfig() {
  return MakeModulePass("convert_triton_gemm_config", ConvertConfigs);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
