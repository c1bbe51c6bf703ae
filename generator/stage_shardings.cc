// Shardings before a partitioner: parameters, the result and every other array or so between them,
// cut evenly or not, over two or four partitions.
#include "generator/stages_internal.h"

namespace hlokit {
namespace {

// Replicated, cut along a dimension or two, or cut and replicated in part.
Sharding AnySharding(const Shape& shape, int64_t partitions, Random& random) {
  Sharding sharding;
  const int64_t way = random.Between(0, 4);
  if (shape.rank() == 0 || way == 0) return sharding;
  sharding.kind = Sharding::Kind::kTiled;
  sharding.tile_dims.assign(shape.rank(), 1);
  const int64_t a = random.Between(0, shape.rank() - 1), b = random.Between(0, shape.rank() - 1);
  const int64_t half = partitions / 2;
  if (way == 1 && a != b && half > 1) {
    sharding.tile_dims[a] = 2;
    sharding.tile_dims[b] = half;
  } else if (way == 2 && half > 1) {
    sharding.tile_dims[a] = 2;
    sharding.tile_dims.push_back(half);
    if (random.Chance(0.3))
      sharding.last_tile_dims = {"replicated"};
    else
      sharding.last_tile_dim_replicate = true;
  } else {
    sharding.tile_dims[a] = partitions;
  }
  if (random.Chance(0.2)) {  // the devices one by one, in any order
    for (int64_t d = 0; d < partitions; ++d) sharding.devices.push_back(d);
    random.Shuffle(sharding.devices);
    return sharding;
  }
  sharding.iota = true;
  sharding.reshape_dims = {partitions};
  if (half > 1 && random.Chance(0.5)) {
    sharding.reshape_dims = {2, half};
    sharding.transpose_perm = {1, 0};
  }
  return sharding;
}

Sharding AnyShardingOf(const Shape& shape, int64_t partitions, Random& random) {
  if (!shape.IsTuple()) return AnySharding(shape, partitions, random);
  Sharding sharding;
  sharding.kind = Sharding::Kind::kTuple;
  for (const Shape& element : shape.elements)
    sharding.elements.push_back(AnySharding(element, partitions, random));
  return sharding;
}

// They say that what they part has no sharding, which will not be true.
void RemoveDomains(Computation& c) {
  for (Instruction* i : c.Instructions()) {
    if (i->opcode() != Opcode::kDomain) continue;
    i->ReplaceAllUsesWith(i->operand(0));
    c.Remove(i);
  }
}

}  // namespace

void ShardAtRandom(Module& module, Random& random) {
  const int64_t partitions = module.header().num_partitions;
  RemoveDomains(*module.entry());
  for (Instruction* i : module.entry()->Instructions()) {
    const bool edge = i->IsParameter() || i->IsRoot();
    if (i->IsConstant() || (!edge && (!i->shape().IsArray() || !random.Chance(0.4)))) continue;
    i->mutable_extras().sharding =
        std::make_unique<Sharding>(AnyShardingOf(i->shape(), partitions, random));
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
