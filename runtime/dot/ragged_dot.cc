// Ragged dots: rows (or sums) are partitioned into groups of sizes known at run time, and each
// group meets its own slice of rhs: one dot per group. Sizes that exceed the remaining rows are
// clamped; rows of no group are zero.
#include "runtime/dot/ragged_dot.h"

#include <algorithm>

#include "runtime/context.h"

namespace hlokit {
namespace {

struct Arrays {
  const char *lhs, *rhs;
  char* out;
};

class RaggedDot {
 public:
  RaggedDot(void* ctx, const HlokitRaggedDotDesc& desc, const void* sizes)
      : ctx_(ctx), d_(desc), sizes_(sizes), dot_(CopyOf(desc.dot)) {}

  // The batch dimensions with sizes of their own, one after the other; then the groups.
  void Run(int64_t level, Arrays at) {
    if (level == d_.size_ranks) return RunGroups(at);
    const HlokitDotDim dim = d_.dot.dims[level];
    dot_.dims[level].size = 1;
    for (int64_t i = 0; i < dim.size; ++i) Run(level + 1, Moved(at, dim, i));
  }

 private:
  static HlokitDotDesc CopyOf(const HlokitDotDesc& from) {
    HlokitDotDesc to = {from.lhs_type, from.rhs_type, from.out_type, from.batch_rank,
                        from.row_rank, from.col_rank, from.sum_rank, {}};
    std::copy_n(from.dims, from.batch_rank + from.row_rank + from.col_rank + from.sum_rank,
                to.dims);
    return to;
  }

  Arrays Moved(Arrays at, const HlokitDotDim& dim, int64_t steps) const {
    at.lhs += steps * dim.lhs * ElementBytes(d_.dot.lhs_type);
    at.rhs += steps * dim.rhs * ElementBytes(d_.dot.rhs_type);
    at.out += steps * dim.out * ElementBytes(d_.dot.out_type);
    return at;
  }

  void RunGroups(const Arrays& at) {
    const HlokitDotDim dim = d_.dot.dims[d_.ragged];
    const HlokitDotDim group = {d_.groups, 0, d_.rhs_group, d_.out_group};
    int64_t start = 0;
    for (int64_t g = 0; g < d_.groups; ++g) {
      const int64_t size = NextSize(dim.size - start);
      dot_.dims[d_.ragged].size = size;
      const Arrays from = Moved(Moved(at, dim, start), group, g);
      if (size > 0) hlokit_dot(ctx_, &dot_, from.lhs, from.rhs, from.out);
      start += size;
    }
  }

  // The next size in memory, at most `most` and at least none.
  int64_t NextSize(int64_t most) {
    const int64_t i = next_++;
    switch (d_.size_type) {
      case HLOKIT_S32:
        return std::clamp<int64_t>(static_cast<const int32_t*>(sizes_)[i], 0, most);
      case HLOKIT_U32:
        return std::clamp<int64_t>(static_cast<const uint32_t*>(sizes_)[i], 0, most);
      case HLOKIT_U64:
        return static_cast<int64_t>(
            std::min<uint64_t>(static_cast<const uint64_t*>(sizes_)[i], most));
      default:
        return std::clamp<int64_t>(static_cast<const int64_t*>(sizes_)[i], 0, most);
    }
  }

  void* ctx_;
  const HlokitRaggedDotDesc& d_;
  const void* sizes_;
  HlokitDotDesc dot_;  // of one group
  int64_t next_ = 0;
};

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_ragged_dot(void* ctx, const HlokitRaggedDotDesc* desc, const void* lhs,
                                  const void* rhs, const void* sizes, void* out) {
  std::fill_n(static_cast<char*>(out), desc->out_bytes, 0);
  hlokit::RaggedDot(ctx, *desc, sizes)
      .Run(0,
           {static_cast<const char*>(lhs), static_cast<const char*>(rhs), static_cast<char*>(out)});
}
// SPDX-License-Identifier: Apache-2.0
