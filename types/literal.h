// Literals: values of any shape on the host.
#pragma once

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "types/shape.h"

namespace hlokit {

// An array or tuple value. Array elements lie densely in row-major order of the logical dimensions,
// whatever layout the shape names (the layout is carried along as a mark; compiled programs convert
// at their edge). pred takes one byte (0 or 1); sub-byte types take one byte an element, sign- or
// zero-extended; f8 and f4 types one byte holding the bit pattern; complex numbers are (real,
// imaginary) pairs. A dimension that is dynamic has its run-time size in dynamic_size(d); elements
// beyond it are unspecified.
class Literal {
 public:
  Literal() = default;  // holds nothing; shape() is invalid
  // Zeros (and empty tuples of zeros). The caller has checked that the size can be allocated.
  explicit Literal(Shape shape) : Literal(std::move(shape), /*zeroed=*/true) {}
  // An array (or tuple of arrays) whose elements the caller is about to write.
  static Literal Unset(Shape shape) { return Literal(std::move(shape), /*zeroed=*/false); }
  // An array whose elements are `bytes`, as many as they need, which live as long as `owner`. They
  // are copied when an element is first asked for, by whichever thread does: an array that nobody
  // looks into, such as a weight in a mapped file, costs neither time nor memory.
  static Literal Deferred(Shape shape, const uint8_t* bytes, std::shared_ptr<const void> owner);
  static Literal Tuple(std::vector<Literal> elements);
  static Literal Token();
  Literal(const Literal& other);
  Literal& operator=(const Literal& other);
  Literal(Literal&&) = default;
  Literal& operator=(Literal&&) = default;
  ~Literal() = default;

  // Scalars and rank-1 arrays of native types (bool, intN_t, uintN_t, float, double, std::complex).
  template <typename T>
  static Literal R0(T value);
  template <typename T>
  static Literal R1(absl::Span<const T> values);

  const Shape& shape() const { return shape_; }
  // Replaces the mark only (layout, dynamic bits); type and dimensions must agree.
  void set_shape(Shape shape) { shape_ = std::move(shape); }
  ElementType type() const { return shape_.type; }
  int64_t element_count() const { return count_; }

  uint8_t* data() {
    if (deferred_) Settle();
    return data_.get();
  }
  const uint8_t* data() const { return deferred_ ? DeferredData() : data_.get(); }
  int64_t byte_size() const { return count_ * ByteWidth(shape_.type); }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

  std::vector<Literal>& elements() { return elements_; }
  const std::vector<Literal>& elements() const { return elements_; }
  Literal& at(absl::Span<const int64_t> index);
  const Literal& at(absl::Span<const int64_t> index) const;

  // Run-time size of dimension d: what was set, else the bound.
  int64_t dynamic_size(int d) const;
  void set_dynamic_size(int d, int64_t size);

  // Element i (row-major) widened: floats to double, pred and integers to (u)int64 bits.
  double GetDouble(int64_t i) const;                 // any real type
  int64_t GetInt(int64_t i) const;                   // pred and integers; u64 keeps its bits
  std::complex<double> GetComplex(int64_t i) const;  // any type
  // Stores rounded to nearest even (floats) or truncated to the width (integers).
  void SetDouble(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);
  void SetComplex(int64_t i, std::complex<double> value);

  // Row-major linear index of `index`.
  int64_t LinearIndex(absl::Span<const int64_t> index) const;

  // Same shape (layout ignored) and the same bits.
  bool operator==(const Literal& other) const;

 private:
  Literal(Shape shape, bool zeroed);
  struct Free {
    Free() : before(0) {}
    explicit Free(size_t bytes_before) : before(bytes_before) {}
    size_t before;  // bytes of the allocation that lie before the block
    void operator()(uint8_t* block) const { std::free(block - before); }
  };
  using Block = std::unique_ptr<uint8_t[], Free>;  // 64-byte aligned
  struct DeferredBytes;
  static Block Allocate(int64_t bytes, bool zeroed);
  static Block CopyOf(const uint8_t* bytes, int64_t size);
  const uint8_t* DeferredData() const;
  void Settle();  // a deferred array becomes one of its own

  Shape shape_;
  int64_t count_ = 0;
  Block data_;
  std::shared_ptr<DeferredBytes> deferred_;  // instead of data_; copies share it
  std::vector<Literal> elements_;
  DimVector dynamic_sizes_;  // empty: all at their bounds
};

// The element type that holds the native type T.
template <typename T>
constexpr ElementType NativeType();
template <>
constexpr ElementType NativeType<bool>() {
  return ElementType::kPred;
}
template <>
constexpr ElementType NativeType<int8_t>() {
  return ElementType::kS8;
}
template <>
constexpr ElementType NativeType<int16_t>() {
  return ElementType::kS16;
}
template <>
constexpr ElementType NativeType<int32_t>() {
  return ElementType::kS32;
}
template <>
constexpr ElementType NativeType<int64_t>() {
  return ElementType::kS64;
}
template <>
constexpr ElementType NativeType<uint8_t>() {
  return ElementType::kU8;
}
template <>
constexpr ElementType NativeType<uint16_t>() {
  return ElementType::kU16;
}
template <>
constexpr ElementType NativeType<uint32_t>() {
  return ElementType::kU32;
}
template <>
constexpr ElementType NativeType<uint64_t>() {
  return ElementType::kU64;
}
template <>
constexpr ElementType NativeType<float>() {
  return ElementType::kF32;
}
template <>
constexpr ElementType NativeType<double>() {
  return ElementType::kF64;
}
template <>
constexpr ElementType NativeType<std::complex<float>>() {
  return ElementType::kC64;
}
template <>
constexpr ElementType NativeType<std::complex<double>>() {
  return ElementType::kC128;
}

template <typename T>
Literal Literal::R0(T value) {
  Literal literal(Shape::Scalar(NativeType<T>()));
  *literal.as<T>() = value;
  return literal;
}

template <typename T>
Literal Literal::R1(absl::Span<const T> values) {
  Literal literal(Shape::Array(NativeType<T>(), {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) literal.as<T>()[i] = values[i];
  return literal;
}

// Copies of the elements in the memory order of `shape`'s layout (tiling ignored), and back.
void ToLayout(const Literal& literal, const Shape& shape, uint8_t* out);
void FromLayout(const uint8_t* in, const Shape& shape, Literal& out);
// FromLayout into plain memory.
void CopyFromLayout(const uint8_t* in, const Shape& shape, uint8_t* out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
