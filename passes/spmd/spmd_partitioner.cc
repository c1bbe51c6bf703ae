// spmd-partitioning: partitions a module with shardings into the program of one device (SPMD).
// Cuts every array as its sharding says, whole where it has none, and writes the program as XLA's
// SpmdPartitioner does (spmd_visitor.h): shards come from one cut to another by slices,
// all-gathers, all-to-alls and permutes (sharder.h), windows take their neighbours' rows (halo.cc,
// windowed_shards.cc), dots and convolutions are grouped by batch, free and contracting dimensions
// (spmd_products.cc), gathers and scatters by what the operand or the indices are cut along
// (spmd_indexed.cc); reduces sum up; all else is computed whole on every device. The entry's
// parameters and results become parts. A module whose entry is named ..._spmd, as those are that
// the pass has made, only loses its shardings, but for those of parameters. Infeeds and outfeeds
// carry each device's part. Rows that an uneven cut leaves behind an array may hold anything.
// In a region that is manual on some axes only (region_cuts.h), what the other axes cut is
// partitioned within the groups of devices that share it; collectives of the program itself take
// whole arrays there, but for all-reduces.
// Errors: Unimplemented for dynamic dimensions, for instructions with other side effects and for
// collectives outside of regions. Exact but for the order of sums.
//   f32[8,4] dot f32[4,6], contracted dimension cut in two:
//     dot of f32[8,2] and f32[2,6], then all-reduce
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/device_groups.h"
#include "passes/spmd/spmd_visitor.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxPartitions = 4096;  // every array's cut names each of them

bool DropShardings(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (i->sharding() == nullptr || (c->IsEntry() && i->IsParameter())) continue;
      i->mutable_extras().sharding.reset();
      changed = true;
    }
  return changed;
}

// The layouts of the entry's shapes, with local sizes.
Shape LocalLayout(const Shape& given, const Shape& local) {
  if (given.IsTuple()) {
    Shape shape = given;
    for (size_t k = 0; k < shape.elements.size(); ++k)
      shape.elements[k] = LocalLayout(given.elements[k], local.elements[k]);
    return shape;
  }
  Shape shape = given;
  shape.dims = local.dims;
  return shape;
}

// Makes `made` the module's entry.
void SetEntry(Module& module, Computation* made) {
  module.set_entry(made);
  if (auto& layout = module.header().entry_layout) {
    for (size_t k = 0; k < layout->parameters.size(); ++k)
      layout->parameters[k] = LocalLayout(layout->parameters[k], made->parameter(k)->shape());
    layout->result = LocalLayout(layout->result, made->root()->shape());
  }
}

absl::Status VisitEntry(Module& module, int64_t devices) {
  const Computation& entry = *module.entry();
  Computation* made = module.AddComputation(absl::StrCat(entry.name(), "_spmd"));
  SpmdContext context{devices, LargestChannel(module) + 1, 0};
  SpmdVisitor visitor(entry, *made, context);
  std::vector<std::vector<Cut>> parameters;
  for (const Instruction* parameter : entry.parameters()) {
    ASSIGN_OR_RETURN(auto cuts,
                     visitor.CutsOf(*parameter, RegionGroups(parameter->sharding(), devices)));
    parameters.push_back(std::move(cuts));
  }
  ASSIGN_OR_RETURN(auto root,
                   visitor.CutsOf(*entry.root(), RegionGroups(entry.root()->sharding(), devices)));
  RETURN_IF_ERROR(visitor.Run(parameters, std::move(root)));
  SetEntry(module, made);
  return absl::OkStatus();
}

absl::StatusOr<bool> PartitionModule(Module& module) {
  const int64_t devices = module.header().num_partitions;
  if (devices < 2) return false;
  if (devices > kMaxPartitions)
    return Unimplemented("spmd-partitioning: ", devices, " partitions, at most ", kMaxPartitions);
  if (absl::EndsWith(module.entry()->name(), "_spmd")) return DropShardings(module);
  RETURN_IF_ERROR(VisitEntry(module, devices));
  RemoveUncalled(module);
  DropShardings(module);
  return true;
}

}  // namespace

std::unique_ptr<Pass> CreateSpmdPartitioner() {
  return MakeModulePass("spmd-partitioning", PartitionModule);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
