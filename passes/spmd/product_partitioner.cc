// Partitions a product by what its dimensions are for: along batch dimensions, along those of one
// operand, or along contracted ones, whose partial sums are added up. Where several are cut, the
// partitions are grouped along one of them, and each group computes a product of its own in the
// same way, until one device is left.
//   [b/2, m/2, k] x [b/2, k, n]  ->  2 groups by b, in each 2 parts by m
#include "passes/spmd/product_partitioner.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "passes/spmd/cut_groups.h"
#include "passes/spmd/cut_places.h"
#include "passes/spmd/spmd_visitor.h"

namespace hlokit {
namespace {

using Side = ProductSide;
using enum ProductSide;

int64_t In(const ProductDimNumbers& dim, Side side) {
  return side == kLhs ? dim.lhs : side == kRhs ? dim.rhs : dim.out;
}

}  // namespace

std::vector<ProductDimNumbers> ProductDimGroups::All() const {
  std::vector<ProductDimNumbers> all = batch;
  for (const auto* more : {&contracting, &lhs_only, &rhs_only})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

DimVector DimsIn(const std::vector<ProductDimNumbers>& dims, ProductSide side) {
  DimVector in;
  for (const ProductDimNumbers& dim : dims)
    if (In(dim, side) >= 0) in.push_back(In(dim, side));
  return in;
}

int64_t TilesAlong(const Cut& cut, const std::vector<ProductDimNumbers>& dims, ProductSide side) {
  int64_t tiles = 1;
  for (const int64_t d : DimsIn(dims, side)) tiles *= cut.Dim(d);
  return tiles;
}

namespace {

class ProductPartitioner {
 public:
  ProductPartitioner(Sharder& sharder, ProductDimGroups dims, MakeProduct make,
                     OtherWay other = nullptr)
      : sharder_(sharder),
        writer_(sharder.writer()),
        dims_(std::move(dims)),
        make_(std::move(make)),
        other_(std::move(other)) {}

  Shard Product(const Shard& lhs, const Shard& rhs, const Shape& out, const Cut& wanted) {
    if (auto made = AsInferred(lhs, rhs, out, wanted, /*one_stays=*/true)) return *made;
    for (const bool matching : {true, false})
      if (auto made = Try(lhs, rhs, out, wanted, matching)) return *made;
    if (auto made = AsInferred(lhs, rhs, out, wanted, /*one_stays=*/false)) return *made;
    return sharder_.Array(make_(sharder_.Whole(lhs), sharder_.Whole(rhs)), out, Cut(), lhs.scope);
  }

 private:
  std::optional<Cut> Moved(const Cut& cut, Side from, Side to, int64_t rank) const {
    if (!cut.IsTiled()) return cut.IsReplicated() ? std::optional<Cut>(cut) : std::nullopt;
    DimVector tiles(rank, 1), place(cut.rank(), -1);
    for (const ProductDimNumbers& dim : dims_.All())
      if (In(dim, from) >= 0) place[In(dim, from)] = In(dim, to);
    DimVector order(rank, -1);  // of `cut`, by dimension of the result
    for (int64_t d = 0; d < cut.rank(); ++d) {
      if (place[d] < 0 && cut.tiles[d] > 1) return std::nullopt;
      if (place[d] < 0) continue;
      tiles[place[d]] = cut.tiles[d];
      order[place[d]] = d;
    }
    if (cut.has_copies) tiles.push_back(cut.tiles.back());
    Devices devices;
    const Cut shape = Cut{Cut::Kind::kTiled, 0, tiles, cut.has_copies, {}};
    Devices made(cut.devices.size());
    cut.ForEach([&](const DimVector& at, int64_t device) {
      int64_t linear = 0;
      for (size_t d = 0; d < tiles.size(); ++d) {
        int64_t place_there = 0;
        if (static_cast<int64_t>(d) == rank)
          place_there = at.back();
        else if (order[d] >= 0)
          place_there = at[order[d]];
        linear = linear * tiles[d] + place_there;
      }
      made[linear] = device;
    });
    return Cut::Tiled(tiles, made, cut.has_copies);
  }

  // The operands cut as the result is, and along contracted dimensions as one of them is.
  // `one_stays`: where that moves one of them only, and no partition computes what another does.
  std::optional<Shard> AsInferred(const Shard& lhs, const Shard& rhs, const Shape& out,
                                  const Cut& wanted, bool one_stays) {
    if (!wanted.IsTiled() || !lhs.cut().IsTiled() || !rhs.cut().IsTiled()) return std::nullopt;
    const int64_t n = lhs.scope->size(), rank = out.rank();
    const auto at_lhs = PlacesOf(lhs.cut(), lhs.whole.rank(), n);
    const auto at_rhs = PlacesOf(rhs.cut(), rhs.whole.rank(), n);
    const auto at_out = PlacesOf(wanted, rank, n);
    CutAssembly for_lhs(lhs.whole.rank(), n), for_rhs(rhs.whole.rank(), n);
    CutAssembly all(rank + static_cast<int64_t>(dims_.contracting.size()), n);
    for (const ProductDimNumbers& d : dims_.All()) {
      if (d.out < 0) continue;
      if (d.lhs >= 0) for_lhs.Take(d.lhs, wanted, at_out, d.out);
      if (d.rhs >= 0) for_rhs.Take(d.rhs, wanted, at_out, d.out);
      all.Take(d.out, wanted, at_out, d.out);
    }
    DimVector summed;
    const bool by_lhs = TilesAlong(lhs.cut(), dims_.contracting, kLhs) > 1;
    if (one_stays && !by_lhs && TilesAlong(rhs.cut(), dims_.contracting, kRhs) == 1 &&
        TilesAlong(wanted, dims_.batch, kOut) > 1)
      return std::nullopt;  // groups along the batch do that
    for (size_t k = 0; k < dims_.contracting.size(); ++k) {
      const ProductDimNumbers& d = dims_.contracting[k];
      const Cut& from = by_lhs ? lhs.cut() : rhs.cut();
      const auto& places = by_lhs ? at_lhs : at_rhs;
      for_lhs.Take(d.lhs, from, places, by_lhs ? d.lhs : d.rhs);
      for_rhs.Take(d.rhs, from, places, by_lhs ? d.lhs : d.rhs);
      summed.push_back(rank + static_cast<int64_t>(k));
      all.Take(summed.back(), from, places, by_lhs ? d.lhs : d.rhs);
    }
    const auto of_lhs = for_lhs.Made(), of_rhs = for_rhs.Made(), of_all = all.Made();
    if (!of_lhs || !of_rhs || !of_all || (one_stays && of_all->has_copies)) return std::nullopt;
    const bool lhs_stays = SamePlaces(lhs.cut(), *of_lhs, n);
    const bool rhs_stays = SamePlaces(rhs.cut(), *of_rhs, n);
    if (one_stays && lhs_stays == rhs_stays) return std::nullopt;
    const auto a = lhs_stays ? lhs : sharder_.ToInParts(lhs, *of_lhs);
    const auto b = rhs_stays ? rhs : sharder_.ToInParts(rhs, *of_rhs);
    if (!a || !b) return std::nullopt;
    Instruction* product = make_(Masked(*a, kLhs).value, Masked(*b, kRhs).value);
    product = writer_.AllReduceAlong(product, *of_all, summed, writer_.Add(product->shape().type),
                                     lhs.scope);
    return Result(product, out, wanted, lhs.scope);
  }
  static bool SamePlaces(const Cut& a, const Cut& b, int64_t devices) {
    return a.rank() == b.rank() && a.NumTiles() == b.NumTiles() &&
           PlacesOf(a, a.rank(), devices) == PlacesOf(b, b.rank(), devices);
  }

  Shard Result(Instruction* value, const Shape& out, const Cut& cut, DeviceScope* scope) {
    return sharder_.Array(value, out, cut, scope);
  }
  Shard Masked(const Shard& shard, Side side) {
    DimVector skipped;
    const DimVector contracting = DimsIn(dims_.contracting, side);
    for (int64_t d = 0; d < shard.whole.rank(); ++d)
      if (!absl::c_linear_search(contracting, d)) skipped.push_back(d);
    Shard masked = shard;
    masked.value = sharder_.PadWith(shard, writer_.Zero(shard.whole.type), {}, skipped);
    return masked;
  }

  Shard Summed(const Shard& lhs, const Shard& rhs, const Shape& out) {
    const Shard left = Masked(lhs, kLhs), right = Masked(rhs, kRhs);
    Instruction* product = make_(left.value, right.value);
    Instruction* sum = writer_.AllReduceAlong(product, left.cut(), DimsIn(dims_.contracting, kLhs),
                                              writer_.Add(product->shape().type), lhs.scope);
    return Result(sum, out, Cut(), lhs.scope);
  }

  static bool CheapTo(const Cut& from, const Cut& to) {
    if (!from.IsTiled() || !to.IsTiled()) return false;
    if (from.tiles == to.tiles && from.has_copies == to.has_copies) return true;
    if (from.has_copies != to.has_copies || from.NumTiles() != to.NumTiles()) return false;
    if (from.rank() != to.rank()) return false;
    int64_t differ = 0;
    int64_t before = 1, after = 1;
    for (int64_t d = 0; d < from.rank(); ++d)
      if (from.tiles[d] != to.tiles[d]) {
        ++differ;
        before *= from.tiles[d];
        after *= to.tiles[d];
      }
    return differ == 2 && before == after;
  }

  std::optional<Shard> Base(const Shard& lhs, const Shard& rhs, const Shape& out, const Cut& wanted,
                            bool may_recut) {
    const int64_t n = lhs.scope->size();
    const int64_t lhs_rank = lhs.whole.rank(), rhs_rank = rhs.whole.rank(), rank = out.rank();
    const auto lhs_as_rhs = Moved(lhs.cut(), kLhs, kRhs, rhs_rank);
    const auto rhs_as_lhs = Moved(rhs.cut(), kRhs, kLhs, lhs_rank);
    const auto lhs_as_out = Moved(lhs.cut(), kLhs, kOut, rank);
    const auto rhs_as_out = Moved(rhs.cut(), kRhs, kOut, rank);
    const auto out_as_lhs = Moved(wanted, kOut, kLhs, lhs_rank);
    const auto out_as_rhs = Moved(wanted, kOut, kRhs, rhs_rank);
    const bool lhs_batch = TilesAlong(lhs.cut(), dims_.batch, kLhs) == n;
    const bool rhs_batch = TilesAlong(rhs.cut(), dims_.batch, kRhs) == n;
    const bool out_batch = TilesAlong(wanted, dims_.batch, kOut) == n;
    if (lhs_batch && rhs_batch && lhs_as_rhs == rhs.cut())
      return Result(make_(lhs.value, rhs.value), out, *lhs_as_out, lhs.scope);
    if (lhs_batch && out_batch && lhs_as_out == wanted && CheapTo(rhs.cut(), *lhs_as_rhs))
      return Result(make_(lhs.value, sharder_.To(rhs, *lhs_as_rhs).value), out, wanted, lhs.scope);
    if (rhs_batch && out_batch && rhs_as_out == wanted && CheapTo(lhs.cut(), *rhs_as_lhs))
      return Result(make_(sharder_.To(lhs, *rhs_as_lhs).value, rhs.value), out, wanted, lhs.scope);
    const bool lhs_sums = TilesAlong(lhs.cut(), dims_.contracting, kLhs) == n;
    const bool rhs_sums = TilesAlong(rhs.cut(), dims_.contracting, kRhs) == n;
    if (lhs_sums && rhs_sums && lhs_as_rhs && rhs_as_lhs) {
      if (lhs.whole.ElementCount() < rhs.whole.ElementCount())
        return Summed(sharder_.To(lhs, *rhs_as_lhs), rhs, out);
      return Summed(lhs, sharder_.To(rhs, *lhs_as_rhs), out);
    }
    if (TilesAlong(lhs.cut(), dims_.lhs_only, kLhs) == n &&
        TilesAlong(wanted, dims_.lhs_only, kOut) == n && lhs_as_out == wanted)
      return Result(make_(lhs.value, sharder_.Whole(rhs)), out, wanted, lhs.scope);
    if (TilesAlong(rhs.cut(), dims_.rhs_only, kRhs) == n &&
        TilesAlong(wanted, dims_.rhs_only, kOut) == n && rhs_as_out == wanted)
      return Result(make_(sharder_.Whole(lhs), rhs.value), out, wanted, lhs.scope);
    if (may_recut) {
      if (out_batch && out_as_lhs && out_as_rhs)
        return Result(
            make_(sharder_.To(lhs, *out_as_lhs).value, sharder_.To(rhs, *out_as_rhs).value), out,
            wanted, lhs.scope);
      if (TilesAlong(wanted, dims_.lhs_only, kOut) == n && out_as_lhs)
        return Result(make_(sharder_.To(lhs, *out_as_lhs).value, sharder_.Whole(rhs)), out, wanted,
                      lhs.scope);
      if (TilesAlong(wanted, dims_.rhs_only, kOut) == n && out_as_rhs)
        return Result(make_(sharder_.Whole(lhs), sharder_.To(rhs, *out_as_rhs).value), out, wanted,
                      lhs.scope);
    }
    if (wanted.IsReplicated()) {
      if (rhs_sums && rhs_as_lhs && lhs.cut().IsReplicated() &&
          rhs.whole.ElementCount() > out.ElementCount())
        return Summed(sharder_.To(lhs, *rhs_as_lhs), rhs, out);
      if (lhs_sums && lhs_as_rhs && rhs.cut().IsReplicated() &&
          lhs.whole.ElementCount() > out.ElementCount())
        return Summed(lhs, sharder_.To(rhs, *lhs_as_rhs), out);
    }
    return std::nullopt;
  }

  std::optional<Shard> Try(const Shard& lhs, Shard rhs, const Shape& out, const Cut& wanted,
                           bool matching) {
    if (lhs.scope->size() == 1) return Result(make_(lhs.value, rhs.value), out, wanted, lhs.scope);
    if (lhs.value == rhs.value)
      rhs.value = writer_.w().rewriter().Add(Opcode::kCopy, rhs.value->shape(), {rhs.value});
    if (other_ != nullptr)
      if (auto made = other_(lhs, rhs, out, wanted)) return made;
    if (auto made = Base(lhs, rhs, out, wanted, false)) return made;
    const int64_t batch = TilesAlong(lhs.cut(), dims_.batch, kLhs);
    const int64_t of_rhs = TilesAlong(rhs.cut(), dims_.batch, kRhs);
    if (TilesAlong(wanted, dims_.batch, kOut) > 1 && (batch == of_rhs || batch == 1 || of_rhs == 1))
      if (auto made = OnBatch(lhs, rhs, out, wanted, matching)) return made;
    if (batch > 1 && batch == of_rhs)
      if (const auto other = WithBatchTiles(lhs.cut(), wanted))
        if (auto made = OnBatch(lhs, rhs, out, *other, matching)) return sharder_.To(*made, *other);
    const int64_t left = TilesAlong(lhs.cut(), dims_.lhs_only, kLhs);
    const int64_t right = TilesAlong(rhs.cut(), dims_.rhs_only, kRhs);
    const bool may_left = left > 1 && left == TilesAlong(wanted, dims_.lhs_only, kOut);
    const bool may_right = right > 1 && right == TilesAlong(wanted, dims_.rhs_only, kOut);
    if (may_left || may_right) {
      // The larger operand stays where it is.
      const bool left_first =
          may_left && (!may_right || lhs.whole.ElementCount() >= rhs.whole.ElementCount());
      for (const bool is_left : {left_first, !left_first})
        if (is_left ? may_left : may_right)
          if (auto made = OnOneSide(lhs, rhs, out, wanted, is_left, matching)) return made;
    }
    const int64_t sums = TilesAlong(lhs.cut(), dims_.contracting, kLhs);
    const int64_t rhs_sums = TilesAlong(rhs.cut(), dims_.contracting, kRhs);
    if (sums > 1 && rhs_sums > 1 && sums != rhs_sums) {
      const bool grows_left = sums < rhs_sums;
      const Shard &few = grows_left ? lhs : rhs, &many = grows_left ? rhs : lhs;
      const Side few_side = grows_left ? kLhs : kRhs;
      if (auto grown = AsFineAs(few, few_side, many, grows_left ? kRhs : kLhs))
        return Try(grows_left ? *grown : lhs, grows_left ? rhs : *grown, out, wanted, matching);
    }
    if (sums > 1 && sums == rhs_sums)
      if (auto made = OnContracting(lhs, rhs, out, wanted, matching)) return made;
    if (lhs.cut().IsReplicated() && rhs.cut().IsReplicated() && wanted.has_copies)
      return OnCopies(lhs, rhs, out, wanted);
    return Base(lhs, rhs, out, wanted, true);
  }

  // A cut of the result whose batch dimension has the tiles of another dimension, where the groups
  // of devices along that are those along the operand's batch dimension.
  std::optional<Cut> WithBatchTiles(const Cut& lhs, const Cut& wanted) const {
    if (!wanted.IsTiled() || dims_.batch.size() != 1 || wanted.Dim(dims_.batch[0].out) != 1)
      return std::nullopt;
    const int64_t batch = dims_.batch[0].out;
    const DeviceGroups groups = GroupBy(lhs, {dims_.batch[0].lhs}).groups;
    for (int64_t d = 0; d < wanted.rank(); ++d) {
      if (wanted.tiles[d] == 1 || Sorted(GroupBy(wanted, {d}).groups) != Sorted(groups)) continue;
      DimVector order(wanted.rank());
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[batch], order[d]);
      return Transposed(wanted, order);
    }
    return std::nullopt;
  }

  Shard Within(const Shard& shard, const Cut& inner, absl::Span<const int64_t> dims,
               DeviceScope* scope) {
    return sharder_.Array(shard.value, InGroup(shard.whole, shard.cut(), dims), inner, scope);
  }

  // The operand cut along contracted dimensions as the other one is, where its copies are enough.
  std::optional<Shard> AsFineAs(const Shard& few, Side side, const Shard& many, Side other) {
    const DimVector in_few = DimsIn(dims_.contracting, side);
    const DimVector in_many = DimsIn(dims_.contracting, other);
    if (!few.cut().has_copies) return std::nullopt;
    for (size_t k = 0; k < in_few.size(); ++k)
      if (many.cut().Dim(in_many[k]) % few.cut().Dim(in_few[k]) != 0) return std::nullopt;
    if (few.cut().NumTiles() != TilesAlong(few.cut(), dims_.contracting, side)) return std::nullopt;
    const Grouped grouped = GroupBy(many.cut(), in_many);
    return sharder_.To(few,
                       FromGroups(grouped.groups, in_few, grouped.sizes, Cut(), few.whole.rank()));
  }

  // The result is cut along batch dimensions, and at least one operand as much.
  std::optional<Shard> OnBatch(const Shard& lhs, const Shard& rhs, const Shape& out,
                               const Cut& wanted, bool matching) {
    const DimVector in_lhs = DimsIn(dims_.batch, kLhs), in_rhs = DimsIn(dims_.batch, kRhs),
                    in_out = DimsIn(dims_.batch, kOut);
    const Grouped main = GroupBy(wanted, in_out);
    DeviceScope* scope = writer_.Within(lhs.scope, main.groups);
    const auto has = [&](const Shard& shard, const DimVector& dims) {
      return shard.cut().IsTiled() && SizesOf(shard.cut(), dims) == main.sizes;
    };
    const auto fits = [&](const Shard& shard, const DimVector& dims) {
      return !has(shard, dims) || CutWithin(shard.cut(), dims, main.groups, main.sizes);
    };
    if (!has(lhs, in_lhs) && !has(rhs, in_rhs)) return std::nullopt;
    if (matching && (!fits(lhs, in_lhs) || !fits(rhs, in_rhs))) return std::nullopt;
    const auto split = [&](const Shard& shard, const DimVector& dims) {
      const Cut inner = has(shard, dims) ? GroupBy(shard.cut(), dims).cut
                                         : OfCopies(shard.cut(), main.groups).inner;
      const Shard aligned =
          sharder_.To(shard, FromGroups(main.groups, dims, main.sizes, inner, shard.whole.rank()));
      return Within(aligned, inner, dims, scope);
    };
    const Shape inner_out = InGroup(out, wanted, in_out);
    const Shard left = split(lhs, in_lhs), right = split(rhs, in_rhs);
    const Shard made = Product(left, right, inner_out, main.cut);
    return Result(sharder_.To(made, main.cut).value, out, wanted, lhs.scope);
  }

  std::optional<Shard> OnOneSide(const Shard& lhs, const Shard& rhs, const Shape& out,
                                 const Cut& wanted, bool is_left, bool matching) {
    const Side side = is_left ? kLhs : kRhs, other_side = is_left ? kRhs : kLhs;
    const auto& dims = is_left ? dims_.lhs_only : dims_.rhs_only;
    const Shard& own = is_left ? lhs : rhs;
    const Shard& other = is_left ? rhs : lhs;
    const DimVector in_own = DimsIn(dims, side), in_out = DimsIn(dims, kOut);
    const Grouped result = GroupBy(wanted, in_out);
    if (SizesOf(own.cut(), in_own) != result.sizes) return std::nullopt;
    Grouped grouped = GroupBy(own.cut(), in_own);
    if (grouped.groups != result.groups && matching) return std::nullopt;
    const DimVector preferred = DimsIn(is_left ? dims_.rhs_only : dims_.lhs_only, other_side);
    const CutInGroups every = EveryGroup(other.cut(), result.groups, matching, preferred);
    Shard a = own;
    if (grouped.groups != result.groups)
      a = sharder_.To(
          own, FromGroups(result.groups, in_own, result.sizes, grouped.cut, own.whole.rank()));
    const Shard b = sharder_.To(other, every.outer);
    DeviceScope* scope = writer_.Within(lhs.scope, result.groups);
    const Shape inner_out = InGroup(out, wanted, in_out);
    const Shard inner_own = Within(a, grouped.cut, in_own, scope);
    const Shard inner_other = Within(b, every.inner, {}, scope);
    const Shard made = is_left ? Product(inner_own, inner_other, inner_out, result.cut)
                               : Product(inner_other, inner_own, inner_out, result.cut);
    return Result(sharder_.To(made, result.cut).value, out, wanted, lhs.scope);
  }

  static DeviceGroups Sorted(DeviceGroups groups) {
    for (Devices& group : groups) absl::c_sort(group);
    return groups;
  }

  std::optional<Shard> OnContracting(const Shard& lhs, const Shard& rhs, const Shape& out,
                                     const Cut& wanted, bool matching) {
    const DimVector in_lhs = DimsIn(dims_.contracting, kLhs),
                    in_rhs = DimsIn(dims_.contracting, kRhs);
    const Grouped left = GroupBy(lhs.cut(), in_lhs), right = GroupBy(rhs.cut(), in_rhs);
    if (SizesOf(rhs.cut(), in_rhs) != left.sizes) return std::nullopt;
    // Which of its copies a device holds is the same to an operand that has nothing else.
    const bool same = left.groups == right.groups;
    const bool alike = same || ((left.cut.IsReplicated() || right.cut.IsReplicated()) &&
                                Sorted(left.groups) == Sorted(right.groups));
    if (!alike && matching) return std::nullopt;
    Shard a = lhs, b = rhs;
    const Grouped* main = left.cut.IsReplicated() ? &right : &left;
    if (!alike) {
      if (lhs.whole.ElementCount() < rhs.whole.ElementCount()) {
        main = &right;
        a = sharder_.To(lhs,
                        FromGroups(right.groups, in_lhs, right.sizes, left.cut, lhs.whole.rank()));
      } else {
        main = &left;
        b = sharder_.To(rhs,
                        FromGroups(left.groups, in_rhs, left.sizes, right.cut, rhs.whole.rank()));
      }
    }
    const auto count = static_cast<int64_t>(main->groups.size());
    const bool copied = wanted.has_copies && wanted.Copies() % count == 0;
    const CutInGroups every = EveryGroup(wanted, main->groups, matching && !copied);
    a = Masked(a, kLhs);
    b = Masked(b, kRhs);
    DeviceScope* scope = writer_.Within(lhs.scope, main->groups);
    const Shard made = Product(Within(a, left.cut, in_lhs, scope),
                               Within(b, right.cut, in_rhs, scope), out, every.inner);
    Instruction* part = made.value;
    const Cut outer = made.cut() == every.inner
                          ? every.outer
                          : InEveryGroup(main->groups, made.cut(), out.rank());
    Instruction* sum =
        writer_.AllReduceAlong(part, a.cut(), in_lhs, writer_.Add(part->shape().type), lhs.scope);
    return Result(sum, out, outer, lhs.scope);
  }

  std::optional<Shard> OnCopies(const Shard& lhs, const Shard& rhs, const Shape& out,
                                const Cut& wanted) {
    DimVector tiles(wanted.tiles.begin(), wanted.tiles.begin() + out.rank());
    const int64_t copies = wanted.Copies();
    DeviceGroups groups(copies);
    for (size_t k = 0; k < wanted.devices.size(); ++k)
      groups[k % copies].push_back(wanted.devices[k]);
    Devices devices(groups[0].size());
    std::iota(devices.begin(), devices.end(), 0);
    DeviceScope* scope = writer_.Within(lhs.scope, groups);
    const Cut inner = Cut::Tiled(std::move(tiles), std::move(devices), false);
    const Shard made =
        Product(Within(lhs, Cut(), {}, scope), Within(rhs, Cut(), {}, scope), out, inner);
    return Result(sharder_.To(made, inner).value, out, wanted, lhs.scope);
  }

  Sharder& sharder_;
  ShardWriter& writer_;
  const ProductDimGroups dims_;
  const MakeProduct make_;
  const OtherWay other_;
};

}  // namespace

Shard PartitionProduct(Sharder& sharder, const ProductDimGroups& dims, const MakeProduct& make,
                       const OtherWay& other, const Shard& lhs, const Shard& rhs, const Shape& out,
                       const Cut& wanted) {
  return ProductPartitioner(sharder, dims, make, other).Product(lhs, rhs, out, wanted);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
