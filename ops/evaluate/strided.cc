// Strided copies, and small helpers on lists of dimensions.
//
// CopyRow is the inner loop of the interpreter's data movement: n elements, each side with a
// stride of its own. Contiguous rows are one memcpy; known element widths have loops that the
// compiler can unroll. Cost: linear in n.
#include "ops/evaluate/strided.h"

#include <algorithm>
#include <cstring>

namespace hlokit {
namespace {

struct Wide16 {
  uint64_t low, high;
};

template <typename T>
void CopyRow(int64_t n, const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) out[i * to_stride] = in[i * from_stride];
}

void CopyRowOf(int width, int64_t n, const uint8_t* from, int64_t from_stride, uint8_t* to,
               int64_t to_stride) {
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(to, from, n * width);
    return;
  }
  switch (width) {
    case 1:
      return CopyRow<uint8_t>(n, from, from_stride, to, to_stride);
    case 2:
      return CopyRow<uint16_t>(n, from, from_stride, to, to_stride);
    case 4:
      return CopyRow<uint32_t>(n, from, from_stride, to, to_stride);
    case 8:
      return CopyRow<uint64_t>(n, from, from_stride, to, to_stride);
    default:
      return CopyRow<Wide16>(n, from, from_stride, to, to_stride);
  }
}

}  // namespace

void CopyStrided(absl::Span<const int64_t> dims, const uint8_t* from,
                 absl::Span<const int64_t> from_strides, uint8_t* to,
                 absl::Span<const int64_t> to_strides, int width) {
  // Neighbouring dimensions that are one run in both places become one; size-1 dimensions vanish.
  DimVector size, in, out;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0) return;
    if (dims[d] == 1) continue;
    if (!size.empty() && in.back() == from_strides[d] * dims[d] &&
        out.back() == to_strides[d] * dims[d]) {
      size.back() *= dims[d];
      in.back() = from_strides[d];
      out.back() = to_strides[d];
    } else {
      size.push_back(dims[d]);
      in.push_back(from_strides[d]);
      out.push_back(to_strides[d]);
    }
  }
  if (size.empty()) {
    std::memcpy(to, from, width);
    return;
  }
  const int last = static_cast<int>(size.size()) - 1;
  DimVector index(size.size(), 0);
  while (true) {
    CopyRowOf(width, size[last], from, in[last], to, out[last]);
    int d = last - 1;
    for (; d >= 0; --d) {
      from += in[d] * width;
      to += out[d] * width;
      if (++index[d] < size[d]) break;
      from -= in[d] * size[d] * width;
      to -= out[d] * size[d] * width;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

void Fill(Literal& out, const Literal& value) {
  const DimVector zero = {0}, one = {1}, count = {out.element_count()};
  CopyStrided(count, value.data(), zero, out.data(), one, ByteWidth(out.type()));
}

std::vector<int64_t> Offsets(absl::Span<const int64_t> dims, absl::Span<const int64_t> strides) {
  std::vector<int64_t> offsets;
  offsets.reserve(Product(dims));
  ForEachIndex(dims, [&](absl::Span<const int64_t> index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    offsets.push_back(at);
  });
  return offsets;
}

DimVector Pick(absl::Span<const int64_t> values, absl::Span<const int64_t> positions) {
  DimVector picked;
  for (int64_t p : positions) picked.push_back(values[p]);
  return picked;
}

DimVector Others(int64_t rank, absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  DimVector others;
  for (int64_t d = 0; d < rank; ++d)
    if (!Contains(a, d) && !Contains(b, d)) others.push_back(d);
  return others;
}

DimVector Join(absl::Span<const int64_t> a, absl::Span<const int64_t> b,
               absl::Span<const int64_t> c) {
  DimVector all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

int64_t Product(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t d : dims) product *= d;
  return product;
}

DimVector RuntimeDims(const Literal& literal) {
  DimVector dims;
  for (int d = 0; d < literal.shape().rank(); ++d) dims.push_back(literal.dynamic_size(d));
  return dims;
}

bool HasDynamicSizes(const Literal& literal) {
  for (int d = 0; d < literal.shape().rank(); ++d)
    if (literal.dynamic_size(d) != literal.shape().dims[d]) return true;
  return false;
}

void CopyRuntimeDims(const Literal& from, Literal& to) {
  if (from.shape().rank() != to.shape().rank() || !HasDynamicSizes(from)) return;
  for (int d = 0; d < from.shape().rank(); ++d) to.set_dynamic_size(d, from.dynamic_size(d));
}

std::vector<Literal> FilledWhereSizesDiffer(absl::Span<const Literal* const> arrays,
                                            absl::Span<const Literal* const> starts) {
  std::vector<Literal> filled;
  const bool agree = std::all_of(arrays.begin(), arrays.end(), [&](const Literal* x) {
    return RuntimeDims(*x) == RuntimeDims(*arrays[0]);
  });
  if (agree) return filled;
  for (size_t k = 0; k < arrays.size(); ++k) {
    const Literal& x = *arrays[k];
    const DimVector strides = RowMajorStrides(x.shape().dims);
    filled.emplace_back(Shape::Array(x.type(), x.shape().dims));
    Fill(filled.back(), *starts[k]);
    CopyStrided(RuntimeDims(x), x.data(), strides, filled.back().data(), strides,
                ByteWidth(x.type()));
  }
  return filled;
}

int64_t LastSize(absl::Span<const Literal* const> arrays, int d) {
  for (size_t k = arrays.size(); k-- > 0;)
    if (arrays[k]->shape().IsDynamic(d)) return arrays[k]->dynamic_size(d);
  return arrays[0]->shape().dims[d];
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
