// The k largest of each row: keeps a short list of candidates below a falling threshold.
#include <algorithm>

#include "runtime/context.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"
#include "runtime/sort/sort.h"
#include "runtime/sort/sort_keys_internal.h"

namespace hlokit {
namespace {

// Collects entries and keeps the k least of those seen.
template <typename Entry>
class Least {
 public:
  Least(Entry* scratch, int64_t capacity, int64_t k)
      : scratch_(scratch), capacity_(capacity), k_(k) {}

  void Add(const Entry& entry) {
    if (bounded_ && !(entry < bound_)) return;
    scratch_[count_++] = entry;
    if (count_ == capacity_) Shrink();
  }
  // The k least, sorted.
  const Entry* Finish() {
    if (count_ > k_) Shrink();
    SortAscending(scratch_, count_);
    return scratch_;
  }

 private:
  void Shrink() {
    std::nth_element(scratch_, scratch_ + (k_ - 1), scratch_ + count_);
    count_ = k_;
    bound_ = scratch_[k_ - 1];
    bounded_ = true;
  }

  Entry* scratch_;
  int64_t capacity_, k_;
  int64_t count_ = 0;
  Entry bound_ = {};
  bool bounded_ = false;
};

template <typename Codec>
void TopK(void* ctx, const HlokitTopKDesc& d, const void* from_data, void* values_data,
          int32_t* indices) {
  using U = typename Codec::Bits;
  using Entry = EntryOf<U>;
  const U flip = d.smallest ? U{0} : static_cast<U>(~U{0});
  const int64_t capacity = std::min(d.length, 2 * d.k + 64) + 1;
  ParallelFor(ctx, d.rows, std::max<int64_t>(1, 8192 / d.length), [&](int64_t begin, int64_t end) {
    Scratch scratch(capacity * sizeof(Entry));
    if (scratch.data() == nullptr) return hlokit_set_error(ctx, "out of memory in top-k");
    for (int64_t r = begin; r < end; ++r) {
      const U* from = static_cast<const U*>(from_data) + r * d.length;
      Least<Entry> least(scratch.as<Entry>(), capacity, d.k);
      for (int64_t i = 0; i < d.length; ++i)
        least.Add(MakeEntry<U>(Codec::Encode(from[i]) ^ flip, i));
      const Entry* found = least.Finish();
      for (int64_t i = 0; i < d.k; ++i) {
        const int64_t index = IndexOf(found[i]);
        static_cast<U*>(values_data)[r * d.k + i] = from[index];
        indices[r * d.k + i] = static_cast<int32_t>(index);
      }
    }
  });
}

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_topk(void* ctx, const HlokitTopKDesc* desc, const void* from, void* values,
                            int32_t* indices) {
  if (desc->k > desc->length)
    return hlokit_set_error(ctx, "top-k asks for more elements than a row has");
  if (desc->k <= 0 || desc->rows <= 0) return;
  const bool known = hlokit::VisitKeyCodec(desc->type, [&](auto codec) {
    hlokit::TopK<decltype(codec)>(ctx, *desc, from, values, indices);
  });
  if (!known)
    hlokit::SetKernelError(ctx, "element type %d has no order to rank by",
                           static_cast<int>(desc->type));
}
// SPDX-License-Identifier: Apache-2.0
