// Layer normalisation of cuDNN: over all dimensions but the first, and its gradient.
#include <cmath>

#include "ops/evaluate/values.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

// x is `rows` lines of `columns` elements, and so are what is computed from it.
struct Lines {
  int64_t rows = 0, columns = 0;
  std::vector<double> x, scale;
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, with the mean and the factor
// 1 / sqrt(..) of each line.
std::vector<std::vector<double>> NormForward(const Lines& in, const std::vector<double>& bias,
                                             double epsilon) {
  std::vector<double> y = in.x, means(in.rows), factors(in.rows);
  const auto size = static_cast<double>(in.columns);
  for (int64_t row = 0; row < in.rows; ++row) {
    double* const line = y.data() + row * in.columns;
    double mean = 0, variance = 0;
    for (int64_t k = 0; k < in.columns; ++k) mean += line[k] / size;
    for (int64_t k = 0; k < in.columns; ++k) variance += (line[k] - mean) * (line[k] - mean) / size;
    means[row] = mean;
    factors[row] = 1 / std::sqrt(variance + epsilon);
    for (int64_t k = 0; k < in.columns; ++k)
      line[k] = (line[k] - mean) * factors[row] * in.scale[k] + bias[k];
  }
  return {y, means, factors};
}

// The gradients at x, scale and bias, from that at y and what the forward pass kept.
std::vector<std::vector<double>> NormBackward(const Lines& in, const std::vector<double>& dy,
                                              const std::vector<double>& means,
                                              const std::vector<double>& factors) {
  std::vector<double> dx(in.x.size()), dscale(in.columns), dbias(in.columns);
  const auto size = static_cast<double>(in.columns);
  for (int64_t row = 0; row < in.rows; ++row) {
    const int64_t start = row * in.columns;
    const auto normal = [&](int64_t k) { return (in.x[start + k] - means[row]) * factors[row]; };
    double mean = 0, slope = 0;  // of the gradient at the normalised line
    for (int64_t k = 0; k < in.columns; ++k) {
      const double g = dy[start + k] * in.scale[k];
      mean += g / size;
      slope += g * normal(k) / size;
      dscale[k] += dy[start + k] * normal(k);
      dbias[k] += dy[start + k];
    }
    for (int64_t k = 0; k < in.columns; ++k)
      dx[start + k] = factors[row] * (dy[start + k] * in.scale[k] - mean - normal(k) * slope);
  }
  return {dx, dscale, dbias};
}

}  // namespace

// Operands: x, scale, bias; or x, scale, the gradient at y, means and factors. Results: y and, for
// training, means and factors; or the three gradients.
absl::StatusOr<Literal> CudnnNorm(const EvalContext& context) {
  const size_t count = context.operands.size();
  const Shape& whole = context.instruction.shape();
  const Shape& x = count == 0 ? whole : context.operands[0]->shape();
  if ((count != 3 && count != 5) || !x.IsArray() || x.rank() == 0)
    return InvalidArgument("custom-call __cudnn$norm takes 3 or 5 arrays");
  Lines in;
  in.rows = x.dims[0];
  in.columns = in.rows == 0 ? context.operands[1]->element_count() : x.ElementCount() / in.rows;
  const int64_t elements = in.rows * in.columns;
  const int64_t sizes[] = {elements, in.columns, count == 3 ? in.columns : elements, in.rows,
                           in.rows};
  std::vector<std::vector<double>> values;
  for (size_t o = 0; o < count; ++o) {
    if (context.operands[o]->element_count() != sizes[o])
      return InvalidArgument("custom-call __cudnn$norm: operand ", o, " is ",
                             Text(context.operands[o]->shape()), " beside ", Text(x));
    values.push_back(WidenTo<double>(*context.operands[o]));
  }
  in.x = std::move(values[0]);
  in.scale = std::move(values[1]);
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const ConfigValue* inner = config.Find("cudnn_norm_backend_config");
  const double epsilon = (inner != nullptr ? *inner : config).NumberOr("epsilon", 0);
  return VendorResultOf(context, count == 3 ? NormForward(in, values[2], epsilon)
                                            : NormBackward(in, values[2], values[3], values[4]));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
