// sin, cos and tan with exact range reduction for every float and double, without branches.
// float: x / 2pi is summed from products with 29-bit pieces of 1 / 2pi that are exact in double,
// each less its integer part. double: a small table holds 2/pi * 2^(16 g) mod 4; x / 2^(16 g) is an
// integer wherever g > 0.
#include <array>
#include <cmath>

#include "codegen/math/internal.h"

namespace hlokit {
namespace {

// x = (quadrant + fraction) * pi/2; r is the fraction in radians, |r| <= pi/4.
struct Quadrant {
  Val index;  // integer, low two bits count
  ValPair r;
};

// The low bits of a double that is a small integer: adding 1.5 * 2^52 leaves them in the mantissa.
// Unlike a conversion it has a value for NaN too, where LLVM's folds constants to poison, which
// would make the whole result any number.
Val LowBitsOfInteger(Val x) { return Resize(ToBits(x + 0x1.8p52), 32); }

// ---- double ----

constexpr int kGroupBits = 16;  // exponents that share a row of the table
constexpr int kGroups = 61;
constexpr int kParts = 4;  // 53-bit pieces in a row

// The bits of 2/pi after the binary point.
constexpr std::array<uint64_t, 20> kTwoOverPi = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// `count` bits of 2/pi from bit `first` on (0 is the one of weight 1/2; those before it are zero).
uint64_t BitsOfTwoOverPi(int first, int count) {
  uint64_t bits = 0;
  for (int i = first; i < first + count; ++i) {
    uint64_t bit = i < 0 ? 0 : kTwoOverPi[i / 64] >> (63 - i % 64) & 1;
    bits = bits << 1 | bit;
  }
  return bits;
}

llvm::GlobalVariable* ReductionTable(llvm::Module& module) {
  constexpr char kName[] = "hlokit.two_over_pi";
  if (llvm::GlobalVariable* table = module.getNamedGlobal(kName)) return table;
  llvm::SmallVector<double, kGroups * kParts> values;
  for (int group = 0; group < kGroups; ++group) {
    for (int part = 0; part < kParts; ++part) {
      int first = kGroupBits * group - 2 + 53 * part;  // weight 2 is the first kept
      values.push_back(
          std::ldexp(static_cast<double>(BitsOfTwoOverPi(first, 53)), 2 - 53 * (part + 1)));
    }
  }
  llvm::Constant* data = llvm::ConstantDataArray::get(module.getContext(), values);
  auto* table = new llvm::GlobalVariable(module, data->getType(), true,
                                         llvm::GlobalValue::PrivateLinkage, data, kName);
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  table->setAlignment(llvm::Align(32));
  return table;
}

// table[index], a gather for vectors.
Val LoadEntry(llvm::GlobalVariable* table, Val index) {
  auto& builder = index.builder();
  llvm::Value* address = builder.CreateInBoundsGEP(builder.getDoubleTy(), table, index.get());
  llvm::Type* type = index.DoubleType();
  if (type->isVectorTy())
    return index.With(builder.CreateMaskedGather(type, address, llvm::Align(8)));
  return index.With(builder.CreateAlignedLoad(type, address, llvm::Align(8)));
}

Val ModFour(Val x) { return Fma(RoundEven(x * 0.25), -4, x); }

Quadrant ReduceDouble(Val x) {
  Val bits = ToBits(x);
  Val exponent = (bits >> 52) & 0x7ff;
  Val above = exponent - (1023 + 52);
  above = Select(above < 0, 0, above);
  Val group = above >> 4;
  Val scaled = FromBits(bits - ((group << 4) << 52));
  llvm::GlobalVariable* table = ReductionTable(*x.builder().GetInsertBlock()->getModule());
  Val row = group << 2;
  ValPair p0 = TwoProduct(scaled, LoadEntry(table, row));
  ValPair p1 = TwoProduct(scaled, LoadEntry(table, row + 1));
  ValPair p2 = TwoProduct(scaled, LoadEntry(table, row + 2));
  Val p3 = scaled * LoadEntry(table, row + 3);
  ValPair middle = TwoSum(p0.lo, p1.hi);
  ValPair sum = TwoSum(ModFour(p0.hi), ModFour(middle.hi));
  Val index = RoundEven(sum.hi);
  Val invalid = x - x;  // 0, or NaN for inf and NaN
  ValPair a = TwoSum(middle.lo, p2.hi);
  ValPair b = TwoSum(a.hi, p1.lo);
  ValPair c = TwoSum(b.hi, sum.lo);
  ValPair d = TwoSum(sum.hi - index, c.hi);
  ValPair f = FastTwoSum(d.hi, d.lo + (((a.lo + b.lo) + c.lo) + (p2.lo + (p3 + invalid))));
  ValPair r = TwoProduct(f.hi, x.Const(kHalfPi));
  r.lo = Fma(f.hi, kHalfPiLow, Fma(f.lo, kHalfPi, r.lo));
  return {LowBitsOfInteger(index), FastTwoSum(r.hi, r.lo)};
}

// sin(r) and cos(r) as pairs whose low parts hold what rounding lost.
ValPair SinKernel(ValPair r) {
  Val z = r.hi * r.hi;
  Val tail = Horner(z, {0x1.5d939317898f2p-33, -0x1.ae5e6869a2ec2p-26, 0x1.71de357ae1e43p-19,
                        -0x1.a01a019c15e5cp-13, 0x1.111111110f8a5p-7, -0x1.5555555555549p-3});
  return FastTwoSum(r.hi, Fma(z * r.hi, tail, Fma(r.lo * z, -0.5, r.lo)));
}

ValPair CosKernel(ValPair r) {
  Val z = r.hi * r.hi;
  Val tail = Horner(z, {-0x1.8fb11e963c141p-37, 0x1.1ee9f1331ed38p-29, -0x1.27e4f8128f54cp-22,
                        0x1.a01a019cbf38ep-16, -0x1.6c16c16c1521ep-10, 0x1.555555555554cp-5});
  Val half = z * 0.5;
  Val half_low = Fma(r.hi, r.hi, -z) * 0.5;
  ValPair head = FastTwoSum(z.Const(1), -half);
  return FastTwoSum(head.hi, head.lo + (Fma(z * z, tail, -(r.hi * r.lo)) - half_low));
}

// ---- float ----

constexpr double kInverseTwoPi[] = {0x1.45f306dp-3,  0x1.9391054p-32,  0x1.4fe13abp-61,
                                    0x1.d1f534dp-90, 0x1.b81b6c5p-119, 0x1.5993c439041fep-150};

// x a float, widened; r.hi alone holds the fraction.
Quadrant ReduceFloat(Val x) {
  Val terms[5];
  for (int i = 0; i < 5; ++i) {
    Val product = x * kInverseTwoPi[i];
    terms[i] = product - RoundEven(product);
  }
  Val last = x * kInverseTwoPi[5];
  Val turns = ((terms[0] + terms[1]) + (terms[2] + terms[3])) + (terms[4] + last);
  Val index = RoundEven(turns * 4);
  Val f = Fma(index, -0.25, terms[0]);
  for (int i = 1; i < 5; ++i) f = f + terms[i];
  f = (f + last) * (4 * kHalfPi);
  return {LowBitsOfInteger(index), {f, f.Const(0)}};
}

// The same for |x| < kTrigBound, in few steps: one multiple of pi/2 as a double is exact enough.
// Adding 1.5 * 2^52 rounds to an integer, and leaves it in the low bits.
Quadrant ReduceBounded(Val x) {
  const double shift = 0x1.8p52;
  Val shifted = Fma(x, 1 / kHalfPi, shift);
  Val f = Fma(shifted - shift, -kHalfPi, x);
  return {Resize(ToBits(shifted), 32), {f, f.Const(0)}};
}

Val FloatSinKernel(Val r) {
  Val z = r * r;
  return Fma(r * z, Horner(z, {0x1.7cd83cp-19, -0x1.a05bbap-13, 0x1.111176p-7, -0x1.555556p-3}), r);
}

Val FloatCosKernel(Val r) {
  Val z = r * r;
  return Fma(z * z, Horner(z, {0x1.99e0eep-16, -0x1.6c0c1ap-10, 0x1.55554ap-5}), Fma(z, -0.5, 1));
}

// sin of a whole number of quarter turns and a bit, for one value alone: terms side by side instead
// of one after the other, and nothing leaves the vector registers.
Val ShortSinOfQuadrant(const Quadrant& q, int quarter_turns) {
  Val r = ToFloat(q.r.hi);
  Val z = r * r;
  Val zz = z * z;
  Val sine_tail =
      Fma(zz, Fma(z, 0x1.7cd83cp-19, -0x1.a05bbap-13), Fma(z, 0x1.111176p-7, -0x1.555556p-3));
  Val sine = Fma(r * z, sine_tail, r);
  Val cosine_tail = Fma(zz, 0x1.99e0eep-16, Fma(z, -0x1.6c0c1ap-10, 0x1.55554ap-5));
  Val cosine = Fma(zz, cosine_tail, Fma(z, -0.5, 1));
  Val index = q.index + quarter_turns;
  Val magnitude = Select((index & 1) == 0, sine, cosine);
  return Select((index & 2) == 0, magnitude, -magnitude);
}

// A double that is a widened float (complex functions work so) needs only the cheaper reduction.
Quadrant Reduce(Val x) {
  auto* widened = llvm::dyn_cast<llvm::FPExtInst>(x.get());
  bool from_float = widened != nullptr && widened->getSrcTy()->getScalarType()->isFloatTy();
  return from_float ? ReduceFloat(x) : ReduceDouble(x);
}

// sin((quadrant + fraction) pi/2) from the two kernels' values.
Val PickByQuadrant(Val index, Val sine, Val cosine) {
  Val odd = !((index & 1) == 0);
  Val flip = ResizeUnsigned(index & 2, sine.bits()) << (sine.bits() - 2);
  return FromBits(ToBits(Select(odd, cosine, sine)) ^ flip);
}

Val SinOfQuadrant(Val x, int quarter_turns) {
  if (x.is_f64()) {
    Quadrant q = Reduce(x);
    return PickByQuadrant(q.index + quarter_turns, SinKernel(q.r).hi, CosKernel(q.r).hi);
  }
  Quadrant q = ReduceFloat(ToDouble(x));
  Val r = ToFloat(q.r.hi);
  return PickByQuadrant(q.index + quarter_turns, FloatSinKernel(r), FloatCosKernel(r));
}

}  // namespace

Val Sin(Val x) { return Select(Abs(x) < 0x1p-27, x, SinOfQuadrant(x, 0)); }

Val Cos(Val x) { return SinOfQuadrant(x, 1); }

Val BoundedSin(Val x) {
  return Select(Abs(x) < 0x1p-27, x, ShortSinOfQuadrant(ReduceBounded(ToDouble(x)), 0));
}

Val BoundedCos(Val x) { return ShortSinOfQuadrant(ReduceBounded(ToDouble(x)), 1); }

Val Tan(Val x) {
  bool narrow = !x.is_f64();
  Quadrant q = Reduce(ToDouble(x));
  ValPair sine = SinKernel(q.r), cosine = CosKernel(q.r);
  Val odd = !((q.index & 1) == 0);
  Val top = Select(odd, -cosine.hi, sine.hi), bottom = Select(odd, sine.hi, cosine.hi);
  Val result = top / bottom;
  if (narrow) return Select(Abs(x) < 0x1p-27, x, ToFloat(result));
  Val top_low = Select(odd, -cosine.lo, sine.lo), bottom_low = Select(odd, sine.lo, cosine.lo);
  Val rest = Fma(-result, bottom, top) + Fma(-result, bottom_low, top_low);
  return Select(Abs(x) < 0x1p-27, x, result + rest / bottom);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
