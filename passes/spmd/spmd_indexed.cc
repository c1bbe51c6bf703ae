// Gathers and scatters, partitioned in one of four ways, the cheapest first, and within groups of
// partitions again:
//   parallel       indices and operand are cut along dimensions that go together
//   whole          the operand is cut along dimensions that slices take whole
//   one            the operand is cut along dimensions of which slices take one row: partitions
//                  find what lies in their shard, and sum up
//   index          the indices are cut
#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/algorithm/container.h"
#include "ops/evaluate/strided.h"
#include "passes/rewrite/matchers.h"
#include "passes/spmd/cut_groups.h"
#include "passes/spmd/indexed_dims.h"
#include "passes/spmd/spmd_visitor.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

enum class Way : uint8_t { kParallel, kWhole, kOne, kIndex };

struct Arrays {
  std::vector<Shard> operands, updates;  // updates of a scatter only
  Shard indices;
  Shape slices;     // whole: the gather's result, the shape of the updates
  Cut wanted;       // of a gather's result
  DimVector sizes;  // of a slice, by dimension of the operand
  DeviceScope* scope() const { return indices.scope; }
};

int64_t TilesAlong(const Cut& cut, absl::Span<const int64_t> dims) {
  int64_t tiles = 1;
  for (const int64_t d : dims) tiles *= cut.Dim(d);
  return tiles;
}

class IndexedPartitioner {
 public:
  IndexedPartitioner(Sharder& sharder, const Instruction& i)
      : sharder_(sharder),
        writer_(sharder.writer()),
        w_(writer_.w()),
        i_(i),
        is_gather_(i.opcode() == Opcode::kGather) {
    dims_ = is_gather_ ? ReadGather(i) : ReadScatter(i);
    const DimVector& coordinates = is_gather_ ? i.attr<GatherAttrs>().start_index_map
                                              : i.attr<ScatterAttrs>().scatter_dims_to_operand_dims;
    coordinates_ = coordinates;
    vector_dim_ = is_gather_ ? i.attr<GatherAttrs>().index_vector_dim
                             : i.attr<ScatterAttrs>().index_vector_dim;
    for (size_t k = 0; k < dims_.index_to_slices.size(); ++k) {
      if (static_cast<int64_t>(k) == vector_dim_ || dims_.index_to_slices[k] < 0) continue;
      index_dims_.push_back(static_cast<int64_t>(k));
      index_slices_.push_back(dims_.index_to_slices[k]);
    }
  }

  // One shard a result.
  std::vector<Shard> Make(const Arrays& a) {
    for (const Way way : WaysByCost(a)) {
      std::optional<std::vector<Shard>> made;
      if (way == Way::kParallel) made = Parallel(a);
      if (way == Way::kWhole) made = Whole(a);
      if (way == Way::kOne) made = One(a);
      if (way == Way::kIndex) made = ByIndex(a);
      if (made) return *made;
    }
    return Plain(a);
  }

 private:
  // ---- dimensions

  DimVector CutWholeDims(const Cut& cut) const {
    DimVector dims;
    for (size_t d = 0; d < dims_.operand_to_slices.size(); ++d)
      if (dims_.operand_to_slices[d] >= 0 && cut.Dim(static_cast<int64_t>(d)) > 1)
        dims.push_back(static_cast<int64_t>(d));
    return dims;
  }
  DimVector CutOneDims(const Arrays& a) const {
    DimVector dims;
    for (const int64_t d : coordinates_)
      if (a.sizes[d] == 1 && a.operands[0].cut().Dim(d) > 1 && dims_.operand_to_slices[d] < 0)
        dims.push_back(d);
    return dims;
  }
  DimVector ToSlices(absl::Span<const int64_t> operand_dims) const {
    DimVector dims;
    for (const int64_t d : operand_dims) dims.push_back(dims_.operand_to_slices[d]);
    return dims;
  }

  // ---- costs

  static int64_t Bytes(const Shape& shape) { return TotalBytes(shape); }
  Shape LocalSlices(const Arrays& a, const Cut& cut, absl::Span<const int64_t> from,
                    absl::Span<const int64_t> to) const {
    Shape shape = a.slices;
    for (size_t k = 0; k < from.size(); ++k)
      shape.dims[to[k]] = (shape.dims[to[k]] + cut.Dim(from[k]) - 1) / cut.Dim(from[k]);
    return shape;
  }
  std::vector<Way> WaysByCost(const Arrays& a) const {
    std::vector<std::pair<int64_t, Way>> ways = {{0, Way::kParallel}};
    const Cut& cut = a.operands[0].cut();
    const int64_t count = static_cast<int64_t>(a.operands.size());
    if (const DimVector dims = CutWholeDims(cut); !dims.empty())
      ways.emplace_back(count * (Bytes(a.operands[0].value->shape()) +
                                 Bytes(LocalSlices(a, cut, dims, ToSlices(dims)))) +
                            Bytes(a.indices.whole),
                        Way::kWhole);
    if (!CutOneDims(a).empty())
      ways.emplace_back(
          count * (Bytes(a.operands[0].value->shape()) + Bytes(a.slices)) + Bytes(a.indices.whole),
          Way::kOne);
    if (TilesAlong(a.indices.cut(), index_dims_) > 1)
      ways.emplace_back(
          count * (Bytes(a.operands[0].whole) +
                   Bytes(LocalSlices(a, a.indices.cut(), index_dims_, index_slices_))) +
              Bytes(a.indices.value->shape()),
          Way::kIndex);
    std::stable_sort(ways.begin(), ways.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<Way> order;
    for (const auto& [cost, way] : ways) order.push_back(way);
    return order;
  }

  // ---- the instruction itself

  std::vector<Shard> Plain(const Arrays& a) {
    std::vector<Instruction*> given;
    for (const Shard& operand : a.operands) given.push_back(sharder_.Whole(operand));
    given.push_back(sharder_.Whole(a.indices));
    for (const Shard& update : a.updates) given.push_back(sharder_.Whole(update));
    Rewriter& r = w_.rewriter();
    if (is_gather_) {
      Instruction* made = r.Clone(&i_, a.slices.WithType(i_.shape().type), given);
      made->mutable_attr<GatherAttrs>().slice_sizes = a.sizes;
      return {sharder_.Array(made, a.slices, Cut(), a.scope())};
    }
    std::vector<Shape> shapes;
    for (const Shard& operand : a.operands) shapes.push_back(operand.whole);
    Instruction* made =
        r.Clone(&i_, i_.shape().IsTuple() ? Shape::Tuple(shapes) : shapes[0], given);
    std::vector<Shard> results;
    for (size_t k = 0; k < shapes.size(); ++k)
      results.push_back(sharder_.Array(i_.shape().IsTuple() ? w_.Part(made, k) : made, shapes[k],
                                       Cut(), a.scope()));
    return results;
  }

  // ---- shared by the ways

  Shard Inside(const Shard& shard, const Cut& inner, absl::Span<const int64_t> dims,
               DeviceScope* scope) {
    return sharder_.Array(shard.value, InGroup(shard.whole, shard.cut(), dims), inner, scope);
  }
  // What the members of the groups have of an array whose dimensions `dims` the groups share out.
  Shard Split(const Shard& shard, absl::Span<const int64_t> dims, const DeviceGroups& groups,
              absl::Span<const int64_t> sizes, DeviceScope* scope) {
    Cut inner;
    if (auto own = CutWithin(shard.cut(), dims, groups, sizes)) inner = *own;
    const Shard aligned =
        sharder_.To(shard, FromGroups(groups, dims, sizes, inner, shard.whole.rank()));
    return Inside(aligned, inner, dims, scope);
  }
  // The same of an operand that the groups share out otherwise than its own cut does: its members
  // keep the tiles of other dimensions, where that is not more to send than all of the group's
  // part.
  Shard SplitOperand(const Shard& shard, absl::Span<const int64_t> dims, const DeviceGroups& groups,
                     absl::Span<const int64_t> sizes, DeviceScope* scope) {
    const Cut& cut = shard.cut();
    const auto members = static_cast<int64_t>(groups[0].size());
    if (cut.IsTiled() && !CutWithin(cut, dims, groups, sizes)) {
      DimVector tiles(cut.tiles.begin(), cut.tiles.begin() + cut.rank());
      for (const int64_t d : dims) tiles[d] = 1;
      const int64_t kept = Product(tiles);
      if (kept > 1 && kept == members) {
        Devices order(members);
        std::iota(order.begin(), order.end(), 0);
        const Cut inner = Cut::Tiled(std::move(tiles), std::move(order), false);
        const Cut outer = FromGroups(groups, dims, sizes, inner, shard.whole.rank());
        if (const auto made = sharder_.ToInParts(shard, outer))
          return Inside(*made, inner, dims, scope);
      }
    }
    return Split(shard, dims, groups, sizes, scope);
  }
  Shard Copied(const Shard& shard, const DeviceGroups& groups, DeviceScope* scope) {
    const CutInGroups cuts = OfCopies(shard.cut(), groups);
    return Inside(sharder_.To(shard, cuts.outer), cuts.inner, {}, scope);
  }
  Cut WantedInside(const Arrays& a, absl::Span<const int64_t> dims, const DeviceGroups& groups,
                   absl::Span<const int64_t> sizes) const {
    const auto own = CutWithin(a.wanted, dims, groups, sizes);
    return own ? *own : Cut();
  }
  // Results of the groups, as all partitions see them.
  std::vector<Shard> Outside(const Arrays& a, std::vector<Shard> made, const Arrays& inner,
                             absl::Span<const int64_t> dims, const DeviceGroups& groups,
                             absl::Span<const int64_t> sizes) {
    for (size_t k = 0; k < made.size(); ++k) {
      const Cut cut = is_gather_ ? inner.wanted : inner.operands[k].cut();
      const Shape& whole = is_gather_ ? a.slices : a.operands[k].whole;
      made[k] = sharder_.Array(sharder_.To(made[k], cut).value, whole,
                               FromGroups(groups, dims, sizes, cut, whole.rank()), a.scope());
    }
    return made;
  }
  // An integer for each coordinate, spread over the indices.
  Instruction* OverIndices(std::vector<Instruction*> numbers, const Shape& indices) {
    if (vector_dim_ >= indices.rank()) return w_.rewriter().Broadcast(numbers[0], indices, {});
    for (Instruction*& number : numbers)
      number = w_.rewriter().Reshape(number, RowMajor(number->shape().type, {1}));
    Instruction* list = numbers.size() == 1 ? numbers[0] : w_.Concatenate(numbers, 0);
    return w_.rewriter().Broadcast(list, indices, {vector_dim_});
  }
  bool IsWide(const Arrays& a) const {
    const ElementType type = a.indices.whole.type;
    return type == ElementType::kS32 || type == ElementType::kU32 || type == ElementType::kS64 ||
           type == ElementType::kU64;
  }

  // ---- the ways

  std::optional<std::vector<Shard>> Parallel(const Arrays& a) {
    const DimVector &in_operand = dims_.parallel_operand, &in_indices = dims_.parallel_index;
    if (in_operand.empty() || !IsWide(a)) return std::nullopt;
    const Shard& operand = a.operands[0];
    const int64_t operand_tiles = TilesAlong(operand.cut(), in_operand);
    const int64_t index_tiles = TilesAlong(a.indices.cut(), in_indices);
    if (operand_tiles == 1 && index_tiles == 1) return std::nullopt;
    const Grouped main = operand_tiles > index_tiles ? GroupBy(operand.cut(), in_operand)
                                                     : GroupBy(a.indices.cut(), in_indices);
    DimVector in_slices;
    for (const int64_t d : in_indices) in_slices.push_back(dims_.index_to_slices[d]);
    if (!is_gather_)  // what lies behind the indices would be scattered too
      for (size_t k = 0; k < in_indices.size(); ++k)
        if (a.indices.whole.dims[in_indices[k]] % main.sizes[k] != 0) return std::nullopt;
    DeviceScope* scope = writer_.Within(a.scope(), main.groups);
    const auto split = [&](const Shard& shard, const DimVector& dims) {
      return Split(shard, dims, main.groups, main.sizes, scope);
    };
    Arrays inner = a;
    for (Shard& x : inner.operands) x = SplitOperand(x, in_operand, main.groups, main.sizes, scope);
    Shard indices = split(a.indices, in_indices);
    std::vector<Instruction*> starts;
    const Cut outer = FromGroups(main.groups, in_operand, main.sizes, inner.operands[0].cut(),
                                 operand.whole.rank());
    bool adjusts = false;
    for (const int64_t d : coordinates_) adjusts |= absl::c_linear_search(in_operand, d);
    if (adjusts) {
      const auto offsets = writer_.Offsets(operand.whole, outer, a.scope(), in_operand);
      for (const int64_t d : coordinates_)
        starts.push_back(w_.Convert(offsets[d], a.indices.whole.type));
      indices.value = w_.Binary(Opcode::kSubtract, indices.value,
                                OverIndices(std::move(starts), indices.value->shape()));
    }
    inner.indices = indices;
    inner.slices = a.slices;
    for (size_t k = 0; k < in_slices.size(); ++k)
      inner.slices.dims[in_slices[k]] =
          (a.slices.dims[in_slices[k]] + main.sizes[k] - 1) / main.sizes[k];
    for (Shard& x : inner.updates) x = split(x, in_slices);
    for (size_t k = 0; k < in_operand.size(); ++k)
      if (a.sizes[in_operand[k]] != 1) return std::nullopt;
    const auto wanted = CutWithin(a.wanted, in_slices, main.groups, main.sizes);
    inner.wanted = wanted ? *wanted : PassedThrough(inner.operands[0].cut(), a.slices.rank());
    return Outside(a, Make(inner), inner, is_gather_ ? in_slices : in_operand, main.groups,
                   main.sizes);
  }

  // The cut of the slices that follows from dimensions of the operand that they take whole.
  Cut PassedThrough(const Cut& cut, int64_t rank) const {
    const DimVector whole = CutWholeDims(cut);
    if (whole.empty()) return {};
    const Grouped grouped = GroupBy(cut, whole);
    return FromGroups(grouped.groups, ToSlices(whole), grouped.sizes, Cut(), rank);
  }

  std::optional<std::vector<Shard>> Whole(const Arrays& a) {
    const Shard& operand = a.operands[0];
    const DimVector in_operand = CutWholeDims(operand.cut());
    const DimVector in_slices = ToSlices(in_operand);
    const Grouped main = GroupBy(operand.cut(), in_operand);
    DeviceScope* scope = writer_.Within(a.scope(), main.groups);
    Arrays inner = a;
    for (Shard& x : inner.operands) x = Split(x, in_operand, main.groups, main.sizes, scope);
    for (Shard& x : inner.updates) x = Split(x, in_slices, main.groups, main.sizes, scope);
    inner.indices = Copied(a.indices, main.groups, scope);
    for (size_t k = 0; k < in_operand.size(); ++k) {
      const int64_t size = inner.operands[0].whole.dims[in_operand[k]];
      inner.sizes[in_operand[k]] = size;
      inner.slices.dims[in_slices[k]] = size;
    }
    inner.wanted = WantedInside(a, in_slices, main.groups, main.sizes);
    return Outside(a, Make(inner), inner, is_gather_ ? in_slices : in_operand, main.groups,
                   main.sizes);
  }

  // The cut of the slices that follows from that of the indices, and the other way round.
  Cut FromIndexCut(const Cut& cut, int64_t rank) const {
    if (TilesAlong(cut, index_dims_) == 1) return {};
    const Grouped grouped = GroupBy(cut, index_dims_);
    return FromGroups(grouped.groups, index_slices_, grouped.sizes, Cut(), rank);
  }
  Cut ToIndexCut(const Cut& cut, int64_t rank) const {
    if (TilesAlong(cut, index_slices_) == 1) return {};
    const Grouped grouped = GroupBy(cut, index_slices_);
    return FromGroups(grouped.groups, index_dims_, grouped.sizes, Cut(), rank);
  }

  std::optional<std::vector<Shard>> One(const Arrays& a) {
    if (!IsWide(a)) return std::nullopt;
    const Shard& operand = a.operands[0];
    const DimVector dims = CutOneDims(a);
    const Grouped main = GroupBy(operand.cut(), dims);
    DeviceScope* scope = writer_.Within(a.scope(), main.groups);
    Arrays inner = a;
    for (Shard& x : inner.operands) x = Split(x, dims, main.groups, main.sizes, scope);
    CutInGroups of_indices = OfCopies(a.indices.cut(), main.groups);
    CutInGroups of_slices = OfCopies(is_gather_ ? a.wanted : a.updates[0].cut(), main.groups);
    if (of_indices.inner.IsTiled() && !of_slices.inner.IsTiled())
      of_slices = OfCopies(FromIndexCut(a.indices.cut(), a.slices.rank()), main.groups);
    if (!of_indices.inner.IsTiled() && of_slices.inner.IsTiled())
      of_indices =
          OfCopies(ToIndexCut(is_gather_ ? a.wanted : a.updates[0].cut(), a.indices.whole.rank()),
                   main.groups);
    const Shard indices = sharder_.To(a.indices, of_indices.outer);
    for (Shard& x : inner.updates)
      x = Inside(sharder_.To(x, of_slices.outer), of_slices.inner, {}, scope);
    Bounds bounds = BoundsOf(a, dims, indices.value);
    Instruction* found = indices.value;
    if (is_gather_)
      found = w_.rewriter().Add(Opcode::kClamp, found->shape(), {bounds.low, found, bounds.high});
    found = w_.Binary(Opcode::kSubtract, found, bounds.low);
    inner.indices = Inside(sharder_.Array(found, a.indices.whole, of_indices.outer, a.scope()),
                           of_indices.inner, {}, scope);
    inner.wanted = of_slices.inner;
    if (!is_gather_) return Outside(a, Make(inner), inner, dims, main.groups, main.sizes);
    const Shard made = sharder_.To(Make(inner)[0], inner.wanted);
    Instruction* sum = OfOwnRows(a, dims, indices.value, made.value);
    sum =
        writer_.AllReduceAlong(sum, operand.cut(), dims, writer_.Add(sum->shape().type), a.scope());
    return {{sharder_.Array(sum, a.slices, of_slices.outer, a.scope())}};
  }

  struct Bounds {
    Instruction *low, *high;
  };
  int64_t LastPlace(const Arrays& a, int64_t d) const {
    const Shard& operand = a.operands[0];
    const int64_t shard = ShardOf(operand.whole, operand.cut()).dims[d];
    return (operand.whole.dims[d] - 1) / shard;
  }
  // Where this partition's rows begin, and the last of them.
  Bounds BoundsOf(const Arrays& a, absl::Span<const int64_t> dims, Instruction* indices) {
    const Shard& operand = a.operands[0];
    const ElementType type = a.indices.whole.type;
    const Shape shard = ShardOf(operand.whole, operand.cut());
    const auto offsets = writer_.Offsets(operand.whole, operand.cut(), a.scope(), dims);
    const auto places = writer_.Places(operand.cut(), a.scope());
    std::vector<Instruction*> low, high;
    for (const int64_t d : coordinates_) {
      if (!absl::c_linear_search(dims, d)) {
        low.push_back(writer_.Zero(type));
        high.push_back(w_.Integer(
            type, std::min<int64_t>(operand.whole.dims[d], std::numeric_limits<int32_t>::max())));
        continue;
      }
      low.push_back(w_.Convert(offsets[d], type));
      if (operand.whole.dims[d] % operand.cut().tiles[d] == 0) {
        high.push_back(w_.Binary(Opcode::kAdd, low.back(), w_.Integer(type, shard.dims[d] - 1)));
        continue;
      }
      std::vector<int64_t> ends;
      for (int64_t place = 0; place < operand.cut().tiles[d]; ++place)
        ends.push_back(std::min((place + 1) * shard.dims[d], operand.whole.dims[d]) - 1);
      high.push_back(writer_.Lookup(ends, type, places[d]));
    }
    Instruction* first = OverIndices(low, indices->shape());
    return {first, is_gather_ ? OverIndices(high, indices->shape()) : nullptr};
  }
  // Zeros for slices of other partitions' rows. Rows outside of the operand are its first and its
  // last.
  Instruction* OfOwnRows(const Arrays& a, absl::Span<const int64_t> dims, Instruction* indices,
                         Instruction* slices) {
    const Shard& operand = a.operands[0];
    const ElementType type = a.indices.whole.type;
    const int64_t shard_bits = type == ElementType::kS32 || type == ElementType::kU32 ? 31 : 62;
    const int64_t most = (int64_t{1} << shard_bits) - 1;
    const bool is_signed = type == ElementType::kS32 || type == ElementType::kS64;
    const auto places = writer_.Places(operand.cut(), a.scope());
    std::vector<Instruction*> low, high;
    for (const int64_t d : coordinates_) {
      std::vector<int64_t> first, last;
      const int64_t tiles = absl::c_linear_search(dims, d) ? operand.cut().tiles[d] : 1;
      const int64_t rows = ShardOf(operand.whole, operand.cut()).dims[d];
      const int64_t end = tiles == 1 ? 0 : LastPlace(a, d);
      for (int64_t place = 0; place < tiles; ++place) {
        first.push_back(place == 0    ? (is_signed ? -most - 1 : 0)
                        : place > end ? most
                                      : place * rows);
        last.push_back(place == end ? most : place > end ? 0 : (place + 1) * rows - 1);
      }
      if (tiles == 1) {
        low.push_back(w_.Integer(type, first[0]));
        high.push_back(is_signed ? w_.Integer(type, most) : w_.Highest(type));
        continue;
      }
      low.push_back(writer_.Lookup(first, type, places[d]));
      high.push_back(writer_.Lookup(last, type, places[d]));
    }
    Instruction* before =
        w_.Compare(indices, OverIndices(low, indices->shape()), ComparisonDirection::kLt);
    Instruction* behind =
        w_.Compare(indices, OverIndices(high, indices->shape()), ComparisonDirection::kGt);
    Instruction* outside = w_.Binary(Opcode::kOr, before, behind);
    if (vector_dim_ < indices->shape().rank())
      outside = w_.Reduce(outside, w_.Integer(ElementType::kPred, 0), {vector_dim_},
                          writer_.Add(ElementType::kPred));
    outside = w_.rewriter().Broadcast(outside, RetypedLike(slices->shape(), ElementType::kPred),
                                      index_slices_);
    return w_.rewriter().Add(Opcode::kSelect, slices->shape(),
                             {outside, w_.FillInteger(slices->shape(), 0), slices});
  }

  // The indices cut as the slices are where those are cut into more.
  Shard AsFineAsSlices(const Arrays& a) {
    const Cut& own = a.indices.cut();
    const Cut finer =
        ToIndexCut(is_gather_ ? a.wanted : a.updates[0].cut(), a.indices.whole.rank());
    if (TilesAlong(finer, index_dims_) <= TilesAlong(own, index_dims_)) return a.indices;
    for (const int64_t d : index_dims_)
      if (finer.Dim(d) % own.Dim(d) != 0) return a.indices;
    return sharder_.To(a.indices, finer);
  }

  std::optional<std::vector<Shard>> ByIndex(const Arrays& a) {
    const Shard indices = AsFineAsSlices(a);
    const Cut& cut = indices.cut();
    std::optional<Opcode> opcode;
    if (!is_gather_) {
      if (a.operands.size() != 1) return std::nullopt;
      opcode = ReducerOpcode(*i_.to_apply());
      if (!opcode || *opcode == Opcode::kXor) return std::nullopt;
    }
    const Grouped main = GroupBy(cut, index_dims_);
    DeviceScope* scope = writer_.Within(a.scope(), main.groups);
    Arrays inner = a;
    inner.indices = Split(indices, index_dims_, main.groups, main.sizes, scope);
    for (size_t k = 0; k < index_slices_.size(); ++k)
      inner.slices.dims[index_slices_[k]] = inner.indices.whole.dims[index_dims_[k]];
    if (is_gather_) {
      inner.operands[0] = Copied(a.operands[0], main.groups, scope);
      inner.wanted = WantedInside(a, index_slices_, main.groups, main.sizes);
      return Outside(a, Make(inner), inner, index_slices_, main.groups, main.sizes);
    }
    const CutInGroups of_operand = OfCopies(a.operands[0].cut(), main.groups);
    Shard operand =
        Inside(sharder_.To(a.operands[0], of_operand.outer), of_operand.inner, {}, scope);
    // One partition of those that sum up starts from the operand.
    const Shape& shape = operand.value->shape();
    Instruction* identity = w_.Fill(shape, w_.Identity(*opcode, shape.type));
    DeviceScope* summing = writer_.Within(a.scope(), GroupsAlong(cut, index_dims_));
    Instruction* is_other = w_.Convert(writer_.PartitionId(summing), ElementType::kPred);
    is_other = w_.rewriter().Broadcast(is_other, RetypedLike(shape, ElementType::kPred), {});
    operand.value = w_.rewriter().Add(Opcode::kSelect, shape, {is_other, identity, operand.value});
    inner.operands[0] = operand;
    Shard update = Split(a.updates[0], index_slices_, main.groups, main.sizes, scope);
    const Cut outer =
        FromGroups(main.groups, index_slices_, main.sizes, update.cut(), a.slices.rank());
    DimVector others;
    for (int64_t d = 0; d < a.slices.rank(); ++d)
      if (!absl::c_linear_search(index_slices_, d)) others.push_back(d);
    update.value =
        sharder_.PadWith(sharder_.Array(update.value, a.updates[0].whole, outer, a.scope()),
                         w_.Identity(*opcode, shape.type), {}, others);
    inner.updates[0] = update;
    const Shard made = sharder_.To(Make(inner)[0], of_operand.inner);
    Instruction* sum =
        writer_.AllReduceAlong(made.value, cut, index_dims_, i_.to_apply(), a.scope());
    return {{sharder_.Array(sum, a.operands[0].whole, of_operand.outer, a.scope())}};
  }

  Sharder& sharder_;
  ShardWriter& writer_;
  HloWriter& w_;
  const Instruction& i_;
  const bool is_gather_;
  IndexedDims dims_;
  DimVector coordinates_;
  int64_t vector_dim_;
  DimVector index_dims_, index_slices_;  // of the indices, but the vector's, and of the slices
};

}  // namespace

absl::Status SpmdVisitor::Indexed(const Instruction& i) {
  for (const Cut& cut : cuts_)
    if (!(cut.IsTiled() || cut.IsReplicated()) || cut != cuts_[0]) return Default(i);
  const bool is_gather = i.opcode() == Opcode::kGather;
  const int64_t count = is_gather ? 1 : i.operand_count() / 2;
  const auto given = [&](int64_t k) {
    const Shard& shard = Of(i.operand(k));
    return shard.cut().IsTiled() ? shard : sharder_.Replicated(shard);
  };
  Arrays arrays;
  for (int64_t k = 0; k < count; ++k) {
    Shard operand = given(k);
    if (k > 0) operand = sharder_.To(operand, arrays.operands[0].cut());
    arrays.operands.push_back(operand);
  }
  arrays.indices = given(count);
  for (int64_t k = 0; !is_gather && k < count; ++k) {
    Shard update = given(count + 1 + k);
    if (k > 0) update = sharder_.To(update, arrays.updates[0].cut());
    arrays.updates.push_back(update);
  }
  arrays.slices = is_gather ? i.shape() : i.operand(count + 1)->shape();
  const int64_t rank = i.operand(0)->shape().rank();
  if (is_gather) {
    arrays.wanted = CutOfResult();
    arrays.sizes = i.attr<GatherAttrs>().slice_sizes;
  } else {
    const ScatterAttrs& a = i.attr<ScatterAttrs>();
    size_t next = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const bool dropped = absl::c_linear_search(a.inserted_window_dims, d) ||
                           absl::c_linear_search(a.input_batching_dims, d);
      arrays.sizes.push_back(dropped ? 1 : arrays.slices.dims[a.update_window_dims[next++]]);
    }
  }
  IndexedPartitioner partitioner(sharder_, i);
  const std::vector<Shard> made = partitioner.Make(arrays);
  if (!i.shape().IsTuple()) {
    Set(i, made[0]);
    return absl::OkStatus();
  }
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < made.size(); ++k) parts.push_back(sharder_.To(made[k], cuts_[k]).value);
  Set(i, w_.Tuple(parts));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
