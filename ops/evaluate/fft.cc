// Evaluates fft: powers of two by halving, short lines by the definition, all others by Bluestein's
// chirp.
//
// Bluestein: jk = (j^2 + k^2 - (k - j)^2) / 2, so a transform of any length n is a convolution with
// exp(pi i k^2 / n), which two transforms of a power of two of at least 2 n - 1 compute. Roots of
// unity come from long double angles, reduced exactly (k^2 modulo 2 n), so that errors do not grow
// with n. The inverse is the conjugate of the transform of the conjugate, divided by n. Real
// transforms go through complex ones. Cost: n log n a line; n^2 up to 64 elements.
#include <cmath>
#include <numbers>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/sums.h"
#include "support/status.h"

namespace hlokit {
namespace {

// exp(-2 pi i k / n).
Complex Root(int64_t k, int64_t n) {
  const long double angle = -2 * std::numbers::pi_v<long double> * k / n;
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

// Forward transforms of one length.
class Plan {
 public:
  explicit Plan(int64_t n) : n_(n) {
    const bool power = (n & (n - 1)) == 0;
    if (!power && n > 64) {
      MakeChirp();
    } else {
      for (int64_t k = 0; k < n; ++k) roots_.push_back(Root(k, n));
    }
  }

  void Run(std::vector<Complex>& x) const {
    if (chirp_plan_ != nullptr) return RunChirp(x);
    return (n_ & (n_ - 1)) == 0 ? RunHalving(x) : RunDefinition(x);
  }

 private:
  void RunDefinition(std::vector<Complex>& x) const {
    std::vector<Complex> out(n_);
    for (int64_t k = 0; k < n_; ++k)
      for (int64_t j = 0; j < n_; ++j) out[k] += Times(x[j], roots_[j * k % n_]);
    x = std::move(out);
  }

  void RunHalving(std::vector<Complex>& x) const {
    for (int64_t i = 1, j = 0; i < n_; ++i) {  // bit-reversed order
      int64_t bit = n_ >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (int64_t half = 1; half < n_; half *= 2) {
      for (int64_t start = 0; start < n_; start += 2 * half) {
        for (int64_t k = 0; k < half; ++k) {
          const Complex odd = Times(x[start + half + k], roots_[k * (n_ / (2 * half))]);
          x[start + half + k] = x[start + k] - odd;
          x[start + k] += odd;
        }
      }
    }
  }

  // A transform as a convolution with exp(pi i k^2 / n).
  void MakeChirp() {
    int64_t size = 1;
    while (size < 2 * n_ - 1) size *= 2;
    chirp_plan_ = std::make_unique<Plan>(size);
    chirp_spectrum_.resize(size);
    for (int64_t k = 0; k < n_; ++k) {
      roots_.push_back(Root(k * k % (2 * n_), 2 * n_));
      chirp_spectrum_[k] = std::conj(roots_[k]);
      if (k > 0) chirp_spectrum_[size - k] = std::conj(roots_[k]);
    }
    chirp_plan_->Run(chirp_spectrum_);
  }

  void RunChirp(std::vector<Complex>& x) const {
    const int64_t size = chirp_spectrum_.size();
    std::vector<Complex> y(size);
    for (int64_t k = 0; k < n_; ++k) y[k] = Times(x[k], roots_[k]);
    chirp_plan_->Run(y);
    // The inverse transform is the conjugate of that of the conjugate.
    for (int64_t k = 0; k < size; ++k) y[k] = std::conj(Times(y[k], chirp_spectrum_[k]));
    chirp_plan_->Run(y);
    for (int64_t k = 0; k < n_; ++k)
      x[k] = Times(std::conj(y[k]) / static_cast<double>(size), roots_[k]);
  }

  int64_t n_;
  std::vector<Complex> roots_;
  std::unique_ptr<Plan> chirp_plan_;
  std::vector<Complex> chirp_spectrum_;
};

// A complex array under transformation.
struct Grid {
  std::vector<Complex> values;
  DimVector dims;
};

// Transforms every line along dimension d, whose size is n.
void Transform(Grid& grid, int d, bool inverse) {
  const int64_t n = grid.dims[d], stride = RowMajorStrides(grid.dims)[d];
  if (grid.values.empty()) return;
  const Plan plan(n);
  std::vector<Complex> line(n);
  for (int64_t outer = 0; outer < static_cast<int64_t>(grid.values.size()); outer += n * stride) {
    for (int64_t inner = 0; inner < stride; ++inner) {
      Complex* first = &grid.values[outer + inner];
      for (int64_t i = 0; i < n; ++i)
        line[i] = inverse ? std::conj(first[i * stride]) : first[i * stride];
      plan.Run(line);
      for (int64_t i = 0; i < n; ++i)
        first[i * stride] = inverse ? std::conj(line[i]) / static_cast<double>(n) : line[i];
    }
  }
}

// The first `size` of each line of the last dimension; where it is longer, the rest by conjugate
// symmetry.
Grid ResizeLast(const Grid& grid, int64_t size) {
  const int64_t old = grid.dims.back();
  Grid out{{}, grid.dims};
  out.dims.back() = size;
  if (old == 0) return out;
  for (size_t line = 0; line < grid.values.size(); line += old) {
    for (int64_t i = 0; i < size; ++i)
      out.values.push_back(i < old ? grid.values[line + i]
                                   : std::conj(grid.values[line + size - i]));
    // Of a real line's spectrum, these two are real.
    if (size > old) {
      Complex* made = &out.values[out.values.size() - size];
      made[0] = made[0].real();
      if (size % 2 == 0) made[size / 2] = made[size / 2].real();
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<Literal> EvaluateFft(const EvalContext& context) {
  const FftAttrs& attrs = context.instruction.attr<FftAttrs>();
  const Shape& shape = context.instruction.shape();
  Grid grid{WidenTo<Complex>(*context.operands[0]), context.operands[0]->shape().dims};
  const int rank = shape.rank(), last = rank - 1,
            first = rank - static_cast<int>(attrs.fft_length.size());
  if (first < 0 || first == rank)
    return InvalidArgument("fft: fft_length does not fit ", Text(shape));
  const bool inverse = attrs.fft_type == FftType::kIfft || attrs.fft_type == FftType::kIrfft;
  const int64_t length = attrs.fft_length.back();
  if (attrs.fft_type == FftType::kIrfft) {
    for (int d = first; d < last; ++d) Transform(grid, d, inverse);
    if (length > 1)
      grid = ResizeLast(grid, length);
    else
      for (Complex& value : grid.values) value = value.real();
    Transform(grid, last, inverse);
  } else {
    Transform(grid, last, inverse);
    if (attrs.fft_type == FftType::kRfft) grid = ResizeLast(grid, length / 2 + (length > 0));
    for (int d = first; d < last; ++d) Transform(grid, d, inverse);
  }
  if (static_cast<int64_t>(grid.values.size()) != shape.ElementCount())
    return InvalidArgument("fft: ", Text(shape), " is not the transform's shape");
  if (IsComplex(shape.type)) return NarrowFrom(shape, grid.values);
  std::vector<double> real;
  for (const Complex& value : grid.values) real.push_back(value.real());
  return NarrowFrom(shape, real);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
