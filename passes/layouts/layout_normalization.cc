// layout_normalization: rewrites instructions so that all arrays have the default (major-to-minor)
// layout.
// Matches elementwise operations, movements, constants and single reductions (windows too) whose
// arrays lie in other orders than the row-major one: computes them on arrays of permuted dimensions
// that are row-major, with bitcasts around those whose order is fixed from outside; copies that
// change an order become transposes, and transposes that move nothing bitcasts. What else there is
// stays, as do packed types, tiles and dynamic dimensions; where it reads an array of another
// order, that goes through its row-major form and back, so that each such array is a bitcast of a
// row-major one. Exact. Cost: linear.
//   f32[8,16]{0,1} exponential(x)   ->   bitcast(f32[16,8]{1,0} exponential(bitcast(x)))
#include <algorithm>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "analysis/in_place.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && shape.has_layout && !shape.HasDynamicDims() &&
         shape.layout.extras == nullptr;
}

// The dimensions from the slowest to the fastest in memory.
DimVector Order(const Shape& shape) {
  DimVector order = shape.MinorToMajor();
  std::reverse(order.begin(), order.end());
  return order;
}

DimVector Inverse(const DimVector& order) {
  DimVector inverse(order.size());
  for (size_t k = 0; k < order.size(); ++k) inverse[order[k]] = static_cast<int64_t>(k);
  return inverse;
}

// The same bytes as a row-major array.
Shape RowMajorForm(const Shape& shape) {
  Shape form = shape;
  const DimVector order = Order(shape);
  for (size_t k = 0; k < order.size(); ++k) form.dims[k] = shape.dims[order[k]];
  return form.WithDefaultLayout();
}

bool IsNormal(const Shape& shape) { return IsIota(Order(shape)); }

Instruction* Normal(Instruction* x, Rewriter& r) {
  const Shape form = RowMajorForm(x->shape());
  if (x->shape() == form) return x;
  if (x->opcode() == Opcode::kBitcast && x->operand(0)->shape() == form) return x->operand(0);
  return r.Add(Opcode::kBitcast, form, {x});
}

template <typename List>
List Permuted(const List& list, const DimVector& order) {
  List permuted = list;
  for (size_t k = 0; k < order.size(); ++k) permuted[k] = list[order[k]];
  return permuted;
}

// A transpose of row-major arrays, or a bitcast where only dimensions of size one move.
Instruction* Transposed(Instruction* x, const Shape& shape, DimVector permutation, Rewriter& r) {
  int64_t last = -1;
  bool moves = false;
  for (const int64_t d : permutation) {
    if (x->shape().dims[d] == 1) continue;
    moves |= d < last;
    last = d;
  }
  if (!moves) return x->shape() == shape ? x : r.Add(Opcode::kBitcast, shape, {x});
  return r.Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{std::move(permutation)});
}

// Whether `x` lies in that order, but for dimensions of size one.
bool LiesInOrder(const Shape& x, const DimVector& order) {
  if (x.IsScalar()) return true;
  if (!IsPlain(x) || x.rank() != static_cast<int64_t>(order.size())) return false;
  DimVector wanted = order, own = Order(x);
  for (DimVector* dims : {&wanted, &own})
    dims->erase(
        std::remove_if(dims->begin(), dims->end(), [&](int64_t d) { return x.dims[d] == 1; }),
        dims->end());
  return wanted == own;
}

bool HaveOneOrder(const Instruction* i) {
  const DimVector order = Order(i->shape());
  return std::all_of(i->operands().begin(), i->operands().end(),
                     [&](const Instruction* x) { return LiesInOrder(x->shape(), order); });
}

// As Normal, with the dimensions in the order of others that lie alike.
Instruction* NormalAs(Instruction* x, const DimVector& order, Rewriter& r) {
  if (x->shape().IsScalar() || Order(x->shape()) == order) return Normal(x, r);
  Shape form = x->shape();
  for (size_t k = 0; k < order.size(); ++k) form.dims[k] = x->shape().dims[order[k]];
  form = form.WithDefaultLayout();
  if (x->opcode() == Opcode::kBitcast && x->operand(0)->shape() == form) return x->operand(0);
  return r.Add(Opcode::kBitcast, form, {x});
}

Instruction* OnNormalOperands(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> operands;
  for (Instruction* x : i->operands()) operands.push_back(Normal(x, r));
  return r.Clone(i, RowMajorForm(i->shape()), operands);
}

// One start for each dimension; the operands before `first` are arrays.
void PermuteStarts(const Instruction* i, int64_t first, const DimVector& order, Instruction* made) {
  for (size_t k = 0; k < order.size(); ++k)
    made->SetOperand(first + static_cast<int64_t>(k), i->operand(first + order[k]));
}

bool HasScalarStarts(const Instruction* i, int64_t first) {
  return i->operand_count() == first + i->shape().rank();
}

// Of operations whose result and operands lie alike.
Instruction* Alike(Instruction* i, Rewriter& r) {
  if (!HaveOneOrder(i)) return nullptr;
  const DimVector order = Order(i->shape()), place = Inverse(order);
  std::vector<Instruction*> operands;
  for (Instruction* x : i->operands()) operands.push_back(NormalAs(x, order, r));
  Instruction* made = r.Clone(i, RowMajorForm(i->shape()), operands);
  switch (i->opcode()) {
    case Opcode::kConcatenate:
    case Opcode::kReverse: {
      DimVector& dims = made->mutable_attr<DimensionsAttrs>().dimensions;
      for (int64_t& d : dims) d = place[d];
      std::sort(dims.begin(), dims.end());
      break;
    }
    case Opcode::kSlice:
      made->mutable_attr<SliceAttrs>().slice = Permuted(i->attr<SliceAttrs>().slice, order);
      break;
    case Opcode::kDynamicSlice: {
      auto& sizes = made->mutable_attr<DynamicSliceAttrs>().dynamic_slice_sizes;
      sizes = Permuted(sizes, order);
      PermuteStarts(i, /*first=*/1, order, made);
      break;
    }
    case Opcode::kDynamicUpdateSlice:
      PermuteStarts(i, /*first=*/2, order, made);
      break;
    case Opcode::kPad:
      made->mutable_attr<PadAttrs>().padding = Permuted(i->attr<PadAttrs>().padding, order);
      break;
    case Opcode::kReduceWindow: {
      auto& window = made->mutable_attr<WindowAttrs>().window;
      if (!window.empty()) window = Permuted(window, order);
      break;
    }
    case Opcode::kIota:
      made->mutable_attr<IotaAttrs>().iota_dimension = place[i->attr<IotaAttrs>().iota_dimension];
      break;
    default:
      break;
  }
  return made;
}

Instruction* NormalTranspose(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  const DimVector from = Inverse(Order(x->shape())), to = Order(i->shape());
  DimVector permutation;
  for (const int64_t d : to) {
    const int64_t moved =
        i->opcode() == Opcode::kCopy ? d : i->attr<DimensionsAttrs>().dimensions[d];
    permutation.push_back(from[moved]);
  }
  return Transposed(Normal(x, r), RowMajorForm(i->shape()), permutation, r);
}

Instruction* NormalBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  const DimVector place = Inverse(Order(i->shape())), from = Order(x->shape());
  Instruction* made = OnNormalOperands(i, r);
  DimVector& where = made->mutable_attr<BroadcastAttrs>().dimensions;
  const DimVector old = where;
  for (size_t k = 0; k < from.size(); ++k) where[k] = place[old[from[k]]];
  return made;
}

// Where the result lies as the operand does without what is reduced.
Instruction* NormalReduce(Instruction* i, Rewriter& r) {
  const Shape& x = i->operand(0)->shape();
  const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
  DimVector kept, left;  // of the operand: dimensions that stay, in their order; in memory's
  for (int64_t d = 0; d < x.rank(); ++d)
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) kept.push_back(d);
  for (const int64_t d : Order(x)) {
    const auto at = std::find(kept.begin(), kept.end(), d);
    if (at != kept.end()) left.push_back(at - kept.begin());
  }
  if (left != Order(i->shape())) return nullptr;
  const DimVector place = Inverse(Order(x));
  Instruction* made = OnNormalOperands(i, r);
  DimVector& dims = made->mutable_attr<DimensionsAttrs>().dimensions;
  for (int64_t& d : dims) d = place[d];
  std::sort(dims.begin(), dims.end());
  return made;
}

// The dimensions of more than one element with the distances of their elements in memory, the last
// dimension first.
struct Digit {
  int64_t size, stride;
};
std::vector<Digit> Digits(const Shape& shape) {
  DimVector strides(shape.rank());
  int64_t stride = 1;
  for (const int64_t d : shape.MinorToMajor()) {
    strides[d] = stride;
    stride *= shape.dims[d];
  }
  std::vector<Digit> digits;
  for (int64_t d = shape.rank() - 1; d >= 0; --d)
    if (shape.dims[d] != 1) digits.push_back({shape.dims[d], strides[d]});
  return digits;
}

// Whether a reshape moves nothing: where dimensions split or join, their parts must lie at the same
// distances. Says no where neither size divides the other.
bool LiesAlike(const Shape& a, const Shape& b) {
  if (a.ElementCount() == 0) return false;
  const std::vector<Digit> x = Digits(a), y = Digits(b);
  Digit left = {1, 0}, right = {1, 0};
  for (size_t i = 0, k = 0; i < x.size() || k < y.size() || left.size * right.size != 1;) {
    if (left.size == 1 && i < x.size()) left = x[i++];
    if (right.size == 1 && k < y.size()) right = y[k++];
    const int64_t part = std::min(left.size, right.size);
    if (part == 1 || left.stride != right.stride || left.size % part != 0 || right.size % part != 0)
      return false;
    for (Digit* digit : {&left, &right}) *digit = {digit->size / part, digit->stride * part};
  }
  return true;
}

// The elements as they lie in memory.
Instruction* NormalConstant(Instruction* i, Rewriter& r) {
  if (i->literal() == nullptr || ByteWidth(i->shape().type) == 0) return nullptr;
  const Literal& from = *i->literal();
  const DimVector order = Order(i->shape());
  Literal to = Literal::Unset(RowMajorForm(i->shape()));
  const auto width = static_cast<size_t>(ByteWidth(from.type()));
  DimVector index(order.size(), 0), old(order.size(), 0);
  for (int64_t at = 0; at < to.element_count(); ++at) {
    for (size_t k = 0; k < order.size(); ++k) old[order[k]] = index[k];
    std::memcpy(to.data() + at * width, from.data() + from.LinearIndex(old) * width, width);
    for (size_t k = order.size(); k-- > 0 && ++index[k] == to.shape().dims[k];) index[k] = 0;
  }
  return r.Constant(std::move(to));
}

Instruction* NormalForm(Instruction* i, Rewriter& r) {
  switch (i->opcode()) {
    case Opcode::kConstant:
      return NormalConstant(i, r);
    case Opcode::kReshape:
      if (!IsPassThrough(*i) && !LiesAlike(i->operand(0)->shape(), i->shape())) return nullptr;
      return r.Reshape(Normal(i->operand(0), r), RowMajorForm(i->shape()));
    case Opcode::kDynamicSlice:
      return HasScalarStarts(i, 1) ? Alike(i, r) : nullptr;
    case Opcode::kDynamicUpdateSlice:
      return HasScalarStarts(i, 2) ? Alike(i, r) : nullptr;
    case Opcode::kReduceWindow:
      return i->operand_count() == 2 ? Alike(i, r) : nullptr;
    case Opcode::kBitcastConvert:
      return BitWidth(i->shape().type) == BitWidth(i->operand(0)->shape().type) ? Alike(i, r)
                                                                                : nullptr;
    case Opcode::kCopy:
    case Opcode::kTranspose:
      return NormalTranspose(i, r);
    case Opcode::kBroadcast:
      return NormalBroadcast(i, r);
    case Opcode::kReduce:
      return i->operand_count() == 2 ? NormalReduce(i, r) : nullptr;
    case Opcode::kConcatenate:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kIota:
      return Alike(i, r);
    default:
      return HasTrait(i->opcode(), kElementwise) ? Alike(i, r) : nullptr;
  }
}

Made Normalize(Instruction* i, Rewriter& r) {
  if (!IsPlain(i->shape())) return nullptr;
  bool normal = IsNormal(i->shape());
  for (const Instruction* x : i->operands()) {
    if (!IsPlain(x->shape())) return nullptr;
    normal &= IsNormal(x->shape());
  }
  if (normal) return nullptr;
  Instruction* made = NormalForm(i, r);
  if (made == nullptr || made->shape() == i->shape()) return made;
  return r.Add(Opcode::kBitcast, i->shape(), {made});
}

// The pairs of bitcasts of one computation: what reads an array of another order reads it through
// its row-major form.
class ThereAndBack {
 public:
  explicit ThereAndBack(Computation& computation) : computation_(computation), made_(computation) {}

  bool Run(RewriteControl& control) {
    bool changed = false;
    for (Instruction* i : computation_.PostOrder()) {
      if (i->opcode() == Opcode::kBitcast) continue;
      for (int64_t k = 0; k < i->operand_count(); ++k) {
        Instruction* x = i->operand(k);
        if (!IsToPair(x) || !control.Permit("there-and-back", *i, *x)) continue;
        i->SetOperand(k, Back(x));
        changed = true;
      }
    }
    return changed;
  }

 private:
  static bool IsToPair(const Instruction* x) {
    return IsPlain(x->shape()) && !IsNormal(x->shape()) && !HasTrait(x->opcode(), kAsyncStart) &&
           (x->opcode() != Opcode::kBitcast || !IsNormal(x->operand(0)->shape()));
  }

  Instruction* Back(Instruction* x) {
    Instruction*& back = backs_[x];
    if (back != nullptr) return back;
    made_.set_subject(x);
    Instruction* there = made_.Add(Opcode::kBitcast, RowMajorForm(x->shape()), {x});
    return back = made_.Add(Opcode::kBitcast, x->shape(), {there});
  }

  Computation& computation_;
  Rewriter made_;
  absl::flat_hash_map<Instruction*, Instruction*> backs_;
};

constexpr char kName[] = "layout_normalization";

class LayoutNormalization final : public ComputationPass {
 public:
  absl::string_view name() const override { return kName; }

  absl::StatusOr<bool> Run(Module& module) override {
    const std::unique_ptr<Pass> normalize = MakeExpander(kName, Normalize);
    normalize->set_control(&control());
    ASSIGN_OR_RETURN(const bool normalized, normalize->Run(module));
    ASSIGN_OR_RETURN(const bool paired, ComputationPass::Run(module));
    return normalized || paired;
  }

  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    return ThereAndBack(computation).Run(control());
  }
};

}  // namespace

std::unique_ptr<Pass> CreateLayoutNormalization() {
  return std::make_unique<LayoutNormalization>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
