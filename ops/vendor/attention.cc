// Evaluates cuDNN's fused attention, row by row.
//
// The reference for passes/vendor/vendor_attention.cc, written apart from it: in double precision,
// with a loop over batches, heads and rows, and no matrix products.
//   forward, a row r:  s[k] = scale q[r] . k[k] + bias, hidden keys -inf
//                      p = exp(s - max s) / sum;  y[r] = sum over k of p[k] v[k]
// A row that sees no key gives zeros. Gradients of K and V add up what each row contributes, in the
// order of the rows.
// Cost: batch * heads * rows * keys * depth multiplications, twice for the gradients.
#include <cmath>
#include <limits>

#include "ops/evaluate/values.h"
#include "ops/vendor/attention_call.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Values with a place for each batch, head and row, whose `depth` elements are neighbours.
struct Rows {
  std::vector<double> values;
  int64_t batch = 0, head = 0, row = 0;  // strides

  double* at(int64_t b, int64_t n, int64_t r) {
    return values.data() + b * batch + n * head + r * row;
  }
};

Rows Strided(const DimVector& dims, int64_t head_dim) {
  const DimVector strides = RowMajorStrides(dims);
  return {{}, strides[0], strides[head_dim], strides[3 - head_dim]};
}

class Attention {
 public:
  Attention(const EvalContext& context, const AttentionCall& call)
      : context_(context), call_(call) {
    const auto load = [&](int o) {
      Rows rows = Strided(context.operands[o]->shape().dims, call.head_dim);
      rows.values = WidenTo<double>(*context.operands[o]);
      return rows;
    };
    q_ = load(0);
    k_ = load(1);
    v_ = load(2);
    if (call.bias >= 0) bias_ = WidenTo<double>(*context.operands[call.bias]);
    if (!call.backward) return;
    output_ = load(call.output);
    gradient_ = load(call.gradient);
    stats_ = WidenTo<double>(*context.operands[call.stats]);
  }

  std::vector<std::vector<double>> Forward() {
    Rows out = Result(call_.heads, call_.rows, call_.value_depth);
    std::vector<double> stats(call_.batch * call_.heads * call_.rows);
    ForEachRow([&](int64_t b, int64_t n, int64_t r) {
      const std::vector<double> scores = Scores(b, n, r);
      double top = -HUGE_VAL, sum = 0;
      for (double x : scores) top = std::max(top, x);
      if (top == -HUGE_VAL) return;  // nothing to see
      for (double x : scores) sum += std::exp(x - top);
      stats[(b * call_.heads + n) * call_.rows + r] = top + std::log(sum);
      double* const to = out.at(b, n, r);
      for (int64_t s = 0; s < call_.keys; ++s) {
        const double p = std::exp(scores[s] - top) / sum;
        const double* const value = v_.at(b, KvHead(n), s);
        for (int64_t h = 0; p > 0 && h < call_.value_depth; ++h) to[h] += p * value[h];
      }
    });
    return {std::move(out.values), std::move(stats)};
  }

  // The gradients at Q, K, V and the bias.
  std::vector<std::vector<double>> Backward() {
    Rows dq = Result(call_.heads, call_.rows, call_.depth);
    Rows dk = Result(call_.kv_heads, call_.keys, call_.depth);
    Rows dv = Result(call_.kv_heads, call_.keys, call_.value_depth);
    std::vector<double> dbias(bias_.size());
    ForEachRow([&](int64_t b, int64_t n, int64_t r) {
      const std::vector<double> scores = Scores(b, n, r);
      const double stat = stats_[(b * call_.heads + n) * call_.rows + r];
      const double* const dy = gradient_.at(b, n, r);
      const double along = Dot(dy, output_.at(b, n, r), call_.value_depth);
      for (int64_t s = 0; s < call_.keys; ++s) {
        if (scores[s] == -HUGE_VAL) continue;
        const double p = std::exp(scores[s] - stat);
        const double ds = p * (Dot(dy, v_.at(b, KvHead(n), s), call_.value_depth) - along);
        if (!dbias.empty()) dbias[BiasPlace(b, n, r, s)] += ds;
        double* const to_v = dv.at(b, KvHead(n), s);
        for (int64_t h = 0; h < call_.value_depth; ++h) to_v[h] += p * dy[h];
        double *const to_q = dq.at(b, n, r), *const to_k = dk.at(b, KvHead(n), s);
        const double *const q = q_.at(b, n, r), *const k = k_.at(b, KvHead(n), s);
        for (int64_t h = 0; h < call_.depth; ++h) {
          to_q[h] += call_.scale * ds * k[h];
          to_k[h] += call_.scale * ds * q[h];
        }
      }
    });
    std::vector<std::vector<double>> parts = {std::move(dq.values), std::move(dk.values),
                                              std::move(dv.values)};
    if (!dbias.empty()) parts.push_back(std::move(dbias));
    return parts;
  }

 private:
  static double Dot(const double* a, const double* b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  }

  Rows Result(int64_t heads, int64_t rows, int64_t depth) const {
    Rows result = Strided({call_.batch, heads, rows, depth}, /*head_dim=*/1);
    result.values.resize(call_.batch * heads * rows * depth);
    return result;
  }

  int64_t KvHead(int64_t n) const { return n / (call_.heads / call_.kv_heads); }

  int64_t BiasPlace(int64_t b, int64_t n, int64_t r, int64_t s) const {
    const DimVector& dims = context_.operands[call_.bias]->shape().dims;
    return (((dims[0] == 1 ? 0 : b) * dims[1] + (dims[1] == 1 ? 0 : n)) * call_.rows + r) *
               call_.keys +
           s;
  }

  template <typename Fn>
  void ForEachRow(Fn fn) const {
    for (int64_t b = 0; b < call_.batch; ++b) {
      const int64_t rows =
          call_.row_counts < 0 ? call_.rows : context_.operands[call_.row_counts]->GetInt(b);
      for (int64_t n = 0; n < call_.heads; ++n)
        for (int64_t r = 0; r < std::min(rows, call_.rows); ++r) fn(b, n, r);
    }
  }

  // One row before the softmax; -infinity where it is masked.
  std::vector<double> Scores(int64_t b, int64_t n, int64_t r) {
    std::vector<double> scores(call_.keys, -HUGE_VAL);
    int64_t end = call_.keys;
    if (call_.causal) end = std::min(end, r + 1);
    if (call_.key_counts >= 0) end = std::min(end, context_.operands[call_.key_counts]->GetInt(b));
    const int64_t start = call_.window > 0 ? std::max<int64_t>(0, r + 1 - call_.window) : 0;
    for (int64_t s = start; s < end; ++s) {
      scores[s] = call_.scale * Dot(q_.at(b, n, r), k_.at(b, KvHead(n), s), call_.depth);
      if (!bias_.empty()) scores[s] += bias_[BiasPlace(b, n, r, s)];
    }
    return scores;
  }

  const EvalContext& context_;
  const AttentionCall& call_;
  Rows q_, k_, v_, output_, gradient_;
  std::vector<double> bias_, stats_;
};

}  // namespace

absl::StatusOr<Literal> CudnnAttention(const EvalContext& context) {
  const absl::string_view target = context.instruction.attr<CustomCallAttrs>().target;
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  std::vector<const Shape*> operands;
  for (const Literal* operand : context.operands) operands.push_back(&operand->shape());
  ASSIGN_OR_RETURN(const AttentionCall call, ReadAttentionCall(target, config, operands));
  Attention attention(context, call);
  return VendorResultOf(context, call.backward ? attention.Backward() : attention.Forward());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
