// Shapes of HLO values: element type, dimensions (static, bounded, unbounded), layout, tuples.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "types/element_type.h"
#include "types/layout.h"

namespace hlokit {

using DimVector = absl::InlinedVector<int64_t, 4>;

// Size of a dimension about which nothing is known, written `?`.
inline constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::min();

// The most dimensions an array may have; the parser refuses more.
inline constexpr int kMaxRank = 64;

// An array, tuple, token, opaque or buffer shape; a value, compared field by field.
struct Shape {
  ElementType type = ElementType::kInvalid;
  bool has_layout = false;      // arrays only
  uint64_t dynamic_mask = 0;    // bit d: dimension d is dynamic (bound in dims[d], or kUnbounded)
  DimVector dims;               // arrays only; counts of elements
  Layout layout;                // meaningful where has_layout
  std::vector<Shape> elements;  // of a tuple; exactly one for a buffer

  static Shape Array(ElementType type, absl::Span<const int64_t> dims);
  static Shape Scalar(ElementType type) { return Array(type, {}); }
  // With the given minor-to-major order.
  static Shape ArrayWithLayout(ElementType type, absl::Span<const int64_t> dims,
                               absl::Span<const int64_t> minor_to_major);
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token();
  static Shape Opaque();
  static Shape Buffer(Shape of);

  bool IsArray() const { return IsArrayType(type); }
  bool IsTuple() const { return type == ElementType::kTuple; }
  bool IsToken() const { return type == ElementType::kToken; }
  bool IsScalar() const { return IsArray() && dims.empty(); }
  int rank() const { return static_cast<int>(dims.size()); }
  bool IsDynamic(int d) const { return (dynamic_mask >> d) & 1; }
  bool HasDynamicDims() const;    // anywhere, tuples included
  bool HasUnboundedDims() const;  // anywhere, tuples included
  void SetDynamic(int d, bool dynamic);

  // Number of elements at the bounds; 1 for a scalar. Saturates at INT64_MAX.
  int64_t ElementCount() const;
  // Bytes of a dense array as a Literal stores it (one byte for sub-byte types); 0 for tuples,
  // tokens.
  int64_t ByteSize() const { return ElementCount() * ByteWidth(type); }

  // This shape with the default (descending, row-major) layout on every array, or with none.
  Shape WithDefaultLayout() const;
  Shape WithoutLayout() const;
  Shape WithType(ElementType other) const;
  // Minor-to-major order: the layout's, or the default order where none is given.
  DimVector MinorToMajor() const;
  // True if the memory order is row-major (no layout counts as row-major); size-1 dims still count.
  bool IsRowMajor() const;

  bool operator==(const Shape&) const = default;
};

// Equal type and dimensions, recursively, whatever the layouts. Dynamic bits count.
bool SameIgnoringLayout(const Shape& a, const Shape& b);
// As above, but dynamic and static dimensions of one bound agree.
bool Compatible(const Shape& a, const Shape& b);
bool SameDims(const Shape& a, const Shape& b);

// HLO's text: `f32[2,<=3]{1,0}`, `(f32[], s32[2]{0})`; with_layout = false leaves layouts out.
std::string Text(const Shape& shape, bool with_layout = false);
// The same, appended (the printer's hot path).
void AppendText(std::string& out, const Shape& shape, bool with_layout);
// A layout in braces, `{1,0:T(8,128)S(1)}`; nothing for a scalar's default.
void AppendText(std::string& out, const Layout& layout);

template <typename H>
H AbslHashValue(H h, const Shape& s) {
  return H::combine(std::move(h), s.type, s.dynamic_mask, s.dims, s.elements);
}

// Position inside a tuple: {1, 0} is element 0 of element 1.
using ShapeIndex = absl::InlinedVector<int64_t, 2>;

// The arrays (and tokens) inside a shape, depth first, left to right, with their indices.
struct ShapeLeaf {
  ShapeIndex index;
  const Shape* shape;
};
std::vector<ShapeLeaf> Leaves(const Shape& shape);
// The part at `index`, or null.
const Shape* SubShape(const Shape& shape, absl::Span<const int64_t> index);

// Calls `fn(absl::Span<const int64_t>)` for each index of an array of `dims`, the last dimension
// fastest.
template <typename Fn>
void ForEachIndex(absl::Span<const int64_t> dims, Fn fn) {
  for (int64_t d : dims)
    if (d == 0) return;
  DimVector index(dims.size(), 0);
  while (true) {
    fn(absl::Span<const int64_t>(index));
    int d = static_cast<int>(dims.size()) - 1;
    while (d >= 0 && ++index[d] == dims[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

// Row-major strides, in elements, of an array of `dims`.
DimVector RowMajorStrides(absl::Span<const int64_t> dims);
// Strides, in elements, of each dimension (by dimension number) under the shape's layout; no
// tiling.
DimVector LayoutStrides(const Shape& shape);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
