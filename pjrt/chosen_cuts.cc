// Cuts follow Shardy's propagation, as with JAX's CPU.
//
// passes/spmd spreads shardings by GSPMD's rules; a copy of the module, with stand-ins for what
// Shardy sees otherwise (shardy_stand_ins.h), is made for it and thrown away. What comes out is
// then fitted to what a framework can say: whole axes of the mesh, as many (from the major one) as
// divide a dimension evenly.
//
// Example: x = f32[8] over axes "x" of 4 and "y" of 2 devices, y = x[0:4]: the slice would be cut
// in 8; 4 elements are cut by "x" alone, so y is.
// A copy and a propagation cost a few percent of compiling, for programs of several partitions.
#include "pjrt/chosen_cuts.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ops/collective/meshes.h"
#include "ops/collective/shards.h"
#include "passes/manager.h"
#include "passes/spmd/region_stand_ins.h"
#include "passes/spmd/shardy_stand_ins.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The cut of a result's value, which may be uneven where the result's own may not: then the
// propagation leaves the result whole. Null where nothing is known.
std::optional<Tiling> CutOfValue(const Instruction& root, size_t i, int64_t devices) {
  if (i >= static_cast<size_t>(root.operand_count())) return std::nullopt;
  const Instruction* value = root.operand(static_cast<int64_t>(i));
  if (value->sharding() == nullptr || !value->shape().IsArray()) return std::nullopt;
  auto cut = TilingOf(*value->sharding(), value->shape(), devices);
  if (!cut.ok()) return std::nullopt;
  return *std::move(cut);
}

// A whole axis that cuts a dimension: neighbouring tiles along it are `step` tiles apart.
struct Axis {
  int64_t step = 0, size = 0;
};

// The tile along one dimension of the device at a position of the mesh.
struct TilesAlong {
  const Tiling& cut;
  const DeviceGrid& grid;
  int64_t inner = 1, count = 1;  // tiles of the dimensions behind; of this one
  int64_t At(int64_t position) const {
    const auto p = static_cast<size_t>(position);
    const int64_t device = grid.ids.empty() ? position : grid.ids[p];
    return cut.tile_of[static_cast<size_t>(device)] / inner % count;
  }
};

// The whole axes that cut a dimension, from major to minor, as far as there are such: all of them
// together give each device its tile, or the last is followed by a part of an axis.
std::vector<Axis> AxesOf(const TilesAlong& tiles) {
  std::vector<Axis> axes;
  auto stride = static_cast<int64_t>(tiles.cut.tile_of.size());
  for (const int64_t size : tiles.grid.sizes) {
    stride /= size;
    if (size == 1) continue;
    const int64_t step = tiles.At(stride) - tiles.At(0);
    if (step > 0 && tiles.At(stride * (size - 1)) - tiles.At(0) == step * (size - 1))
      axes.push_back({step, size});
  }
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.step > b.step; });
  int64_t left = tiles.count;  // tiles that are still to be told apart
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].step * axes[k].size != left) {
      axes.resize(k);
      break;
    }
    left = axes[k].step;
  }
  return axes;
}

// The cut by whole axes of the mesh, as many of them as divide the array evenly.
Tiling FittedTo(const DeviceGrid& grid, const Shape& shape, const Tiling& cut) {
  Tiling fitted = cut;
  std::vector<int64_t> steps(cut.tiles.size(), 1);  // old tiles of a new one
  int64_t inner = 1;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    const int64_t count = cut.tiles[d];
    int64_t kept = 1;
    for (const Axis& axis : AxesOf({cut, grid, inner, count})) {
      if (shape.dims[d] % (kept * axis.size) != 0) break;
      kept *= axis.size;
    }
    fitted.tiles[d] = kept;
    steps[static_cast<size_t>(d)] = count / kept;
    inner *= count;
  }
  for (int64_t& tile : fitted.tile_of) {
    int64_t rest = tile, made = 0, size = 1;
    for (int64_t d = shape.rank() - 1; d >= 0; --d) {
      made += rest % cut.tiles[d] / steps[static_cast<size_t>(d)] * size;
      rest /= cut.tiles[d];
      size *= fitted.tiles[d];
    }
    tile = made;
  }
  return fitted;
}

// Whether flags let argument or result `i` be cut as the partitioner likes; one flag may be for
// all.
bool MayChoose(const std::vector<bool>& flags, size_t i) {
  if (flags.size() == 1) return flags[0];
  return i < flags.size() && flags[i];
}

// Shards of equal size, which is all that frameworks take.
bool DividesEvenly(const Shape& shape, const Tiling& cut) {
  if (cut.IsTrivial()) return true;
  const Shape shard = ShardShape(shape, cut);
  for (int d = 0; d < shape.rank(); ++d)
    if (shard.dims[d] == 0 || shape.dims[d] % shard.dims[d] != 0) return false;
  return true;
}

// Takes over the cuts that were found where they may be chosen.
void Take(const absl::StatusOr<DeviceGrid>& grid, const std::vector<bool>& flags,
          const std::vector<Shape>& shapes, const std::vector<Tiling>& found,
          std::vector<Tiling>& cuts) {
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (!MayChoose(flags, i)) continue;
    const bool fits = grid.ok() && shapes[i].IsArray() && !found[i].IsTrivial();
    const Tiling cut = fits ? FittedTo(*grid, shapes[i], found[i]) : found[i];
    if (DividesEvenly(shapes[i], cut)) cuts[i] = cut;
  }
}

}  // namespace

absl::StatusOr<PjrtPartitions> StatedPartitions(const Module& module, int64_t count) {
  PjrtPartitions cuts;
  for (const Instruction* parameter : module.entry()->parameters()) {
    ASSIGN_OR_RETURN(const std::vector<Tiling> tilings, ParameterTilings(*parameter, count));
    cuts.parameter_cuts.push_back(tilings[0]);
  }
  ASSIGN_OR_RETURN(cuts.result_cuts, ResultTilings(*module.entry(), count));
  return cuts;
}

absl::StatusOr<std::unique_ptr<Module>> SpreadCopy(const Module& module,
                                                   const PjrtCompileOptions& options) {
  std::unique_ptr<Module> copy = module.Clone();
  // JAX's functions inside of functions are calls, which Shardy inlines first.
  RETURN_IF_ERROR(RunPasses(*copy, "call-inliner"));
  if (OpenManualRegions(*copy)) RETURN_IF_ERROR(RunPasses(*copy, "call-inliner"));
  SetShardyStandIns(*copy);
  copy->header().propagate_sharding_to_parameters = options.propagate_to_parameters;
  copy->header().propagate_sharding_to_output = options.propagate_to_output;
  RETURN_IF_ERROR(RunPasses(*copy, "shardy-xla"));
  return copy;
}

void ChooseCuts(const Module& module, const PjrtCompileOptions& options, PjrtPartitions& cuts) {
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  if (!any(options.propagate_to_parameters) && !any(options.propagate_to_output)) return;
  const auto copy = SpreadCopy(module, options);
  if (!copy.ok()) return;
  auto found = StatedPartitions(**copy, cuts.count);
  if (!found.ok() || found->parameter_cuts.size() != cuts.parameter_cuts.size() ||
      found->result_cuts.size() != cuts.result_cuts.size())
    return;
  const Instruction& root = *(*copy)->entry()->root();
  if (root.opcode() == Opcode::kTuple || root.opcode() == Opcode::kCopy)
    for (size_t i = 0; i < found->result_cuts.size(); ++i)
      if (found->result_cuts[i].IsTrivial())
        if (auto cut = CutOfValue(root, i, cuts.count)) found->result_cuts[i] = *std::move(cut);
  const absl::StatusOr<DeviceGrid> grid = GridOf(module, cuts.count);
  Take(grid, options.propagate_to_parameters, cuts.parameters, found->parameter_cuts,
       cuts.parameter_cuts);
  Take(grid, options.propagate_to_output, cuts.results, found->result_cuts, cuts.result_cuts);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
