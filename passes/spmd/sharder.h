// Shards of arrays, and how they come from one cut to another.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "passes/spmd/shard_writer.h"
#include "types/shape_leaves.h"

namespace hlokit {

// What each partition holds of an array, or of each array of a tuple.
struct Shard {
  Instruction* value = nullptr;
  Shape whole;
  std::vector<Cut> cuts;  // one, or those of the leaves of a tuple
  DeviceScope* scope = nullptr;
  const Cut& cut() const { return cuts[0]; }
  bool IsArray() const { return whole.IsArray(); }
};

// An operand of a windowed operation, ready to be computed on.
struct WindowedShard {
  Instruction* value;
  Window window;                     // for the shard
  std::vector<Instruction*> offset;  // of the result in what is computed; empty: it is the result
};

// The size of dimension d with the padding of an uneven cut.
int64_t PaddedSize(const Shape& whole, const Cut& cut, int64_t d);

class Sharder {
 public:
  explicit Sharder(ShardWriter& writer) : writer_(writer), w_(writer.w()) {}
  ShardWriter& writer() { return writer_; }

  Shard Array(Instruction* value, const Shape& whole, const Cut& cut, DeviceScope* scope) {
    return {value, whole, {cut}, scope};
  }
  // The array under another cut; of a tuple all leaves under the cuts given, or all under one.
  Shard To(const Shard& shard, const Cut& target);
  Shard To(const Shard& shard, const std::vector<Cut>& targets);
  // The same, but nothing where all of the array would be on each device on the way.
  std::optional<Shard> ToInParts(const Shard& shard, const Cut& target) {
    const Shard made = Reshard(shard, target, /*may_replicate=*/false);
    return made.cut() == target ? std::optional(made) : std::nullopt;
  }
  // That two shards are the same array under two cuts.
  void Know(const Shard& shard, const Shard& other) {
    known_[{shard.value, shard.scope}].push_back(other);
    known_[{other.value, other.scope}].push_back(shard);
  }
  Shard Replicated(const Shard& shard) { return To(shard, Cut()); }
  Instruction* Whole(const Shard& shard) { return Replicated(shard).value; }

  // Rows that are padding of an uneven cut become `pad`: behind the array, or before it along
  // `left_padded`; not along `skipped`.
  Instruction* PadWith(const Shard& shard, Instruction* pad,
                       absl::Span<const int64_t> left_padded = {},
                       absl::Span<const int64_t> skipped = {});
  // The shards that a window needs to compute its part of a result under `target`; nothing where
  // they cannot be had.
  std::optional<WindowedShard> AsWindowed(const Shard& shard, const Window& window,
                                          const Cut& target, Instruction* pad, bool mask = true);
  // What a pad to `whole`, or a slice of it, leaves on each partition under `target`.
  std::optional<WindowedShard> ForPad(const Shard& shard, const PaddingConfig& padding,
                                      const Shape& whole, const Cut& target, Instruction* pad);
  Instruction* PadLocally(const WindowedShard& windowed, Instruction* pad);
  std::optional<WindowedShard> ForSlice(const Shard& shard, const SliceSpec& slice,
                                        const Cut& target);
  Instruction* SliceLocally(const WindowedShard& windowed, const SliceSpec& slice);
  // Padding of an uneven cut before the array along `dims` instead of behind it.
  std::optional<Instruction*> PaddedOnLeft(const Shard& shard, absl::Span<const int64_t> dims);
  // Copies along `dims`: a select and a sum of single rows, an all-gather of more.
  Instruction* MakeWhole(const Shard& shard, absl::Span<const int64_t> dims);

 private:
  Shard Reshard(const Shard& shard, const Cut& target, bool may_replicate);
  Shard Unreduced(const Shard& shard, const Cut& target);
  Shard FromReplicated(const Shard& shard, const Cut& target);
  Shard FromDevice(const Shard& shard);
  Shard ByPermute(const Shard& shard, const Cut& target);
  std::optional<Shard> ByAllToAll(Shard shard, const Cut& target);
  Shard SwapSeveral(const Shard& shard, const Cut& target,
                    std::vector<std::pair<int64_t, int64_t>> dims);
  Shard SwapDims(const Shard& shard, const Cut& target, int64_t source, int64_t goal);
  std::optional<Shard> ToCopies(const Shard& shard, const Cut& target);
  std::optional<Shard> FromCopies(const Shard& shard, const Cut& target);
  std::optional<Shard> CopiesByAllToAll(const Shard& shard, const Cut& target);
  std::optional<Shard> InSteps(const Shard& shard, const Cut& target);
  std::optional<Shard> BySplitDim(const Shard& shard, const Cut& target);
  std::optional<Shard> BySplitSource(const Shard& shard, const Cut& target);
  std::optional<Shard> WithoutMinorTiles(const Shard& shard, const Cut& target, int64_t d);
  std::optional<Shard> InGroupsAlike(const Shard& shard, const Cut& target);
  Instruction* ForFewerTiles(const Shard& shard, const Cut& from, const Cut& to,
                             absl::Span<const int64_t> dims);
  Instruction* ForMoreTiles(const Shard& shard, const Cut& to, absl::Span<const int64_t> dims);

  ShardWriter& writer_;
  HloWriter& w_;
  std::map<std::pair<Instruction*, const DeviceScope*>, std::vector<Shard>>
      known_;  // other cuts of it
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
