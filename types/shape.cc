// Shape construction, comparison, sizes and walks.
//
// Sizes saturate at the largest int64, so that a shape that no memory holds is compared without
// overflow. Layouts are minor-to-major: {1,0} of f32[2,3] is row-major, strides {3, 1} elements.
#include "types/shape.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hlokit {

Shape Shape::Array(ElementType type, absl::Span<const int64_t> dims) {
  Shape s;
  s.type = type;
  s.dims.assign(dims.begin(), dims.end());
  for (size_t d = 0; d < dims.size() && d < kMaxRank; ++d)
    if (dims[d] == kUnbounded) s.SetDynamic(static_cast<int>(d), true);
  return s;
}

Shape Shape::ArrayWithLayout(ElementType type, absl::Span<const int64_t> dims,
                             absl::Span<const int64_t> minor_to_major) {
  Shape s = Array(type, dims);
  s.has_layout = true;
  s.layout.minor_to_major.assign(minor_to_major.begin(), minor_to_major.end());
  return s;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape s;
  s.type = ElementType::kTuple;
  s.elements = std::move(elements);
  return s;
}

Shape Shape::Token() {
  Shape s;
  s.type = ElementType::kToken;
  return s;
}

Shape Shape::Opaque() {
  Shape s;
  s.type = ElementType::kOpaque;
  return s;
}

Shape Shape::Buffer(Shape of) {
  Shape s;
  s.type = ElementType::kBuffer;
  s.elements.push_back(std::move(of));
  return s;
}

bool Shape::HasDynamicDims() const {
  if (dynamic_mask != 0) return true;
  for (const Shape& e : elements)
    if (e.HasDynamicDims()) return true;
  return false;
}

bool Shape::HasUnboundedDims() const {
  for (int64_t d : dims)
    if (d == kUnbounded) return true;
  for (const Shape& e : elements)
    if (e.HasUnboundedDims()) return true;
  return false;
}

// One bit a dimension.
void Shape::SetDynamic(int d, bool dynamic) {
  const uint64_t bit = uint64_t{1} << d;
  dynamic_mask = dynamic ? dynamic_mask | bit : dynamic_mask & ~bit;
}

// The product of the dimensions, the largest int64 where it overflows; 0 where any dimension is 0.
int64_t Shape::ElementCount() const {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t d : dims) {
    if (d == 0) return 0;
    overflow |= d < 0 || __builtin_mul_overflow(count, d, &count);
  }
  return overflow ? std::numeric_limits<int64_t>::max() : count;
}

namespace {

// In place, so that a tuple's parts are copied once and not once for each level above them.
void SetDefaultLayouts(Shape& shape) {
  if (shape.IsArray()) {
    shape.has_layout = true;
    shape.layout = Layout::Default(shape.rank());
  }
  for (Shape& element : shape.elements) SetDefaultLayouts(element);
}

void DropLayouts(Shape& shape) {
  shape.has_layout = false;
  shape.layout = Layout();
  for (Shape& element : shape.elements) DropLayouts(element);
}

}  // namespace

// Of the layout, but it compares shapes.
bool LayoutExtras::operator==(const LayoutExtras& o) const {
  const bool same_physical =
      physical == o.physical || (physical && o.physical && *physical == *o.physical);
  return same_physical && tiles == o.tiles && tail_padding_alignment == o.tail_padding_alignment &&
         index_type == o.index_type && pointer_type == o.pointer_type &&
         element_size_in_bits == o.element_size_in_bits && memory_space == o.memory_space &&
         splits == o.splits && dynamic_metadata_bytes == o.dynamic_metadata_bytes &&
         dim_levels == o.dim_levels;
}

Shape Shape::WithDefaultLayout() const {
  Shape s = *this;
  SetDefaultLayouts(s);
  return s;
}

Shape Shape::WithoutLayout() const {
  Shape s = *this;
  DropLayouts(s);
  return s;
}

Shape Shape::WithType(ElementType other) const {
  Shape s = *this;
  s.type = other;
  return s;
}

DimVector Shape::MinorToMajor() const {
  if (has_layout && static_cast<int>(layout.minor_to_major.size()) == rank())
    return DimVector(layout.minor_to_major.begin(), layout.minor_to_major.end());
  DimVector order(dims.size());
  for (int i = 0; i < rank(); ++i) order[i] = rank() - 1 - i;
  return order;
}

bool Shape::IsRowMajor() const { return !has_layout || layout.IsDefaultOrder(); }

namespace {

template <typename SameLeaf>
bool SameTree(const Shape& a, const Shape& b, SameLeaf same_leaf) {
  if (a.type != b.type || a.elements.size() != b.elements.size() || !same_leaf(a, b)) return false;
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!SameTree(a.elements[i], b.elements[i], same_leaf)) return false;
  return true;
}

void AppendLeaves(const Shape& shape, ShapeIndex& index, std::vector<ShapeLeaf>& out) {
  if (!shape.IsTuple()) {
    out.push_back({index, &shape});
    return;
  }
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    AppendLeaves(shape.elements[i], index, out);
    index.pop_back();
  }
}

}  // namespace

bool SameIgnoringLayout(const Shape& a, const Shape& b) {
  return SameTree(a, b, [](const Shape& x, const Shape& y) {
    return x.dims == y.dims && x.dynamic_mask == y.dynamic_mask;
  });
}

// The same but for layouts, dynamic marks and unbounded dimensions.
bool Compatible(const Shape& a, const Shape& b) {
  return SameTree(a, b, [](const Shape& x, const Shape& y) { return SameDims(x, y); });
}

bool SameDims(const Shape& a, const Shape& b) {
  if (a.dims.size() != b.dims.size()) return false;
  for (size_t d = 0; d < a.dims.size(); ++d)
    if (a.dims[d] != b.dims[d] && a.dims[d] != kUnbounded && b.dims[d] != kUnbounded) return false;
  return true;
}

std::vector<ShapeLeaf> Leaves(const Shape& shape) {
  std::vector<ShapeLeaf> out;
  ShapeIndex index;
  AppendLeaves(shape, index, out);
  return out;
}

// Null where the index names no part.
const Shape* SubShape(const Shape& shape, absl::Span<const int64_t> index) {
  const Shape* at = &shape;
  for (int64_t i : index) {
    if (i < 0 || i >= static_cast<int64_t>(at->elements.size())) return nullptr;
    at = &at->elements[i];
  }
  return at;
}

// In elements: {12, 4, 1} for dimensions {2, 3, 4}.
DimVector RowMajorStrides(absl::Span<const int64_t> dims) {
  DimVector strides(dims.size());
  int64_t stride = 1;
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

// In elements: {1, 2, 6} for dimensions {2, 3, 4} in the layout {0, 1, 2}.
DimVector LayoutStrides(const Shape& shape) {
  DimVector strides(shape.dims.size());
  int64_t stride = 1;
  for (int64_t d : shape.MinorToMajor()) {
    strides[d] = stride;
    stride *= shape.dims[d];
  }
  return strides;
}

std::string Text(const Shape& shape, bool with_layout) {
  std::string out;
  AppendText(out, shape, with_layout);
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
