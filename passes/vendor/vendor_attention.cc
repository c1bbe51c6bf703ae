// cuDNN's fused attention, and its gradients, as HLO:
//   S = scale Q K^T + bias, masked; P = softmax(S) by rows; Y = P V;
//   statistics = max + log(sum) of each row
//   backward: dV = P^T dY; dP = dY V^T; dS = P (dP - rowsum(dY Y));
//             dQ = scale dS K; dK = scale dS^T Q
//
// The backward call gets the statistics and not P, so P is computed again as exp(S - statistics).
// Grouped queries: where 8 heads of Q share 2 heads of K and V, the 4 heads of one group are folded
// into its rows, [b, 8, r, d] -> [b, 2, 4 r, d], so that one batched dot computes all of them and K
// is not copied. A row that the mask hides from every key has a sum of 0; its denominator becomes 1
// and its results 0, as cuDNN gives.
// Everything is computed in f32, whatever the type of Q, K and V.
#include "ops/vendor/attention_call.h"
#include "passes/rewrite/rewriter.h"
#include "passes/vendor/vendor_calls_internal.h"

namespace hlokit {
namespace {

// Arrays of [batch, head, row, depth] in f32. Heads that share a key-value head stand below each
// other as its rows where products are formed.
class AttentionWriter {
 public:
  AttentionWriter(VendorCall& c, const AttentionCall& call)
      : c_(c), r_(c.rewriter()), call_(call), mask_(Mask()) {
    q_ = Folded(Operand(0));
    k_ = Operand(1);
    v_ = Operand(2);
  }

  // The output, and the logarithm of the sum of exponentials of each row.
  VendorCall::Parts Forward() {
    Instruction* scores = Masked(Scores(), -1e30);
    Instruction* top = c_.Reduced(Opcode::kMaximum, scores, {3});
    Instruction* power = Masked(Exponential(scores, top), 0);
    Instruction* sum = c_.Reduced(Opcode::kAdd, power, {3});
    // Below 1 only where a row sees nothing.
    Instruction* least = c_.Do(Opcode::kMaximum, sum, c_.Number(1, sum->shape()));
    Instruction* p = c_.Do(Opcode::kDivide, power, Spread(least));
    Instruction* stats = c_.Do(Opcode::kAdd, top, c_.Do(Opcode::kLog, least));
    if (mask_ != nullptr)
      stats = r_.Add(Opcode::kSelect, stats->shape(),
                     {Compared(ComparisonDirection::kGt, sum, c_.Number(0, sum->shape())), stats,
                      c_.Number(0, stats->shape())});
    Instruction* y = Product(Folded(p), v_, 3, 2);
    return {r_.Reshape(y, F32({call_.batch, call_.heads, call_.rows, call_.value_depth})), stats};
  }

  // The gradients at Q, K, V and the bias.
  VendorCall::Parts Backward() {
    Instruction* stats = c_.As(c_.operand(call_.stats), ElementType::kF32);
    Instruction* p = Masked(Exponential(Scores(), stats), 0);
    Instruction *dy = Operand(call_.gradient), *y = Operand(call_.output);
    Instruction* along = c_.Reduced(Opcode::kAdd, c_.Do(Opcode::kMultiply, dy, y), {3});
    Instruction* dp = Unfolded(Product(Folded(dy), v_, 3, 3));
    Instruction* ds = c_.Do(Opcode::kMultiply, p, c_.Do(Opcode::kSubtract, dp, Spread(along)));
    Instruction* scaled = Folded(c_.Scaled(ds, call_.scale));
    Instruction* dq = Product(scaled, k_, 3, 2);
    VendorCall::Parts parts = {
        r_.Reshape(dq, F32({call_.batch, call_.heads, call_.rows, call_.depth})),
        Product(scaled, q_, 2, 2), Product(Folded(p), Folded(dy), 2, 2)};
    if (call_.bias >= 0) parts.push_back(ToBias(ds));
    return parts;
  }

 private:
  static Shape F32(DimVector dims) {
    return Shape::Array(ElementType::kF32, std::move(dims)).WithDefaultLayout();
  }
  Shape Square(ElementType type) const {
    return Shape::Array(type, {call_.batch, call_.heads, call_.rows, call_.keys})
        .WithDefaultLayout();
  }

  // Q, K, V, the output or its gradient.
  Instruction* Operand(int64_t o) {
    Instruction* x = c_.As(c_.operand(o), ElementType::kF32);
    if (call_.head_dim == 1) return x;
    const DimVector& d = x->shape().dims;
    return r_.Add(Opcode::kTranspose, F32({d[0], d[2], d[1], d[3]}), {x},
                  DimensionsAttrs{{0, 2, 1, 3}});
  }
  Instruction* Folded(Instruction* x) {
    const int64_t shared = call_.heads / call_.kv_heads;
    if (shared == 1) return x;
    return r_.Reshape(x,
                      F32({call_.batch, call_.kv_heads, shared * call_.rows, x->shape().dims[3]}));
  }
  Instruction* Unfolded(Instruction* x) { return r_.Reshape(x, Square(ElementType::kF32)); }

  Instruction* Product(Instruction* a, Instruction* b, int64_t a_dim, int64_t b_dim) {
    DotAttrs dims;
    dims.lhs_batch_dims = dims.rhs_batch_dims = {0, 1};
    dims.lhs_contracting_dims = {a_dim};
    dims.rhs_contracting_dims = {b_dim};
    const DimVector &x = a->shape().dims, &y = b->shape().dims;
    return r_.Add(Opcode::kDot, F32({x[0], x[1], x[5 - a_dim], y[5 - b_dim]}), {a, b}, dims);
  }

  // What a row has one of, for each of its keys.
  Instruction* Spread(Instruction* row) {
    return r_.Broadcast(row, Square(ElementType::kF32), {0, 1, 2});
  }
  Instruction* Exponential(Instruction* scores, Instruction* less) {
    return c_.Do(Opcode::kExponential, c_.Do(Opcode::kSubtract, scores, Spread(less)));
  }
  Instruction* Compared(ComparisonDirection how, Instruction* a, Instruction* b) {
    CompareAttrs attrs;
    attrs.direction = how;
    return r_.Add(Opcode::kCompare,
                  Shape::Array(ElementType::kPred, a->shape().dims).WithDefaultLayout(), {a, b},
                  attrs);
  }

  Instruction* Scores() {
    Instruction* scores = c_.Scaled(Unfolded(Product(q_, k_, 3, 3)), call_.scale);
    if (call_.bias < 0) return scores;
    Instruction* bias = c_.As(c_.operand(call_.bias), ElementType::kF32);
    DimVector dims, at;
    for (int64_t d = 0; d < 4; ++d) {
      if (d < 2 && bias->shape().dims[d] == 1) continue;
      dims.push_back(bias->shape().dims[d]);
      at.push_back(d);
    }
    bias = r_.Broadcast(r_.Reshape(bias, F32(dims)), Square(ElementType::kF32), at);
    return c_.Do(Opcode::kAdd, scores, bias);
  }

  Instruction* ToBias(Instruction* ds) {
    const Shape& bias = c_.operand(call_.bias)->shape();
    DimVector summed;
    for (int64_t d = 0; d < 2; ++d)
      if (bias.dims[d] == 1 && ds->shape().dims[d] != 1) summed.push_back(d);
    if (!summed.empty()) ds = c_.Reduced(Opcode::kAdd, ds, summed);
    return r_.Reshape(ds, F32(bias.dims));
  }

  // Whether a row sees a key; null: each sees all.
  Instruction* Mask() {
    Instruction* mask = nullptr;
    const Shape places = Square(ElementType::kS32);
    const auto number = [&](int64_t d) { return r_.Add(Opcode::kIota, places, {}, IotaAttrs{d}); };
    const auto narrow = [&](Instruction* also) {
      mask = mask == nullptr ? also : c_.Do(Opcode::kAnd, mask, also);
    };
    if (call_.causal) narrow(Compared(ComparisonDirection::kLe, number(3), number(2)));
    if (call_.window > 0)
      narrow(Compared(ComparisonDirection::kLt, c_.Do(Opcode::kSubtract, number(2), number(3)),
                      c_.Number(static_cast<double>(call_.window), places)));
    for (const auto& [counts, d] :
         {std::pair(call_.row_counts, 2), std::pair(call_.key_counts, 3)}) {
      if (counts < 0) continue;
      Instruction* count = c_.As(c_.operand(counts), ElementType::kS32);
      narrow(Compared(ComparisonDirection::kLt, number(d), r_.Broadcast(count, places, {0})));
    }
    return mask;
  }
  Instruction* Masked(Instruction* x, double otherwise) {
    if (mask_ == nullptr) return x;
    return r_.Add(Opcode::kSelect, x->shape(), {mask_, x, c_.Number(otherwise, x->shape())});
  }

  VendorCall& c_;
  Rewriter& r_;
  const AttentionCall& call_;
  Instruction *mask_, *q_, *k_, *v_;
};

}  // namespace

VendorCall::Parts ExpandAttention(VendorCall& c) {
  std::vector<const Shape*> operands;
  for (int64_t o = 0; o < c.operand_count(); ++o) operands.push_back(&c.operand(o)->shape());
  const absl::StatusOr<AttentionCall> call =
      ReadAttentionCall(c.attrs().target, c.config(""), operands);
  if (!call.ok()) return {};
  for (const Shape* shape : operands)
    if (shape->ElementCount() == 0 || (shape->rank() > 1 && !IsFloat(shape->type)) ||
        shape->type == ElementType::kF64)
      return {};
  AttentionWriter writer(c, *call);
  VendorCall::Parts parts = call->backward ? writer.Backward() : writer.Forward();
  KeepFloats(c, parts);
  return parts;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
