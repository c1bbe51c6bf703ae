// Padded memory from arrays, and back.
#include "types/padded_layout.h"

#include <cstring>

#include "support/status.h"

namespace hlokit {
namespace {

// Elements of padded memory; -1 where their number is no 64-bit number.
int64_t PaddedCount(const PaddedLayout& layout) {
  int64_t count = 1;
  for (int64_t size : layout.padded_dimensions)
    if (__builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

absl::Status Check(ElementType type, absl::Span<const int64_t> dims, const PaddedLayout& layout) {
  const size_t rank = dims.size();
  if (layout.padded_dimensions.size() != rank || layout.minor_to_major.size() != rank)
    return InvalidArgument("the layout has ", layout.padded_dimensions.size(),
                           " padded dimensions and ", layout.minor_to_major.size(),
                           " in its order, for an array of ", rank);
  std::vector<bool> seen(rank, false);
  for (int64_t d : layout.minor_to_major) {
    if (d < 0 || d >= static_cast<int64_t>(rank) || seen[d])
      return InvalidArgument("minor_to_major is no permutation of ", rank, " dimensions");
    seen[d] = true;
  }
  for (size_t d = 0; d < rank; ++d)
    if (layout.padded_dimensions[d] < dims[d])
      return InvalidArgument("dimension ", d, " of ", dims[d], " elements is padded to ",
                             layout.padded_dimensions[d]);
  if (!layout.padding_value.shape().IsScalar() || layout.padding_value.type() != type)
    return InvalidArgument("the padding is ", Text(layout.padding_value.shape()), ", expected ",
                           Text(type), "[]");
  if (PaddedCount(layout) < 0) return InvalidArgument("the padded array is too large");
  return absl::OkStatus();
}

// Calls fn(place in memory, place in the array) for each element.
template <typename Fn>
void ForEachPlace(absl::Span<const int64_t> dims, const PaddedLayout& layout, Fn fn) {
  DimVector strides(dims.size());
  int64_t stride = 1;
  for (int64_t d : layout.minor_to_major) {
    strides[d] = stride;
    stride *= layout.padded_dimensions[d];
  }
  int64_t place = 0;
  ForEachIndex(dims, [&](absl::Span<const int64_t> index) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
    fn(offset, place++);
  });
}

}  // namespace

absl::StatusOr<Literal> LinearizePadded(const Literal& array, const PaddedLayout& layout) {
  if (!array.shape().IsArray()) return InvalidArgument("only arrays have layouts");
  RETURN_IF_ERROR(Check(array.type(), array.shape().dims, layout));
  const int width = ByteWidth(array.type());
  const int64_t count = PaddedCount(layout);
  Literal memory = Literal::Unset(Shape::Array(array.type(), {count}));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(memory.data() + i * width, layout.padding_value.data(), width);
  ForEachPlace(array.shape().dims, layout, [&](int64_t to, int64_t from) {
    std::memcpy(memory.data() + to * width, array.data() + from * width, width);
  });
  return memory;
}

absl::StatusOr<Literal> DelinearizePadded(const Literal& memory, absl::Span<const int64_t> dims,
                                          const PaddedLayout& layout) {
  RETURN_IF_ERROR(Check(memory.type(), dims, layout));
  if (memory.element_count() != PaddedCount(layout))
    return InvalidArgument("the memory holds ", memory.element_count(), " elements, expected ",
                           PaddedCount(layout));
  const int width = ByteWidth(memory.type());
  Literal array = Literal::Unset(Shape::Array(memory.type(), dims));
  ForEachPlace(dims, layout, [&](int64_t from, int64_t to) {
    std::memcpy(array.data() + to * width, memory.data() + from * width, width);
  });
  return array;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
