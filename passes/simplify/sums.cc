// Rules that XLA's algsimp has and the cpu pipeline leaves out: reductions, window sums, scatters
// and collectives taken before or without what feeds them. Sums of floats change their order.
//   reduce(concatenate(a, b)) -> f(reduce(a), reduce(b))      a cumulative sum of ones -> iota + 1
//   reduce(broadcast(x)) -> broadcast(reduce(x))              scatter(0, i, u) + scatter(0, j, v)
//   reduce(dot with batch b) over b -> dot that contracts b     -> scatter(0, ij, uv)
#include <algorithm>
#include <optional>

#include "ops/dim_lists.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// The one operation of a function of two scalars, null where it is more.
const Instruction* OneOperation(const Instruction* caller) {
  const Computation* f = caller->to_apply();
  const Instruction* root = f == nullptr ? nullptr : f->root();
  if (root == nullptr || f->parameter_count() != 2 || root->operand_count() != 2 ||
      !root->operand(0)->IsParameter() || !root->operand(1)->IsParameter() ||
      root->operand(0) == root->operand(1))
    return nullptr;
  return root;
}
bool Does(const Instruction* caller, Opcode opcode) {
  const Instruction* f = OneOperation(caller);
  return f != nullptr && Is(f, opcode);
}

// The initial value for the second part of a reduction in parts, which the first has begun with the
// whole's: that itself where combining it again changes nothing, else the operation's identity.
// Null where the operation has none.
Instruction* InitialValueOfRest(const Instruction* reduce, Rewriter& r) {
  Instruction* const first = reduce->operand(1);
  const std::optional<Opcode> f = ReducerOpcode(*reduce->to_apply());
  if (!f) return nullptr;
  const bool idempotent =
      *f == Opcode::kMaximum || *f == Opcode::kMinimum || *f == Opcode::kAnd || *f == Opcode::kOr;
  if (idempotent || IsIdentity(first, *f)) return first;
  const ElementType type = first->shape().type;
  return IsComplex(type) ? nullptr : HloWriter(r).Identity(*f, type);
}

// Each part is reduced, and the results are joined by the reducer.
Instruction* ReduceOfConcatenate(Instruction* i, Rewriter& r) {
  const Instruction* whole = i->operand(0);
  if (i->operand_count() != 2 || !Is(whole, Opcode::kConcatenate) ||
      !Contains(Dims(i), Dims(whole)[0]))
    return nullptr;
  Instruction* const rest = InitialValueOfRest(i, r);
  if (rest == nullptr) return nullptr;
  DimVector all(i->shape().rank());
  for (size_t d = 0; d < all.size(); ++d) all[d] = static_cast<int64_t>(d);
  Instruction* sum = nullptr;
  for (Instruction* part : whole->operands()) {
    Instruction* reduced = r.Clone(i, i->shape(), {part, sum == nullptr ? i->operand(1) : rest});
    if (sum == nullptr) {
      sum = reduced;
      continue;
    }
    sum = r.Add(Opcode::kMap, i->shape(), {sum, reduced}, MapAttrs{all});
    sum->set_called({i->to_apply()});
  }
  return sum;
}

// reduce(broadcast(x)) over dimensions that come from x alone is spread after it is reduced.
Instruction* ReduceBeforeBroadcast(Instruction* i, Rewriter& r) {
  const Instruction* broadcast = i->operand(0);
  if (i->operand_count() != 2 || !Is(broadcast, Opcode::kBroadcast)) return nullptr;
  Instruction* x = broadcast->operand(0);
  const DimVector& dims = broadcast->attr<BroadcastAttrs>().dimensions;
  DimVector taken, spread;
  Shape reduced = Shape::Array(i->shape().type, {});
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t d = dims[k];
    if (Contains(Dims(i), d)) {
      taken.push_back(static_cast<int64_t>(k));
      continue;
    }
    reduced.dims.push_back(x->shape().dims[k]);
    spread.push_back(
        d - std::count_if(Dims(i).begin(), Dims(i).end(), [&](int64_t gone) { return gone < d; }));
  }
  if (taken.size() != Dims(i).size() || taken.empty()) return nullptr;
  Instruction* made = r.Clone(i, reduced, {x, i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = std::move(taken);
  return r.Broadcast(made, i->shape(), spread);
}

// Of several arrays: over no dimensions they are the result, without elements the initial values.
Instruction* ReduceOfSeveral(Instruction* i, Rewriter& r) {
  const int64_t count = i->operand_count() / 2;
  if (count < 2 || !i->shape().IsTuple()) return nullptr;
  const bool nothing = i->operand(0)->shape().ElementCount() == 0;
  if (!nothing && !Dims(i).empty()) return nullptr;
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < count; ++k) {
    const Shape& shape = i->shape().elements[k];
    if (!nothing && i->operand(k)->shape().type != shape.type) return nullptr;
    parts.push_back(nothing ? r.Broadcast(i->operand(count + k), shape, {})
                            : r.Reshape(i->operand(k), shape));
  }
  return r.Add(Opcode::kTuple, i->shape(), parts);
}

// A sum over batch dimensions of a dot contracts them.
Instruction* ReduceOfBatches(Instruction* i, Rewriter& r) {
  const Instruction* dot = i->operand(0);
  if (i->operand_count() != 2 || !Is(dot, Opcode::kDot) || dot->operand_count() != 2 ||
      !Does(i, Opcode::kAdd) || !IsSplat(i->operand(1), 0) || !UsedOnce(dot) ||
      dot->shape().type != i->shape().type)
    return nullptr;
  DotAttrs attrs = dot->attr<DotAttrs>(), made = attrs;
  if (!attrs.algorithm.text.empty()) return nullptr;
  made.lhs_batch_dims.clear();
  made.rhs_batch_dims.clear();
  const auto batches = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  for (int64_t d : Dims(i))
    if (d >= batches) return nullptr;
  for (int64_t b = 0; b < batches; ++b) {
    const bool sums = Contains(Dims(i), b);
    (sums ? made.lhs_contracting_dims : made.lhs_batch_dims).push_back(attrs.lhs_batch_dims[b]);
    (sums ? made.rhs_contracting_dims : made.rhs_batch_dims).push_back(attrs.rhs_batch_dims[b]);
  }
  Instruction* result = r.Clone(dot, i->shape(), {dot->operand(0), dot->operand(1)});
  result->mutable_attr<DotAttrs>() = std::move(made);
  return result;
}

// The scalar that all elements are, behind operations that keep elements equal.
Instruction* EqualElements(Instruction* x, Rewriter& r, int depth = 6) {
  if (x->shape().IsScalar() && !Is(x, Opcode::kReshape) && !Is(x, Opcode::kBroadcast) &&
      !Is(x, Opcode::kConvert))
    return x->IsConstant() ? x : nullptr;
  if (depth == 0 || x->operand_count() != 1) {
    if (!x->IsConstant() || x->shape().ElementCount() != 1) return nullptr;
    return r.Reshape(x, Shape::Scalar(x->shape().type));
  }
  switch (x->opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return EqualElements(x->operand(0), r, depth - 1);
    case Opcode::kConvert: {
      Instruction* from = EqualElements(x->operand(0), r, depth - 1);
      return from == nullptr ? nullptr
                             : r.Add(Opcode::kConvert, Shape::Scalar(x->shape().type), {from});
    }
    default:
      return nullptr;
  }
}

// The dimension along which a reduce-window sums everything up to each place; -1 for none.
int64_t CumulativeDim(const Instruction* i) {
  int64_t found = -1;
  const Window& window = i->attr<WindowAttrs>().window;
  for (int64_t d = 0; d < static_cast<int64_t>(window.size()); ++d) {
    if (window[d] == WindowDim{}) continue;
    WindowDim sum;
    sum.size = i->shape().dims[d];
    sum.pad_low = sum.size - 1;
    if (found >= 0 || !(window[d] == sum)) return -1;
    found = d;
  }
  return found;
}

// The cumulative sum of c everywhere is c * (iota + 1).
Instruction* CumulativeSumOfEquals(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2 || !Does(i, Opcode::kAdd) || !IsSplat(i->operand(1), 0))
    return nullptr;
  const int64_t d = CumulativeDim(i);
  if (d < 0) return nullptr;
  Instruction* c = EqualElements(i->operand(0), r);
  if (c == nullptr || c->shape().type != i->shape().type) return nullptr;
  Shape places = i->shape();
  places.type = ElementType::kS32;
  Instruction* place = r.Add(Opcode::kIota, places, {}, IotaAttrs{d});
  place = r.Add(Opcode::kAdd, places, {place, r.FillInt(places, 1)});
  if (i->shape().type != places.type) place = r.Add(Opcode::kConvert, i->shape(), {place});
  return r.Add(Opcode::kMultiply, i->shape(), {place, r.Broadcast(c, i->shape(), {})});
}

// One place of each cumulative dimension, the last, is the sum of all.
Instruction* LastOfCumulativeSum(Instruction* i, Rewriter& r) {
  const Instruction* sums = i->operand(0);
  if (!Is(sums, Opcode::kReduceWindow) || sums->operand_count() != 2) return nullptr;
  const Window& window = sums->attr<WindowAttrs>().window;
  const SliceSpec& slice = i->attr<SliceAttrs>().slice;
  DimVector taken;
  Shape reduced = Shape::Array(i->shape().type, {});
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    const int64_t size = sums->shape().dims[d];
    if (window[d] == WindowDim{}) {
      if (i->shape().dims[d] != size) return nullptr;
      reduced.dims.push_back(size);
      continue;
    }
    WindowDim sum;
    sum.size = size;
    sum.pad_low = size - 1;
    if (!(window[d] == sum) || slice[d].start != size - 1 || i->shape().dims[d] != 1)
      return nullptr;
    taken.push_back(d);
  }
  if (taken.empty() || sums->operand(0)->shape().dims != sums->shape().dims) return nullptr;
  Instruction* made = r.Add(Opcode::kReduce, reduced, {sums->operand(0), sums->operand(1)},
                            DimensionsAttrs{std::move(taken)});
  made->set_called({sums->to_apply()});
  return r.Reshape(made, i->shape());
}

// A window over convert(pad(x)) pads convert(x) itself, where the padding is the initial value.
Instruction* WindowOfConvertedPad(Instruction* i, Rewriter& r) {
  const Instruction* convert = i->operand(0);
  if (i->operand_count() != 2 || !Is(convert, Opcode::kConvert) ||
      !Is(convert->operand(0), Opcode::kPad))
    return nullptr;
  const Instruction* pad = convert->operand(0);
  const Literal *with = SplatValue(pad->operand(1)), *init = SplatValue(i->operand(1));
  if (with == nullptr || init == nullptr || !IsFloat(with->type()) || !IsFloat(init->type()) ||
      with->GetDouble(0) != init->GetDouble(0))
    return nullptr;
  WindowAttrs attrs = i->attr<WindowAttrs>();
  for (size_t d = 0; d < attrs.window.size(); ++d)
    if (!AbsorbPadding(pad->attr<PadAttrs>().padding[d], attrs.window[d])) return nullptr;
  Shape shape = pad->operand(0)->shape();
  shape.type = convert->shape().type;
  Instruction* made =
      r.Clone(i, i->shape(), {r.Add(Opcode::kConvert, shape, {pad->operand(0)}), i->operand(1)});
  made->mutable_attr<WindowAttrs>() = std::move(attrs);
  return made;
}

// The dimensions of scatter indices and of updates that go together, the first that may be
// concatenated; -1 where there is none.
struct Joint {
  int64_t indices = -1, updates = -1;
};

Joint JointDims(const Instruction* a, const Instruction* b) {
  const ScatterAttrs& attrs = a->attr<ScatterAttrs>();
  const Shape &ia = a->operand(1)->shape(), &ib = b->operand(1)->shape();
  const Shape &ua = a->operand(2)->shape(), &ub = b->operand(2)->shape();
  if (ia.rank() != ib.rank() || ua.rank() != ub.rank()) return {};
  DimVector scattered;  // of updates: those that no window is in
  for (int64_t d = 0; d < ua.rank(); ++d)
    if (!Contains(attrs.update_window_dims, d)) scattered.push_back(d);
  Joint joint;
  size_t next = 0;
  for (int64_t d = 0; d < ia.rank(); ++d) {
    if (d == attrs.index_vector_dim) {
      if (ia.dims[d] != ib.dims[d]) return {};
      continue;
    }
    const int64_t u = scattered[next++];
    const bool batch = Contains(attrs.scatter_indices_batching_dims, d);
    if (batch || joint.indices >= 0) {
      if (ia.dims[d] != ib.dims[d]) return {};
    } else {
      joint = {d, u};
    }
  }
  for (int64_t d : attrs.update_window_dims)
    if (ua.dims[d] != ub.dims[d]) return {};
  return joint;
}

// Two sums scattered into zeros are one.
Instruction* ScattersTogether(Instruction* i, Rewriter& r) {
  Instruction *a = i->operand(0), *b = i->operand(1);
  for (const Instruction* s : {a, b})
    if (!Is(s, Opcode::kScatter) || s->operand_count() != 3 || !UsedOnce(s) ||
        !Does(s, Opcode::kAdd) || !IsSplat(s->operand(0), 0))
      return nullptr;
  ScatterAttrs attrs = a->attr<ScatterAttrs>(), other = b->attr<ScatterAttrs>();
  other.unique_indices = attrs.unique_indices;
  other.indices_are_sorted = attrs.indices_are_sorted;
  if (a == b || !(attrs == other) || a->operand(1)->shape().type != b->operand(1)->shape().type ||
      a->operand(2)->shape().type != b->operand(2)->shape().type)
    return nullptr;
  const Joint joint = JointDims(a, b);
  if (joint.indices < 0) return nullptr;
  const auto join = [&](int k, int64_t d) {
    Shape shape = a->operand(k)->shape();
    shape.dims[d] += b->operand(k)->shape().dims[d];
    return r.Add(Opcode::kConcatenate, shape, {a->operand(k), b->operand(k)}, DimensionsAttrs{{d}});
  };
  attrs.unique_indices = attrs.indices_are_sorted = false;
  Instruction* made =
      r.Clone(a, i->shape(), {a->operand(0), join(1, joint.indices), join(2, joint.updates)});
  made->mutable_attr<ScatterAttrs>() = std::move(attrs);
  return made;
}

// Equal elements on all devices: gathered they are the same, and so are maxima, minima, and, or; a
// sum is their number times as much.
Instruction* CollectiveOfEquals(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 1 || !Is(i->operand(0), Opcode::kBroadcast) ||
      SplatValue(i->operand(0)) == nullptr)
    return nullptr;
  Instruction* c = i->operand(0)->operand(0);
  if (!Is(i, Opcode::kAllGather)) {
    const Instruction* f = OneOperation(i);
    if (f == nullptr) return nullptr;
    switch (f->opcode()) {
      case Opcode::kMaximum:
      case Opcode::kMinimum:
      case Opcode::kAnd:
      case Opcode::kOr:
        break;
      case Opcode::kAdd: {
        const int64_t devices = GroupSize(*i);
        if (devices <= 0 || !IsInteger(i->shape().type)) return nullptr;
        c = r.FillInt(c->shape(), *IntegerSplat(c) * devices);
        break;
      }
      default:
        return nullptr;
    }
  }
  return r.Broadcast(c, i->shape(), {});
}

constexpr Rule kSumRules[] = {
    {"reduce-of-concatenate", Opcode::kReduce, ReduceOfConcatenate},
    {"reduce-before-broadcast", Opcode::kReduce, ReduceBeforeBroadcast},
    {"reduce-of-several", Opcode::kReduce, ReduceOfSeveral},
    {"reduce-of-batches", Opcode::kReduce, ReduceOfBatches},
    {"cumulative-sum-of-equals", Opcode::kReduceWindow, CumulativeSumOfEquals},
    {"reduce-window-of-converted-pad", Opcode::kReduceWindow, WindowOfConvertedPad},
    {"slice-last-sum", Opcode::kSlice, LastOfCumulativeSum},
    {"scatters-together", Opcode::kAdd, ScattersTogether},
    {"all-gather-of-equals", Opcode::kAllGather, CollectiveOfEquals},
    {"all-reduce-of-equals", Opcode::kAllReduce, CollectiveOfEquals},
    {"reduce-scatter-of-equals", Opcode::kReduceScatter, CollectiveOfEquals},
};

}  // namespace

absl::Span<const Rule> SumRules() { return kSumRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
