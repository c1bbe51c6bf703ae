// Dots of any layout as matrix products over index maps.
//
// Dimensions are of four kinds: batch, rows (free in lhs), columns (free in rhs), sums
// (contracted). Those of one kind are sorted by stride and merged where both sides allow it, so
// most dots become plain matrices; what cannot be merged becomes a table of offsets (index_maps.h).
//   f32[8,16,32] . f32[32,64] over 32: rows 8 * 16 merge to 128; m = 128, k = 32, n = 64
// Batches run in parallel, or one after the other where each is large enough for all threads. A
// complex product is two real ones of twice the depth (RunComplex), with real and imaginary parts
// as one more summed dimension.
#include "runtime/dot/dot.h"

#include <algorithm>
#include <span>

#include "runtime/context.h"
#include "runtime/dot/crossed_sums_internal.h"
#include "runtime/dot/finish_internal.h"
#include "runtime/dot/gemm_internal.h"
#include "runtime/dot/index_maps_internal.h"
#include "runtime/element.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

using Dims = DimList<HlokitDotDim>;

// Drops sizes of one, sorts by `key` (largest stride first) and merges neighbours that form one
// dimension everywhere.
Dims Simplified(const HlokitDotDim* dims, int64_t rank, int64_t HlokitDotDim::*key) {
  Dims sorted;
  for (const HlokitDotDim& d : std::span(dims, rank)) {
    if (d.size == 1) continue;
    sorted.push_back(d);
    for (HlokitDotDim* at = sorted.last(); at > sorted.begin() && at[-1].*key < at->*key; --at)
      std::swap(at[-1], at[0]);
  }
  Dims merged;
  for (const HlokitDotDim& d : sorted) {
    HlokitDotDim* last = merged.last();
    if (last != nullptr && last->lhs == d.lhs * d.size && last->rhs == d.rhs * d.size &&
        last->out == d.out * d.size) {
      *last = {last->size * d.size, d.lhs, d.rhs, d.out};
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

bool HasFastSum(const HlokitDotDim* dims, int64_t rank, int64_t HlokitDotDim::*side) {
  return std::any_of(dims, dims + rank,
                     [side](const HlokitDotDim& d) { return d.size > 1 && d.*side == 1; });
}

int64_t Size(const Dims& dims) {
  int64_t size = 1;
  for (const HlokitDotDim& d : dims) size *= d.size;
  return size;
}

OwnedIndexMap MapOf(const Dims& dims, int64_t HlokitDotDim::*stride, int64_t scale = 1) {
  DimList<StridedDim> list;
  for (const HlokitDotDim& d : dims) list.push_back({d.size, d.*stride * scale});
  return OwnedIndexMap({list.begin(), list.end()});
}

struct DotPlan {
  int32_t lhs_type, rhs_type, out_type;
  OwnedIndexMap lhs_rows, lhs_sums, rhs_sums, rhs_cols, out_rows, out_cols;
  Finish* finish = nullptr;  // of a dot without batches

  double Work() const {
    return static_cast<double>(out_rows.map().size) * out_cols.map().size *
           std::max<int64_t>(1, lhs_sums.map().size);
  }
  void Run(void* ctx, const char* lhs, const char* rhs, char* out,
           int64_t negate_from = INT64_MAX) const {
    GemmSource a{lhs, lhs_type, lhs_rows.map(), lhs_sums.map(), negate_from};
    GemmSource b{rhs, rhs_type, rhs_cols.map(), rhs_sums.map()};
    Gemm(ctx, a, b, {out, out_type, out_rows.map(), out_cols.map(), finish});
  }
};

void RunBatches(void* ctx, const Dims& batch, const DotPlan& plan, const HlokitDotDesc& desc,
                const char* lhs, const char* rhs, char* out, int64_t negate_from) {
  const int64_t count = Size(batch);
  if (count == 1) return plan.Run(ctx, lhs, rhs, out, negate_from);
  const OwnedIndexMap l = MapOf(batch, &HlokitDotDim::lhs, ElementBytes(desc.lhs_type));
  const OwnedIndexMap r = MapOf(batch, &HlokitDotDim::rhs, ElementBytes(desc.rhs_type));
  const OwnedIndexMap o = MapOf(batch, &HlokitDotDim::out, ElementBytes(desc.out_type));
  auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      plan.Run(ctx, lhs + OffsetAt(l.map(), i), rhs + OffsetAt(r.map(), i),
               out + OffsetAt(o.map(), i), negate_from);
    }
  };
  // Few large products run one after the other, each on all threads.
  const bool within = count < 4 * hlokit_num_threads(ctx) && plan.Work() > (1 << 22);
  if (within) return run(0, count);
  ParallelFor(ctx, count,
              std::max<int64_t>(1, static_cast<int64_t>((1 << 16) / (plan.Work() + 64))), run);
}

// A complex product is two real ones of twice the depth: re = [re -im][re; im], im = [re im][im;
// re].
void RunComplex(void* ctx, const Dims& batch, DotPlan plan, const Dims& sums,
                const HlokitDotDesc& desc, const char* lhs, const char* rhs, char* out) {
  const int32_t part = desc.out_type == HLOKIT_C64 ? HLOKIT_F32 : HLOKIT_F64;
  const int64_t bytes = ElementBytes(part);
  plan.lhs_type = plan.rhs_type = plan.out_type = part;
  auto with_parts = [&](int64_t HlokitDotDim::*stride, int64_t part_stride) {
    DimList<StridedDim> list;
    list.push_back({2, part_stride});
    for (const HlokitDotDim& d : sums) list.push_back({d.size, 2 * (d.*stride)});
    return OwnedIndexMap({list.begin(), list.end()});
  };
  const int64_t depth = Size(sums);
  plan.lhs_sums = with_parts(&HlokitDotDim::lhs, 1);
  plan.rhs_sums = with_parts(&HlokitDotDim::rhs, 1);
  RunBatches(ctx, batch, plan, desc, lhs, rhs, out, depth);
  plan.rhs_sums = with_parts(&HlokitDotDim::rhs, -1);
  RunBatches(ctx, batch, plan, desc, lhs, rhs + bytes, out + bytes, INT64_MAX);
}

void DotAndFinish(void* ctx, const HlokitDotDesc& desc, const char* lhs, const char* rhs, char* out,
                  Finish* finish) {
  const HlokitDotDim* dims = desc.dims;
  const Dims batch = Simplified(dims, desc.batch_rank, &HlokitDotDim::out);
  const Dims rows = Simplified(dims += desc.batch_rank, desc.row_rank, &HlokitDotDim::out);
  const Dims cols = Simplified(dims += desc.row_rank, desc.col_rank, &HlokitDotDim::out);
  const HlokitDotDim* all_sums = dims += desc.col_rank;
  const bool by_rhs = HasFastSum(all_sums, desc.sum_rank, &HlokitDotDim::rhs) &&
                      !HasFastSum(all_sums, desc.sum_rank, &HlokitDotDim::lhs);
  const Dims sums =
      Simplified(all_sums, desc.sum_rank, by_rhs ? &HlokitDotDim::rhs : &HlokitDotDim::lhs);
  const bool complex = IsComplexType(desc.out_type);
  const int64_t scale = complex ? 2 : 1;
  DotPlan plan{static_cast<int32_t>(desc.lhs_type),    static_cast<int32_t>(desc.rhs_type),
               static_cast<int32_t>(desc.out_type),    MapOf(rows, &HlokitDotDim::lhs, scale),
               MapOf(sums, &HlokitDotDim::lhs, scale), MapOf(sums, &HlokitDotDim::rhs, scale),
               MapOf(cols, &HlokitDotDim::rhs, scale), MapOf(rows, &HlokitDotDim::out, scale),
               MapOf(cols, &HlokitDotDim::out, scale)};
  if (Size(batch) == 0) return;
  if (Size(batch) == 1) plan.finish = finish;
  if (!complex) return RunBatches(ctx, batch, plan, desc, lhs, rhs, out, INT64_MAX);
  if (desc.lhs_type != desc.out_type || desc.rhs_type != desc.out_type) {
    return hlokit_set_error(ctx, "a complex dot needs one element type");
  }
  RunComplex(ctx, batch, plan, sums, desc, lhs, rhs, out);
}

void Dot(void* ctx, const HlokitDotDesc& desc, const char* lhs, const char* rhs, char* out) {
  DotAndFinish(ctx, desc, lhs, rhs, out, nullptr);
}

}  // namespace

void RunDot(void* ctx, const HlokitDotDesc& desc, const void* lhs, const void* rhs, void* out,
            Finish* finish) {
  if (desc.batch_rank + desc.row_rank + desc.col_rank + desc.sum_rank > HLOKIT_MAX_DOT_DIMS) {
    return hlokit_set_error(ctx, "a dot has too many dimensions");
  }
  if (out == nullptr) return;  // no elements
  const char *left = BytesOf(lhs), *right = BytesOf(rhs);
  auto* to = static_cast<char*>(out);
  if (HasCrossedSums(desc) && RunUncrossed(ctx, desc, left, right, to, Dot)) return;
  DotAndFinish(ctx, desc, left, right, to, finish);
}

}  // namespace hlokit

extern "C" void hlokit_dot(void* ctx, const HlokitDotDesc* desc, const void* lhs, const void* rhs,
                           void* out) {
  hlokit::RunDot(ctx, *desc, lhs, rhs, out, nullptr);
}

extern "C" void hlokit_finished_dot(void* ctx, const HlokitDotDesc* desc,
                                    const HlokitFinishDesc* finish, const void* lhs,
                                    const void* rhs, const void* bias, const void* residual,
                                    void* out) {
  hlokit::Finish how = hlokit::FinishOf(*finish, bias, residual, out);
  hlokit::RunDot(ctx, *desc, lhs, rhs, out, &how);
  hlokit::FinishAll(ctx, *finish, how, out);
}

extern "C" void hlokit_dot_then(void* ctx, const HlokitDotDesc* desc,
                                const HlokitFinishDesc* finish, const void* lhs, const void* rhs,
                                HlokitFinishFunction function, void* const* arrays, void* out) {
  hlokit::Finish how = hlokit::FinishOf(function, arrays);
  hlokit::RunDot(ctx, *desc, lhs, rhs, out, &how);
  hlokit::FinishAll(ctx, *finish, how, out);
}
// SPDX-License-Identifier: Apache-2.0
