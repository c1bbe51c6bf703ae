// Products of a loop over the slices of an array become one product before the loop.
//   body: x = xs[i]; y = x W            with xs f32[64,16,512] and W invariant: 64 products of 16
//   rows
//   ->  before: ys = xs W;  body: y = ys[i]                                  one product of 1,024
//   rows
// This is what a recurrent network in a scan does with its inputs. A product of few rows reads all
// of W for them; one of many reads it once and runs at the speed of the arithmetic. The slice's
// index does not matter: ys has the same number of slices, so that the body reads it at the same
// one. Each row is summed as before, in the order that a product of its size has.
//
// The loop must be known to run as often as there are slices at least, or the product would do more
// than is asked for. It costs an array of all results, which is why products of many rows, which
// gain nothing, and results of more than kMaxBytes stay. Linear in the body.
#include <algorithm>
#include <numeric>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/while_state.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kLeastProductWork = 1 << 14;  // multiply-adds of an iteration
constexpr int64_t kMaxSliceRows = 128;          // of an iteration that gain by being more
constexpr int64_t kMaxBytes = 64 << 20;         // of the results of all iterations

// A product of the body that can be computed for all slices before the loop.
struct SlicedProduct {
  Instruction* dot;
  Instruction* slice;  // the dynamic-slice
  int64_t array;       // the part of the state that is sliced
  int64_t weights;     // the part that it is multiplied by
  int side;            // of the slice among the product's operands
  bool drops;          // the slice's dimension of size 1 is dropped before the product
};

int64_t SizeOf(const Shape& shape, const DimVector& dims) {
  int64_t size = 1;
  for (int64_t d : dims) size *= shape.dims[d];
  return size;
}

// The number of the invariant part of the state that `i` reads.
std::optional<int64_t> InvariantPart(const WhileState& loop, const Instruction* i) {
  if (i->opcode() != Opcode::kGetTupleElement || i->operand(0) != loop.parameter ||
      !i->shape().IsArray() || !loop.IsInvariant(i->tuple_index()))
    return std::nullopt;
  return i->tuple_index();
}

// Whether `i` takes one place of dimension 0 of its operand, and all of the other dimensions.
bool TakesOneOfFirst(const Instruction* i) {
  if (i->opcode() != Opcode::kDynamicSlice) return false;
  const DimVector &whole = i->operand(0)->shape().dims, &part = i->shape().dims;
  return whole.size() > 1 && part[0] == 1 &&
         std::equal(whole.begin() + 1, whole.end(), part.begin() + 1);
}

// Whether `i` reshapes [1, rest] to [rest].
bool DropsFirst(const Instruction* i) {
  if (i->opcode() != Opcode::kReshape) return false;
  const DimVector &from = i->operand(0)->shape().dims, &to = i->shape().dims;
  return from.size() == to.size() + 1 && from[0] == 1 &&
         std::equal(to.begin(), to.end(), from.begin() + 1);
}

const DimVector& ContractedOf(const DotAttrs& dot, int side) {
  return side == 0 ? dot.lhs_contracting_dims : dot.rhs_contracting_dims;
}

// The product as one of slices on that side, whose sizes make it worth batching.
std::optional<SlicedProduct> Match(const WhileState& loop, Instruction* dot, int side,
                                   int64_t trips) {
  Instruction* x = dot->operand(side);
  const bool drops = DropsFirst(x);
  Instruction* slice = drops ? x->operand(0) : x;
  if (!TakesOneOfFirst(slice)) return std::nullopt;
  const std::optional<int64_t> array = InvariantPart(loop, slice->operand(0));
  const std::optional<int64_t> weights = InvariantPart(loop, dot->operand(1 - side));
  const int64_t slices = slice->operand(0)->shape().dims[0];
  if (!array || !weights || slices < 2 || slices > trips) return std::nullopt;
  const DimVector& contracted = ContractedOf(dot->attr<DotAttrs>(), side);
  if (!drops && std::find(contracted.begin(), contracted.end(), 0) != contracted.end())
    return std::nullopt;
  const int64_t depth = SizeOf(x->shape(), contracted);
  if (depth == 0) return std::nullopt;
  const int64_t rows = x->shape().ElementCount() / depth;
  // Results would lie in another order where the weights come first and the slice has rows.
  if (rows > kMaxSliceRows || (side == 1 && rows != 1)) return std::nullopt;
  const Shape& result = dot->shape();
  if (result.ElementCount() * depth < kLeastProductWork ||
      slices * result.ElementCount() * BitWidth(result.type) / 8 > kMaxBytes)
    return std::nullopt;
  return SlicedProduct{dot, slice, *array, *weights, side, drops};
}

// The product of all slices, before the loop: [slices, rows, columns].
Instruction* ProductOfAll(const WhileState& loop, const SlicedProduct& product) {
  Instruction* array = loop.Initial(product.array);
  Instruction* weights = loop.Initial(product.weights);
  const auto& old = product.dot->attr<DotAttrs>();
  DotAttrs attrs;
  attrs.lhs_contracting_dims = ContractedOf(old, product.side);
  attrs.rhs_contracting_dims = ContractedOf(old, 1 - product.side);
  for (int64_t& d : attrs.lhs_contracting_dims) d += product.drops;
  attrs.operand_precision = old.operand_precision;
  if (product.side == 1)
    std::reverse(attrs.operand_precision.begin(), attrs.operand_precision.end());
  attrs.algorithm = old.algorithm;
  DimVector dims;
  const auto append_free = [&dims](const Instruction* operand, const DimVector& contracted) {
    for (int64_t d = 0; d < operand->shape().rank(); ++d)
      if (std::find(contracted.begin(), contracted.end(), d) == contracted.end())
        dims.push_back(operand->shape().dims[d]);
  };
  append_free(array, attrs.lhs_contracting_dims);
  append_free(weights, attrs.rhs_contracting_dims);
  Rewriter outside(*loop.loop->parent());
  outside.set_subject(product.dot);
  return outside.Add(Opcode::kDot, RowMajor(product.dot->shape().type, dims), {array, weights},
                     std::move(attrs));
}

// The slice of `all` that the body's product was.
Instruction* SliceOfProducts(const WhileState& loop, const SlicedProduct& product,
                             Instruction* all) {
  Rewriter rewriter(*loop.body);
  rewriter.set_subject(product.dot);
  HloWriter w(rewriter);
  DimVector sizes = all->shape().dims;
  sizes[0] = 1;
  std::vector<Instruction*> starts(sizes.size(),
                                   w.Integer(product.slice->operand(1)->shape().type, 0));
  starts[0] = product.slice->operand(1);
  return w.Reshape(w.DynamicSlice(all, starts, sizes), product.dot->shape().dims);
}

bool BatchProducts(WhileState loop) {
  const std::optional<int64_t> trips = TripCount(loop);
  if (!trips) return false;
  std::vector<SlicedProduct> found;
  for (Instruction* i : loop.body->PostOrder()) {
    if (i->opcode() != Opcode::kDot || !i->attr<DotAttrs>().lhs_batch_dims.empty() ||
        HasControlEdges(*i))
      continue;
    std::optional<SlicedProduct> product = Match(loop, i, 0, *trips);
    if (!product) product = Match(loop, i, 1, *trips);
    if (product) found.push_back(*product);
  }
  if (found.empty()) return false;
  std::vector<Instruction*> outside;
  for (const SlicedProduct& product : found) outside.push_back(ProductOfAll(loop, product));
  const std::vector<Instruction*> inside = loop.Widen(outside);
  for (size_t k = 0; k < found.size(); ++k)
    found[k].dot->ReplaceAllUsesWith(SliceOfProducts(loop, found[k], inside[k]));
  RemoveDead(*loop.body);
  return true;
}

absl::StatusOr<bool> RunBatching(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder()) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || !loop->IsOnlyCaller(callers)) continue;
      changed |= BatchProducts(*loop);
    }
  return changed;
}

}  // namespace

// while-loop-product-batching. Matches dots of a body between invariant parts of the state, one of
// them through a dynamic-slice of one place of its first dimension, in loops that run at least as
// often as there are places. Leaves one dot before the loop and a dynamic-slice of its result.
// Expects bodies with one caller (flatten-call-graph) and invariant work before the loop
// (while-loop-invariant-code-motion). Cost: linear.
std::unique_ptr<Pass> CreateWhileLoopProductBatching() {
  return MakeModulePass("while-loop-product-batching", RunBatching);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
