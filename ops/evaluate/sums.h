// What sums of products share: their arithmetic, and arrays transposed to one order of dimensions.
#pragma once

#include <vector>

#include "ops/evaluate/strided.h"
#include "ops/evaluate/values.h"

namespace hlokit {

// Signed and unsigned products are those of uint64_t, where wrapping is defined.
inline uint64_t Times(uint64_t a, uint64_t b) { return a * b; }
inline double Times(double a, double b) { return a * b; }
// By the definition: no recovery of infinities from NaN parts.
inline Complex Times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Calls fn(T{}) with the type that sums of `type` are formed in.
template <typename Fn>
auto VisitSum(ElementType type, Fn fn) {
  if (IsComplex(type)) return fn(Complex{});
  return IsFloat(type) ? fn(double{}) : fn(uint64_t{});
}

// `values`, a dense array of `dims`, read up to `box` and laid out anew with dimension order[0]
// slowest.
template <typename T>
std::vector<T> Arrange(const std::vector<T>& values, absl::Span<const int64_t> dims,
                       absl::Span<const int64_t> box, absl::Span<const int64_t> order) {
  const DimVector sizes = Pick(box, order);
  std::vector<T> out(Product(sizes));
  if (!out.empty())
    CopyStrided(sizes, reinterpret_cast<const uint8_t*>(values.data()),
                Pick(RowMajorStrides(dims), order), reinterpret_cast<uint8_t*>(out.data()),
                RowMajorStrides(sizes), sizeof(T));
  return out;
}

// Whether sums are formed of floats although the result has none: they are converted at the end.
inline bool SumsAreConverted(const Literal& lhs, const Literal& rhs, ElementType result) {
  return !IsFloat(result) && !IsComplex(result) && (IsFloat(lhs.type()) || IsFloat(rhs.type()));
}

// Sums of floats as integers or booleans.
inline Literal ConvertSums(const Shape& shape, const std::vector<double>& sums) {
  std::vector<uint64_t> whole(sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    whole[i] = IntegerFromReal<uint64_t>(sums[i], shape.type);
  return NarrowFrom(shape, whole);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
