// Transforms of one to three dimensions: lines along a dimension are gathered in blocks,
// transformed and put back.
#include "runtime/fft.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/context.h"
#include "runtime/fft_internal.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kMostLines = 16;          // transformed together
constexpr int64_t kBlockBytes = 512 << 10;  // of their buffers, if more than one line

// Lines of a dense array [outer][n][inner]: line l starts at Start(l), its elements are `inner`
// apart.
struct Axis {
  int64_t outer, n, inner;
  int64_t Lines() const { return outer * inner; }
  int64_t Start(int64_t line) const { return line / inner * n * inner + line % inner; }
};

// F: the type of the arrays; T: that of the computation (double for Bluestein).
template <typename F, typename T>
class AxisTransform {
 public:
  // `length` complex numbers are transformed along each line.
  AxisTransform(void* ctx, int64_t length, bool inverse, double scale)
      : ctx_(ctx),
        plan_(FindFftPlan<T>(length)),
        inverse_(inverse),
        scale_(static_cast<T>(scale)) {}

  // Along any axis of complex numbers.
  void Complex(const Axis& axis, const F* from, F* to) const {
    ForBlocks(axis.Lines(), axis.inner, [&](int64_t line, int64_t lines, FftBuffers<T>& b) {
      const auto take = [&](const F* x, int64_t i, int64_t j) {
        b.re[j * lines + i] = x[0];
        b.im[j * lines + i] = x[1];
      };
      const auto give = [&](F* x, int64_t i, int64_t j) {
        x[0] = static_cast<F>(b.re[j * lines + i] * scale_);
        x[1] = static_cast<F>(b.im[j * lines + i] * scale_);
      };
      ForElements(axis, line, lines, from, take);
      if (!Run(lines, b)) return;
      ForElements(axis, line, lines, to, give);
    });
  }

  // Rows of n reals to n / 2 + 1 complex numbers, at even n as n / 2 complex numbers (the length of
  // the plan).
  void FromReal(int64_t rows, int64_t n, const F* from, F* to) const {
    const bool even = n % 2 == 0;
    const int64_t kept = n / 2 + 1;
    ForBlocks(rows, 1, [&](int64_t row, int64_t lines, FftBuffers<T>& b) {
      if (even) {  // neighbours are the parts of one complex number
        ForElements(Axis{rows, plan_->n, 1}, row, lines, from,
                    [&](const F* x, int64_t i, int64_t j) {
                      b.re[j * lines + i] = x[0];
                      b.im[j * lines + i] = x[1];
                    });
      } else {
        for (int64_t i = 0; i < lines; ++i) {
          const F* x = from + (row + i) * n;
          for (int64_t j = 0; j < plan_->n; ++j) {
            b.re[j * lines + i] = x[j];
            b.im[j * lines + i] = F(0);
          }
        }
      }
      if (!Run(lines, b)) return;
      if (even) UntangleAll(lines, b);
      ForElements(Axis{rows, kept, 1}, row, lines, to, [&](F* x, int64_t i, int64_t k) {
        T re, im;
        even&& k == plan_->n ? Untangle(b, k, lines, i, re, im)
        : even               ? Pick(b.spare_re, b.spare_im, k * lines + i, re, im)
                             : Pick(b.re, b.im, k * lines + i, re, im);
        x[0] = static_cast<F>(re);
        x[1] = static_cast<F>(im);
      });
    });
  }

  // The inverse of FromReal.
  void ToReal(int64_t rows, int64_t n, const F* from, F* to) const {
    const bool even = n % 2 == 0;
    const int64_t kept = n / 2 + 1;
    ForBlocks(rows, 1, [&](int64_t row, int64_t lines, FftBuffers<T>& b) {
      for (int64_t i = 0; i < lines; ++i) {
        const F* x = from + 2 * (row + i) * kept;
        for (int64_t k = 0; k < plan_->n; ++k) {
          T& re = b.re[k * lines + i];
          T& im = b.im[k * lines + i];
          even ? Tangle(x, k, re, im) : Mirror(x, k, re, im);
        }
      }
      if (!Run(lines, b)) return;
      for (int64_t i = 0; i < lines; ++i) {
        F* x = to + (row + i) * n;
        for (int64_t j = 0; j < plan_->n; ++j) {
          x[even ? 2 * j : j] = static_cast<F>(b.re[j * lines + i] * scale_);
          if (even) x[2 * j + 1] = static_cast<F>(b.im[j * lines + i] * scale_);
        }
      }
    });
  }

  // Twiddles exp(-2 pi i k / (2 * plan length)) for FromReal and ToReal at even lengths.
  void set_half_turns(const T* cosine, const T* sine) { cosine_ = cosine, sine_ = sine; }

 private:
  template <typename Body>
  void ForBlocks(int64_t total, int64_t inner, const Body& body) const {
    const int64_t line_bytes = 4 * plan_->n * sizeof(T);
    const int64_t least = inner > 1 ? 4 : 1;
    const int64_t block = std::clamp<int64_t>(kBlockBytes / line_bytes, least, kMostLines);
    const int64_t blocks = (total + block - 1) / block;
    ParallelFor(ctx_, blocks, std::max<int64_t>(1, (16 << 10) / (line_bytes * block)),
                [&](int64_t begin, int64_t end) {
                  Scratch scratch(block * line_bytes);
                  if (scratch.data() == nullptr) return ReportMemory();
                  T* work = scratch.as<T>();
                  const int64_t size = block * plan_->n;
                  for (int64_t i = begin; i < end; ++i) {
                    FftBuffers<T> buffers{work, work + size, work + 2 * size, work + 3 * size};
                    body(i * block, std::min(block, total - i * block), buffers);
                  }
                });
  }

  // use(element j of line i, i, j) for all of `lines` lines: lines beside each other are taken
  // across, others in tiles that stay in the first-level cache.
  template <typename P, typename Use>
  static void ForElements(const Axis& axis, int64_t line, int64_t lines, P* array, const Use& use) {
    if (line % axis.inner + lines <= axis.inner) {
      P* x = array + 2 * axis.Start(line);
      for (int64_t j = 0; j < axis.n; ++j, x += 2 * axis.inner)
        for (int64_t i = 0; i < lines; ++i) use(x + 2 * i, i, j);
      return;
    }
    constexpr int64_t kTile = 16;
    for (int64_t first = 0; first < axis.n; first += kTile) {
      const int64_t end = std::min(axis.n, first + kTile);
      for (int64_t i = 0; i < lines; ++i) {
        P* x = array + 2 * axis.Start(line + i);
        for (int64_t j = first; j < end; ++j) use(x + 2 * j * axis.inner, i, j);
      }
    }
  }

  bool Run(int64_t lines, FftBuffers<T>& b) const {
    if (inverse_) Exchange(b);
    const bool done = RunFft(*plan_, lines, b);
    if (inverse_) Exchange(b);
    if (!done) ReportMemory();
    return done;
  }
  static void Exchange(FftBuffers<T>& b) {
    std::swap(b.re, b.im);
    std::swap(b.spare_re, b.spare_im);
  }

  static void Pick(const T* from_re, const T* from_im, int64_t at, T& re, T& im) {
    re = from_re[at];
    im = from_im[at];
  }

  // Coefficient k of a real line from the transform of its even (real parts) and odd (imaginary
  // parts) elements.
  void Untangle(const FftBuffers<T>& b, int64_t k, int64_t lines, int64_t i, T& re, T& im) const {
    const int64_t h = plan_->n, a = (k == h ? 0 : k) * lines + i,
                  c = (k == 0 ? 0 : h - k) * lines + i;
    const T even_re = (b.re[a] + b.re[c]) / 2, even_im = (b.im[a] - b.im[c]) / 2;
    const T odd_re = (b.im[a] + b.im[c]) / 2, odd_im = (b.re[c] - b.re[a]) / 2;
    re = even_re + odd_re * cosine_[k] - odd_im * sine_[k];
    im = even_im + odd_re * sine_[k] + odd_im * cosine_[k];
  }

  // All of them but the last, into the spare buffers.
  void UntangleAll(int64_t lines, const FftBuffers<T>& b) const {
    T* __restrict re = b.spare_re;
    T* __restrict im = b.spare_im;
    for (int64_t k = 0; k < plan_->n; ++k)
      for (int64_t i = 0; i < lines; ++i)
        Untangle(b, k, lines, i, re[k * lines + i], im[k * lines + i]);
  }

  // The inverse of Untangle.
  void Tangle(const F* x, int64_t k, T& re, T& im) const {
    const int64_t c = plan_->n - k;
    const T a_im = k == 0 ? T(0) : static_cast<T>(x[2 * k + 1]),
            c_im = k == 0 ? T(0) : static_cast<T>(x[2 * c + 1]);
    const T even_re = (static_cast<T>(x[2 * k]) + x[2 * c]) / 2, even_im = (a_im - c_im) / 2;
    const T turned_re = (static_cast<T>(x[2 * k]) - x[2 * c]) / 2, turned_im = (a_im + c_im) / 2;
    const T odd_re = turned_re * cosine_[k] + turned_im * sine_[k];
    const T odd_im = turned_im * cosine_[k] - turned_re * sine_[k];
    re = even_re - odd_im;
    im = even_im + odd_re;
  }

  // Coefficient k of all n of a real line, of which the first half is given.
  void Mirror(const F* x, int64_t k, T& re, T& im) const {
    const bool given = 2 * k <= plan_->n;
    const int64_t source = given ? k : plan_->n - k;
    re = x[2 * source];
    im = k == 0  ? T(0)
         : given ? static_cast<T>(x[2 * source + 1])
                 : -static_cast<T>(x[2 * source + 1]);
  }

  void ReportMemory() const { hlokit_set_error(ctx_, "out of memory in a Fourier transform"); }

  void* ctx_;
  std::shared_ptr<const FftPlan<T>> plan_;
  bool inverse_;
  T scale_;
  const T* cosine_ = nullptr;
  const T* sine_ = nullptr;
};

template <typename F>
class Transform {
 public:
  Transform(void* ctx, const HlokitFftDesc& d) : ctx_(ctx), d_(d) {}

  void Run(const F* from, F* to) const {
    switch (d_.fft_type) {
      case HLOKIT_RFFT:
        RealAxis(from, to, false);
        return OtherAxes(LastKept(), d_.rank - 1, false, to, to);
      case HLOKIT_IRFFT:
        return RunToReal(from, to);
      default:
        return OtherAxes(Last(), d_.rank, d_.fft_type == HLOKIT_IFFT, from, to);
    }
  }

 private:
  int64_t Last() const { return d_.length[d_.rank - 1]; }
  int64_t LastKept() const { return Last() / 2 + 1; }
  int64_t Rows() const {
    int64_t rows = d_.batch;
    for (int64_t i = 0; i + 1 < d_.rank; ++i) rows *= d_.length[i];
    return rows;
  }

  // Large prime factors are computed in double precision: the chirp loses some.
  template <typename Use>
  void WithTransform(int64_t length, bool inverse, double scale, const Use& use) const {
    if (sizeof(F) == 4 && NeedsBluestein(length)) {
      AxisTransform<F, double> transform(ctx_, length, inverse, scale);
      return use(transform, double());
    }
    AxisTransform<F, F> transform(ctx_, length, inverse, scale);
    use(transform, F());
  }

  // Complex transforms along the first `axes` dimensions of each; the last dimension has `last`
  // elements.
  void OtherAxes(int64_t last, int64_t axes, bool inverse, const F* from, F* to) const {
    int64_t inner = axes == d_.rank ? 1 : last, outer = Rows() * last;
    for (int64_t i = axes; i-- > 0;) {
      const int64_t n = d_.length[i];
      const Axis axis{outer / n / inner, n, inner};
      WithTransform(n, inverse, inverse ? 1.0 / static_cast<double>(n) : 1.0,
                    [&](const auto& transform, auto) { transform.Complex(axis, from, to); });
      from = to;
      inner *= n;
    }
  }

  void RealAxis(const F* from, F* to, bool inverse) const {
    const int64_t n = Last(), half = n % 2 == 0 ? n / 2 : n;
    const double scale = inverse ? 1.0 / static_cast<double>(half) : 1.0;
    WithTransform(half, inverse, scale, [&](auto& transform, auto number) {
      using T = decltype(number);
      std::vector<T> cosine(half + 1), sine(half + 1);
      if (n % 2 == 0) HalfTurns(n, cosine, sine);
      transform.set_half_turns(cosine.data(), sine.data());
      inverse ? transform.ToReal(Rows(), n, from, to) : transform.FromReal(Rows(), n, from, to);
    });
  }

  void RunToReal(const F* from, F* to) const {
    if (d_.rank == 1) return RealAxis(from, to, true);
    const size_t bytes = 2 * Rows() * LastKept() * sizeof(F);
    Scratch scratch(bytes);
    if (scratch.data() == nullptr)
      return hlokit_set_error(ctx_, "out of memory in a Fourier transform");
    OtherAxes(LastKept(), d_.rank - 1, true, from, scratch.as<F>());
    RealAxis(scratch.as<F>(), to, true);
  }

  void* ctx_;
  const HlokitFftDesc& d_;
};

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_fft(void* ctx, const HlokitFftDesc* desc, const void* from, void* to) {
  bool known = desc->fft_type >= HLOKIT_FFT && desc->fft_type <= HLOKIT_IRFFT && desc->rank >= 1 &&
               desc->rank <= HLOKIT_MAX_FFT_DIMS;
  for (int64_t i = 0; known && i < desc->rank; ++i) known = desc->length[i] >= 1;
  if (!known) return hlokit_set_error(ctx, "fft of an unknown type, rank or length");
  if (desc->batch <= 0) return;
  if (desc->double_precision) {
    hlokit::Transform<double>(ctx, *desc)
        .Run(static_cast<const double*>(from), static_cast<double*>(to));
  } else {
    hlokit::Transform<float>(ctx, *desc)
        .Run(static_cast<const float*>(from), static_cast<float*>(to));
  }
}
// SPDX-License-Identifier: Apache-2.0
