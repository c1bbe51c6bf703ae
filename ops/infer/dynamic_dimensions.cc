// Declares dimensions dynamic where sizes reach them, whatever the text declares: an iteration over
// all computations until no shape changes.
//
// set-dimension-size makes a dimension dynamic; each operation then passes it on as XLA's rule for
// it says (elementwise: of any operand; reduce: if kept; while: of the state, initial and next).
// Each round is linear, and each round adds at least one dimension, so it ends.
#include "ops/infer/dynamic_dimensions.h"

#include <algorithm>

#include "ops/dim_lists.h"
#include "ops/infer/op_table.h"
#include "ops/reshape_groups.h"

namespace hlokit {
namespace {

// Adds the dynamic dimensions of `found` to `shape`, of the same bounds; whether any was missing.
bool Merge(const Shape& found, Shape& shape) {
  bool added = false;
  if (shape.IsTuple()) {
    const size_t parts = std::min(shape.elements.size(), found.elements.size());
    for (size_t k = 0; k < parts; ++k) added |= Merge(found.elements[k], shape.elements[k]);
    return added;
  }
  if (!shape.IsArray() || found.dims.size() != shape.dims.size()) return false;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!found.IsDynamic(d) || shape.IsDynamic(d) || found.dims[d] != shape.dims[d]) continue;
    shape.SetDynamic(d, true);
    added = true;
  }
  return added;
}

bool IsBound(const Instruction& size, int64_t bound) {
  return size.opcode() == Opcode::kConstant && size.attr<ConstantAttrs>().literal != nullptr &&
         size.attr<ConstantAttrs>().literal->element_count() == 1 &&
         size.attr<ConstantAttrs>().literal->GetInt(0) == bound;
}

Shape OfSetSize(const Instruction& i) {
  Shape shape = i.operand(0)->shape();
  const auto d = static_cast<int>(i.attr<DimensionsAttrs>().dimensions[0]);
  shape.SetDynamic(d, !IsBound(*i.operand(1), shape.dims[d]));
  return shape;
}

// Adds to `shape`, which has i's dimensions.
Shape OfBroadcast(const Instruction& i, Shape shape) {
  const DimVector& dimensions = i.attr<BroadcastAttrs>().dimensions;
  for (size_t k = 0; k < dimensions.size(); ++k)
    if (i.operand(0)->shape().IsDynamic(static_cast<int>(k)))
      shape.SetDynamic(static_cast<int>(dimensions[k]), true);
  return shape;
}

// The elements of a group that has a size fill the first dimension of the other side's group that
// is larger than 1, if the text does not name another one.
Shape OfReshape(const Instruction& i) {
  const Shape& from = i.operand(0)->shape();
  Shape shape = i.shape();
  if (from.dynamic_mask == 0 || from.ElementCount() != shape.ElementCount()) return shape;
  for (const ReshapeGroup& g : ReshapeGroups(from.dims, shape.dims)) {
    bool sized = false, named = g.to == g.to_end;
    for (int d = g.from; d < g.from_end; ++d) sized |= from.IsDynamic(d);
    for (int d = g.to; d < g.to_end; ++d) named |= shape.IsDynamic(d);
    if (!sized || named) continue;
    int place = g.to;
    while (place + 1 < g.to_end && shape.dims[place] == 1) ++place;
    shape.SetDynamic(place, true);
  }
  return shape;
}

Shape OfElementwise(const Instruction& i, Shape shape) {
  for (int64_t k = i.opcode() == Opcode::kClamp ? 1 : 0; k < i.operand_count(); ++k)
    Merge(i.operand(k)->shape(), shape);
  return shape;
}

Shape Inferred(const Instruction& i) {
  const auto shape = InferShape(i);
  return shape.ok() ? *shape : i.shape();
}

// An update of a whole dimension says how long the result is.
Shape OfUpdate(const Instruction& i) {
  Shape shape = Inferred(i);
  Merge(i.operand(1)->shape(), shape);
  return shape;
}

// What is left of a dimension that is cut has a size, but for a single element.
Shape OfSlice(const Instruction& i) {
  Shape shape = Inferred(i);
  for (int d = 0; d < shape.rank(); ++d)
    if (i.operand(0)->shape().IsDynamic(d) && shape.dims[d] > 1) shape.SetDynamic(d, true);
  return shape;
}

// Batch dimensions have a size where either side has one.
Shape OfDot(const Instruction& i) {
  Shape shape = Inferred(i);
  const DimVector& batch = i.attr<DotAttrs>().rhs_batch_dims;
  for (size_t d = 0; d < batch.size(); ++d)
    if (i.operand(1)->shape().IsDynamic(static_cast<int>(batch[d])))
      shape.SetDynamic(static_cast<int>(d), true);
  return shape;
}

// Kept dimensions of all arrays that are reduced together.
Shape OfReduce(const Instruction& i) {
  Shape shape = Inferred(i);
  const DimVector& reduced = i.attr<DimensionsAttrs>().dimensions;
  for (int64_t k = 0; k < i.operand_count() / 2; ++k) {
    Shape kept = Shape::Array(i.operand(k)->shape().type, {});
    for (int d = 0; d < i.operand(k)->shape().rank(); ++d) {
      if (Contains(reduced, d)) continue;
      kept.SetDynamic(kept.rank(), i.operand(k)->shape().IsDynamic(d));
      kept.dims.push_back(i.operand(k)->shape().dims[d]);
    }
    if (!shape.IsTuple()) Merge(kept, shape);
    for (Shape& part : shape.elements) Merge(kept, part);
  }
  return shape;
}

// What the computations give that the instruction calls.
Shape OfCalled(const Instruction& i) {
  Shape shape = i.shape();
  for (const Computation* c : i.called())
    if (c != nullptr && c->root() != nullptr) Merge(c->root()->shape(), shape);
  if (i.opcode() == Opcode::kWhile) Merge(i.operand(0)->shape(), shape);
  return shape;
}

// The shape with the dynamic dimensions that come from operands.
Shape Followed(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kSetDimensionSize:
      return OfSetSize(i);
    case Opcode::kBroadcast:
      return OfBroadcast(i, i.shape());
    case Opcode::kReshape:
      return OfReshape(i);
    case Opcode::kMap:
      return OfElementwise(i, i.shape());
    case Opcode::kDynamicUpdateSlice:
      return OfUpdate(i);
    case Opcode::kDot:
      return OfDot(i);
    case Opcode::kReduce:
      return OfReduce(i);
    case Opcode::kSlice:
      return OfSlice(i);
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kFusion:
    case Opcode::kWhile:
      return OfCalled(i);
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kBitcast:
    case Opcode::kCustomCall:
    case Opcode::kDynamicReshape:
      return i.shape();
    default:
      break;
  }
  return HasTrait(i.opcode(), kElementwise) ? OfElementwise(i, i.shape()) : Inferred(i);
}

// `i`'s shape with those dynamic dimensions alone that operands have; all of them where the operation
// is not one that forgets.
Shape Sourced(const Instruction& i) {
  Shape shape = i.shape();
  shape.dynamic_mask = 0;
  switch (i.opcode()) {
    case Opcode::kIota:
    case Opcode::kRng:
      return shape;
    case Opcode::kBroadcast:
      return OfBroadcast(i, std::move(shape));
    case Opcode::kSetDimensionSize: {
      const auto d = static_cast<int>(i.attr<DimensionsAttrs>().dimensions[0]);
      Merge(i.operand(0)->shape(), shape);
      shape.SetDynamic(d, i.shape().IsDynamic(d));
      return shape;
    }
    default:
      break;
  }
  const bool elementwise = HasTrait(i.opcode(), kElementwise) || i.opcode() == Opcode::kMap;
  return elementwise ? OfElementwise(i, std::move(shape)) : i.shape();
}

// What hands an array on as it is declared, to places where others meet it.
bool HandsOn(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kTuple:
      return !(i.IsRoot() && i.parent()->IsEntry());
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
      return false;
    default:
      return !i.called().empty() || i.opcode() == Opcode::kOptimizationBarrier ||
             i.opcode() == Opcode::kCustomCall;
  }
}

// The shape without the dynamic dimensions that have no size.
Shape WithoutUnsized(const Instruction& i) {
  Shape shape = i.shape();
  if (shape.dynamic_mask == 0 || !shape.IsArray() || shape.HasUnboundedDims() || i.IsRoot() ||
      std::any_of(i.users().begin(), i.users().end(),
                  [](const Instruction* user) { return HandsOn(*user); }))
    return shape;
  shape.dynamic_mask &= Sourced(i).dynamic_mask;
  return shape;
}

// Arguments of the computations that `i` calls, as pairs of parameter and argument.
template <typename Visit>
void ForEachArgument(const Instruction& i, Visit visit) {
  const bool calls = i.opcode() == Opcode::kCall || i.opcode() == Opcode::kFusion;
  for (size_t c = 0; c < i.called().size(); ++c) {
    Computation* callee = i.called()[c];
    if (callee == nullptr) continue;
    if (calls)
      for (int64_t k = 0; k < std::min(i.operand_count(), callee->parameter_count()); ++k)
        visit(callee->parameter(k), i.operand(k)->shape());
    if (callee->parameter_count() != 1) continue;
    if (i.opcode() == Opcode::kConditional) visit(callee->parameter(0), i.operand(c + 1)->shape());
    if (i.opcode() == Opcode::kWhile) visit(callee->parameter(0), i.shape());
  }
}

bool TouchesSizes(const Instruction& i) {
  return i.opcode() == Opcode::kSetDimensionSize || i.shape().HasDynamicDims();
}

// Asked before shapes change: which sizes the text has as constants.
void FixDeclaredSizes(Computation& c) {
  for (Instruction* i : c.PostOrder()) {
    if (i->opcode() != Opcode::kGetDimensionSize) continue;
    const auto d = static_cast<int>(i->attr<DimensionsAttrs>().dimensions[0]);
    const Shape& shape = i->operand(0)->shape();
    if (shape.IsDynamic(d)) continue;
    i->ReplaceAllUsesWith(c.AddConstant(Literal::R0<int32_t>(static_cast<int32_t>(shape.dims[d]))));
  }
}

bool Extend(Instruction* i, const Shape& found) {
  Shape shape = i->shape();
  if (!Merge(found, shape)) return false;
  i->set_shape(std::move(shape));
  return true;
}

// `x` with the static dimensions of `declared`.
Instruction* Restored(Computation& c, Instruction* x, const Shape& declared) {
  if (Shape wider = declared; !Merge(x->shape(), wider)) return x;
  if (declared.IsTuple()) {
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < declared.elements.size(); ++k) {
      Instruction* part = x->opcode() == Opcode::kTuple
                              ? x->operand(static_cast<int64_t>(k))
                              : c.Add(Opcode::kGetTupleElement, x->shape().elements[k], {x},
                                      GetTupleElementAttrs{static_cast<int64_t>(k)});
      parts.push_back(Restored(c, part, declared.elements[k]));
    }
    return c.Add(Opcode::kTuple, declared, parts);
  }
  Shape shape = x->shape();
  for (int d = 0; d < declared.rank(); ++d) {
    if (!shape.IsDynamic(d) || declared.IsDynamic(d)) continue;
    shape.SetDynamic(d, false);
    Instruction* bound = c.AddConstant(Literal::R0<int32_t>(static_cast<int32_t>(shape.dims[d])));
    x = c.Add(Opcode::kSetDimensionSize, shape, {x, bound}, DimensionsAttrs{{d}});
  }
  return x;
}

}  // namespace

bool HidesDynamicDimensions(const Module& module) {
  const std::vector<Computation*> computations = module.Computations();
  bool touched = false;
  for (const Computation* c : computations)
    c->ForEach([&](const Instruction* i) { touched |= TouchesSizes(*i); });
  if (!touched) return false;
  bool hides = false;
  for (const Computation* c : computations)
    c->ForEach([&](const Instruction* i) {
      if (hides) return;
      Shape shape = i->shape();
      hides |= Merge(Followed(*i), shape);
      ForEachArgument(*i, [&](const Instruction* parameter, const Shape& argument) {
        Shape own = parameter->shape();
        hides |= Merge(argument, own);
      });
    });
  return hides;
}

bool DeclaresUnsizedDimensions(const Module& module) {
  bool found = false;
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) {
      found |= i->shape().dynamic_mask != 0 &&
               WithoutUnsized(*i).dynamic_mask != i->shape().dynamic_mask;
    });
  return found;
}

void ForgetUnsizedDimensions(Module& module) {
  for (Computation* c : module.Computations())
    for (Instruction* i : c->PostOrder())
      if (Shape shape = WithoutUnsized(*i); shape.dynamic_mask != i->shape().dynamic_mask)
        i->set_shape(std::move(shape));
}

bool DeclareDynamicDimensions(Module& module) {
  if (!HidesDynamicDimensions(module)) return false;
  const Shape result = module.entry()->root()->shape();
  const std::vector<Computation*> computations = module.ComputationsPostOrder();
  for (Computation* c : computations) FixDeclaredSizes(*c);
  for (bool added = true; added;) {
    added = false;
    for (Computation* c : computations)
      for (Instruction* i : c->PostOrder()) {
        added |= Extend(i, Followed(*i));
        ForEachArgument(*i, [&](Instruction* parameter, const Shape& argument) {
          added |= Extend(parameter, argument);
        });
      }
  }
  Computation& entry = *module.entry();
  entry.set_root(Restored(entry, entry.root(), result));
  module.header().is_scheduled = false;
  for (Computation* c : computations) c->clear_schedule();  // which lack what was added
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
