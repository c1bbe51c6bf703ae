// Matrix products of the shapes of networks beside the roof of the machine:
//   hlokit_product_benchmark [--types=f32,bf16] [--rows=1,128,...] [--weights=KxN,...]
//   [--threads=N]
//                            [--along-k] [--frozen] [--seconds=S] [--copies=N]
// prints a line a shape, rows x k x n: the time, the rate, and its share of the bound. The bound is
// the larger of two times: multiply-adds at the rate of a loop of them in registers (bf16 twice
// that rate where the processor multiplies pairs), and the bytes of the weights at the rate of a
// sum over an array of 256 MB. Weights are fresh in each product: the program walks over as many
// copies as fill 256 MB, as a network walks over its layers (--copies: over so many). --along-k
// stores them as [n, k]; --frozen keeps their packed forms, as for weights that no run changes.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "runtime/context.h"
#include "runtime/cpu_features.h"
#include "runtime/dot/dot.h"
#include "runtime/dot/frozen_arrays.h"
#include "runtime/element.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

constexpr int64_t kWeightBytes = 256 << 20;
constexpr int64_t kPageBytes = 4096;

struct Options {
  std::vector<std::string> types = {"f32", "bf16"};
  std::vector<int64_t> rows = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096};
  std::vector<std::pair<int64_t, int64_t>> weights = {{768, 768}, {768, 3072}, {3072, 768}};
  double seconds = 0.03;
  int64_t copies = kWeightBytes;
  bool along_k = false;
  bool frozen = false;
};

double Now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// The shortest of the runs that fit into `seconds`, one at least after a first that is not counted.
template <typename Body>
double Shortest(double seconds, const Body& body) {
  body();
  double best = 1e9;
  const double end = Now() + seconds;
  do {
    const double start = Now();
    body();
    best = std::min(best, Now() - start);
  } while (Now() < end);
  return best;
}

#if defined(__x86_64__)
#define HLOKIT_WITH_AVX512 __attribute__((target("avx512f")))
#else
#define HLOKIT_WITH_AVX512
#endif
typedef float Vector __attribute__((vector_size(64), aligned(4)));

// One instruction: ISO C++ leaves products and sums apart.
HLOKIT_WITH_AVX512 inline Vector MultiplyAdd(Vector x, Vector y, Vector sum) {
#if defined(__x86_64__)
  return _mm512_fmadd_ps(x, y, sum);
#else
  for (int i = 0; i < 16; ++i) sum[i] = __builtin_fmaf(x[i], y[i], sum[i]);
  return sum;
#endif
}

// 24 independent accumulators of one vector register.
HLOKIT_WITH_AVX512 float MultiplyAdds(int64_t steps) {
  constexpr int kSums = 24;
  Vector sums[kSums], x = Vector{} + 0.5f, y = Vector{} + 0.5f;
  for (int v = 0; v < kSums; ++v) sums[v] = Vector{} + static_cast<float>(v);
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 24
    for (int v = 0; v < kSums; ++v) sums[v] = MultiplyAdd(sums[v], x, y);
  }
  float all = 0;
  for (const Vector& s : sums) all += s[0];
  return all;
}

// Flops a second of all threads.
double ArithmeticRoof(HlokitRunContext* ctx) {
  constexpr int64_t kSteps = 200'000;
  const int64_t threads = hlokit_num_threads(ctx);
  const double seconds = Shortest(0.2, [&] {
    ParallelFor(ctx, threads, 1, [](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        volatile float sink = MultiplyAdds(kSteps);
        (void)sink;
      }
    });
  });
  return 2.0 * 24 * 16 * kSteps * static_cast<double>(threads) / seconds;
}

HLOKIT_WITH_AVX512 float Sum(const float* from, int64_t count) {
  Vector sums[8] = {};
  for (int64_t i = 0; i + 128 <= count; i += 128) {
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) sums[v] += *reinterpret_cast<const Vector*>(from + i + v * 16);
  }
  float all = 0;
  for (const Vector& s : sums) all += s[0];
  return all;
}

// Bytes a second that all threads read.
double ReadRoof(HlokitRunContext* ctx, const float* from) {
  constexpr int64_t kCount = kWeightBytes / 4, kGrain = 1 << 18;
  const double seconds = Shortest(0.3, [&] {
    ParallelFor(ctx, kCount, kGrain, [&](int64_t begin, int64_t end) {
      volatile float sink = Sum(from + begin, end - begin);
      (void)sink;
    });
  });
  return kWeightBytes / seconds;
}

class Table {
 public:
  explicit Table(const Options& options) : options_(options) {
    ctx_.struct_size = sizeof(ctx_);
    store_ = static_cast<char*>(std::aligned_alloc(kPageBytes, kWeightBytes));
    std::mt19937 random(1);
    auto* words = reinterpret_cast<uint32_t*>(store_);
    // Values between 1 and 2 in both types.
    for (int64_t i = 0; i < kWeightBytes / 4; ++i) words[i] = (random() & 0x007f007f) | 0x3f803f80;
    flops_ = ArithmeticRoof(&ctx_);
    bytes_ = ReadRoof(&ctx_, reinterpret_cast<const float*>(store_));
    std::printf("%d threads: %.0f GFLOP/s of f32, reads %.1f GB/s\n", hlokit_num_threads(&ctx_),
                flops_ / 1e9, bytes_ / 1e9);
  }
  ~Table() { std::free(store_); }

  void Print() {
    std::printf("%-5s %-18s %10s %9s %8s  %s\n", "type", "rows x k x n", "us", "GFLOP/s", "GB/s",
                "of the bound");
    for (const std::string& type : options_.types)
      for (auto [k, n] : options_.weights)
        for (int64_t rows : options_.rows) PrintProduct(type == "bf16", rows, k, n);
  }

 private:
  void PrintProduct(bool bf16, int64_t m, int64_t k, int64_t n) {
    const int64_t bytes = bf16 ? 2 : 4, type = bf16 ? HLOKIT_BF16 : HLOKIT_F32;
    HlokitDotDesc desc = {type, type, type, 0, 1, 1, 1, {}};
    desc.dims[0] = {m, k, 0, n};
    desc.dims[1] = {n, 0, options_.along_k ? k : 1, 1};
    desc.dims[2] = {k, 1, options_.along_k ? 1 : n, 0};
    std::vector<float> lhs(m * k, bf16 ? 1.00781f : 1.5f), out(m * n);
    const int64_t copy = k * n * bytes;
    const int64_t copies = std::clamp<int64_t>(kWeightBytes / copy, 1, options_.copies);
    PackedForms forms;
    FrozenArrays weights(&forms);
    for (int64_t i = 0; i < copies; ++i) weights.Add(i, store_ + i * copy, copy);
    ctx_.frozen = options_.frozen ? &weights : nullptr;
    for (int64_t i = 0; options_.frozen && i < copies; ++i)
      hlokit_dot(&ctx_, &desc, lhs.data(), store_ + i * copy, out.data());
    int64_t at = 0;
    const double seconds = Shortest(options_.seconds, [&] {
      hlokit_dot(&ctx_, &desc, lhs.data(), store_ + at++ % copies * copy, out.data());
    });
    const double work = 2.0 * static_cast<double>(m) * static_cast<double>(k * n);
    const double roof = bf16 && HasBf16Products() ? 2 * flops_ : flops_;
    const double bound = std::max(work / roof, static_cast<double>(copy) / bytes_);
    const std::string shape =
        std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n);
    std::printf("%-5s %-18s %10.1f %9.1f %8.1f  %.2f\n", bf16 ? "bf16" : "f32", shape.c_str(),
                seconds * 1e6, work / seconds / 1e9, static_cast<double>(copy) / seconds / 1e9,
                bound / seconds);
  }

  const Options& options_;
  HlokitRunContext ctx_ = {};
  char* store_;
  double flops_, bytes_;
};

bool Parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i], name = arg.substr(0, arg.find('='));
    const std::string value = name == arg ? "" : arg.substr(name.size() + 1);
    if (name == "--types") {
      options->types = Split(value);
    } else if (name == "--rows") {
      options->rows.clear();
      for (const std::string& r : Split(value)) options->rows.push_back(std::atoll(r.c_str()));
    } else if (name == "--weights") {
      options->weights.clear();
      for (const std::string& w : Split(value)) {
        const char* x = std::strchr(w.c_str(), 'x');
        if (x == nullptr) return false;
        options->weights.emplace_back(std::atoll(w.c_str()), std::atoll(x + 1));
      }
    } else if (name == "--threads") {
      setenv("HLOKIT_NUM_THREADS", value.c_str(), 1);
    } else if (name == "--seconds") {
      options->seconds = std::atof(value.c_str());
    } else if (name == "--copies") {
      options->copies = std::atoll(value.c_str());
    } else if (name == "--along-k") {
      options->along_k = true;
    } else if (name == "--frozen") {
      options->frozen = true;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  hlokit::Options options;
  if (!hlokit::Parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: %s [--types=f32,bf16] [--rows=1,128] [--weights=KxN] "
                 "[--threads=N] [--along-k] [--frozen] [--seconds=S] [--copies=N]\n",
                 argv[0]);
    return 2;
  }
  hlokit::Table(options).Print();
}
// SPDX-License-Identifier: Apache-2.0
