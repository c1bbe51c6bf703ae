// Plans: lengths factored into radices, twiddle factors, and the loop over the passes.
//
// A length with prime factors up to 13 is a sequence of Stockham passes (autosort: no bit reversal;
// each pass reads one buffer and writes the other). Any other length n uses Bluestein's algorithm:
// a product with a chirp exp(-pi i j^2 / n), a convolution by a transform of a smooth length of at
// least 2n - 1, and a second product with the chirp.
//   n = 120 = 8 * 5 * 3: three passes      n = 17: Bluestein over 36 >= 33
// Twiddles are computed in long double from the first eighth of the circle, so each is correctly
// rounded or nearly so. Plans are cached by length for the life of the process.
#include <math.h>

#include <map>
#include <mutex>
#include <utility>

#include "runtime/cpu_features.h"
#include "runtime/fft/fft_internal.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kRadices[] = {8, 4, 2, 3, 5, 7, 11, 13};

// exp(-2 pi i numerator / denominator)
template <typename T>
void UnitRoot(int64_t numerator, int64_t denominator, T& cosine, T& sine) {
  numerator %= denominator;
  // Rotated into the first eighth of the circle, so that the roots are as accurate as can be.
  const int64_t eighth = 8 * numerator / denominator;
  const long double unit = 2 * M_PIl / denominator;
  long double c, s;
  const int64_t quarter = (eighth + 1) / 2;  // nearest multiple of a quarter turn
  const long double rest = (numerator - quarter * denominator / 4.0L) * unit;
  const long double cr = cosl(rest), sr = sinl(rest);
  switch (quarter % 4) {
    case 0:
      c = cr, s = sr;
      break;
    case 1:
      c = -sr, s = cr;
      break;
    case 2:
      c = -cr, s = -sr;
      break;
    default:
      c = sr, s = -cr;
      break;
  }
  cosine = static_cast<T>(c);
  sine = static_cast<T>(-s);
}

template <typename T>
FftPass<T> MakePass(int64_t radix, int64_t length) {
  FftPass<T> pass{radix, length / radix, {}, {}, {}, {}};
  pass.cosine.resize(length);
  pass.sine.resize(length);
  for (int64_t p = 0; p < pass.groups; ++p) {
    for (int64_t k = 0; k < radix; ++k) {
      UnitRoot(p * k, length, pass.cosine[p * radix + k], pass.sine[p * radix + k]);
    }
  }
  if (radix <= 5 || radix == 8) return pass;
  pass.root_cosine.resize(radix);
  pass.root_sine.resize(radix);
  for (int64_t k = 0; k < radix; ++k) UnitRoot(k, radix, pass.root_cosine[k], pass.root_sine[k]);
  return pass;
}

// The least length of at least `n` with factors 2, 3 and 5 alone.
int64_t SmoothLength(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (int64_t five = 1; five < best; five *= 5) {
    for (int64_t three = five; three < best; three *= 3) {
      int64_t length = three;
      while (length < n) length *= 2;
      best = length < best ? length : best;
    }
  }
  return best;
}

// The one Made for n, filled at the first call.
template <typename Made, typename Fill>
std::shared_ptr<const Made> FindMade(int64_t n, const Fill& fill) {
  static std::mutex mutex;
  static std::map<int64_t, std::shared_ptr<const Made>> all;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = all.find(n);
    if (found != all.end()) return found->second;
  }
  auto made = std::make_shared<Made>();
  fill(*made);
  const std::lock_guard<std::mutex> lock(mutex);
  return all.emplace(n, std::move(made)).first->second;
}

template <typename T>
void FillPasses(FftPlan<T>& plan) {
  int64_t left = plan.n;
  for (int64_t radix : kRadices) {
    // 16 is two fours rather than an eight and a two.
    while (left % radix == 0 && !(radix == 8 && left / 8 % 4 == 2)) {
      plan.passes.push_back(MakePass<T>(radix, left));
      left /= radix;
    }
  }
}

template <typename T>
void FillChirp(FftPlan<T>& plan) {
  const int64_t n = plan.n;
  plan.inner = FindFftPlan<T>(SmoothLength(2 * n - 1));
  const int64_t m = plan.inner->n;
  plan.chirp_cosine.resize(n);
  plan.chirp_sine.resize(n);
  std::vector<T> work(4 * m, T(0));
  FftBuffers<T> buffers{&work[0], &work[m], &work[2 * m], &work[3 * m]};
  for (int64_t j = 0; j < n; ++j) {
    const int64_t square = static_cast<int64_t>(static_cast<unsigned __int128>(j) * j % (2 * n));
    UnitRoot(square, 2 * n, plan.chirp_cosine[j], plan.chirp_sine[j]);
    const int64_t mirror = (m - j) % m;
    buffers.re[j] = buffers.re[mirror] = plan.chirp_cosine[j] / static_cast<T>(m);
    buffers.im[j] = buffers.im[mirror] = -plan.chirp_sine[j] / static_cast<T>(m);
  }
  RunFft(*plan.inner, 1, buffers);
  plan.filter_cosine.assign(buffers.re, buffers.re + m);
  plan.filter_sine.assign(buffers.im, buffers.im + m);
}

const FftIsa& Kernels() { return HLOKIT_OF_BEST_ISA(kFft); }

// re, im *= c, s for element j of every line.
template <typename T>
void Scale(T* re, T* im, int64_t count, T c, T s) {
  for (int64_t i = 0; i < count; ++i) {
    const T a = re[i], b = im[i];
    re[i] = a * c - b * s;
    im[i] = a * s + b * c;
  }
}

template <typename T>
bool RunBluestein(const FftPlan<T>& plan, int64_t lines, FftBuffers<T>& b) {
  const int64_t n = plan.n, m = plan.inner->n, size = m * lines;
  Scratch scratch(4 * size * sizeof(T));
  if (scratch.data() == nullptr) return false;
  T* work = scratch.as<T>();
  FftBuffers<T> inner{work, work + size, work + 2 * size, work + 3 * size};
  for (int64_t i = 0; i < n * lines; ++i) inner.re[i] = b.re[i], inner.im[i] = b.im[i];
  for (int64_t i = n * lines; i < size; ++i) inner.re[i] = inner.im[i] = T(0);
  for (int64_t j = 0; j < n; ++j) {
    Scale(inner.re + j * lines, inner.im + j * lines, lines, plan.chirp_cosine[j],
          plan.chirp_sine[j]);
  }
  if (!RunFft(*plan.inner, lines, inner)) return false;
  for (int64_t j = 0; j < m; ++j) {
    Scale(inner.re + j * lines, inner.im + j * lines, lines, plan.filter_cosine[j],
          plan.filter_sine[j]);
  }
  std::swap(inner.re, inner.im);  // back
  std::swap(inner.spare_re, inner.spare_im);
  if (!RunFft(*plan.inner, lines, inner)) return false;
  std::swap(inner.re, inner.im);
  for (int64_t j = 0; j < n; ++j) {
    Scale(inner.re + j * lines, inner.im + j * lines, lines, plan.chirp_cosine[j],
          plan.chirp_sine[j]);
  }
  for (int64_t i = 0; i < n * lines; ++i) b.re[i] = inner.re[i], b.im[i] = inner.im[i];
  return true;
}

}  // namespace

bool NeedsBluestein(int64_t n) {
  for (int64_t radix : kRadices) {
    while (n % radix == 0) n /= radix;
  }
  return n != 1;
}

template <>
const FftKernels<float>& FindFftKernels() {
  return Kernels().f32;
}
template <>
const FftKernels<double>& FindFftKernels() {
  return Kernels().f64;
}

template <typename T>
std::shared_ptr<const FftPlan<T>> FindFftPlan(int64_t n) {
  return FindMade<FftPlan<T>>(n, [n](FftPlan<T>& plan) {
    plan.n = n;
    NeedsBluestein(n) ? FillChirp(plan) : FillPasses(plan);
  });
}

template <typename T>
std::shared_ptr<const FftTurns<T>> FindFftTurns(int64_t n) {
  return FindMade<FftTurns<T>>(n, [n](FftTurns<T>& turns) {
    turns.cosine.resize(n / 2 + 1);
    turns.sine.resize(n / 2 + 1);
    for (int64_t k = 0; k <= n / 2; ++k) UnitRoot(k, n, turns.cosine[k], turns.sine[k]);
  });
}

template <typename T>
bool RunFft(const FftPlan<T>& plan, int64_t lines, FftBuffers<T>& b) {
  if (plan.inner != nullptr) return RunBluestein(plan, lines, b);
  const auto kernel = FindFftKernels<T>().pass;
  int64_t stride = lines;
  for (const FftPass<T>& pass : plan.passes) {
    kernel(pass, stride, b.re, b.im, b.spare_re, b.spare_im);
    std::swap(b.re, b.spare_re);
    std::swap(b.im, b.spare_im);
    stride *= pass.radix;
  }
  return true;
}

template std::shared_ptr<const FftTurns<float>> FindFftTurns(int64_t);
template std::shared_ptr<const FftTurns<double>> FindFftTurns(int64_t);
template std::shared_ptr<const FftPlan<float>> FindFftPlan(int64_t);
template std::shared_ptr<const FftPlan<double>> FindFftPlan(int64_t);
template bool RunFft(const FftPlan<float>&, int64_t, FftBuffers<float>&);
template bool RunFft(const FftPlan<double>&, int64_t, FftBuffers<double>&);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
