// sharding-format-picker: rewrites shardings as iota tile assignments (V2) or as device lists (V1).
// Leaves tiled shardings as ranges (devices=[2,2]<=[4]) where their devices are one in order or a
// transposed matrix of numbers; with the option v1 as lists (devices=[2,2]0,1,2,3). What they say
// stays the same. Cost: the devices that are named.
//
// Lists of devices, and ranges.
#include <numeric>

#include "ops/collective/shards.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "support/limits.h"

namespace hlokit {
namespace {

bool ToList(Sharding& sharding) {
  if (!sharding.iota) return false;
  int64_t count = 1;
  for (int64_t n : sharding.reshape_dims) {
    if (n < 1 || n > kMaxDevices || count > kMaxDevices) return false;
    count *= n;
  }
  if (count > kMaxDevices) return false;
  sharding.devices = DevicesOf(sharding);
  sharding.iota = false;
  sharding.reshape_dims.clear();
  sharding.transpose_perm.clear();
  return true;
}

bool ToRange(Sharding& sharding) {
  const auto count = static_cast<int64_t>(sharding.devices.size());
  if (sharding.iota || count == 0) return false;
  for (int64_t rows = 1; rows < count || rows == 1; ++rows) {
    if (count % rows != 0) continue;
    const int64_t columns = count / rows;
    bool matches = true;
    for (int64_t k = 0; k < count && matches; ++k)
      matches = sharding.devices[k] == (k % rows) * columns + k / rows;
    if (!matches) continue;
    sharding.iota = true;
    sharding.reshape_dims.assign(1, count);
    if (rows != 1) {
      sharding.reshape_dims.assign({rows, columns});
      sharding.transpose_perm.assign({1, 0});
    }
    sharding.devices.clear();
    return true;
  }
  return false;
}

bool Rewrite(Sharding& sharding, bool lists) {
  bool changed = false;
  for (Sharding& part : sharding.elements) changed |= Rewrite(part, lists);
  if (sharding.kind == Sharding::Kind::kTiled)
    changed |= lists ? ToList(sharding) : ToRange(sharding);
  return changed;
}

template <bool kLists>
absl::StatusOr<bool> PickFormat(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions())
      if (i->sharding() != nullptr) changed |= Rewrite(*i->mutable_extras().sharding, kLists);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateShardingFormatPicker(PassArguments& arguments) {
  return MakeModulePass("sharding-format-picker", arguments.Flag("v1", "lists of devices")
                                                      ? PickFormat<true>
                                                      : PickFormat<false>);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
