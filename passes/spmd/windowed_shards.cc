// Shards for windowed operations: each partition gets the rows of the padded operand that its part
// of the result is computed from.
//   f32[8] in two shards, window of 3, padding 1_1: partition 0 computes on rows -1 to 4, 1 on 3 to
//   8
// For each dimension, rows are counted on the operand padded but not dilated ("padded rows").
#include <algorithm>

#include "absl/algorithm/container.h"
#include "passes/spmd/sharder.h"

namespace hlokit {
namespace {

bool IsTrivial(const WindowDim& w) {
  return w.size == 1 && w.stride == 1 && w.pad_low == 0 && w.pad_high == 0 &&
         w.base_dilation == 1 && w.window_dilation == 1;
}

// One dimension of AsWindowed.
struct Dim {
  int64_t shards = 1;        // that have rows or results
  bool is_trivial = false;   // stays as it is cut
  int64_t left_padding = 0;  // of padded rows
  int64_t windows = 0;       // results of a shard
  int64_t size = 0;          // rows of a shard for the operation
  int64_t padded = 0;        // all padded rows
  PlaceFunction start, limit;
  Instruction* offset = nullptr;  // of the shard among the padded rows
  Instruction* place = nullptr;
  // Where few shards have results, those without are left out: on the right, and a range of them.
  int64_t skipped_from = -1, skipped = 0;
  int64_t base = 0;                  // rows whose halos are exchanged, of all shards that are left
  int64_t cut_from = 0, cut_to = 0;  // of the shard's own rows
  bool mask_first = false;
  Instruction* result_offset = nullptr;
};

class Windower {
 public:
  Windower(Sharder& sharder, const Shard& shard, const Window& window, const Cut& target,
           Instruction* pad, bool mask)
      : sharder_(sharder),
        writer_(sharder.writer()),
        w_(sharder.writer().w()),
        shard_(shard),
        window_(window),
        local_(window),
        target_(target),
        pad_(pad),
        mask_(mask),
        rank_(shard.whole.rank()),
        dims_(rank_) {}

  std::optional<WindowedShard> Run() {
    const std::vector<Instruction*> places = writer_.Places(target_, shard_.scope);
    for (int64_t d = 0; d < rank_; ++d) {
      dims_[d].place = places[d];
      if (!Plan(d)) return std::nullopt;
    }
    const Cut windowed_whole = MadeWhole(target_, WindowedDims());
    const Cut& cut = shard_.cut();
    if (cut.IsReplicated() || (!(target_ == cut) && windowed_whole == cut)) return FromWhole();
    if (!(target_ == cut))
      return sharder_.AsWindowed(sharder_.To(shard_, target_), window_, target_, pad_, mask_);
    int64_t left = 1;
    for (const Dim& dim : dims_) left *= dim.shards;
    if (left == 1) return Result(shard_.value);
    const Cut trimmed = Trimmed();
    Instruction* x = Prepared();
    for (int64_t d = 0; d < rank_; ++d) {
      const Dim& dim = dims_[d];
      if (trimmed.Dim(d) == 1 || dim.is_trivial) continue;
      const std::optional<Instruction*> exchanged = Exchange(x, d, trimmed);
      if (!exchanged) {
        if (windowed_whole == cut) return FromWhole();
        return sharder_.AsWindowed(sharder_.To(shard_, windowed_whole), window_, target_, pad_,
                                   mask_);
      }
      x = *exchanged;
    }
    return Result(x);
  }

 private:
  DimVector WindowedDims() const {
    DimVector dims;
    for (int64_t d = 0; d < rank_; ++d)
      if (!IsTrivial(window_[d])) dims.push_back(d);
    return dims;
  }

  // What each shard of dimension d computes on; false where no plan is known.
  bool Plan(int64_t d) {
    Dim& dim = dims_[d];
    const int64_t size = shard_.whole.dims[d];
    dim.shards = target_.Dim(d);
    dim.base = size;
    dim.padded = size;
    dim.cut_to = shard_.value->shape().dims[d];
    dim.size = CeilOf(size, dim.shards);
    dim.is_trivial = IsTrivial(window_[d]);
    if (dim.shards == 1) {
      dim.offset = writer_.S32(0);
      return true;
    }
    if (dim.is_trivial) {
      dim.padded = dim.size * dim.shards;
      dim.offset = w_.Binary(Opcode::kMultiply, dim.place, writer_.S32(dim.size));
      return true;
    }
    const WindowDim& w = window_[d];
    const int64_t reach = 1 + (w.size - 1) * w.window_dilation;
    const int64_t full = 1 + (size - 1) * w.base_dilation + w.pad_high + w.pad_low;
    const int64_t results = (full - reach) / w.stride + 1;
    dim.windows = CeilOf(results, dim.shards);
    const bool may_skip = results < dim.shards && w.window_dilation == 1 && w.base_dilation == 1;
    int64_t own = shard_.value->shape().dims[d];
    if (may_skip && SkipRight(d, results, full, own)) return true;
    dim.left_padding = w.pad_low / w.base_dilation;
    local_[d].pad_low = w.pad_low % w.base_dilation;
    local_[d].pad_high = 0;
    if (may_skip) SkipMiddle(d, results, full, own);
    if (full < reach) return false;
    if (w.stride != 1 && (w.stride * dim.windows) % w.base_dilation != 0) return false;
    const int64_t step = w.stride * dim.windows;
    const int64_t dilated = w.stride * (dim.windows - 1) + reach;
    // A start between two rows of the dilated operand begins with the next row.
    const int64_t first = w.base_dilation - 1 - local_[d].pad_low;
    dim.start = PlaceFunction(step, first, w.base_dilation);
    dim.limit = PlaceFunction(step, dilated + first, w.base_dilation);
    dim.offset = dim.start.Write(w_, dim.place);
    dim.size = (dim.limit - dim.start).Most(0, dim.shards);
    dim.padded = dim.limit.At(dim.shards - 1);
    return w.base_dilation == 1 || PlanDilation(d, dilated);
  }

  // Shards on the right that have neither rows nor results are left out. True if one shard is left.
  bool SkipRight(int64_t d, int64_t results, int64_t full, int64_t& own) {
    Dim& dim = dims_[d];
    const WindowDim& w = window_[d];
    const int64_t size = shard_.whole.dims[d];
    const int64_t useful = CeilOf(size + w.pad_high, own);
    if (useful >= dim.shards) return false;
    dim.shards = std::max(useful, results);
    trimmed_ = true;
    if (dim.shards == 1) {
      dim.offset = writer_.S32(0);
      local_[d].pad_high = size + w.pad_high - own;
      return true;
    }
    dim.base = own * dim.shards;
    if (dim.base > size && w.pad_high > 0) {
      dim.mask_first = true;
    } else if (w.pad_high < 0 && full - w.pad_low < own) {
      own = full - w.pad_low;
      dim.base = own * dim.shards;
      dim.cut_to = own;
    }
    return false;
  }

  // Shards between those with results and those with rows are left out.
  void SkipMiddle(int64_t d, int64_t results, int64_t full, int64_t& own) {
    Dim& dim = dims_[d];
    const int64_t empty = -dim.left_padding / own - results;
    if (empty <= 0) return;
    dim.shards -= empty;
    dim.skipped_from = results;
    dim.skipped = empty;
    trimmed_ = true;
    dim.left_padding += empty * own;
    dim.base = own * dim.shards;
    Instruction* count = writer_.S32(results);
    Instruction* is_left = w_.Compare(dim.place, count, ComparisonDirection::kLt);
    Instruction* right = w_.Binary(Opcode::kSubtract, dim.place, count);
    dim.place = w_.Select(is_left, dim.place, right);
    const int64_t skip = -dim.left_padding - own * (dim.shards - 1);
    if (skip <= 0) return;
    own -= skip;
    dim.left_padding += skip * dim.shards;
    dim.cut_from = skip;
    if (full < own) {
      const int64_t more = own - full;
      dim.cut_to -= more;
      dim.left_padding += more * (dim.shards - 1);
      own = full;
    }
    dim.base = own * dim.shards;
  }

  // The padding that a dilated shard needs, and where its results begin if shards differ in that.
  bool PlanDilation(int64_t d, int64_t dilated) {
    Dim& dim = dims_[d];
    const WindowDim& w = window_[d];
    const auto first_row = [&](int64_t place) {
      return dim.start.At(place) * w.base_dilation + local_[d].pad_low -
             w.stride * dim.windows * place;
    };
    int64_t high = 0, low = first_row(0);
    bool same = true;
    for (int64_t place = 0; place < dim.shards; ++place) {
      const int64_t first = first_row(place);
      high = std::max(high, dilated - (first + (dim.size - 1) * w.base_dilation + 1));
      if (place > 0) same &= first == local_[d].pad_low;
      low = std::max(low, first);
    }
    local_[d].pad_high = high;
    if (w.stride != 1) return (w.stride * dim.windows) % w.base_dilation == 0;
    if (!same) {
      Instruction* start = dim.start.Write(w_, dim.place);
      Instruction* first = PlaceFunction(w.base_dilation, local_[d].pad_low - low).Write(w_, start);
      Instruction* wanted = PlaceFunction(dim.windows, 0).Write(w_, dim.place);
      dim.result_offset = w_.Binary(Opcode::kSubtract, wanted, first);
    }
    local_[d].pad_low = low;
    return true;
  }

  WindowedShard Result(Instruction* value) {
    WindowedShard result{value, local_, {}};
    if (absl::c_all_of(dims_, [](const Dim& dim) { return dim.result_offset == nullptr; }))
      return result;
    for (const Dim& dim : dims_)
      result.offset.push_back(dim.result_offset == nullptr ? writer_.S32(0) : dim.result_offset);
    return result;
  }

  // From whole windowed dimensions: a pad and a slice.
  WindowedShard FromWhole() {
    PaddingConfig padding(rank_);
    DimVector sizes;
    std::vector<Instruction*> offsets;
    bool pads = false;
    for (int64_t d = 0; d < rank_; ++d) {
      Dim& dim = dims_[d];
      sizes.push_back(dim.size);
      offsets.push_back(dim.offset);
      if (target_.Dim(d) == 1 || (dim.is_trivial && !shard_.cut().IsReplicated())) continue;
      padding[d].low = dim.left_padding;
      padding[d].high = dim.padded - dim.left_padding - shard_.whole.dims[d];
      pads |= padding[d].low != 0 || padding[d].high != 0;
    }
    Instruction* x = pads ? w_.Pad(shard_.value, pad_, std::move(padding)) : shard_.value;
    return Result(w_.DynamicSlice(x, offsets, sizes));
  }

  // The target on the shards that are left.
  Cut Trimmed() const {
    if (!trimmed_) return target_;
    Cut cut = target_;
    for (int64_t d = 0; d < rank_; ++d) cut.tiles[d] = dims_[d].shards;
    cut.devices.clear();
    ForEachIndex(cut.tiles, [&](absl::Span<const int64_t> place) {
      DimVector at(place.begin(), place.end());
      for (int64_t d = 0; d < rank_; ++d)
        if (dims_[d].skipped_from >= 0 && at[d] >= dims_[d].skipped_from) at[d] += dims_[d].skipped;
      cut.devices.push_back(target_.At(at));
    });
    return cut;
  }

  Shape Base() const {
    Shape base = shard_.whole;
    for (int64_t d = 0; d < rank_; ++d) base.dims[d] = dims_[d].base;
    return base;
  }

  // The shard without rows that nobody needs, its padding masked where it is exchanged.
  Instruction* Prepared() {
    DimVector skipped;
    bool masks = false, cuts = false;
    SliceSpec slice;
    for (int64_t d = 0; d < rank_; ++d) {
      const Dim& dim = dims_[d];
      masks |= dim.mask_first;
      if (!dim.mask_first) skipped.push_back(d);
      slice.push_back({dim.cut_from, dim.cut_to, 1});
      cuts |= dim.cut_from != 0 || dim.cut_to != shard_.value->shape().dims[d];
    }
    Instruction* x = masks ? sharder_.PadWith(shard_, pad_, {}, skipped) : shard_.value;
    return cuts ? w_.Slice(x, std::move(slice)) : x;
  }

  std::optional<Instruction*> Exchange(Instruction* x, int64_t d, const Cut& cut) {
    const Dim& dim = dims_[d];
    const Shape base = Base();
    const int64_t own = CeilOf(base.dims[d], cut.Dim(d));
    // From the end of the shard before to the first row that is needed, and so on the right.
    const PlaceFunction left = PlaceFunction(own, dim.left_padding) - dim.start;
    const PlaceFunction right = dim.limit - PlaceFunction(own, own + dim.left_padding);
    return writer_.ExchangeValid(x, base, {left, right},
                                 {dim.left_padding, dim.padded, dim.size, dim.offset, mask_}, d,
                                 cut, pad_, dim.place, shard_.scope);
  }

  Sharder& sharder_;
  ShardWriter& writer_;
  HloWriter& w_;
  const Shard shard_;
  const Window window_;
  Window local_;  // for the shard
  const Cut target_;
  Instruction* pad_;
  const bool mask_;
  const int64_t rank_;
  std::vector<Dim> dims_;
  bool trimmed_ = false;
};

}  // namespace

std::optional<WindowedShard> Sharder::AsWindowed(const Shard& shard, const Window& window,
                                                 const Cut& target, Instruction* pad, bool mask) {
  if (!target.IsTiled()) return std::nullopt;
  return Windower(*this, shard, window, target, pad, mask).Run();
}

std::optional<WindowedShard> Sharder::ForPad(const Shard& shard, const PaddingConfig& padding,
                                             const Shape& whole, const Cut& target,
                                             Instruction* pad) {
  const bool is_zero = pad->IsConstant() && pad->literal() != nullptr &&
                       !IsComplex(pad->shape().type) &&
                       (IsFloat(pad->shape().type) ? pad->literal()->GetDouble(0) == 0
                                                   : pad->literal()->GetInt(0) == 0);
  Window window(padding.size());
  bool mask = false;
  for (size_t d = 0; d < padding.size(); ++d) {
    window[d].pad_low = padding[d].low;
    window[d].pad_high = padding[d].high;
    window[d].base_dilation = padding[d].interior + 1;
    const int64_t tiles = target.Dim(static_cast<int64_t>(d));
    const bool pads = padding[d].low > 0 || padding[d].high > 0 || whole.dims[d] % tiles != 0;
    // Partitions that nobody sends to get zeros.
    mask |= tiles > 1 && pads && (!is_zero || shard.whole.dims[d] % tiles != 0);
  }
  return AsWindowed(shard, window, target, pad, mask);
}

Instruction* Sharder::PadLocally(const WindowedShard& windowed, Instruction* pad) {
  PaddingConfig padding;
  bool pads = false;
  for (const WindowDim& w : windowed.window) {
    padding.push_back({w.pad_low, w.pad_high, w.base_dilation - 1});
    pads |= w.pad_low != 0 || w.pad_high != 0 || w.base_dilation != 1;
  }
  return pads ? w_.Pad(windowed.value, pad, std::move(padding)) : windowed.value;
}

std::optional<WindowedShard> Sharder::ForSlice(const Shard& shard, const SliceSpec& slice,
                                               const Cut& target) {
  Window window(slice.size());
  for (size_t d = 0; d < slice.size(); ++d) {
    window[d].stride = slice[d].stride;
    window[d].pad_low = -slice[d].start;
    window[d].pad_high = slice[d].limit - shard.whole.dims[d];
  }
  return AsWindowed(shard, window, target, writer_.Zero(shard.whole.type), /*mask=*/false);
}

Instruction* Sharder::SliceLocally(const WindowedShard& windowed, const SliceSpec& slice) {
  const Shape& shape = windowed.value->shape();
  SliceSpec local;
  bool slices = false;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const WindowDim& w = windowed.window[d];
    local.push_back({-w.pad_low, shape.dims[d] + w.pad_high, slice[d].stride});
    slices |= local[d].start != 0 || local[d].limit != shape.dims[d] || local[d].stride != 1;
  }
  if (!slices) return windowed.value;
  return w_.Slice(windowed.value, std::move(local));
}

std::optional<Instruction*> Sharder::PaddedOnLeft(const Shard& shard,
                                                  absl::Span<const int64_t> dims) {
  const Cut& cut = shard.cut();
  if (!cut.IsTiled()) return shard.value;
  Window window(shard.whole.rank());
  for (const int64_t d : dims) {
    const int64_t size = shard.whole.dims[d];
    window[d].pad_low = CeilOf(size, cut.Dim(d)) * cut.Dim(d) - size;
  }
  const auto windowed = AsWindowed(shard, window, cut, writer_.Zero(shard.whole.type), false);
  return windowed ? std::optional(windowed->value) : std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
