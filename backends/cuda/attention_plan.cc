// Sizes of blocks and tiles, by what there is room for.
#include "backends/cuda/attention_plan_internal.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kMinRows = 16;               // of a block
constexpr int64_t kColumns = 64;               // of a tile of either product
constexpr int64_t kBlockKeys = 256;            // of which there are scores, where keys are many
constexpr int64_t kWideScoreBytes = 55 << 10;  // beside tiles of twice as many columns

// The expression that a dot is, and its sides. `turned`: rows are on the right.
AttentionProduct ProductOfDot(const Instruction* dot, bool turned) {
  AttentionProduct product;
  product.e.subject = dot;
  product.e.roots = {dot};
  product.e.root_leaves = {0};
  product.e.shapes = {dot->shape()};
  product.sides = *SidesOfProduct(product.e);
  for (DotSide* side : {&product.sides.lhs, &product.sides.rhs})
    if (side->operand->IsParameter()) side->array = side->operand->parameter_number();
  const DotSide& rows = turned ? product.sides.rhs : product.sides.lhs;
  const DotSide& columns = turned ? product.sides.lhs : product.sides.rhs;
  static_cast<DotSide&>(product.tensor.lhs) = static_cast<DotSide&>(product.plain.lhs) = rows;
  static_cast<DotSide&>(product.tensor.rhs) = static_cast<DotSide&>(product.plain.rhs) = columns;
  return product;
}

// A warp takes at least eight columns: with 16 rows, all eight of the block lie along them.
void PlanProductTiles(AttentionProduct& product, int64_t rows, bool has_room) {
  const ElementType result = product.e.shapes[0].type;
  TensorTilePlan& tensor = product.tensor;
  const int64_t columns = tensor.rhs.free.size;
  const bool few_rows = rows == kMinRows, wide = few_rows && columns > kColumns && has_room;
  tensor.lhs.tile = rows;
  tensor.warps_of_rows = few_rows ? 1 : 2;
  tensor.rhs.tile = !few_rows && columns <= kMinTensorTile ? kMinTensorTile : kColumns;
  if (wide) tensor.rhs.tile = 2 * kColumns;
  product.on_tensor_cores = tensor.ChooseTypes(result);
  if (product.on_tensor_cores) {
    PlanTensorLoads(tensor.lhs);
    PlanTensorLoads(tensor.rhs);
    return;
  }
  DotTilePlan& plain = product.plain;
  if (!IsNarrowFloat(result)) plain.sum_type = result;
  plain.lhs.tile = rows;
  plain.rhs.tile = DotTileOf(columns);
  PlanTileLoads(plain.lhs, plain.depth);
  PlanTileLoads(plain.rhs, plain.depth);
}

// Rows in the registers of a warp or a part of it.
void PlanWarpRows(AttentionPlan& plan) {
  GroupRows& rows = plan.rows;
  rows.e = plan.e;
  const bool in_parts = plan.block_keys > 0;
  const Instruction* const root = in_parts ? plan.form.exponentials : plan.form.probabilities;
  rows.e.roots = {root};
  rows.e.root_leaves = {0};
  rows.e.shapes = {root->shape()};
  rows.form = plan.form.form;
  if (in_parts) rows.form.passes = 2;  // stored as they are summed
  rows.full_roots = {0};
  rows.vector = 4;
  while (rows.form.length % rows.vector != 0) rows.vector /= 2;
  const int64_t vectors = rows.form.length / rows.vector;
  rows.part = plan.block_keys;
  rows.threads =
      std::clamp<int64_t>(absl::bit_ceil(static_cast<uint64_t>(vectors)), kWarp / kMinRows, kWarp);
  rows.kept = true;
}

}  // namespace

std::optional<AttentionPlan> PlanAttention(const Expression& e, const AttentionTarget& target) {
  const std::optional<AttentionRows> form = FindAttentionRowsFusion(*e.subject);
  if (!form.has_value()) return std::nullopt;
  AttentionPlan plan;
  plan.e = e;
  plan.form = *form;
  plan.scores = ProductOfDot(form->scores, /*turned=*/false);
  plan.product = ProductOfDot(form->product, /*turned=*/form->side == 1);
  if (form->form.length > kMaxAttentionKeys) plan.block_keys = kBlockKeys;
  while (plan.block_rows > kMinRows &&
         (plan.block_rows / 2 >= plan.batch_rows() || plan.Blocks() < kManyBlocks ||
          plan.block_rows * plan.line_bytes() > target.score_bytes))
    plan.block_rows /= 2;
  const bool has_room = plan.block_rows * plan.line_bytes() <= kWideScoreBytes;
  PlanProductTiles(plan.scores, plan.block_rows, has_room);
  PlanProductTiles(plan.product, plan.block_rows, has_room);
  PlanWarpRows(plan);
  return plan;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
