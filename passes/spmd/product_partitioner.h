// Products of two arrays (dots, convolutions) of which each partition computes a part.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "passes/spmd/sharder.h"

namespace hlokit {

// A dimension of a product, by its number in each of the three arrays; -1 where it has none.
struct ProductDimNumbers {
  int64_t lhs = -1, rhs = -1, out = -1;
};

enum class ProductSide : uint8_t { kLhs, kRhs, kOut };

struct ProductDimGroups {
  std::vector<ProductDimNumbers> batch, contracting, lhs_only, rhs_only;
  std::vector<ProductDimNumbers> All() const;
};

// The numbers of these dimensions in one of the arrays, and how many tiles `cut` has along them.
DimVector DimsIn(const std::vector<ProductDimNumbers>& dims, ProductSide side);
int64_t TilesAlong(const Cut& cut, const std::vector<ProductDimNumbers>& dims, ProductSide side);

using MakeProduct = std::function<Instruction*(Instruction*, Instruction*)>;
// Another way to a product, asked first; nothing where it is none.
using OtherWay = std::function<std::optional<Shard>(const Shard& lhs, const Shard& rhs,
                                                    const Shape& out, const Cut& wanted)>;

// The product, of shape `out`, under `wanted` or another cut that is cheaper to come by. `make`
// writes a product of parts: its shape follows from theirs. The three arrays are cut, if at all, on
// the devices of one scope.
Shard PartitionProduct(Sharder& sharder, const ProductDimGroups& dims, const MakeProduct& make,
                       const OtherWay& other, const Shard& lhs, const Shard& rhs, const Shape& out,
                       const Cut& wanted);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
