// Parameters, constants and iota.
//
// Native types: bool is pred, intN_t and uintN_t are sN and uN, float f32, double f64, and
// std::complex of these c64 and c128. Source: XLA Operation Semantics and the oldest builder.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "builder/array.h"
#include "builder/xla_op.h"
#include "types/literal.h"

namespace hlokit {

// Parameter `number` of the computation; numbers begin at 0 and have no gaps once it is built.
// `replicated` says of each array in it whether all replicas get the same value. Layouts in `shape`
// are kept. Errors: InvalidArgument for a negative number, or one that is taken.
XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name,
                const std::vector<bool>& replicated = {}, Where where = Where::current());

// A value of any shape; a tuple's parts are constants of their own.
XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal, Where where = Where::current());

// The literal of an array's values, row by row. Precondition: as many values as the sizes say.
template <typename T>
Literal ArrayLiteral(DimSpan sizes, absl::Span<const T> values) {
  Literal literal = Literal::Unset(Shape::Array(NativeType<T>(), sizes));
  std::copy(values.begin(), values.end(), literal.as<T>());
  return literal;
}
template <typename T, int kRank>
Literal ArrayLiteral(const HostArray<T, kRank>& array) {
  Literal literal = Literal::Unset(Shape::Array(NativeType<T>(), array.sizes()));
  std::copy(array.values().begin(), array.values().end(), literal.template as<T>());
  return literal;
}

// Rows of values, as braces in the text of a program have them.
template <typename T>
using NestedList = std::initializer_list<std::initializer_list<T>>;

// Rows of one length. Precondition: they are.
template <typename T>
Array2D<T> MakeArray2D(NestedList<T> rows) {
  Array2D<T> array({static_cast<int64_t>(rows.size()),
                    rows.size() == 0 ? 0 : static_cast<int64_t>(rows.begin()->size())});
  size_t next = 0;
  for (const auto& row : rows)
    for (const T& value : row) array.values().at(next++) = value;
  return array;
}

// A scalar.
template <typename T>
XlaOp ConstantR0(XlaBuilder* builder, T value, Where where = Where::current()) {
  return ConstantLiteral(builder, Literal::R0<T>(value), where);
}
// A vector: of values, or of `length` times one value.
template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, absl::Span<const T> values, Where where = Where::current()) {
  return ConstantLiteral(builder, Literal::R1<T>(values), where);
}
template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, int64_t length, T value, Where where = Where::current());
// A matrix of rows, or of an array.
template <typename T>
XlaOp ConstantR2(XlaBuilder* builder, NestedList<T> rows, Where where = Where::current()) {
  return ConstantLiteral(builder, ArrayLiteral(MakeArray2D<T>(rows)), where);
}
template <typename T>
XlaOp ConstantR2FromArray2D(XlaBuilder* builder, const Array2D<T>& values,
                            Where where = Where::current()) {
  return ConstantLiteral(builder, ArrayLiteral(values), where);
}
template <typename T>
XlaOp ConstantR3FromArray3D(XlaBuilder* builder, const Array3D<T>& values,
                            Where where = Where::current()) {
  return ConstantLiteral(builder, ArrayLiteral(values), where);
}
template <typename T>
XlaOp ConstantR4FromArray4D(XlaBuilder* builder, const Array4D<T>& values,
                            Where where = Where::current()) {
  return ConstantLiteral(builder, ArrayLiteral(values), where);
}

// The lowest and the highest value of a type, as scalars: infinities of floats that have them,
// whole numbers' bounds, false and true. Complex types have no bounds: errors in the builder, and
// not to be asked of the literals.
Literal MinValueLiteral(ElementType type);
Literal MaxValueLiteral(ElementType type);
XlaOp ScalarLike(XlaBuilder* builder, ElementType type, double value,
                 Where where = Where::current());
XlaOp MinValue(XlaBuilder* builder, ElementType type, Where where = Where::current());
XlaOp MaxValue(XlaBuilder* builder, ElementType type, Where where = Where::current());
XlaOp Zero(XlaBuilder* builder, ElementType type, Where where = Where::current());
XlaOp One(XlaBuilder* builder, ElementType type, Where where = Where::current());

// 0, 1, 2, ... along `iota_dimension`, repeated over the others; or a vector of `size` of them.
// Errors: iota-c2, iota-c3.
XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension,
           Where where = Where::current());
XlaOp Iota(XlaBuilder* builder, ElementType type, int64_t size, Where where = Where::current());

// `value` repeated: what ConstantR1(length, value) does.
XlaOp RepeatedConstant(XlaBuilder* builder, int64_t length, const Literal& value,
                       const Where& where);

template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, int64_t length, T value, Where where) {
  return RepeatedConstant(builder, length, Literal::R0<T>(value), where);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
