// Errors in units of the last place, over chunks of inputs.
#include "testdata/accuracy/measure.h"

#include <mpfr.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "parser/parser.h"
#include "support/status.h"
#include "support/threads.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kChunk = int64_t{1} << 18;
constexpr double kWrong = std::numeric_limits<double>::infinity();

struct Format {
  int precision, smallest,
      largest;  // bits of mantissa; exponents of the smallest and largest normal
};
Format FormatOfResult(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kC128 ? Format{53, -1022, 1023}
                                                                 : Format{24, -126, 127};
}

Exact UlpOf(Exact value, const Format& format) {
  const int exponent =
      value == 0 ? format.smallest : std::clamp(std::ilogb(value), format.smallest, format.largest);
  return std::ldexp(1.0L, exponent - format.precision + 1);
}

// How far `got` is from `exact`, infinities standing for the power of two above all numbers.
double UlpsOff(double got, Exact exact, const Format& format) {
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) == std::isnan(exact) ? 0 : kWrong;
  if (std::isinf(exact)) return got == exact ? 0 : kWrong;
  if (got == 0 && std::signbit(got) != std::signbit(exact)) return kWrong;
  const Exact beyond = std::ldexp(1.0L, format.largest + 1);
  const Exact value = std::isinf(got) ? std::copysign(beyond, static_cast<Exact>(got)) : got;
  if (std::isinf(got) && std::fabs(exact) >= beyond) return (got > 0) == (exact > 0) ? 0 : kWrong;
  return static_cast<double>(std::fabs(value - exact) / UlpOf(exact, format));
}

// For a narrow type: how many ulps of f32 off the f32 result must have been that rounds to `got`.
double StepsOff(ElementType type, double got, Exact exact) {
  const auto rounded = [type](float value) {
    return FloatFromBits(type, FloatToBits(type, value));
  };
  const auto same = [got](double value) {
    if (std::isnan(got) || std::isnan(value)) return std::isnan(got) == std::isnan(value);
    return got == value && std::signbit(got) == std::signbit(value);
  };
  float low = static_cast<float>(exact), high = low;
  for (int steps = 0; steps <= 2; ++steps) {
    if (same(rounded(low)) || same(rounded(high))) return steps;
    low = std::nextafter(low, -INFINITY);
    high = std::nextafter(high, INFINITY);
  }
  return 3;
}

// Of the whole number, in units of 2^-p of its magnitude (at least of the smallest normal number).
double ComplexOff(std::complex<double> got, ExactComplex exact, const Format& format,
                  Exact condition) {
  const bool finite = std::isfinite(got.real()) && std::isfinite(got.imag());
  const Exact size = std::hypot(exact.real(), exact.imag());
  // A magnitude near the largest number may have finite parts, or parts on their way to infinity.
  const Exact surely_finite = std::ldexp(1.0L, format.largest);
  if (!(size < 4 * surely_finite)) return finite ? kWrong : 0;
  if (!finite) return size < surely_finite ? kWrong : 0;
  const Exact off = std::hypot(got.real() - exact.real(), got.imag() - exact.imag());
  const Exact unit =
      std::ldexp(std::max(size, std::ldexp(1.0L, format.smallest)), -format.precision);
  return static_cast<double>(off / (unit * condition));
}

absl::StatusOr<std::unique_ptr<Executable>> Compile(Backend& platform, const char* opcode,
                                                    int arity, ElementType in, ElementType out,
                                                    int64_t n) {
  const std::string type = absl::StrCat(Text(in), "[", n, "]");
  const std::string text =
      absl::StrCat("HloModule accuracy\n\nENTRY e {\n  x = ", type, " parameter(0)\n  y = ", type,
                   " parameter(1)\n  ROOT r = ", Text(out), "[", n, "] ", opcode, "(x",
                   arity == 2 ? ", y" : "", ")\n}\n");
  Diagnostics diagnostics;
  const auto source = std::make_shared<const SourceFile>("accuracy.hlo", text);
  ASSIGN_OR_RETURN(auto module, ParseModule(source, {}, diagnostics));
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  return platform.Compile(std::move(module), options);
}

// Calls body(i) for 0 <= i < n on several threads.
void InParallel(int threads, int64_t n, const std::function<void(int64_t)>& body) {
  RunOnThreads(threads, threads, [&](int64_t t) {
    for (int64_t i = n * t / threads; i < n * (t + 1) / threads; ++i) body(i);
    mpfr_free_cache();  // a thread has its own
  });
}

ElementType PartType(ElementType type) {
  return type == ElementType::kC128 ? ElementType::kF64 : ElementType::kF32;
}

Pair InputOf(ElementType type, int64_t i, int arity, const SweepOptions& options) {
  if (type == ElementType::kF64) return DoublePair(i);
  if (type == ElementType::kF32) return FloatPair(i, options.float_stride);
  return SmallPair(type, i, arity);
}

int64_t CountOf(ElementType type, int arity, const SweepOptions& options) {
  if (type == ElementType::kF64) return options.double_count;
  if (type == ElementType::kF32) return FloatCount(options.float_stride);
  return SmallCount(type, arity);
}

void Note(Worst& worst, double error, const std::function<std::string()>& where) {
  ++worst.count;
  if (error <= worst.error) return;
  worst.error = error;
  worst.where = where();
}

std::string Number(Exact value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17Lg", value);
  return text;
}
template <typename T>
std::string Number(std::complex<T> value) {
  return absl::StrCat("(", Number(Exact(value.real())), ", ", Number(Exact(value.imag())), ")");
}

// What both kinds share: inputs made by `fill`, each result held against the truth by `judge`.
absl::Status Sweep(
    const char* opcode, int arity, ElementType in, ElementType out, int64_t total,
    absl::Span<Backend* const> platforms,
    const std::function<void(int64_t start, int64_t n, Literal& x, Literal& y)>& fill,
    const std::function<void(size_t platform, int64_t start, int64_t n, const Literal& result)>&
        judge) {
  const int64_t n = std::min(kChunk, total);
  std::vector<std::unique_ptr<Executable>> programs;
  for (Backend* platform : platforms) {
    ASSIGN_OR_RETURN(auto program, Compile(*platform, opcode, arity, in, out, n));
    programs.push_back(std::move(program));
  }
  std::vector<Literal> arguments(2, Literal(Shape::Array(in, {n})));
  for (int64_t start = 0; start < total; start += n) {
    const int64_t here = std::min(n, total - start);
    fill(start, here, arguments[0], arguments[1]);
    for (size_t p = 0; p < programs.size(); ++p) {
      ASSIGN_OR_RETURN(const Literal result, programs[p]->Run(arguments));
      judge(p, start, here, result);
    }
  }
  return absl::OkStatus();
}

}  // namespace

namespace {

constexpr int64_t kSpecials = 4096;  // the first inputs of f64: pairs of special values
constexpr int64_t kSampled = 64;     // of the others, each so-manieth
constexpr double kLibmError = 0.01;  // ulps of f64 that long double libm may be off

// The true values of an operation on f64, as dear as they must be.
class Truth {
 public:
  Truth(const RealFunction& function, ElementType type, const SweepOptions& options)
      : function_(function),
        mpfr_(options.mpfr && type == ElementType::kF64 && function.mpfr != nullptr),
        screened_(options.screened) {}

  Exact First(int64_t i, const Pair& input) {
    if (!mpfr_) return function_.libm(input.x, input.y);
    if (screened_ && i >= kSpecials && i % kSampled != 0) return function_.libm(input.x, input.y);
    const Exact exact = function_.mpfr(input.x, input.y);
    if (screened_ && i >= kSpecials) CheckLibm(input, exact);
    return exact;
  }

  // Where an error of `ulps` by First would be the worst yet, or nearly: the value for certain.
  Exact Certain(const Pair& input, Exact first, double ulps, double worst) const {
    const bool doubtful = mpfr_ && screened_ && ulps + kLibmError > worst;
    return doubtful ? function_.mpfr(input.x, input.y) : first;
  }

  absl::Status status() const {
    if (libm_failures_ == 0) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("long double libm is off in ", libm_failures_.load(),
                                            " samples: --unscreened"));
  }

 private:
  void CheckLibm(const Pair& input, Exact exact) {
    const Exact by_libm = function_.libm(input.x, input.y);
    const Format format = FormatOfResult(ElementType::kF64);
    const Exact beyond = std::ldexp(1.0L, format.largest + 1);  // where f64 has only infinity
    const bool same = std::isnan(exact)            ? std::isnan(by_libm)
                      : std::fabs(exact) >= beyond ? std::signbit(by_libm) == std::signbit(exact) &&
                                                         std::fabs(by_libm) >= beyond
                                                   : exact == by_libm;
    if (same || std::fabs(by_libm - exact) <= kLibmError * UlpOf(exact, format)) return;
    ++libm_failures_;
  }

  const RealFunction& function_;
  const bool mpfr_, screened_;
  std::atomic<int64_t> libm_failures_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Worst>> MeasureReal(const RealFunction& function, ElementType type,
                                               absl::Span<Backend* const> platforms,
                                               const SweepOptions& options) {
  const int64_t total = CountOf(type, function.arity, options);
  const Format format = FormatOfResult(type);
  const bool small = type != ElementType::kF64 && type != ElementType::kF32;
  Truth truth(function, type, options);
  std::vector<Worst> worst(platforms.size());
  std::vector<Exact> exact(kChunk);
  std::vector<Pair> inputs(kChunk);
  const auto fill = [&](int64_t start, int64_t n, Literal& x, Literal& y) {
    InParallel(options.threads, n, [&](int64_t i) {
      inputs[i] = InputOf(type, start + i, function.arity, options);
      x.SetDouble(i, inputs[i].x);
      y.SetDouble(i, inputs[i].y);
      exact[i] = truth.First(start + i, inputs[i]);
    });
  };
  const auto judge = [&](size_t p, int64_t, int64_t n, const Literal& result) {
    for (int64_t i = 0; i < n; ++i) {
      const double got = result.GetDouble(i);
      double error = small ? StepsOff(type, got, exact[i]) : UlpsOff(got, exact[i], format);
      const Exact certain = truth.Certain(inputs[i], exact[i], error, worst[p].error);
      if (certain != exact[i]) error = UlpsOff(got, exact[i] = certain, format);
      Note(worst[p], error, [&] {
        return absl::StrCat(function.opcode, "(", Number(Exact(inputs[i].x)),
                            function.arity == 2 ? ", " + Number(Exact(inputs[i].y)) : "",
                            ") = ", Number(Exact(got)), ", exactly ", Number(exact[i]));
      });
    }
  };
  RETURN_IF_ERROR(
      Sweep(function.opcode, function.arity, type, type, total, platforms, fill, judge));
  RETURN_IF_ERROR(truth.status());
  return worst;
}

absl::StatusOr<std::vector<Worst>> MeasureComplex(const ComplexFunction& function, ElementType type,
                                                  absl::Span<Backend* const> platforms,
                                                  const SweepOptions& options) {
  const Format format = FormatOfResult(type);
  const ElementType out = absl::string_view(function.opcode) == "abs" ? PartType(type) : type;
  std::vector<Worst> worst(platforms.size());
  std::vector<ExactComplex> exact(kChunk);
  std::vector<ComplexPair> inputs(kChunk);
  const auto fill = [&](int64_t start, int64_t n, Literal& x, Literal& y) {
    InParallel(options.threads, n, [&](int64_t i) {
      inputs[i] = ComplexInput(start + i, type == ElementType::kC64);
      x.SetComplex(i, inputs[i].x);
      y.SetComplex(i, inputs[i].y);
      exact[i] = function.mpfr(inputs[i].x, inputs[i].y);
    });
  };
  const auto judge = [&](size_t p, int64_t, int64_t n, const Literal& result) {
    for (int64_t i = 0; i < n; ++i) {
      const std::complex<double> got = result.GetComplex(i);
      const Exact condition = function.condition == nullptr
                                  ? 1
                                  : function.condition(inputs[i].x, inputs[i].y, exact[i]);
      const double error = ComplexOff(got, exact[i], format, condition);
      Note(worst[p], error, [&] {
        return absl::StrCat(function.opcode, "(", Number(inputs[i].x),
                            function.arity == 2 ? ", " + Number(inputs[i].y) : "",
                            ") = ", Number(got), ", exactly ", Number(exact[i]));
      });
    }
  };
  RETURN_IF_ERROR(Sweep(function.opcode, function.arity, type, out, options.complex_count,
                        platforms, fill, judge));
  return worst;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
