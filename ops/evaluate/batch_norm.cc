// Evaluates batch-norm-training, -inference and -grad, in double.
#include <cmath>
#include <functional>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/values.h"

namespace hlokit {
namespace {

// An array seen as elements of features: element i belongs to feature (i / inner) % features.
struct Features {
  explicit Features(const EvalContext& context)
      : epsilon(static_cast<float>(context.instruction.attr<BatchNormAttrs>().epsilon)) {
    const DimVector& dims = context.operands[0]->shape().dims;
    const int64_t index = context.instruction.attr<BatchNormAttrs>().feature_index;
    inner = RowMajorStrides(dims)[index];
    count = dims[index];
    each = count == 0 ? 0 : static_cast<double>(Product(dims)) / count;
  }
  int64_t of(int64_t i) const { return i / inner % count; }
  // The sums, by feature, of term(element, feature) over n elements.
  std::vector<double> Sum(int64_t n, const std::function<double(int64_t, int64_t)>& term) const {
    std::vector<double> sums(count);
    for (int64_t i = 0; i < n; ++i) sums[of(i)] += term(i, of(i));
    return sums;
  }
  double epsilon;
  int64_t inner = 1, count = 0;
  double each = 0;  // elements a feature
};

using Values = std::vector<double>;

Values Normalize(const Features& f, const Values& x, const Values& scale, const Values& offset,
                 const Values& mean, const Values& variance) {
  Values y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t c = f.of(i);
    y[i] = scale[c] * (x[i] - mean[c]) / std::sqrt(variance[c] + f.epsilon) + offset[c];
  }
  return y;
}

Literal TupleOf(const Shape& shape, const Values& a, const Values& b, const Values& c) {
  std::vector<Literal> parts;
  parts.push_back(NarrowFrom(shape.elements[0], a));
  parts.push_back(NarrowFrom(shape.elements[1], b));
  parts.push_back(NarrowFrom(shape.elements[2], c));
  return Literal::Tuple(std::move(parts));
}

std::vector<Values> WidenAll(const EvalContext& context) {
  std::vector<Values> all;
  for (const Literal* operand : context.operands) all.push_back(WidenTo<double>(*operand));
  return all;
}

}  // namespace

absl::StatusOr<Literal> EvaluateBatchNormTraining(const EvalContext& context) {
  const Features f(context);
  const std::vector<Values> in = WidenAll(context);
  const Values& x = in[0];
  Values mean = f.Sum(x.size(), [&](int64_t i, int64_t) { return x[i]; });
  for (double& m : mean) m /= f.each;
  Values variance =
      f.Sum(x.size(), [&](int64_t i, int64_t c) { return (x[i] - mean[c]) * (x[i] - mean[c]); });
  for (double& v : variance) v /= f.each;
  return TupleOf(context.instruction.shape(), Normalize(f, x, in[1], in[2], mean, variance), mean,
                 variance);
}

absl::StatusOr<Literal> EvaluateBatchNormInference(const EvalContext& context) {
  const std::vector<Values> in = WidenAll(context);
  return NarrowFrom(context.instruction.shape(),
                    Normalize(Features(context), in[0], in[1], in[2], in[3], in[4]));
}

absl::StatusOr<Literal> EvaluateBatchNormGrad(const EvalContext& context) {
  const Features f(context);
  const std::vector<Values> in = WidenAll(context);
  const Values &x = in[0], &scale = in[1], &mean = in[2], &variance = in[3], &dy = in[4];
  const int64_t n = x.size();
  const Values offset_grad = f.Sum(n, [&](int64_t i, int64_t) { return dy[i]; });
  const Values products = f.Sum(n, [&](int64_t i, int64_t c) { return dy[i] * (x[i] - mean[c]); });
  Values scale_grad(f.count), grad(n);
  for (int64_t c = 0; c < f.count; ++c)
    scale_grad[c] = products[c] / std::sqrt(variance[c] + f.epsilon);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = f.of(i);
    const double spread = variance[c] + f.epsilon;
    grad[i] = scale[c] / std::sqrt(spread) *
              (dy[i] - offset_grad[c] / f.each - products[c] / f.each / spread * (x[i] - mean[c]));
  }
  return TupleOf(context.instruction.shape(), grad, scale_grad, offset_grad);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
