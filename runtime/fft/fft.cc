// Fourier transforms of one to three dimensions.
//
// A transform along one dimension consists of many independent lines. kMaxLines of them are
// gathered into a buffer, interleaved: element j of all lines is contiguous. Every butterfly then
// works on whole vectors, one line per lane, for any length. Real and imaginary parts are separate
// arrays. A multi-dimensional transform applies this along each dimension in turn.
//
// Real transforms of even length n are complex ones of length n/2 over pairs (x[2j], x[2j+1]), with
// a step before or after that separates the two halves of the spectrum (tangle, untangle in
// fft_lines_internal.h). The inverse is the forward transform with real and imaginary parts swapped
// (SwapParts) and a factor 1/n. Cost: 5 n log2 n flops a line, in blocks of at most kBlockBytes of
// buffers per thread.
#include "runtime/fft/fft.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "runtime/context.h"
#include "runtime/fft/fft_internal.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxLines = 16;           // transformed together
constexpr int64_t kBlockBytes = 512 << 10;  // of their buffers, if more than one line

// Lines of a dense array [outer][n][inner]: line l starts at Start(l), its elements are `inner`
// apart.
struct Axis {
  int64_t outer, n, inner;
  int64_t Lines() const { return outer * inner; }
  int64_t Start(int64_t line) const { return line / inner * n * inner + line % inner; }
};

// The elements of F arrays and the T that is computed in: where both are one type (always, but for
// Bluestein's algorithm in f32), the kernels of this machine move them.
template <typename F, typename T>
class LineMover {
 public:
  LineMover(int64_t lines, T scale) : lines_(lines), scale_(scale) {}

  // n complex numbers of each line, side by side; lines are `pitch` reals apart.
  void TakeLines(const F* from, int64_t pitch, int64_t n, T* re, T* im) const {
    if constexpr (kOneType) return FindFftKernels<T>().take_lines(from, pitch, n, lines_, re, im);
    for (int64_t i = 0; i < lines_; ++i)
      for (int64_t j = 0; j < n; ++j) Take(from + i * pitch + 2 * j, re, im, j * lines_ + i);
  }
  void GiveLines(F* to, int64_t pitch, int64_t n, const T* re, const T* im) const {
    if constexpr (kOneType)
      return FindFftKernels<T>().give_lines(to, pitch, n, lines_, re, im, scale_);
    for (int64_t i = 0; i < lines_; ++i)
      for (int64_t j = 0; j < n; ++j) Give(to + i * pitch + 2 * j, re, im, j * lines_ + i);
  }

  // `count` lines from line `first` of the buffers on, whose numbers lie side by side.
  void TakeAcross(const F* from, int64_t step, int64_t n, int64_t first, int64_t count, T* re,
                  T* im) const {
    if constexpr (kOneType)
      return FindFftKernels<T>().take_across(from, step, n, count, lines_, re + first, im + first);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < count; ++i)
        Take(from + j * step + 2 * i, re, im, j * lines_ + first + i);
  }
  void GiveAcross(F* to, int64_t step, int64_t n, int64_t first, int64_t count, const T* re,
                  const T* im) const {
    if constexpr (kOneType)
      return FindFftKernels<T>().give_across(to, step, n, count, lines_, re + first, im + first,
                                             scale_);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < count; ++i)
        Give(to + j * step + 2 * i, re, im, j * lines_ + first + i);
  }

 private:
  static constexpr bool kOneType = std::is_same_v<F, T>;
  static void Take(const F* x, T* re, T* im, int64_t at) {
    re[at] = static_cast<T>(x[0]);
    im[at] = static_cast<T>(x[1]);
  }
  void Give(F* x, const T* re, const T* im, int64_t at) const {
    x[0] = static_cast<F>(re[at] * scale_);
    x[1] = static_cast<F>(im[at] * scale_);
  }

  int64_t lines_;
  T scale_;
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
      const LineMover<F, T> mover(lines, scale_);
      const int64_t n = axis.n, step = 2 * axis.inner;
      if (axis.inner == 1) {
        mover.TakeLines(from + 2 * axis.Start(line), 2 * n, n, b.re, b.im);
        if (!Run(lines, b)) return;
        return mover.GiveLines(to + 2 * axis.Start(line), 2 * n, n, b.re, b.im);
      }
      ForNeighbours(axis, line, lines, [&](int64_t start, int64_t first, int64_t count) {
        mover.TakeAcross(from + 2 * start, step, n, first, count, b.re, b.im);
      });
      if (!Run(lines, b)) return;
      ForNeighbours(axis, line, lines, [&](int64_t start, int64_t first, int64_t count) {
        mover.GiveAcross(to + 2 * start, step, n, first, count, b.re, b.im);
      });
    });
  }

  // Rows of n reals to n / 2 + 1 complex numbers, at even n as n / 2 complex numbers (the length of
  // the plan).
  void FromReal(int64_t rows, int64_t n, const F* from, F* to) const {
    const int64_t kept = n / 2 + 1;
    ForBlocks(rows, 1, [&](int64_t row, int64_t lines, FftBuffers<T>& b) {
      const LineMover<F, T> mover(lines, T(1));
      F* const out = to + 2 * row * kept;
      if (n % 2 == 0) {
        mover.TakeLines(from + row * n, n, plan_->n, b.re, b.im);
        if (!Run(lines, b)) return;
        FindFftKernels<T>().untangle(*turns_, plan_->n, lines, b.re, b.im, b.spare_re, b.spare_im);
        return mover.GiveLines(out, 2 * kept, kept, b.spare_re, b.spare_im);
      }
      for (int64_t i = 0; i < lines; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          b.re[j * lines + i] = from[(row + i) * n + j];
          b.im[j * lines + i] = T(0);
        }
      }
      if (Run(lines, b)) mover.GiveLines(out, 2 * kept, kept, b.re, b.im);
    });
  }

  // The inverse of FromReal.
  void ToReal(int64_t rows, int64_t n, const F* from, F* to) const {
    const int64_t kept = n / 2 + 1;
    ForBlocks(rows, 1, [&](int64_t row, int64_t lines, FftBuffers<T>& b) {
      const LineMover<F, T> mover(lines, scale_);
      const F* const in = from + 2 * row * kept;
      if (n % 2 == 0) {
        mover.TakeLines(in, 2 * kept, kept, b.spare_re, b.spare_im);
        FindFftKernels<T>().tangle(*turns_, plan_->n, lines, b.spare_re, b.spare_im, b.re, b.im);
        if (Run(lines, b)) mover.GiveLines(to + row * n, n, plan_->n, b.re, b.im);
        return;
      }
      for (int64_t i = 0; i < lines; ++i)
        for (int64_t k = 0; k < n; ++k)
          Mirror(in + 2 * i * kept, k, b.re[k * lines + i], b.im[k * lines + i]);
      if (!Run(lines, b)) return;
      for (int64_t i = 0; i < lines; ++i)
        for (int64_t j = 0; j < n; ++j)
          to[(row + i) * n + j] = static_cast<F>(b.re[j * lines + i] * scale_);
    });
  }

  // For FromReal and ToReal of `n` reals, n even.
  void FindTurns(int64_t n) { turns_ = FindFftTurns<T>(n); }

 private:
  template <typename Body>
  void ForBlocks(int64_t total, int64_t inner, const Body& body) const {
    const int64_t size_of_line = plan_->n + 1;  // a real line has a coefficient more
    const int64_t line_bytes = 4 * size_of_line * sizeof(T);
    const int64_t least = inner > 1 ? 4 : 1;
    const int64_t block = std::clamp<int64_t>(kBlockBytes / line_bytes, least, kMaxLines);
    const int64_t blocks = (total + block - 1) / block;
    ParallelFor(ctx_, blocks, std::max<int64_t>(1, (16 << 10) / (line_bytes * block)),
                [&](int64_t begin, int64_t end) {
                  Scratch scratch(block * line_bytes);
                  if (scratch.data() == nullptr) return ReportMemory();
                  T* work = scratch.as<T>();
                  const int64_t size = block * size_of_line;
                  for (int64_t i = begin; i < end; ++i) {
                    FftBuffers<T> buffers{work, work + size, work + 2 * size, work + 3 * size};
                    body(i * block, std::min(block, total - i * block), buffers);
                  }
                });
  }

  // use(start, first, count) for runs of contiguous lines: `count` from line
  // `first` of the block on, at `start`.
  template <typename Use>
  static void ForNeighbours(const Axis& axis, int64_t line, int64_t lines, const Use& use) {
    for (int64_t first = 0; first < lines;) {
      const int64_t at = line + first;
      const int64_t count = std::min(lines - first, axis.inner - at % axis.inner);
      use(axis.Start(at), first, count);
      first += count;
    }
  }

  bool Run(int64_t lines, FftBuffers<T>& b) const {
    if (inverse_) SwapParts(b);
    const bool done = RunFft(*plan_, lines, b);
    if (inverse_) SwapParts(b);
    if (!done) ReportMemory();
    return done;
  }
  static void SwapParts(FftBuffers<T>& b) {
    std::swap(b.re, b.im);
    std::swap(b.spare_re, b.spare_im);
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
  std::shared_ptr<const FftTurns<T>> turns_;
  bool inverse_;
  T scale_;
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
  // Lengths with prime factors above 13 use Bluestein's algorithm (fft_plan.cc).
  void WithTransform(int64_t length, bool inverse, double scale, const Use& use) const {
    if (sizeof(F) == 4 && NeedsBluestein(length)) {
      AxisTransform<F, double> transform(ctx_, length, inverse, scale);
      return use(transform);
    }
    AxisTransform<F, F> transform(ctx_, length, inverse, scale);
    use(transform);
  }

  // Complex transforms along the first `axes` dimensions of each; the last dimension has `last`
  // elements.
  void OtherAxes(int64_t last, int64_t axes, bool inverse, const F* from, F* to) const {
    int64_t inner = axes == d_.rank ? 1 : last, outer = Rows() * last;
    for (int64_t i = axes; i-- > 0;) {
      const int64_t n = d_.length[i];
      const Axis axis{outer / n / inner, n, inner};
      WithTransform(n, inverse, inverse ? 1.0 / static_cast<double>(n) : 1.0,
                    [&](const auto& transform) { transform.Complex(axis, from, to); });
      from = to;
      inner *= n;
    }
  }

  void RealAxis(const F* from, F* to, bool inverse) const {
    const int64_t n = Last(), half = n % 2 == 0 ? n / 2 : n;
    const double scale = inverse ? 1.0 / static_cast<double>(half) : 1.0;
    WithTransform(half, inverse, scale, [&](auto& transform) {
      if (n % 2 == 0) transform.FindTurns(n);
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
