// Arithmetic in every rounding mode against MPFR, on random operands of all magnitudes.
#include "ptxsim/rounding.h"

#if __has_include(<mpfr.h>)
#include <mpfr.h>
#endif

#include <random>

#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

#if __has_include(<mpfr.h>)
struct Mode {
  const char* text;
  mpfr_rnd_t rounding;
};
constexpr Mode kModes[] = {
    {"rn", MPFR_RNDN}, {"rz", MPFR_RNDZ}, {"rm", MPFR_RNDD}, {"rp", MPFR_RNDU}};

// Applies an operation in a precision and exponent range with gradual underflow.
class Exact {
 public:
  Exact(int precision, int least, int most) {
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    for (mpfr_t* x : {&a_, &b_, &c_, &d_}) mpfr_init2(*x, precision);
  }
  ~Exact() {
    for (mpfr_t* x : {&a_, &b_, &c_, &d_}) mpfr_clear(*x);
  }
  double Compute(const std::string& op, double a, double b, double c, mpfr_rnd_t rounding) {
    mpfr_set_d(a_, a, MPFR_RNDN);
    mpfr_set_d(b_, b, MPFR_RNDN);
    mpfr_set_d(c_, c, MPFR_RNDN);
    int t = 0;
    if (op == "add") t = mpfr_add(d_, a_, b_, rounding);
    if (op == "mul") t = mpfr_mul(d_, a_, b_, rounding);
    if (op == "div") t = mpfr_div(d_, a_, b_, rounding);
    if (op == "sqrt") t = mpfr_sqrt(d_, a_, rounding);
    if (op == "fma") t = mpfr_fma(d_, a_, b_, c_, rounding);
    t = mpfr_check_range(d_, t, rounding);
    mpfr_subnormalize(d_, t, rounding);
    return mpfr_get_d(d_, MPFR_RNDN);
  }

 private:
  mpfr_t a_, b_, c_, d_;
};

std::string KernelOf(const std::string& op, const std::string& mode, const std::string& type) {
  const int size = type == "f32" ? 4 : 8;
  const char* sources = op == "fma" ? "a, b, c" : op == "sqrt" ? "a" : "a, b";
  return WithHeader(absl::StrCat(
      ".entry k(.param .u64 in, .param .u64 out) { .reg .b64 p, q; .reg .b32 t; .reg .", type,
      " a, b, c, d;\nld.param.u64 p, [in]; ld.param.u64 q, [out]; mov.u32 t, %tid.x;\n",
      "mad.wide.u32 p, t, ", 3 * size, ", p; mad.wide.u32 q, t, ", size, ", q;\nld.global.", type,
      " a, [p]; ld.global.", type, " b, [p+", size, "]; ld.global.", type, " c, [p+", 2 * size,
      "];\n", op, ".", mode, ".", type, " d, ", sources, ";\nst.global.", type, " [q], d; ret; }"));
}

template <typename T, typename Bits>
void CompareWithMpfr(const std::string& type, int precision, int least, int most) {
  std::mt19937_64 random(7);
  for (const char* op : {"add", "mul", "div", "sqrt", "fma"})
    for (const Mode& mode : kModes) {
      std::vector<T> in(3 * 1024), out(1024);
      for (size_t i = 0; i < in.size(); ++i) {
        Bits bits = static_cast<Bits>(random());
        // Half of them near one another, so that sums round.
        if (i / 3 % 2 == 0 && i % 3 != 0)
          bits = std::bit_cast<Bits>(in[i - 1]) ^ static_cast<Bits>(random() % (Bits{1} << 30));
        in[i] = std::isfinite(std::bit_cast<T>(bits)) ? std::bit_cast<T>(bits) : T(1);
      }
      LaunchOptions options;
      options.block[0] = 1024;
      const absl::Status status = RunWords<T>(KernelOf(op, mode.text, type), {&in, &out}, options);
      ASSERT_TRUE(status.ok()) << status.message();
      Exact exact(precision, least, most);
      for (size_t i = 0; i < out.size(); ++i) {
        const double expected =
            exact.Compute(op, in[3 * i], in[3 * i + 1], in[3 * i + 2], mode.rounding);
        if (expected != expected && out[i] != out[i]) continue;
        ASSERT_EQ(std::bit_cast<Bits>(out[i]), std::bit_cast<Bits>(static_cast<T>(expected)))
            << op << "." << mode.text << "." << type << " of " << in[3 * i] << ", " << in[3 * i + 1]
            << ", " << in[3 * i + 2] << ": " << out[i] << ", expected " << expected;
      }
    }
}

TEST(Rounding, F32AsMpfr) { CompareWithMpfr<float, uint32_t>("f32", 24, -148, 128); }
TEST(Rounding, F64AsMpfr) { CompareWithMpfr<double, uint64_t>("f64", 53, -1073, 1024); }
#endif

// Every value of the small formats reads back as itself; between two, the nearer one is taken.
TEST(Rounding, SmallFormatsReadBack) {
  for (const Format& format :
       {kFormatF16, kFormatBF16, kFormatE4M3, kFormatE5M2, kFormatE2M1, kFormatE3M2, kFormatE2M3}) {
    for (uint32_t bits = 0; bits < format.max_bits; ++bits) {
      const double value = ValueOfFormat(bits, format), next = ValueOfFormat(bits + 1, format);
      EXPECT_EQ(RoundToFormat(value, format, Rounding::kNearest, false), bits);
      const double middle = (value + next) / 2;
      EXPECT_EQ(RoundToFormat(middle, format, Rounding::kNearest, false), bits + (bits & 1));
      EXPECT_EQ(RoundToFormat(middle, format, Rounding::kUp, false), bits + 1);
      EXPECT_EQ(RoundToFormat(middle, format, Rounding::kZero, false), bits);
      EXPECT_EQ(RoundToFormat(middle, format, Rounding::kNearestAway, false), bits + 1);
    }
  }
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    EXPECT_EQ(F16Value(static_cast<uint16_t>(bits)), ValueOfFormat(bits, kFormatF16));
    const double middle =
        (ValueOfFormat(bits, kFormatF16) + ValueOfFormat(bits + 1, kFormatF16)) / 2;
    if (bits < 0x7bff) {
      EXPECT_EQ(RoundToF16(middle), bits + (bits & 1));
    }
  }
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
