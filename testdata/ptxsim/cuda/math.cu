// Functions of CUDA, each a row of the result, for scripts/gpu/nvcc_kernels.py: f32, f64, rounding
// modes, conversions, integers, packed integers, f16, bf16, f8 to f4.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <stdint.h>
#define KERNEL extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
// f32 functions, one after the other
KERNEL math_f32(const float* x, const float* y, float* out, int n) {
  int i = I;
  float a = x[i], b = y[i];
  int j = 0;
#define W(e) out[(j++) * n + i] = (e)
  W(sinf(a));
  W(cosf(a));
  W(tanf(a));
  W(asinf(b));
  W(acosf(b));
  W(atanf(a));
  W(sinhf(b));
  W(coshf(b));
  W(tanhf(a));
  W(asinhf(a));
  W(acoshf(fabsf(a) + 1));
  W(atanhf(b * 0.9f));
  W(expf(b));
  W(exp2f(b));
  W(exp10f(b));
  W(expm1f(b));
  W(logf(fabsf(a)));
  W(log2f(fabsf(a)));
  W(log10f(fabsf(a)));
  W(log1pf(fabsf(a)));
  W(sqrtf(fabsf(a)));
  W(rsqrtf(fabsf(a)));
  W(cbrtf(a));
  W(hypotf(a, b));
  W(powf(fabsf(a), b));
  W(fmodf(a, b));
  W(remainderf(a, b));
  W(erff(b));
  W(erfcf(b));
  W(tgammaf(fabsf(b) + 0.5f));
  W(lgammaf(fabsf(a) + 0.5f));
  W(floorf(a));
  W(ceilf(a));
  W(truncf(a));
  W(rintf(a));
  W(roundf(a));
  W(fminf(a, b));
  W(fmaxf(a, b));
  W(fdimf(a, b));
  W(copysignf(a, b));
  W(nextafterf(a, b));
  W(ldexpf(a, 3));
  W(scalbnf(a, -5));
  W(logbf(a));
  W((float)ilogbf(a));
  W(sinpif(b));
  W(cospif(b));
  W(normcdff(b));
  W(j0f(a));
  W(fmaf(a, b, a));
  W(a / b);
  W(1.0f / a);
  W(erfinvf(b * 0.5f));
  W(erfcxf(b));
  W(rcbrtf(fabsf(a) + 0.1f));
  W(cyl_bessel_i0f(b));
  W(y0f(fabsf(a) + 0.1f));
}
KERNEL math_f64(const double* x, const double* y, double* out, int n) {
  int i = I;
  double a = x[i], b = y[i];
  int j = 0;
  W(sin(a));
  W(cos(a));
  W(tan(a));
  W(asin(b));
  W(acos(b));
  W(atan(a));
  W(sinh(b));
  W(cosh(b));
  W(tanh(a));
  W(asinh(a));
  W(acosh(fabs(a) + 1));
  W(atanh(b * 0.9));
  W(exp(b));
  W(exp2(b));
  W(exp10(b));
  W(expm1(b));
  W(log(fabs(a)));
  W(log2(fabs(a)));
  W(log10(fabs(a)));
  W(log1p(fabs(a)));
  W(sqrt(fabs(a)));
  W(rsqrt(fabs(a)));
  W(cbrt(a));
  W(hypot(a, b));
  W(pow(fabs(a), b));
  W(fmod(a, b));
  W(remainder(a, b));
  W(erf(b));
  W(erfc(b));
  W(tgamma(fabs(b) + 0.5));
  W(lgamma(fabs(a) + 0.5));
  W(floor(a));
  W(ceil(a));
  W(trunc(a));
  W(rint(a));
  W(round(a));
  W(fmin(a, b));
  W(fmax(a, b));
  W(fdim(a, b));
  W(copysign(a, b));
  W(nextafter(a, b));
  W(ldexp(a, 3));
  W(scalbn(a, -5));
  W(logb(a));
  W((double)ilogb(a));
  W(sinpi(b));
  W(cospi(b));
  W(normcdf(b));
  W(j0(a));
  W(fma(a, b, a));
  W(a / b);
  W(1.0 / a);
  W(atan2(a, b));
}
KERNEL fast_f32(const float* x, float* out, int n) {
  int i = I;
  float a = x[i];
  int j = 0;
  W(__sinf(a));
  W(__cosf(a));
  W(__tanf(a));
  W(__expf(a));
  W(__exp10f(a));
  W(__logf(fabsf(a)));
  W(__log2f(fabsf(a)));
  W(__log10f(fabsf(a)));
  W(__powf(fabsf(a), 1.5f));
  W(__fdividef(1.0f, a));
  W(__frsqrt_rn(fabsf(a)));
  W(__saturatef(a));
}
KERNEL rounding_f32(const float* x, const float* y, float* out, int n) {
  int i = I;
  float a = x[i], b = y[i];
  int j = 0;
#define R4(f, ...) \
  W(f##_rn(__VA_ARGS__)), W(f##_rz(__VA_ARGS__)), W(f##_rd(__VA_ARGS__)), W(f##_ru(__VA_ARGS__))
  R4(__fadd, a, b);
  R4(__fsub, a, b);
  R4(__fmul, a, b);
  R4(__fmaf, a, b, a);
  R4(__fdiv, a, b);
  R4(__frcp, a);
  R4(__fsqrt, fabsf(a));
  R4(__int2float, (int)(a * 1e8f));
  R4(__uint2float, (unsigned)(fabsf(a) * 1e9f));
  R4(__ll2float, (long long)(a * 1e15f));
  R4(__ull2float, (unsigned long long)(fabsf(a) * 1e18f));
  R4(__double2float, (double)a * 1.1);
}
KERNEL rounding_f64(const double* x, const double* y, double* out, int n) {
  int i = I;
  double a = x[i], b = y[i];
  int j = 0;
  R4(__dadd, a, b);
  R4(__dsub, a, b);
  R4(__dmul, a, b);
  R4(__fma, a, b, a);
  R4(__ddiv, a, b);
  R4(__drcp, a);
  R4(__dsqrt, fabs(a));
  R4(__ll2double, (long long)(a * 1e17));
  R4(__ull2double, (unsigned long long)(fabs(a) * 1e18));
}
KERNEL to_int(const float* x, const double* y, long long* out, int n) {
  int i = I;
  float a = x[i];
  double b = y[i];
  int j = 0;
  R4(__float2int, a);
  R4(__float2uint, a);
  R4(__float2ll, a);
  R4(__float2ull, a);
  R4(__double2int, b);
  R4(__double2uint, b);
  R4(__double2ll, b);
  R4(__double2ull, b);
  W(__float_as_int(a));
  W(__double_as_longlong(b));
  W(__double2hiint(b));
  W(__double2loint(b));
  W((signed char)a);
  W((unsigned short)fabsf(a));
  W((long long)lrintf(a));
  W(llround(b));
  W(isnan(a) + 2 * isinf(a) + 4 * isfinite(a) + 8 * signbit(a));
}
KERNEL ints(const int* x, const int* y, int* out, int n) {
  int i = I;
  int a = x[i], b = y[i];
  unsigned u = a, v = b;
  int j = 0;
  W(a / b);
  W(a % b);
  W(u / v);
  W(u % v);
  W(a / 7);
  W(a % 10);
  W(u / 1000);
  W(__mulhi(a, b));
  W(__umulhi(u, v));
  W(__mul24(a, b));
  W(__umul24(u, v));
  W(__popc(u));
  W(__clz(a));
  W(__ffs(a));
  W(__brev(u));
  W(__byte_perm(u, v, 0x3175));
  W(__byte_perm(u, v, a));
  W(__funnelshift_l(u, v, 5));
  W(__funnelshift_r(u, v, a));
  W(__funnelshift_lc(u, v, a));
  W(__funnelshift_rc(u, v, b));
  W(__sad(a, b, 9));
  W(__usad(u, v, 9));
  W(__hadd(a, b));
  W(__rhadd(a, b));
  W(__uhadd(u, v));
  W(__urhadd(u, v));
  W(abs(a));
  W(min(a, b));
  W(max(u, v));
  W(a << (b & 31));
  W(a >> (b & 31));
  W(u >> (v & 31));
  W(__dp4a(a, b, 5));
  W(__dp4a(u, v, 5u));
  W(__dp2a_lo(a, b, 5));
  W(__dp2a_hi(u, v, 5u));
  W((short)a * (short)b);
  W((a < b) - (u < v));
  W((signed char)(a >> 8));
  W(__fns(u, 0, 3));
}
KERNEL longs(const long long* x, const long long* y, long long* out, int n) {
  int i = I;
  long long a = x[i], b = y[i];
  unsigned long long u = a, v = b;
  int j = 0;
  W(a / b);
  W(a % b);
  W(u / v);
  W(u % v);
  W(a / 1000003);
  W(u % 97);
  W(__mul64hi(a, b));
  W(__umul64hi(u, v));
  W(__popcll(u));
  W(__clzll(a));
  W(__ffsll(a));
  W(__brevll(u));
  W(a * b);
  W(a << (b & 63));
  W(a >> (b & 63));
  W(u >> (v & 63));
  W(llabs(a));
  W(min(a, b));
  W(max(u, v));
  W((long long)((__int128)a * b >> 64));
  W((long long)((unsigned __int128)u * v / 1000));
  W((long long)(((__int128)a * b) % 1000007));
  W((long long)(((unsigned __int128)u << 64 | v) >> 13));
  W(a + b);
  W(a - b);
  W(~a ^ b);
  W((int)a);
  W((short)a);
  W((unsigned char)a);
}
KERNEL simd(const unsigned* x, const unsigned* y, unsigned* out, int n) {
  int i = I;
  unsigned a = x[i], b = y[i];
  int j = 0;
  W(__vadd2(a, b));
  W(__vadd4(a, b));
  W(__vaddss2(a, b));
  W(__vaddss4(a, b));
  W(__vaddus2(a, b));
  W(__vaddus4(a, b));
  W(__vsub2(a, b));
  W(__vsub4(a, b));
  W(__vsubss2(a, b));
  W(__vsubus4(a, b));
  W(__vabs2(a));
  W(__vabs4(a));
  W(__vabsss4(a));
  W(__vabsdiffs2(a, b));
  W(__vabsdiffu4(a, b));
  W(__vavgs2(a, b));
  W(__vavgu4(a, b));
  W(__vhaddu2(a, b));
  W(__vmaxs2(a, b));
  W(__vmaxu4(a, b));
  W(__vmins4(a, b));
  W(__vminu2(a, b));
  W(__vneg2(a));
  W(__vnegss4(a));
  W(__vsads2(a, b));
  W(__vsadu4(a, b));
  W(__vcmpeq4(a, b));
  W(__vcmpgts2(a, b));
  W(__vcmpleu4(a, b));
  W(__vcmpne2(a, b));
  W(__vseteq2(a, b));
  W(__vsetgeu4(a, b));
  W(__vsetlts4(a, b));
  W(__viaddmax_s32(a, b, 7));
  W(__viaddmin_u32(a, b, 7));
  W(__vimax3_s32(a, b, 3));
  W(__vimin3_u32(a, b, 3));
  W(__vimax_s32_relu(a, b));
  W(__viaddmax_s16x2(a, b, 0x00070009));
  W(__vimax3_s16x2_relu(a, b, 0x00070009));
  W(__vimin_s16x2_relu(a, b));
}
KERNEL halves(const float* x, const float* y, float* out, int n) {
  int i = I;
  __half a = __float2half(x[i]), b = __float2half(y[i]);
  __half2 p = __halves2half2(a, b), q = __halves2half2(b, a);
  int j = 0;
#define H(e) W(__half2float(e))
#define P(e) W(__low2float(e)), W(__high2float(e))
  H(a + b);
  H(a - b);
  H(a * b);
  H(a / b);
  H(__hfma(a, b, a));
  H(__hadd_sat(a, b));
  H(__hmul_rn(a, b));
  H(__hneg(a));
  H(__habs(a));
  H(__hmax(a, b));
  H(__hmin(a, b));
  H(__hmax_nan(a, b));
  H(hsqrt(__habs(a)));
  H(hrsqrt(__habs(a)));
  H(hrcp(a));
  H(hexp(b));
  H(hexp2(b));
  H(hexp10(b));
  H(hlog(__habs(a)));
  H(hlog2(__habs(a)));
  H(hlog10(__habs(a)));
  H(hsin(a));
  H(hcos(a));
  H(htanh(b));
  H(hfloor(a));
  H(hceil(a));
  H(hrint(a));
  H(htrunc(a));
  P(p + q);
  P(__hfma2(p, q, p));
  P(__hmax2(p, q));
  P(__hmin2(p, q));
  P(__h2div(p, q));
  P(h2exp2(p));
  P(__hadd2_sat(p, q));
  P(__hfma2_relu(p, q, p));
  P(__hle2(p, q));
  P(__hcmadd(p, q, p));
  W(__heq(a, b) + 2 * __hlt(a, b) + 4 * __hgtu(a, b) + 8 * __hbne2(p, q));
  W((float)__half2int_rn(a));
  W((float)__half2uint_rz(__habs(a)));
  W((float)__half2short_rd(a));
  H(__int2half_rn((int)x[i]));
  H(__float2half_rz(x[i]));
  H(__float2half_ru(x[i]));
  H(__double2half((double)x[i]));
  W((float)__half_as_short(a));
  P(__floats2half2_rn(x[i], y[i]));
  H(__ushort2half_rn((unsigned short)fabsf(x[i])));
  H(__ll2half_rn((long long)x[i]));
}
KERNEL bhalves(const float* x, const float* y, float* out, int n) {
  int i = I;
  __nv_bfloat16 a = __float2bfloat16(x[i]), b = __float2bfloat16(y[i]);
  __nv_bfloat162 p = __halves2bfloat162(a, b), q = __halves2bfloat162(b, a);
  int j = 0;
#undef H
#undef P
#define H(e) W(__bfloat162float(e))
#define P(e) W(__low2float(e)), W(__high2float(e))
  H(a + b);
  H(a - b);
  H(a * b);
  H(a / b);
  H(__hfma(a, b, a));
  H(__hadd_sat(a, b));
  H(__hneg(a));
  H(__habs(a));
  H(__hmax(a, b));
  H(__hmin(a, b));
  H(__hmin_nan(a, b));
  H(hsqrt(__habs(a)));
  H(hrcp(a));
  H(hexp(b));
  H(hexp2(b));
  H(hlog(__habs(a)));
  H(hlog2(__habs(a)));
  H(hsin(a));
  H(hcos(a));
  H(htanh(b));
  H(hfloor(a));
  H(hceil(a));
  H(hrint(a));
  P(p + q);
  P(__hfma2(p, q, p));
  P(__hmax2(p, q));
  P(__hmin2(p, q));
  P(h2exp2(p));
  P(__hfma2_relu(p, q, p));
  W(__heq(a, b) + 2 * __hlt(a, b));
  W((float)__bfloat162int_rn(a));
  W((float)__bfloat162uint_rz(__habs(a)));
  H(__int2bfloat16_rn((int)x[i]));
  H(__float2bfloat16_rz(x[i]));
  H(__float2bfloat16_ru(x[i]));
  H(__double2bfloat16((double)x[i]));
  P(__floats2bfloat162_rn(x[i], y[i]));
}
KERNEL small_formats(const float* x, const float* y, float* out, int n) {
  int i = I;
  float a = x[i];
  int j = 0;
  __nv_fp8_e4m3 e(a);
  __nv_fp8_e5m2 f(a);
  W((float)e);
  W((float)f);
  __nv_fp8x2_e4m3 g(make_float2(a, y[i]));
  W(((float2)g).x);
  W(((float2)g).y);
  __nv_fp8x4_e5m2 h(make_float4(a, y[i], -a, 2 * a));
  W(((float4)h).z);
  W(((float4)h).w);
  __nv_fp6_e2m3 s(a);
  __nv_fp6_e3m2 t(a);
  __nv_fp4_e2m1 u(a);
  W((float)s);
  W((float)t);
  W((float)u);
  W(__half2float(
      __half(__nv_cvt_fp8_to_halfraw(__nv_cvt_float_to_fp8(a, __NV_NOSAT, __NV_E5M2), __NV_E5M2))));
  __nv_fp8_e8m0 z(fabsf(a));
  W((float)z);
  __nv_fp4x2_e2m1 q(make_float2(a, y[i]));
  W(((float2)q).y);
}
// SPDX-License-Identifier: Apache-2.0
