// Values of bounded arrays, which say how many of their elements there are: `(2) {1, 2}` of
// f32[<=3].
#include <cstring>

#include "absl/types/span.h"
#include "parser/literals_internal.h"
#include "support/limits.h"

namespace hlokit {
namespace {

bool ReadSizes(Reader& r, const Shape& shape, DimVector& sizes) {
  const char* const at = r.Here();
  const bool read = r.List('(', ')', [&] {
    const auto d = static_cast<int>(sizes.size());
    const char* const here = r.Here();
    if (!r.Int(sizes.emplace_back())) return false;
    if (d >= shape.rank()) return true;  // reported below
    const int64_t least = shape.IsDynamic(d) ? 0 : shape.dims[d];
    if (sizes[d] >= least && sizes[d] <= shape.dims[d]) return true;
    return r.Error(here, "dimension ", d, " of ", Text(shape), " cannot have the size ", sizes[d]);
  });
  if (!read || static_cast<int>(sizes.size()) == shape.rank()) return read;
  return r.Error(at, "expected ", shape.rank(), " sizes, found ", sizes.size());
}

// Puts `small` where the indices of both are the same.
void FillCorner(const Literal& small, Literal& large) {
  const DimVector& sizes = small.shape().dims;
  const DimVector from = RowMajorStrides(sizes), to = RowMajorStrides(large.shape().dims);
  const int width = ByteWidth(small.type());
  const size_t row = sizes.back() * width;
  ForEachIndex(absl::MakeSpan(sizes).first(sizes.size() - 1), [&](absl::Span<const int64_t> index) {
    int64_t read = 0, write = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      read += index[d] * from[d];
      write += index[d] * to[d];
    }
    std::memcpy(large.data() + write * width, small.data() + read * width, row);
  });
}

}  // namespace

bool StartsWithSizes(Reader& r) {
  const char* const start = r.Here();
  absl::string_view group;
  if (r.Peek() != '(' || !r.Balanced(group)) return false;
  const bool sizes = r.Peek() == '{';
  r.MoveTo(start);
  return sizes;
}

bool ReadBoundedArray(Reader& r, const Shape& shape, Literal& literal, LiteralForms& forms) {
  const char* const at = r.Here();
  DimVector sizes;
  if (!ReadSizes(r, shape, sizes)) return false;
  Literal small;
  if (!ReadLiteral(r, Shape::Array(shape.type, sizes), small, forms)) return false;
  if (forms.elided) return true;
  if (shape.ByteSize() > kMaxLiteralBytes)
    return r.Error(at, "an array of ", Text(shape), " is above the limit of ",
                   kMaxLiteralBytes >> 30, " GiB");
  if (!r.Fill(shape.ByteSize())) return false;
  literal = Literal(shape);
  FillCorner(small, literal);
  for (int d = 0; d < shape.rank(); ++d) literal.set_dynamic_size(d, sizes[d]);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
