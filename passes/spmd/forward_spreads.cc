// From operands to results: what each operation's sharding may become.
//   transpose, reshape, reverse, broadcast, reduce: the operand's, moved along
//   element by element, pad, slice, window: as it is    dot, convolution: batch and free dimensions
//   tuple, get-tuple-element, while: leaf by leaf       sort: unless the sorted dimension is cut
// Candidates stand in the order in which XLA tries them; the caller takes what is better than what
// the instruction has.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/spmd/spread_rules.h"

namespace hlokit {
namespace {

using Candidates = std::vector<Candidate>;

int64_t UsersBesideRoot(const Instruction& i) {
  int64_t count = 0;
  for (const Instruction* user : i.users()) count += !user->IsRoot();
  return count;
}

Candidate Moving(const Instruction& i, Spread spread) {
  return {Spreads(LeafCount(i.shape()), std::move(spread)), UsersBesideRoot(i) == 1};
}

bool IsCutAlong(const Spread& s, int64_t d) {
  return s.IsTiled() && d < static_cast<int64_t>(s.tiles.size()) && s.tiles[d] != 1;
}

DimVector BroadcastMap(const Instruction& i) { return i.attr<BroadcastAttrs>().dimensions; }

DimVector MapOfReduction(const Instruction& i, int64_t rank) {
  DimVector map;
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    map.push_back(Contains(i.attr<DimensionsAttrs>().dimensions, d) ? -1 : next++);
  return map;
}

DimVector TransposeMap(const Instruction& i) {
  const DimVector& order = i.attr<DimensionsAttrs>().dimensions;
  DimVector map(order.size());
  for (size_t d = 0; d < order.size(); ++d) map[order[d]] = d;
  return map;
}

// The most specific of the operands' that are known.
const Instruction* BestOperand(const Instruction& i, const KnownSpreads& known) {
  const Instruction* best = nullptr;
  for (const Instruction* x : i.operands())
    if (!known[x].empty() && (best == nullptr || IsMoreSpecific(known[x], known[best]))) best = x;
  return best != nullptr && known.Propagates(best) ? best : nullptr;
}

Candidates FromReduced(const Instruction& i, const KnownSpreads& known) {
  Candidates all;
  for (int64_t k = 0; k < i.operand_count() / 2; ++k) {
    const Instruction* x = i.operand(k);
    if (!known.Propagates(x)) continue;
    const int64_t rank = x->shape().rank();
    const int64_t kept = rank - static_cast<int64_t>(i.attr<DimensionsAttrs>().dimensions.size());
    all.push_back(Moving(i, MovedTo(known[x][0], MapOfReduction(i, rank), kept)));
  }
  return all;
}

// A reshape of a parameter, along dimensions that are not joined: layers' weights that are stacked.
bool IsStackedWeight(const Instruction& x, const KnownSpreads& known) {
  return known.Propagates(&x) && TileCount(known[&x][0]) > 1 && x.opcode() == Opcode::kReshape &&
         (x.operand(0)->IsParameter() || x.operand(0)->opcode() == Opcode::kGetTupleElement);
}

Candidates FromConcatenated(const Instruction& i, const KnownSpreads& known, int aggressiveness) {
  const Instruction* best = BestOperand(i, known);
  if (best == nullptr) return {};
  const int64_t dim = i.attr<DimensionsAttrs>().dimensions[0];
  for (const Instruction* x : i.operands())
    if (aggressiveness == 0 && (!IsStackedWeight(*x, known) || IsCutAlong(known[x][0], dim)))
      return {};
  return {Moving(i, known[best][0])};
}

Candidates FromSliced(const Instruction& i, const KnownSpreads& known) {
  Candidates all;
  const bool updates = i.opcode() == Opcode::kDynamicUpdateSlice;
  const Instruction* x = i.operand(updates ? 1 : 0);
  if (known.Propagates(x)) {
    bool cut = false;
    for (int64_t d = 0; d < i.shape().rank(); ++d)
      cut |= IsCutAlong(known[x][0], d) && i.shape().dims[d] != x->shape().dims[d];
    if (!cut) all.push_back(Moving(i, known[x][0]));
  }
  if (updates && known.Propagates(i.operand(0))) all.push_back({known[i.operand(0)]});
  return all;
}

Candidates FromProduct(const Instruction& i, const KnownSpreads& known) {
  const ProductDims dims = ProductDimsOf(i);
  Candidates all;
  const int64_t larger =
      i.operand(0)->shape().ByteSize() >= i.operand(1)->shape().ByteSize() ? 0 : 1;
  for (const int64_t k : {larger, 1 - larger}) {
    const Instruction* x = i.operand(k);
    if (!known.Propagates(x)) continue;
    DimVector map(x->shape().rank(), -1);
    for (const auto& d : dims.batch) map[k == 0 ? d.lhs : d.rhs] = d.output;
    for (const auto& d : k == 0 ? dims.lhs_free : dims.rhs_free)
      map[k == 0 ? d.lhs : d.rhs] = d.output;
    all.push_back({{MovedTo(known[x][0], map, i.shape().rank())}});
  }
  return all;
}

// Whether the kernel is smaller than the result along the dimensions of the window.
bool HasSmallKernel(const Instruction& i) {
  const ConvDims& labels = i.attr<ConvolutionAttrs>().dim_labels;
  int64_t kernel = 1, result = 1;
  for (size_t k = 0; k < labels.kernel_spatial.size(); ++k) {
    const int64_t a = i.operand(1)->shape().dims[labels.kernel_spatial[k]];
    const int64_t b = i.shape().dims[labels.output_spatial[k]];
    kernel *= a;
    result *= b;
    if (a >= b && (k < 2 || a > 3 || kernel >= result)) return false;
  }
  return true;
}

Candidates FromConvolved(const Instruction& i, const KnownSpreads& known) {
  const auto& attrs = i.attr<ConvolutionAttrs>();
  const ProductDims dims = ProductDimsOf(i);
  bool cut = attrs.feature_group_count != 1 || attrs.batch_group_count != 1;
  for (const auto& d : dims.spatial)
    for (const int64_t k : {0, 1})
      cut |= !known[i.operand(k)].empty() &&
             IsCutAlong(known[i.operand(k)][0], k == 0 ? d.lhs : d.rhs);
  if (dims.spatial.empty() || !cut) return FromProduct(i, known);
  const Instruction* lhs = i.operand(0);
  if (!known.Propagates(lhs)) return {};
  const Spread& own = known[lhs][0];
  if (!own.IsTiled()) return {{{own}}};
  const ConvDims& labels = attrs.dim_labels;
  DimVector map(lhs->shape().rank(), -1);
  map[labels.input_batch] = labels.output_batch;
  if (!HasSmallKernel(i)) return {{{MovedTo(own, map, i.shape().rank())}}};
  if (IsCutAlong(own, labels.input_feature)) return {};
  map[labels.input_feature] = labels.output_feature;
  for (size_t k = 0; k < labels.input_spatial.size(); ++k)
    map[labels.input_spatial[k]] = labels.output_spatial[k];
  return {{{MovedTo(own, map, i.shape().rank())}}};
}

Candidates FromTupled(const Instruction& i, const KnownSpreads& known) {
  bool any = false;
  for (const Instruction* x : i.operands()) any |= known.Propagates(x);
  if (!any) return {};
  const bool fresh = known[&i].empty();
  Spreads leaves = fresh ? Spreads(LeafCount(i.shape()), Spread::Unknown()) : known[&i];
  int64_t at = 0;
  for (const Instruction* x : i.operands()) {
    const int64_t count = ArrayLeafCount(x->shape());
    for (int64_t k = 0; k < count && !known[x].empty(); ++k)
      if (fresh || IsMoreSpecific(known[x][k], leaves[at + k])) leaves[at + k] = known[x][k];
    at += count;
  }
  return {{leaves, true}};
}

Candidates FromWindowed(const Instruction& i, const KnownSpreads& known) {
  for (const WindowDim& w : i.attr<WindowAttrs>().window)
    if (w.base_dilation > 1 || (w.window_dilation > 1 && i.opcode() == Opcode::kReduceWindow))
      return {};
  Candidates all;
  const int64_t inputs = i.opcode() == Opcode::kReduceWindow ? i.operand_count() / 2 : 1;
  for (int64_t k = 0; k < inputs; ++k)
    if (known.Propagates(i.operand(k))) all.push_back(Moving(i, known[i.operand(k)][0]));
  return all;
}

// Carries are the inputs without the scanned dimension.
Candidates FromScanned(const Instruction& i, const KnownSpreads& known) {
  const auto& attrs = i.attr<ScanAttrs>();
  const int64_t dim = attrs.dimensions[0], n = i.operand_count() - attrs.num_carries;
  Candidates all;
  const int64_t leaves = LeafCount(i.shape());
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const Instruction* x = i.operand(k);
    if (!known.Propagates(x)) continue;
    if (known[x][0].IsManual()) all.push_back({Spreads(leaves, known[x][0])});
    if (!known[x][0].IsTiled()) continue;
    const bool carry = k >= n;
    const int64_t rank = carry ? x->shape().rank() + 1 : x->shape().rank();
    DimVector with, without;
    for (int64_t d = 0; d < rank; ++d) {
      if (!carry || d != dim) with.push_back(d);
      without.push_back(d == dim ? -1 : d < dim ? d : d - 1);
    }
    Spread array = MovedTo(known[x][0], with, rank);
    if (!known.by_shardy || !attrs.is_associative.value_or(false))
      array = ReplicatedOn(array, {dim});
    Spreads spreads;
    for (int64_t leaf = 0; leaf < leaves; ++leaf)
      spreads.push_back(leaf < leaves - attrs.num_carries ? array
                                                          : MovedTo(array, without, rank - 1));
    all.push_back({std::move(spreads)});
  }
  return all;
}

Candidates FromAny(const Instruction& i, const KnownSpreads& known, int aggressiveness) {
  if (HasTrait(i.opcode(), kElementwise) && aggressiveness > 0) {
    Candidates all;
    for (const Instruction* x : i.operands())
      if (known.Propagates(x) && LeafCount(x->shape()) == LeafCount(i.shape()) &&
          (x->shape().IsTuple() || x->shape().rank() == i.shape().rank()))
        all.push_back({known[x], i.operand_count() == 1 && UsersBesideRoot(i) == 1});
    return all;
  }
  const bool first = !HasTrait(i.opcode(), kElementwise);
  const Instruction* x = first && i.operand_count() > 0 ? i.operand(0) : BestOperand(i, known);
  if (x == nullptr || !known.Propagates(x) || LeafCount(x->shape()) != LeafCount(i.shape()) ||
      (x->shape().IsArray() && x->shape().rank() != i.shape().rank()))
    return {};
  return {{known[x], UsersBesideRoot(i) == 1}};
}

}  // namespace

std::vector<Candidate> FromOperands(const Instruction& i, const KnownSpreads& known,
                                    int aggressiveness) {
  if (i.operand_count() == 0) return {};
  const Instruction* x = i.operand(0);
  const bool propagates = known.Propagates(x);
  switch (i.opcode()) {
    case Opcode::kGetTupleElement: {
      if (!propagates) return {};
      const auto first = known[x].begin() + FirstLeaf(x->shape(), i.tuple_index());
      return {{Spreads(first, first + LeafCount(i.shape())), UsersBesideRoot(i) == 1}};
    }
    case Opcode::kTuple:
      return FromTupled(i, known);
    case Opcode::kReduce:
      return FromReduced(i, known);
    case Opcode::kBroadcast:
      if (aggressiveness < kMaxAggressiveness || !propagates || known[x][0].IsReplicated())
        return {};
      return {Moving(i, MovedTo(known[x][0], BroadcastMap(i), i.shape().rank()))};
    case Opcode::kConcatenate:
      return FromConcatenated(i, known, aggressiveness);
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
      return FromSliced(i, known);
    case Opcode::kDot:
    case Opcode::kRaggedDot:
      return FromProduct(i, known);
    case Opcode::kConvolution:
      return FromConvolved(i, known);
    case Opcode::kGather:
      return FromGatherOperands(i, known);
    case Opcode::kScatter:
      return FromScatterOperands(i, known);
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      return FromWindowed(i, known);
    case Opcode::kScan:
      return FromScanned(i, known);
    case Opcode::kSort: {
      const Instruction* best = BestOperand(i, known);
      const int64_t dim = i.attr<SortAttrs>().dimensions[0];
      if (best == nullptr || (IsCutAlong(known[best][0], dim) && best->shape().rank() == 1))
        return {};
      return {Moving(i, known[best][0])};
    }
    case Opcode::kTranspose:
      if (!propagates) return {};
      return {Moving(i, MovedTo(known[x][0], TransposeMap(i), i.shape().rank()))};
    case Opcode::kReverse:
      if (!propagates) return {};
      return {Moving(i, Reversed(known[x][0], i.attr<DimensionsAttrs>().dimensions))};
    case Opcode::kReshape:
      if (!propagates) return {};
      return {Moving(i, Reshaped(known[x][0], x->shape(), i.shape()))};
    case Opcode::kCustomCall:
      if (CallTarget(i) == "ShardBarrierFrom") return {};
      return FromAny(i, known, aggressiveness);
    default:
      return FromAny(i, known, aggressiveness);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
