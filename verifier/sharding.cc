// Shardings: tiles fit the array, devices are enough and distinct, tuples have a sharding for each
// leaf.
#include "ops/dim_lists.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

// The product of sizes, or -1 where one is below 1 or the product is no plausible number of
// devices.
int64_t Product(absl::Span<const int64_t> sizes) {
  constexpr int64_t kMax = int64_t{1} << 40;
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 1 || __builtin_mul_overflow(product, size, &product) || product > kMax) return -1;
  }
  return product;
}

bool AreDistinct(std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end() && (ids.empty() || ids[0] >= 0);
}

// [sharding-c1] tiles and devices agree in number, devices are distinct; [sharding-c2] the array's
// rank is that of the tiles; [sharding-c3] a tuple has a sharding for each leaf.
class Checker {
 public:
  Checker(VerifyRun& run, const Instruction& at) : run_(run), at_(at) {}

  void Check(const Sharding& sharding, const Shape& shape) {
    switch (sharding.kind) {
      case Sharding::Kind::kTuple:
        return CheckTuple(sharding, shape);
      case Sharding::Kind::kTiled:
        return CheckTiles(sharding, shape);
      case Sharding::Kind::kMaximal:
        if (sharding.device < 0) Fail("sharding-c1", "device=", sharding.device, " is negative");
        return;
      default:
        return;
    }
  }

 private:
  template <typename... Parts>
  void Fail(absl::string_view label, const Parts&... parts) {
    run_.Error(at_, label, "sharding: ", parts...);
  }

  void CheckTuple(const Sharding& sharding, const Shape& shape) {
    if (!shape.IsTuple()) return Fail("sharding-c3", "a tuple of shardings for ", Text(shape));
    const std::vector<ShapeLeaf> leaves = Leaves(shape);
    if (leaves.size() != sharding.elements.size() &&
        !(leaves.empty() && sharding.elements.size() == 1))
      return Fail("sharding-c3", sharding.elements.size(), " shardings for the ", leaves.size(),
                  " leaves of ", Text(shape));
    for (size_t i = 0; i < leaves.size(); ++i) Check(sharding.elements[i], *leaves[i].shape);
  }

  void CheckTiles(const Sharding& sharding, const Shape& shape) {
    const int64_t tiles = Product(sharding.tile_dims);
    const int64_t devices = sharding.iota ? Product(sharding.reshape_dims)
                                          : static_cast<int64_t>(sharding.devices.size());
    if (tiles < 0 || tiles != devices)
      return Fail("sharding-c1", "devices=", ListText(sharding.tile_dims), " has ", tiles,
                  " tiles for ", devices, " devices");
    if (!AreDistinct(sharding.devices))
      return Fail("sharding-c1", "a device is named twice or negative");
    if (sharding.iota && !sharding.transpose_perm.empty() &&
        !IsPermutation(sharding.transpose_perm, static_cast<int64_t>(sharding.reshape_dims.size())))
      return Fail("sharding-c1", "T", ListText(sharding.transpose_perm),
                  " is no permutation of <=", ListText(sharding.reshape_dims));
    const int64_t subgroups = static_cast<int64_t>(sharding.last_tile_dims.size()) +
                              (sharding.last_tile_dim_replicate ? 1 : 0);
    const int64_t rank = static_cast<int64_t>(sharding.tile_dims.size()) - subgroups;
    if (shape.IsArray() && rank != shape.rank())
      Fail("sharding-c2", "tiles have ", rank, " dimensions, but ", Text(shape), " has ",
           shape.rank());
  }

  VerifyRun& run_;
  const Instruction& at_;
};

}  // namespace

void CheckShardings(VerifyRun& run) {
  run.ForEachInstruction([&](const Instruction& i) {
    // Infeed, outfeed, send and recv: XLA's versions disagree on whether tokens and operands count.
    if (i.sharding() != nullptr && !HasTrait(i.opcode(), kSideEffect))
      Checker(run, i).Check(*i.sharding(), i.shape());
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
