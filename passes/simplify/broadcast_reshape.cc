// Rules of broadcasts, reshapes, transposes and bitcasts, and of arithmetic on broadcasts.
//   broadcast(broadcast(x)) -> broadcast(x)       reshape(reshape(x)) -> reshape(x)
//   transpose(transpose(x)) -> transpose(x)       reshape(broadcast(x)) -> broadcast(x)
//   add(broadcast(a), broadcast(b)) -> broadcast(add(a, b)), computed on the small arrays
//   constant({5, 5, 5, 5}) -> broadcast(constant(5))
#include <cstring>

#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

const DimVector& BroadcastDims(const Instruction* i) {
  return i->attr<BroadcastAttrs>().dimensions;
}

bool Increasing(const DimVector& dims) {
  for (size_t k = 1; k < dims.size(); ++k)
    if (dims[k] <= dims[k - 1]) return false;
  return true;
}

Instruction* BroadcastSame(Instruction* i, Rewriter&) {
  return i->operand(0)->shape().dims == i->shape().dims && IsIota(BroadcastDims(i)) ? i->operand(0)
                                                                                    : nullptr;
}

// Dimension d of x goes to inner[d] and from there to outer[inner[d]].
Instruction* BroadcastOfBroadcast(Instruction* i, Rewriter& r) {
  Instruction* inner = i->operand(0);
  if (inner->opcode() != Opcode::kBroadcast) return nullptr;
  DimVector dims;
  for (int64_t d : BroadcastDims(inner)) dims.push_back(BroadcastDims(i)[d]);
  return r.Broadcast(inner->operand(0), i->shape(), std::move(dims));
}

// Only dimensions of size one are new.
Instruction* BroadcastAsReshape(Instruction* i, Rewriter& r) {
  const Shape& from = i->operand(0)->shape();
  if (from.ElementCount() != i->shape().ElementCount() || from.IsScalar() ||
      !Increasing(BroadcastDims(i)))
    return nullptr;
  return r.Reshape(i->operand(0), i->shape());
}

// A reshape that adds dimensions of size one, broadcast further: the broadcast can place them
// itself.
Instruction* BroadcastOfReshape(Instruction* i, Rewriter& r) {
  Instruction* reshape = i->operand(0);
  if (reshape->opcode() != Opcode::kReshape) return nullptr;
  Instruction* x = reshape->operand(0);
  if (x->shape().rank() > reshape->shape().rank() || !SameWithoutOnes(x->shape(), reshape->shape()))
    return nullptr;
  DimVector dims;
  int64_t next = 0;  // each dimension of x goes to the next of its size
  for (int64_t size : x->shape().dims) {
    while (next < reshape->shape().rank() && reshape->shape().dims[next] != size) {
      if (reshape->shape().dims[next] != 1) return nullptr;
      ++next;
    }
    if (next == reshape->shape().rank()) return nullptr;
    dims.push_back(BroadcastDims(i)[next++]);
  }
  for (; next < reshape->shape().rank(); ++next)
    if (reshape->shape().dims[next] != 1) return nullptr;
  return r.Broadcast(x, i->shape(), std::move(dims));
}

bool AllOnes(const Shape& shape, int64_t begin, int64_t end, int64_t except) {
  for (int64_t d = begin; d < end; ++d)
    if (d != except && shape.dims[d] != 1) return false;
  return true;
}

// Where dimension d of `from` goes in `to` if the reshape leaves it whole; -1 otherwise. No
// dimension is zero.
DimVector WholeDims(const Shape& from, const Shape& to) {
  DimVector map(from.rank(), -1);
  int64_t a = 0, b = 0;
  while (a < from.rank() && b < to.rank()) {
    const int64_t a0 = a, b0 = b;
    GroupEnd(from, to, a, b);
    for (int64_t d = a0; d < a; ++d)
      for (int64_t e = b0; e < b && map[d] < 0; ++e)
        if (from.dims[d] == to.dims[e] && AllOnes(from, a0, a, d) && AllOnes(to, b0, b, e))
          map[d] = e;
  }
  return map;
}

// reshape(broadcast(x)) where the dimensions that x fills stay whole, or are of size one.
Instruction* ReshapeOfBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast) return nullptr;
  Instruction* x = broadcast->operand(0);
  if (x->shape().IsScalar()) return r.Broadcast(x, i->shape(), {});
  if (i->shape().ElementCount() == 0) return nullptr;
  const DimVector whole = WholeDims(broadcast->shape(), i->shape());
  DimVector dims;
  Shape kept = Shape::Array(x->shape().type, {});
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (x->shape().dims[d] == 1) continue;
    const int64_t to = whole[BroadcastDims(broadcast)[d]];
    if (to < 0) return nullptr;
    dims.push_back(to);
    kept.dims.push_back(x->shape().dims[d]);
  }
  if (kept.rank() != x->shape().rank()) x = r.Reshape(x, kept);
  return r.Broadcast(x, i->shape(), std::move(dims));
}

Instruction* ReshapeSame(Instruction* i, Rewriter&) {
  return i->operand(0)->shape().dims == i->shape().dims ? i->operand(0) : nullptr;
}

// A constant of one element has whatever dimensions are wanted.
Instruction* ReshapeOfOne(Instruction* i, Rewriter& r) {
  const Instruction* x = i->operand(0);
  if (!x->IsConstant() || x->literal() == nullptr || x->shape().ElementCount() != 1) return nullptr;
  Literal value = *x->literal();
  value.set_shape(i->shape());
  return r.Constant(std::move(value));
}

Instruction* ReshapeOfReshape(Instruction* i, Rewriter& r) {
  return i->operand(0)->opcode() == Opcode::kReshape
             ? r.Reshape(i->operand(0)->operand(0), i->shape())
             : nullptr;
}

// Not where layouts differ: then dimensions that are alike hold other elements.
Instruction* BitcastSame(Instruction* i, Rewriter&) {
  const Shape &from = i->operand(0)->shape(), &to = i->shape();
  const bool same = from.type == to.type && from.dims == to.dims &&
                    from.MinorToMajor() == to.MinorToMajor() &&
                    (from.layout.extras == to.layout.extras || from.layout == to.layout);
  return same ? i->operand(0) : nullptr;
}

Instruction* TransposeSame(Instruction* i, Rewriter&) {
  return IsIota(Dims(i)) ? i->operand(0) : nullptr;
}

// Dimension d of the result is outer[d] of the middle array, which is inner[outer[d]] of x.
Instruction* TransposeOfTranspose(Instruction* i, Rewriter& r) {
  const Instruction* inner = i->operand(0);
  if (inner->opcode() != Opcode::kTranspose) return nullptr;
  DimVector dims;
  for (int64_t d : Dims(i)) dims.push_back(Dims(inner)[d]);
  return r.Add(Opcode::kTranspose, i->shape(), {inner->operand(0)},
               DimensionsAttrs{std::move(dims)});
}

// Only dimensions of size one change places.
Instruction* TransposeAsReshape(Instruction* i, Rewriter& r) {
  DimVector moved;
  for (int64_t d : Dims(i))
    if (i->operand(0)->shape().dims[d] != 1) moved.push_back(d);
  return Increasing(moved) ? r.Reshape(i->operand(0), i->shape()) : nullptr;
}

Instruction* TransposeOfBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast) return nullptr;
  DimVector place(i->shape().rank());
  for (int64_t d = 0; d < i->shape().rank(); ++d) place[Dims(i)[d]] = d;
  DimVector dims;
  for (int64_t d : BroadcastDims(broadcast)) dims.push_back(place[d]);
  return Increasing(dims) ? r.Broadcast(broadcast->operand(0), i->shape(), std::move(dims))
                          : nullptr;
}

// A constant of many equal elements is a broadcast scalar.
Instruction* ConstantAsBroadcast(Instruction* i, Rewriter& r) {
  const Literal* value = i->literal();
  if (value == nullptr || i->shape().IsScalar() || value->element_count() < 2) return nullptr;
  const int64_t width = ByteWidth(value->type());
  if (std::memcmp(value->data(), value->data() + width, (value->element_count() - 1) * width) != 0)
    return nullptr;
  Literal scalar(Shape::Scalar(value->type()));
  std::memcpy(scalar.data(), value->data(), width);
  return r.Broadcast(r.Constant(std::move(scalar)), i->shape(), {});
}

bool SameBroadcast(const Instruction* a, const Instruction* b) {
  return BroadcastDims(a) == BroadcastDims(b) &&
         a->operand(0)->shape().dims == b->operand(0)->shape().dims;
}

// f(broadcast(x), broadcast(y)) is broadcast(f(x, y)), which computes less.
Instruction* ElementwiseOfBroadcasts(Instruction* i, Rewriter& r) {
  if (i->shape().IsScalar() || i->opcode() == Opcode::kCopy) return nullptr;
  const Instruction* pattern = nullptr;  // what is broadcast, where it is no scalar
  for (const Instruction* x : i->operands()) {
    if (x->shape().dims != i->shape().dims || x->opcode() != Opcode::kBroadcast) return nullptr;
    if (x->operand(0)->shape().IsScalar()) continue;
    if (pattern != nullptr && !SameBroadcast(pattern, x)) return nullptr;
    pattern = x;
  }
  if (pattern == nullptr) pattern = i->operand(0);
  if (pattern->operand(0)->shape().ElementCount() == i->shape().ElementCount()) return nullptr;
  std::vector<Instruction*> operands;
  for (const Instruction* x : i->operands()) {
    Instruction* source = x->operand(0);
    if (source->shape().dims != pattern->operand(0)->shape().dims)
      source = r.Broadcast(source, pattern->operand(0)->shape().WithType(source->shape().type), {});
    operands.push_back(source);
  }
  const Shape shape = pattern->operand(0)->shape().WithType(i->shape().type);
  return r.Broadcast(r.Clone(i, shape, operands), i->shape(), BroadcastDims(pattern));
}

constexpr Rule kBroadcastReshapeRules[] = {
    {"broadcast-same", Opcode::kBroadcast, BroadcastSame},
    {"broadcast-of-broadcast", Opcode::kBroadcast, BroadcastOfBroadcast},
    {"broadcast-as-reshape", Opcode::kBroadcast, BroadcastAsReshape},
    {"broadcast-of-reshape", Opcode::kBroadcast, BroadcastOfReshape},
    {"reshape-same", Opcode::kReshape, ReshapeSame},
    {"reshape-of-one", Opcode::kReshape, ReshapeOfOne},
    {"reshape-of-reshape", Opcode::kReshape, ReshapeOfReshape},
    {"reshape-of-broadcast", Opcode::kReshape, ReshapeOfBroadcast},
    {"bitcast-same", Opcode::kBitcast, BitcastSame},
    {"transpose-same", Opcode::kTranspose, TransposeSame},
    {"transpose-of-transpose", Opcode::kTranspose, TransposeOfTranspose},
    {"transpose-as-reshape", Opcode::kTranspose, TransposeAsReshape},
    {"transpose-of-broadcast", Opcode::kTranspose, TransposeOfBroadcast},
    {"constant-as-broadcast", Opcode::kConstant, ConstantAsBroadcast},
};

std::vector<Rule> MakeRules() {
  std::vector<Rule> rules(std::begin(kBroadcastReshapeRules), std::end(kBroadcastReshapeRules));
  for (int k = 0; k < kOpcodeCount; ++k) {
    const Opcode opcode = static_cast<Opcode>(k);
    if (HasTrait(opcode, kElementwise) && opcode != Opcode::kBitcastConvert)
      rules.push_back({"elementwise-of-broadcasts", opcode, ElementwiseOfBroadcasts});
  }
  return rules;
}

}  // namespace

absl::Span<const Rule> BroadcastReshapeRules() {
  static const std::vector<Rule>* rules = new std::vector<Rule>(MakeRules());
  return *rules;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
