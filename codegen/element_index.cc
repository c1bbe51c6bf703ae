// Index arithmetic. An index is a position in memory order (linear), one value per dimension
// (multi), or both; each is computed from the other only where it is needed, since divisions are
// slow.
//   f32[8,16]: linear 37 -> multi (37 / 16, 37 % 16) = (2, 5)
// Reshapes map groups of dimensions with equal products onto each other: [6,4] -> [2,3,4] splits
// only the first dimension and keeps the index of the last.
#include "codegen/element_index.h"

#include "analysis/in_place.h"

namespace hlokit {
namespace {

bool IsZero(llvm::Value* v) {
  const auto* c = llvm::dyn_cast<llvm::ConstantInt>(v);
  return c != nullptr && c->isZero();
}

llvm::Value* AddIndex(Builder& b, llvm::Value* x, llvm::Value* y) {
  if (IsZero(x)) return y;
  if (IsZero(y)) return x;
  return b.CreateNSWAdd(x, y);
}

}  // namespace

std::vector<llvm::Value*> ConstantIndex(Builder& b, const Shape& shape, int64_t at) {
  std::vector<llvm::Value*> multi(static_cast<size_t>(shape.rank()));
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    multi[d] = b.getInt64(at % shape.dims[d]);
    at /= shape.dims[d];
  }
  return multi;
}

void Delinearize(Builder& b, llvm::Value* position, absl::Span<const int64_t> order,
                 absl::Span<const int64_t> dims, std::vector<llvm::Value*>& multi) {
  std::vector<int64_t> big;
  for (int64_t d : order) {
    if (dims[d] == 1) {
      multi[d] = b.Index(0);
    } else {
      big.push_back(d);
    }
  }
  for (size_t k = big.size(); k-- > 0;) {
    if (k == 0) {
      multi[big[k]] = position;
      break;
    }
    llvm::Value* size = b.Index(dims[big[k]]);
    multi[big[k]] = b.CreateURem(position, size);
    position = b.CreateUDiv(position, size);
  }
}

namespace {

DimVector MajorToMinor(const Shape& shape) {
  DimVector order = shape.MinorToMajor();
  std::reverse(order.begin(), order.end());
  return order;
}

// Row-major reshape, group by group: dimension groups of equal products map onto each other.
std::vector<llvm::Value*> ReshapeMulti(Builder& b, const std::vector<llvm::Value*>& to_index,
                                       absl::Span<const int64_t> to,
                                       absl::Span<const int64_t> from) {
  std::vector<llvm::Value*> result(from.size(), b.Index(0));
  size_t t = 0, f = 0;
  while (t < to.size() || f < from.size()) {
    if (t < to.size() && to[t] == 1) {
      ++t;
      continue;
    }
    if (f < from.size() && from[f] == 1) {
      ++f;
      continue;
    }
    if (t == to.size() || f == from.size()) break;
    size_t t_end = t + 1, f_end = f + 1;
    int64_t t_size = to[t], f_size = from[f];
    while (t_size != f_size) {
      if (t_size < f_size)
        t_size *= to[t_end++];
      else
        f_size *= from[f_end++];
    }
    llvm::Value* position = b.Index(0);
    for (size_t d = t; d < t_end; ++d) {
      if (to[d] == 1) continue;
      position = AddIndex(b, Scale(b, position, to[d]), to_index[d]);
    }
    DimVector group;
    for (size_t d = f; d < f_end; ++d) group.push_back(static_cast<int64_t>(d));
    Delinearize(b, position, group, from, result);
    t = t_end;
    f = f_end;
  }
  return result;
}

}  // namespace

llvm::Value* Scale(Builder& b, llvm::Value* index, int64_t factor) {
  if (factor == 0 || IsZero(index)) return b.Index(0);
  return factor == 1 ? index : b.CreateNSWMul(index, b.Index(factor));
}

ElementIndex WithMulti(Builder& b, const ElementIndex& index, const Shape& shape) {
  if (index.has_multi) return index;
  ElementIndex full = index;
  full.multi.resize(shape.rank());
  full.has_multi = true;
  const DimVector order = MajorToMinor(shape);
  Delinearize(b, index.linear, order, shape.dims, full.multi);
  return full;
}

llvm::Value* LinearOffset(Builder& b, const ElementIndex& index, const Shape& shape) {
  if (index.linear != nullptr) return index.linear;
  llvm::Value* offset = b.Index(0);
  const DimVector strides = LayoutStrides(shape);
  for (int64_t d : MajorToMinor(shape)) {
    if (shape.dims[d] == 1) continue;
    offset = AddIndex(b, offset, Scale(b, index.multi[d], strides[d]));
  }
  return offset;
}

ElementIndex ReshapedIndex(Builder& b, const ElementIndex& index, const Shape& to,
                           const Shape& from) {
  ElementIndex result;
  if (index.linear != nullptr && IsBitcast(from, to)) result.linear = index.linear;
  if (index.has_multi) {
    result.multi = ReshapeMulti(b, index.multi, to.dims, from.dims);
    result.has_multi = true;
  }
  if (result.linear == nullptr && !result.has_multi) {
    result.multi = ReshapeMulti(b, WithMulti(b, index, to).multi, to.dims, from.dims);
    result.has_multi = true;
  }
  return result;
}

ElementIndex BitcastIndex(Builder& b, const ElementIndex& index, const Shape& to,
                          const Shape& from) {
  if (IsBitcast(from, to) && from.IsRowMajor() && to.IsRowMajor())
    return ReshapedIndex(b, index, to, from);
  return ElementIndex::Linear(LinearOffset(b, index, to));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
