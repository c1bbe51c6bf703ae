// hlokit_accuracy: sweeps every elementwise floating-point operation on the interpreter and the
// CPU, holds the errors to the project's bounds, and writes the table of worst cases.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/reference/reference_backend.h"
#include "support/file.h"
#include "support/status.h"
#include "testdata/accuracy/measure.h"

namespace hlokit {
namespace {

constexpr double kRealBound = 2;     // ulps of the result
constexpr double kSmallBound = 2;    // ulps of the f32 result that is rounded
constexpr double kComplexBound = 8;  // 2^-p of the magnitude

struct Row {
  std::string opcode;
  std::vector<Worst> cells;  // type by type, platform by platform
};

struct Table {
  std::vector<ElementType> types;
  std::vector<Row> rows;
};

const std::vector<ElementType> kSmallTypes = {
    ElementType::kF16,           ElementType::kBF16,       ElementType::kF8E5M2,
    ElementType::kF8E4M3FN,      ElementType::kF8E4M3,     ElementType::kF8E3M4,
    ElementType::kF8E4M3B11FNUZ, ElementType::kF8E4M3FNUZ, ElementType::kF8E5M2FNUZ};

class Sweeper {
 public:
  Sweeper(SweepOptions options, std::vector<Backend*> platforms, std::string only)
      : options_(std::move(options)), platforms_(std::move(platforms)), only_(std::move(only)) {}

  Table Real(std::vector<ElementType> types, double bound) {
    Table table{std::move(types), {}};
    for (const RealFunction& f : RealFunctions()) {
      if (!only_.empty() && only_ != f.opcode) continue;
      Row& row = table.rows.emplace_back(Row{f.opcode, {}});
      for (ElementType type : table.types)
        Add(row, type, f.exact && bound == kRealBound ? 0.5 : bound,
            MeasureReal(f, type, platforms_, options_));
    }
    return table;
  }

  Table Complex() {
    Table table{{ElementType::kC64, ElementType::kC128}, {}};
    for (const ComplexFunction& f : ComplexFunctions()) {
      if (!only_.empty() && only_ != f.opcode) continue;
      Row& row = table.rows.emplace_back(Row{f.opcode, {}});
      for (ElementType type : table.types)
        Add(row, type, kComplexBound, MeasureComplex(f, type, platforms_, options_));
    }
    return table;
  }

  int failures() const { return failures_; }

 private:
  void Add(Row& row, ElementType type, double bound, absl::StatusOr<std::vector<Worst>> measured) {
    if (!measured.ok()) {
      ++failures_;
      std::printf("FAIL %s of %s: %s\n", row.opcode.c_str(), Text(type).data(),
                  std::string(measured.status().message()).c_str());
      measured = std::vector<Worst>(platforms_.size());
    }
    for (size_t p = 0; p < platforms_.size(); ++p) {
      const Worst& worst = (*measured)[p];
      const bool held = worst.error <= bound;
      failures_ += !held;
      std::printf("%s %-11s %-14s %-22s %6.3f  %s\n", held ? "ok  " : "FAIL",
                  std::string(platforms_[p]->name()).c_str(), std::string(Text(type)).c_str(),
                  row.opcode.c_str(), worst.error, worst.where.c_str());
      row.cells.push_back(worst);
    }
    std::fflush(stdout);
  }

  SweepOptions options_;
  std::vector<Backend*> platforms_;
  std::string only_;
  int failures_ = 0;
};

// `count` values as people read them.
std::string Count(int64_t count) {
  return count >= 1'000'000 ? absl::StrFormat("%.1f million", static_cast<double>(count) / 1e6)
                            : absl::StrCat(count);
}

std::string Markdown(const Table& table, const std::vector<std::string>& platforms,
                     bool worst_input) {
  std::string text = "| operation |", rule = "|---|";
  for (ElementType type : table.types) {
    for (const std::string& platform : platforms) {
      absl::StrAppend(&text, " ", Text(type), " ", platform, " |");
      rule += "---|";
    }
  }
  absl::StrAppend(&text, worst_input ? " worst input |\n" : "\n", rule,
                  worst_input ? "---|\n" : "\n");
  for (const Row& row : table.rows) {
    absl::StrAppend(&text, "| ", row.opcode, " |");
    const Worst* worst = &row.cells[0];
    for (const Worst& cell : row.cells) {
      absl::StrAppend(&text, absl::StrFormat(" %.3g |", cell.error));
      if (cell.error > worst->error) worst = &cell;
    }
    if (worst_input)
      absl::StrAppend(&text, worst->error > 0.5 ? " `" + worst->where + "` |" : " |");
    text += '\n';
  }
  return text;
}

constexpr absl::string_view kHead = R"(# Numerics

Made by `hlokit_accuracy --write docs/numerics.md` (testdata/accuracy); `ctest -R accuracy` holds the bounds: `accuracy.short`
on a thin sweep, `accuracy.full` (label slow) on all of it.

- **f32, f64**: at most 2 ulp from the exact result over the whole range, subnormals, infinities, NaN and the signs of zeros
  included; +, -, *, /, square root, remainder, and operations that only select or round are correctly rounded.
- Compared with XLA's CPU: [a table](differences.md#rounding).
- **f16, bf16, f8**: the f32 result, rounded to nearest even. The tables give the error that the f32 result must have had, in ulps.
- **c64, c128**: the distance to the exact result is at most 8 units of 2^-24 (2^-53) of its magnitude where the parts of the
  inputs are zero or between 2^-60 and 2^60. A part that is much smaller than the other may have no correct digits.
  Three functions are worse conditioned. Their errors are measured relative to their condition: power in units times 1 + |y log x|, logistic times 1 + |result|, atan2 in
  units of 1 where its result is smaller, times (|y|^2 + |x|^2) / |y^2 + x^2|; next to the
  branch cut either side counts as correct, except for y = 0 and real x, where the signs of zeros determine it.
- Subnormals are kept unless `--flush-denormals` flushes them as XLA's CPU does.
- Integers and predicates are exact. Division by zero gives -1, the least number by -1 itself; remainders are the dividend and 0;
  shifts past the width give 0 or the sign; floats out of range convert to the nearest integer, NaN to 0.
## Where sums round

`ops/evaluate/reducer.h` has one rule per reduction. The interpreter and the CPU follow it and give the same bits, which mostly are those of XLA's CPU:

- **Sums and products of bf16, f16 and f8** (reduce, reduce-window, scatter, select-and-scatter, scan): each step is computed in f32 and rounded,
  in row-major order from the initial value. A reducer that converts to f32 and back is the same reduction. A reducer of
  several operations rounds after each of them. Maxima and minima are exact.
- A **reduce of them over a dimension longer than 32** is split into blocks of 32 along each reduced dimension (padded equally on both sides). The
  block results are reduced in the same way, until no dimension is longer. A **cumulative sum longer than 16** is split into blocks of 16,
  whose totals are summed in the same way. If the initial value is not the identity element, elements are combined in order; for a computation of
  several operations, a test on some four thousand numbers decides this (`ops/tried_reducer`). The pipeline `cpu` makes both explicit (`tree_reduction_rewriter{rounded}`,
  `reduce-window-rewriter{rounded}`). XLA's f16 is an exception: it leaves the order of such sums to LLVM, which
  changes it where two or more short dimensions (8 x 8) are reduced innermost (1 of 22 shapes tried; the gradient of an NCHW bias: 1.2e-2).
- **All-reduce and reduce-scatter**: in the order of the replica group, each step rounded exactly as XLA's CPU does: to f16 for f16, f8
  and f4, to f32 for bf16 and f8e8m0fnu, else to the type itself.
- **Sums of f32 and f64**: in any order, rounded once or after each step.
- **Dots and convolutions of narrow floats**: in f32, rounded once; not rounded before a `convert` to f32 that reads a product
  of bf16 directly (`unrounded-products`).
- **Convolutions of f32 by windows of 3 x 3** over many features (`runtime/convolution/winograd`): sums of products of sums. The error is up to
  three times that of the direct sum; small integers stay exact.

)";

std::string Document(const Table& real, const Table& small, const Table& complex,
                     const std::vector<std::string>& platforms, const SweepOptions& options) {
  std::string text(kHead);
  absl::StrAppend(&text, "## f32 and f64, in ulps\n\nEvery ", options.float_stride,
                  "th bit pattern of f32, ", Count(options.double_count), " f64 against ",
                  !options.mpfr ? "long double libm"
                  : options.screened
                      ? "MPFR, except where long double libm is certain: libm is checked against "
                        "MPFR within 0.01 ulp on every 64th and all special values, "
                        "and MPFR measures every value near the largest error so far"
                      : "MPFR",
                  ".\n\n", Markdown(real, platforms, true));
  absl::StrAppend(&text,
                  "\n## f16, bf16 and f8, in ulps of the f32 result\n\nEvery bit pattern, and "
                  "every pair of f8; 16 partners for each f16 and bf16.\n\n",
                  Markdown(small, platforms, false));
  absl::StrAppend(&text, "\n## Complex, in units of 2^-24 and 2^-53 of the magnitude\n\n",
                  Count(options.complex_count), " numbers each, against MPFR.\n\n",
                  Markdown(complex, platforms, true));
  return text;
}

int Main(int argc, char** argv) {
  CLI::App app("Measures the accuracy of elementwise operations.", "hlokit_accuracy");
  SweepOptions options;
  std::string write, only, platform, kinds = "real,small,complex";
  bool fast = false;
  app.add_option("--float-stride", options.float_stride, "every n-th bit pattern of f32")
      ->check(CLI::PositiveNumber);
  app.add_option("--double-count", options.double_count, "how many f64")
      ->check(CLI::PositiveNumber);
  app.add_option("--complex-count", options.complex_count, "how many complex numbers")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "that compute references")
      ->check(CLI::PositiveNumber);
  app.add_option("--only", only, "one opcode");
  app.add_option("--platform", platform, "cpu or interpreter, else both");
  app.add_option("--kinds", kinds, "which of real, small, complex");
  app.add_flag("!--unscreened", options.screened,
               "MPFR for each f64, not only where libm leaves doubt");
  app.add_flag("--fast", fast, "f64 against long double libm instead of MPFR");
  app.add_option("--write", write, "the page to write");
  CLI11_PARSE(app, argc, argv);
  options.mpfr = !fast;
  std::vector<std::unique_ptr<Backend>> owned;
  if (platform != "cpu") owned.push_back(MakeReferenceBackend());
  if (platform != "interpreter") owned.push_back(MakeCpuBackend());
  std::vector<Backend*> platforms;
  std::vector<std::string> names;
  for (const auto& backend : owned) {
    platforms.push_back(backend.get());
    names.emplace_back(backend->name());
  }
  Sweeper sweeper(options, platforms, only);
  Table real, small, complex;
  if (absl::StrContains(kinds, "real"))
    real = sweeper.Real({ElementType::kF32, ElementType::kF64}, kRealBound);
  if (absl::StrContains(kinds, "small")) small = sweeper.Real(kSmallTypes, kSmallBound);
  if (absl::StrContains(kinds, "complex")) complex = sweeper.Complex();
  if (!write.empty()) {
    const absl::Status written =
        AtomicWriteFile(write, Document(real, small, complex, names, options));
    if (!written.ok()) {
      std::fprintf(stderr, "hlokit_accuracy: %s\n", std::string(written.message()).c_str());
      return 2;
    }
  }
  std::printf("%d bounds broken\n", sweeper.failures());
  return sweeper.failures() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) { return hlokit::Main(argc, argv); }
// SPDX-License-Identifier: Apache-2.0
