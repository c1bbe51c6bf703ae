// Sizes beside arrays.
#include "passes/expanders/dynamic_padder.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "ops/dim_lists.h"
#include "passes/dce.h"
#include "passes/hlo_writer.h"
#include "passes/spmd/tilings.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool IsDynamicArray(const Shape& shape) { return shape.IsArray() && shape.dynamic_mask != 0; }

bool TouchesDynamic(const Instruction& i) {
  if (i.shape().HasDynamicDims()) return true;
  for (const Instruction* operand : i.operands())
    if (operand->shape().HasDynamicDims()) return true;
  return false;
}

Shape AtBounds(Shape shape) {
  shape.dynamic_mask = 0;
  for (Shape& part : shape.elements) part = AtBounds(std::move(part));
  return shape;
}

bool HasKnownIdentity(const Instruction& reduce) {
  return reduce.shape().IsArray() && !IsComplex(reduce.shape().type) &&
         ReducerOpcode(*reduce.to_apply()).has_value();
}

// Whether each dynamic dimension of each operand goes along with one of the result.
bool AllGoAlong(const Instruction& i) {
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const Shape& x = i.operand(k)->shape();
    if (!IsDynamicArray(x)) continue;
    const DimVector map = DimensionMap(i, k);
    for (int d = 0; d < x.rank(); ++d)
      if (x.IsDynamic(d) && (map.empty() || map[d] < 0)) return false;
  }
  return true;
}

// Whether Padder knows what to do with an instruction that touches dynamic dimensions.
bool CanPad(const Instruction& i) {
  if (i.shape().HasUnboundedDims()) return false;
  switch (i.opcode()) {
    case Opcode::kParameter:
      return i.parent()->IsEntry() && i.shape().IsArray();
    case Opcode::kSetDimensionSize:
    case Opcode::kGetDimensionSize:
      return true;
    case Opcode::kTuple:
      return i.IsRoot();
    case Opcode::kGetTupleElement:
    case Opcode::kDynamicReshape:
    case Opcode::kSort:
    case Opcode::kReduceWindow:
      return false;
    case Opcode::kReduce:
      return i.operand_count() == 2 && HasKnownIdentity(i);
    case Opcode::kDot:
      return i.operand_count() == 2;
    case Opcode::kConcatenate:
      return true;
    case Opcode::kDynamicUpdateSlice:
      return std::none_of(i.operands().begin() + 2, i.operands().end(),
                          [](const Instruction* start) { return IsDynamicArray(start->shape()); });
    default:
      return i.shape().IsArray() && i.called().empty() && !i.HasSideEffect() && AllGoAlong(i);
  }
}

class Padder {
 public:
  explicit Padder(Computation& c) : c_(c), rewriter_(c), w_(rewriter_) {}

  void Run() {
    for (Instruction* i : c_.PostOrder()) {
      if (!TouchesDynamic(*i)) {
        ReadPadded(i);
        continue;
      }
      rewriter_.set_subject(i);
      Visit(i);
    }
    RemoveDead(c_);
  }

 private:
  using Sizes = std::vector<Instruction*>;  // by dimension; null: the bound

  // What has no dynamic dimension stays, such as an outfeed, and reads what was made in the places
  // of its operands.
  void ReadPadded(Instruction* i) {
    for (int64_t k = 0; k < i->operand_count(); ++k)
      if (padded_.contains(i->operand(k))) i->SetOperand(k, Padded(i->operand(k)));
  }

  Instruction* Padded(Instruction* x) const {
    const auto found = padded_.find(x);
    return found == padded_.end() ? x : found->second;
  }
  Sizes SizesOf(const Instruction* x) const {
    const auto found = sizes_.find(x);
    return found == sizes_.end() ? Sizes(x->shape().rank(), nullptr) : found->second;
  }

  void Visit(Instruction* i) {
    switch (i->opcode()) {
      case Opcode::kParameter:
        return Enter(i);
      case Opcode::kSetDimensionSize:
        return SetSize(i);
      case Opcode::kGetDimensionSize:
        return GetSize(i);
      case Opcode::kTuple:
        return LeaveTuple(i);
      case Opcode::kReduce:
        Note(i, rewriter_.Clone(i, AtBounds(i->shape()), {Reduced(i), Padded(i->operand(1))}));
        break;
      case Opcode::kDot:
        Note(i, rewriter_.Clone(i, AtBounds(i->shape()), {Contracted(i, 0), Contracted(i, 1)}));
        break;
      case Opcode::kConcatenate:
        Concatenate(i);
        break;
      case Opcode::kDynamicUpdateSlice:
        Update(i);
        break;
      default: {
        std::vector<Instruction*> operands;
        for (Instruction* x : i->operands()) operands.push_back(Padded(x));
        Note(i, rewriter_.Clone(i, AtBounds(i->shape()), operands));
      }
    }
    if (i->IsRoot()) c_.set_root(Left(i));
  }

  // Notes the array at its bounds, with the sizes that come along from the operands.
  void Note(Instruction* i, Instruction* made) {
    Sizes sizes(i->shape().rank(), nullptr);
    for (int64_t k = 0; k < i->operand_count(); ++k) {
      const Sizes own = SizesOf(i->operand(k));
      const DimVector map = DimensionMap(*i, k);
      for (size_t d = 0; d < map.size() && d < own.size(); ++d)
        if (map[d] >= 0 && own[d] != nullptr && sizes[map[d]] == nullptr) sizes[map[d]] = own[d];
    }
    padded_[i] = made;
    sizes_[i] = std::move(sizes);
  }

  // set-dimension-size(x, n) of dimension d, static or dynamic.
  Instruction* Sized(Instruction* x, int64_t d, Instruction* size, bool dynamic) {
    Shape shape = x->shape();
    shape.SetDynamic(d, dynamic);
    return rewriter_.Add(Opcode::kSetDimensionSize, shape, {x, size}, DimensionsAttrs{{d}});
  }

  void Enter(Instruction* parameter) {
    Instruction* x = parameter;
    Sizes sizes(x->shape().rank(), nullptr);
    for (int d = 0; d < parameter->shape().rank(); ++d) {
      if (!parameter->shape().IsDynamic(d)) continue;
      sizes[d] = rewriter_.Add(Opcode::kGetDimensionSize, RowMajor(ElementType::kS32, {}),
                               {parameter}, DimensionsAttrs{{d}});
      x = Sized(x, d, w_.Integer(ElementType::kS32, x->shape().dims[d]), /*dynamic=*/false);
    }
    padded_[parameter] = x;
    sizes_[parameter] = std::move(sizes);
    if (parameter->IsRoot()) padded_.erase(parameter);
  }

  void SetSize(Instruction* i) {
    const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
    Sizes sizes = SizesOf(i->operand(0));
    Instruction* size = Padded(i->operand(1));
    sizes[d] = i->shape().IsDynamic(d) ? size : nullptr;
    padded_[i] = Padded(i->operand(0));
    sizes_[i] = std::move(sizes);
    if (i->IsRoot()) c_.set_root(Left(i));
  }

  void GetSize(Instruction* i) {
    const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
    Instruction* size = SizesOf(i->operand(0))[d];
    if (size == nullptr) size = w_.Integer(ElementType::kS32, i->operand(0)->shape().dims[d]);
    i->ReplaceAllUsesWith(size);
  }

  // What the outside sees in the place of `i`.
  Instruction* Left(Instruction* i) {
    Instruction* x = Padded(i);
    const Sizes sizes = SizesOf(i);
    for (int d = 0; d < i->shape().rank(); ++d)
      if (i->shape().IsDynamic(d))
        x = Sized(
            x, d,
            sizes[d] != nullptr ? sizes[d] : w_.Integer(ElementType::kS32, i->shape().dims[d]),
            /*dynamic=*/true);
    if (x != Padded(i)) x->set_place(i->place());
    return x;
  }

  void LeaveTuple(Instruction* tuple) {
    for (int64_t k = 0; k < tuple->operand_count(); ++k)
      if (padded_.contains(tuple->operand(k))) tuple->SetOperand(k, Left(tuple->operand(k)));
  }

  // `x` at its bounds, with the scalar `filler`, or elements of such an array, behind the sizes of
  // the dimensions for which `masked` holds.
  template <typename Masked>
  Instruction* Filled(Instruction* x, Instruction* filler, Masked masked) {
    Instruction* array = Padded(x);
    const Sizes sizes = SizesOf(x);
    Instruction* filled = array;
    const bool scalar = filler->shape().rank() == 0;
    for (int64_t d = 0; d < x->shape().rank(); ++d) {
      if (sizes[d] == nullptr || !masked(d)) continue;
      const Shape& shape = array->shape();
      Instruction* at = w_.Iota(ElementType::kS32, shape.dims, d);
      Instruction* inside =
          w_.Compare(at, w_.Broadcast(sizes[d], shape.dims, {}), ComparisonDirection::kLt);
      filled = w_.Select(inside, filled, scalar ? w_.Fill(shape, filler) : filler);
    }
    return filled;
  }

  Instruction* Reduced(Instruction* i) {
    Instruction* x = i->operand(0);
    const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
    return Filled(x, w_.Identity(*ReducerOpcode(*i->to_apply()), x->shape().type),
                  [&](int64_t d) { return Contains(reduced, d); });
  }

  Instruction* Contracted(Instruction* i, int64_t k) {
    const auto& attrs = i->attr<DotAttrs>();
    const DimVector& summed = k == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
    Instruction* x = i->operand(k);
    return Filled(x, w_.Integer(x->shape().type, 0),
                  [&](int64_t d) { return Contains(summed, d); });
  }

  // Each part over what the one before it leaves behind its size.
  void Concatenate(Instruction* i) {
    const int64_t dim = i->attr<DimensionsAttrs>().dimensions[0];
    const bool moves = i->shape().IsDynamic(dim);
    if (!moves) {
      std::vector<Instruction*> operands;
      for (Instruction* x : i->operands()) operands.push_back(Padded(x));
      return Note(i, rewriter_.Clone(i, AtBounds(i->shape()), operands));
    }
    const Shape whole = AtBounds(i->shape());
    Instruction* zero = w_.Integer(ElementType::kS32, 0);
    Instruction* joined = w_.FillInteger(whole, 0);
    Instruction* start = zero;
    for (Instruction* x : i->operands()) {
      std::vector<Instruction*> at(whole.rank(), zero);
      at[dim] = start;
      joined = w_.DynamicUpdateSlice(joined, Padded(x), at);
      Instruction* size = SizesOf(x)[dim];
      if (size == nullptr) size = w_.Integer(ElementType::kS32, x->shape().dims[dim]);
      start = w_.Binary(Opcode::kAdd, start, size);
    }
    Note(i, joined);
    sizes_[i][dim] = start;
  }

  // What lies behind the sizes of the update stays as it was. Where the update is as long as the
  // result, its size is the result's.
  void Update(Instruction* i) {
    Instruction* update = i->operand(1);
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) operands.push_back(Padded(x));
    if (IsDynamicArray(update->shape())) {
      const absl::Span<Instruction* const> starts = absl::MakeConstSpan(operands).subspan(2);
      Instruction* before = w_.DynamicSlice(operands[0], starts, update->shape().dims);
      operands[1] = Filled(update, before, [](int64_t) { return true; });
    }
    Note(i, rewriter_.Clone(i, AtBounds(i->shape()), operands));
    Sizes& sizes = sizes_[i];
    sizes = SizesOf(i->operand(0));
    const Sizes own = SizesOf(update);
    for (int d = 0; d < i->shape().rank(); ++d) {
      const bool whole = update->shape().dims[d] == i->shape().dims[d];
      if (whole && own[d] != nullptr && i->shape().IsDynamic(d)) sizes[d] = own[d];
    }
  }

  Computation& c_;
  Rewriter rewriter_;
  HloWriter w_;
  absl::flat_hash_map<const Instruction*, Instruction*> padded_;
  absl::flat_hash_map<const Instruction*, Sizes> sizes_;
};

class DynamicPadder final : public Pass {
 public:
  explicit DynamicPadder(bool keep_unknown) : keep_unknown_(keep_unknown) {}
  absl::string_view name() const override { return "dynamic_padder"; }

  absl::StatusOr<bool> Run(Module& module) override {
    bool any = false;
    for (const Computation* c : module.Computations())
      for (const Instruction* i : c->Instructions()) {
        if (!TouchesDynamic(*i)) continue;
        any |= !i->IsParameter() && !i->IsRoot();
        any |= i->IsRoot() && i->opcode() != Opcode::kTuple;
        if (c->IsEntry() && CanPad(*i)) continue;
        if (keep_unknown_) return false;
        return Unimplemented(i->name(), " = ", Text(i->opcode()), " over a dynamic dimension");
      }
    if (!any || IsDone(module)) return false;
    Padder(*module.entry()).Run();
    return true;
  }

 private:
  // Only sizes at the borders are left.
  static bool IsDone(const Module& module) {
    for (const Instruction* i : module.entry()->Instructions()) {
      if (!TouchesDynamic(*i) || i->IsParameter()) continue;
      const bool border =
          i->opcode() == Opcode::kSetDimensionSize ||
          (i->opcode() == Opcode::kTuple && i->IsRoot()) ||
          (i->opcode() == Opcode::kGetDimensionSize && i->operand(0)->IsParameter());
      if (!border) return false;
      if (i->opcode() != Opcode::kSetDimensionSize) continue;
      const bool enters = !i->shape().HasDynamicDims();
      if (enters) continue;
      for (const Instruction* user : i->users())
        if (user->opcode() != Opcode::kSetDimensionSize && !user->IsRoot()) return false;
    }
    return true;
  }

  bool keep_unknown_;
};

}  // namespace

std::unique_ptr<Pass> CreateDynamicPadder(PassArguments& arguments) {
  return std::make_unique<DynamicPadder>(
      arguments.Flag("keep-unknown", "leave modules alone that hold what is not known"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
