// Runtime calls of dots. The dimensions of both operands fall into four groups, and the runtime
// needs of each dimension its size and its stride in the three arrays:
//   batch    in lhs, rhs and result       rows     in lhs and result
//   columns  in rhs and result            sums     in lhs and rhs
// Any order and any layout is then one descriptor; the runtime packs what is not contiguous.
#include <algorithm>

#include "analysis/quantized_product.h"
#include "backends/cpu/kernels/small_dots.h"
#include "backends/cpu/library_calls/library_internal.h"
#include "codegen/kernel_strategies.h"
#include "ops/dim_lists.h"
#include "runtime/dot/ragged_dot.h"

namespace hlokit {

bool IsKernelType(ElementType t) {
  return IsArrayType(t) && !IsSubByte(t) && (BitWidth(t) != 8 || !IsFloat(t));
}

bool StaticArrays(const Instruction& i) {
  for (const Instruction* operand : i.operands())
    if (!operand->shape().IsArray() || operand->shape().HasDynamicDims()) return false;
  return !i.shape().HasDynamicDims();
}

bool ProductTypes(ElementType lhs, ElementType rhs, ElementType out) {
  for (ElementType t : {lhs, rhs, out})
    if (!IsKernelType(t) || IsPred(t)) return false;
  if (IsComplex(lhs) || IsComplex(rhs) || IsComplex(out)) return lhs == rhs && rhs == out;
  return (IsFloat(lhs) && IsFloat(rhs) && IsFloat(out)) ||
         (IsInteger(lhs) && IsInteger(rhs) && IsInteger(out));
}

namespace {

// The number that kernels know a type by: integers of fewer bits lie in bytes.
int64_t KernelType(ElementType t) {
  if (!IsInteger(t) || !IsSubByte(t)) return static_cast<int64_t>(t);
  return IsSigned(t) ? HLOKIT_S8 : HLOKIT_U8;
}

// The dimensions of one dot as its descriptor names them. `out_first` dimensions of the result come
// before its batch dimensions; `rhs_group` (-1: none) is a dimension of the right side that no
// group of dimensions holds.
class DotDims {
 public:
  template <typename Attrs>
  DotDims(const Instruction& i, const Attrs& dims, int64_t out_first, int64_t rhs_group) {
    const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape(), &out = i.shape();
    const DimVector l = LayoutStrides(lhs), r = LayoutStrides(rhs), o = LayoutStrides(out);
    types_ = {KernelType(lhs.type), KernelType(rhs.type), KernelType(out.type)};
    int64_t at = out_first;
    for (size_t k = 0; k < dims.lhs_batch_dims.size(); ++k, ++at) {
      const int64_t d = dims.lhs_batch_dims[k];
      batch_.push_back({lhs.dims[d], l[d], r[dims.rhs_batch_dims[k]], o[at]});
    }
    for (int64_t d = 0; d < lhs.rank(); ++d) {
      if (Contains(dims.lhs_batch_dims, d) || Contains(dims.lhs_contracting_dims, d)) continue;
      row_dims_.push_back(d);
      rows_.push_back({lhs.dims[d], l[d], 0, o[at++]});
    }
    for (int64_t d = 0; d < rhs.rank(); ++d) {
      if (d == rhs_group || Contains(dims.rhs_batch_dims, d) ||
          Contains(dims.rhs_contracting_dims, d))
        continue;
      cols_.push_back({rhs.dims[d], 0, r[d], o[at++]});
    }
    for (size_t k = 0; k < dims.lhs_contracting_dims.size(); ++k) {
      const int64_t d = dims.lhs_contracting_dims[k];
      sums_.push_back({lhs.dims[d], l[d], r[dims.rhs_contracting_dims[k]], 0});
    }
  }

  std::vector<int64_t> Descriptor() const {
    std::vector<int64_t> words = types_;
    for (const auto* group : {&batch_, &rows_, &cols_, &sums_})
      words.push_back(static_cast<int64_t>(group->size()));
    for (const auto* group : {&batch_, &rows_, &cols_, &sums_})
      for (const HlokitDotDim& d : *group) words.insert(words.end(), {d.size, d.lhs, d.rhs, d.out});
    return words;
  }

  // Where a dimension of the left side stands in the descriptor.
  template <typename Attrs>
  int64_t PlaceOf(int64_t lhs_dim, const Attrs& dims) const {
    const auto find = [&](const auto& list) {
      return std::find(list.begin(), list.end(), lhs_dim) - list.begin();
    };
    if (Contains(dims.lhs_batch_dims, lhs_dim)) return find(dims.lhs_batch_dims);
    const auto rows_at = static_cast<int64_t>(batch_.size());
    if (!Contains(dims.lhs_contracting_dims, lhs_dim)) return rows_at + find(row_dims_);
    return rows_at + static_cast<int64_t>(rows_.size() + cols_.size()) +
           find(dims.lhs_contracting_dims);
  }

 private:
  std::vector<int64_t> types_;
  std::vector<HlokitDotDim> batch_, rows_, cols_, sums_;
  DimVector row_dims_;  // of the left side
};

bool FitsKernel(const Instruction& i) {
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape();
  return StaticArrays(i) && i.shape().IsArray() && i.shape().ElementCount() > 0 &&
         lhs.rank() + rhs.rank() < HLOKIT_MAX_DOT_DIMS - 4 &&
         (ProductTypes(lhs.type, rhs.type, i.shape().type) || IsQuantizedProduct(i));
}

class DotCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    return i.opcode() == Opcode::kDot && FitsKernel(i) && IsLarge(i) && !IsSmallBatchedDot(i) &&
           !IsShortMatrixVector(i) && !IsIntegerMatrixVector(i);
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    site.Call("hlokit_dot", {site.context(), site.Words(DotDescriptor(i)), site.operand(0),
                             site.operand(1), site.result()});
  }

 private:
  // Small products are better off as loops in place.
  static bool IsLarge(const Instruction& i) {
    double sum = 1;
    for (int64_t d : i.attr<DotAttrs>().lhs_contracting_dims)
      sum *= static_cast<double>(i.operand(0)->shape().dims[d]);
    return sum * static_cast<double>(i.shape().ElementCount()) > 512;
  }
};

class RaggedDotCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    if (i.opcode() != Opcode::kRaggedDot || i.operand_count() != 3 || !FitsKernel(i)) return false;
    const auto& a = i.attr<RaggedDotAttrs>();
    const Shape& sizes = i.operand(2)->shape();
    const bool known_type =
        IsInteger(sizes.type) && (BitWidth(sizes.type) == 32 || BitWidth(sizes.type) == 64);
    return known_type && a.lhs_ragged_dims.size() == 1 && a.rhs_group_dims.size() <= 1 &&
           sizes.rank() >= 1 && sizes.IsRowMajor() &&
           sizes.rank() - 1 <= static_cast<int64_t>(a.lhs_batch_dims.size()) &&
           (sizes.rank() == 1 || !Contains(a.lhs_batch_dims, a.lhs_ragged_dims[0]));
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const auto& a = i.attr<RaggedDotAttrs>();
    const Shape& sizes = i.operand(2)->shape();
    const bool sums = Contains(a.lhs_contracting_dims, a.lhs_ragged_dims[0]);
    const int64_t group = a.rhs_group_dims.empty() ? -1 : a.rhs_group_dims[0];
    const DotDims dims(i, a, sums ? 1 : 0, group);
    std::vector<int64_t> desc = {dims.PlaceOf(a.lhs_ragged_dims[0], a),
                                 sizes.dims.back(),
                                 Number(sizes),
                                 sizes.rank() - 1,
                                 group < 0 ? 0 : LayoutStrides(i.operand(1)->shape())[group],
                                 sums ? LayoutStrides(i.shape())[0] : 0,
                                 i.shape().ByteSize()};
    const std::vector<int64_t> dot = dims.Descriptor();
    desc.insert(desc.end(), dot.begin(), dot.end());
    site.Call("hlokit_ragged_dot", {site.context(), site.Words(desc), site.operand(0),
                                    site.operand(1), site.operand(2), site.result()});
  }
};

}  // namespace

std::vector<int64_t> DotDescriptor(const Instruction& dot) {
  return DotDims(dot, dot.attr<DotAttrs>(), 0, -1).Descriptor();
}

std::vector<const LibraryCall*> DotCalls() {
  static const DotCall dot;
  static const RaggedDotCall ragged;
  return {&dot, &ragged};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
