// Kernels that depend on attributes or on two types, and the choice of an instruction's kernel.
//
// A kernel computes a chunk of kChunk elements in the wide type of its operands (double, 64-bit
// integer, complex<double>); chunks are widened before and rounded after it. Attributes (direction
// of a comparison, bits of a precision) are two numbers of the call, so kernels are plain functions
// and an instruction's is chosen once, by opcode and types.
// Comparisons in total order map floats to integers of that order (OrderKey) and compare those, so
// that -NaN < -inf < ... < -0 < 0 < ... < inf < NaN.
// Conversions round once where XLA does, and twice, by way of f32, where XLA does.
#include "ops/evaluate/kernels.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

template <typename T, typename Key, typename Holds>
void CompareLoop(const T* x, const T* y, uint64_t* out, int64_t n, Key key, Holds holds) {
  for (int64_t i = 0; i < n; ++i) out[i] = holds(key(x[i]), key(y[i]));
}

template <typename T, typename Key>
void CompareBy(ComparisonDirection direction, const T* x, const T* y, uint64_t* out, int64_t n,
               Key key) {
  switch (direction) {
    case ComparisonDirection::kEq:
      return CompareLoop(x, y, out, n, key, std::equal_to<>());
    case ComparisonDirection::kNe:
      return CompareLoop(x, y, out, n, key, std::not_equal_to<>());
    case ComparisonDirection::kGe:
      return CompareLoop(x, y, out, n, key, std::greater_equal<>());
    case ComparisonDirection::kGt:
      return CompareLoop(x, y, out, n, key, std::greater<>());
    case ComparisonDirection::kLe:
      return CompareLoop(x, y, out, n, key, std::less_equal<>());
    case ComparisonDirection::kLt:
      return CompareLoop(x, y, out, n, key, std::less<>());
  }
}

template <typename T>
void RunCompare(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const auto direction = static_cast<ComparisonDirection>(call.a);
  const T* x = static_cast<const T*>(in[0]);
  const T* y = static_cast<const T*>(in[1]);
  uint64_t* r = static_cast<uint64_t*>(out);
  if constexpr (std::is_same_v<T, Complex>) {
    const bool equal = direction == ComparisonDirection::kEq;
    for (int64_t i = 0; i < n; ++i) r[i] = (x[i] == y[i]) == equal;
  } else if constexpr (std::is_same_v<T, double>) {
    if (static_cast<ComparisonType>(call.b) == ComparisonType::kTotalOrder)
      return CompareBy(direction, x, y, r, n, static_cast<int64_t (*)(double)>(OrderKey));
    CompareBy(direction, x, y, r, n, std::identity());
  } else {
    CompareBy(direction, x, y, r, n, std::identity());
  }
}

template <typename T>
void RunSelect(const KernelCall&, const void* const* in, void* out, int64_t n) {
  const uint64_t* which = static_cast<const uint64_t*>(in[0]);
  const T* yes = static_cast<const T*>(in[1]);
  const T* no = static_cast<const T*>(in[2]);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = which[i] ? yes[i] : no[i];
}

void RunClamp(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  alignas(16) uint8_t raised[kChunk * 8];
  const void* const low[] = {in[1], in[0]};
  BinaryKernelFor(Opcode::kMaximum, call.in)(call, low, raised, n);
  const void* const high[] = {raised, in[2]};
  BinaryKernelFor(Opcode::kMinimum, call.in)(call, high, out, n);
}

// As XLA's CPU: complex numbers are ordered by their real parts alone. A bound wins a tie below,
// the operand a tie above; NaN compares false.
void RunComplexClamp(const KernelCall&, const void* const* in, void* out, int64_t n) {
  const auto* low = static_cast<const Complex*>(in[0]);
  const auto* x = static_cast<const Complex*>(in[1]);
  const auto* high = static_cast<const Complex*>(in[2]);
  for (int64_t i = 0; i < n; ++i) {
    const Complex raised = low[i].real() >= x[i].real() ? low[i] : x[i];
    static_cast<Complex*>(out)[i] = raised.real() <= high[i].real() ? raised : high[i];
  }
}

template <typename From, typename To>
To ConvertOne(From x, ElementType type) {
  if constexpr (std::is_same_v<From, To>) {
    return x;
  } else if constexpr (std::is_same_v<From, Complex>) {
    if (IsPred(type)) return static_cast<To>(x != Complex(0));
    return ConvertOne<double, To>(x.real(), type);
  } else if constexpr (std::is_same_v<To, Complex>) {
    return Complex(ConvertOne<From, double>(x, RealComponent(type)));
  } else if constexpr (std::is_same_v<From, double>) {
    return IntegerFromReal<To>(x, type);
  } else if constexpr (std::is_same_v<To, double>) {
    // Straight to f32: by way of double, 64 bits would round twice.
    return type == ElementType::kF64 ? static_cast<double>(x) : static_cast<float>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
void RunConvert(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const From* x = static_cast<const From*>(in[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<To*>(out)[i] = ConvertOne<From, To>(x[i], call.out);
}

// f64 to a float of at most 8 bits, rounded once; to larger ones XLA goes by way of f32, as
// StoreWide does.
template <typename From>
void RunConvertToSmall(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const From* x = static_cast<const From*>(in[0]);
  for (int64_t i = 0; i < n; ++i)
    static_cast<double*>(out)[i] =
        FloatFromBits(call.out, FloatToBits(call.out, ConvertOne<From, double>(x[i], call.out)));
}

KernelCall::Function ConvertKernel(ElementType from, ElementType to) {
  const bool is_small = IsFloat(to) && BitWidth(to) <= 8;
  if (is_small && from == ElementType::kF64) return RunConvertToSmall<double>;
  if (is_small && from == ElementType::kC128) return RunConvertToSmall<Complex>;
  return VisitWide(from, [&](auto x) {
    return VisitWide(
        to, [&](auto r) -> KernelCall::Function { return RunConvert<decltype(x), decltype(r)>; });
  });
}

void RunBitcast(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  alignas(16) uint8_t raw[kChunk * 16];
  StoreWide(call.in, in[0], n, raw);
  LoadWide(call.out, raw, n, out);
}

// reduce-precision works on the bit pattern of a type that holds the element.
uint64_t ReduceBits(uint64_t x, const FloatFormat& from, int exponent_bits, int mantissa_bits) {
  const int width = 1 + from.exponent_bits + from.mantissa_bits;
  const uint64_t sign = x & (uint64_t{1} << (width - 1));
  const int drop = from.mantissa_bits - mantissa_bits;
  if (drop > 0) {
    const uint64_t last = uint64_t{1} << drop;
    x += ((x & last) ? 1 : 0) + (last >> 1) - 1;  // to nearest, ties to even
    x &= ~(last - 1);
  }
  if (exponent_bits >= from.exponent_bits) return x;
  const uint64_t reduced_bias = (uint64_t{1} << (exponent_bits - 1)) - 1;
  const uint64_t bias = (uint64_t{1} << (from.exponent_bits - 1)) - 1;
  const uint64_t exponent = (x & ~(uint64_t{1} << (width - 1))) >> from.mantissa_bits;
  const uint64_t infinity = ((uint64_t{1} << from.exponent_bits) - 1) << from.mantissa_bits;
  if (exponent > bias + reduced_bias) return sign | infinity;
  return exponent <= bias - reduced_bias ? sign : x;
}

void RunReducePrecision(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const double* x = static_cast<const double*>(in[0]);
  const ElementType wide = ReducePrecisionFormat(call.in);
  const FloatFormat& format = FormatOf(wide);
  for (int64_t i = 0; i < n; ++i) {
    double& r = static_cast<double*>(out)[i];
    r = x[i];
    if (!std::isfinite(x[i])) continue;
    r = FloatFromBits(wide, ReduceBits(FloatToBits(wide, x[i]), format, call.a, call.b));
    if (wide != call.in) r = FloatFromBits(call.in, FloatToBits(call.in, r));
  }
}

// stochastic-convert rounds up with the probability of the fraction cut off.
int64_t StochasticInteger(double x, uint64_t random, ElementType type, int random_bits) {
  const auto nearest = [type](double value) {
    return IsSigned(type) ? IntegerFromReal<int64_t>(value, type)
                          : static_cast<int64_t>(IntegerFromReal<uint64_t>(value, type));
  };
  const double size = std::fabs(x), whole = std::trunc(size);
  const double limit = std::ldexp(1.0, BitWidth(type) - (IsSigned(type) ? 1 : 0));
  if (!(size < limit) || size == whole) return nearest(x);
  const bool up = static_cast<double>(random) < std::ldexp(size - whole, random_bits);
  return nearest(!up ? x : x < 0 ? -(whole + 1) : whole + 1);
}

void RunStochasticConvert(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const double* x = static_cast<const double*>(in[0]);
  const uint64_t* random = static_cast<const uint64_t*>(in[1]);
  for (int64_t i = 0; i < n; ++i)
    static_cast<int64_t*>(out)[i] = StochasticInteger(x[i], random[i], call.out, BitWidth(call.in));
}

// To a narrower float: between the neighbours, nearer to the one that is nearer.
double StochasticFloat(double x, uint64_t random, ElementType type, int random_bits) {
  const double size = std::fabs(x);
  if (!std::isfinite(x)) return x;
  uint64_t bits = FloatToBits(type, size);
  if (FloatFromBits(type, bits) > size) --bits;
  const double low = FloatFromBits(type, bits), high = FloatFromBits(type, bits + 1);
  if (low == size || !(high > low) || std::isinf(high)) return x;
  const double share = (size - low) / (high - low);
  const bool up = static_cast<double>(random) < std::ldexp(share, random_bits);
  return std::copysign(up ? high : low, x);
}

void RunStochasticFloat(const KernelCall& call, const void* const* in, void* out, int64_t n) {
  const double* x = static_cast<const double*>(in[0]);
  const uint64_t* random = static_cast<const uint64_t*>(in[1]);
  for (int64_t i = 0; i < n; ++i)
    static_cast<double*>(out)[i] = StochasticFloat(x[i], random[i], call.out, BitWidth(call.in));
}

KernelCall::Function KernelOf(Opcode opcode, ElementType type) {
  switch (WideOf(type)) {
    case Wide::kReal:
      return RealKernel(opcode);
    case Wide::kSigned:
      return SignedKernel(opcode);
    case Wide::kUnsigned:
      return UnsignedKernel(opcode);
    case Wide::kComplex:
      return ComplexKernel(opcode);
  }
  return nullptr;
}

KernelCall::Function SpecialKernel(const Instruction& instruction, KernelCall& call) {
  switch (instruction.opcode()) {
    case Opcode::kCompare: {
      const CompareAttrs& attrs = instruction.attr<CompareAttrs>();
      call.a = static_cast<int64_t>(attrs.direction);
      call.b = static_cast<int64_t>(attrs.type);
      return VisitWide(call.in,
                       [](auto t) -> KernelCall::Function { return RunCompare<decltype(t)>; });
    }
    case Opcode::kSelect:
      return VisitWide(call.out,
                       [](auto t) -> KernelCall::Function { return RunSelect<decltype(t)>; });
    case Opcode::kClamp:
      return IsComplex(call.in) ? RunComplexClamp : RunClamp;
    case Opcode::kConvert:
      return ConvertKernel(call.in, call.out);
    case Opcode::kBitcastConvert:
      return BitWidth(call.in) == BitWidth(call.out) ? RunBitcast : nullptr;
    case Opcode::kCopy:
      return ConvertKernel(call.in, call.in);
    case Opcode::kReducePrecision: {
      const auto& attrs = instruction.attr<ReducePrecisionAttrs>();
      call.a = attrs.exponent_bits;
      call.b = attrs.mantissa_bits;
      return IsFloat(call.in) && call.a >= 1 && call.a < 63 && call.b >= 0 ? RunReducePrecision
                                                                           : nullptr;
    }
    case Opcode::kStochasticConvert:
      if (IsFloat(call.out)) return RunStochasticFloat;
      return IsInteger(call.out) ? RunStochasticConvert : nullptr;
    default:
      return KernelOf(instruction.opcode(), call.in);
  }
}

}  // namespace

int64_t OrderKey(double x) {
  const int64_t bits = std::bit_cast<int64_t>(x);
  return bits < 0 ? static_cast<int64_t>(~static_cast<uint64_t>(bits) | (uint64_t{1} << 63)) : bits;
}

KernelCall::Function BinaryKernelFor(Opcode opcode, ElementType type) {
  return KernelOf(opcode, type);
}

absl::StatusOr<KernelCall> FindKernel(const Instruction& instruction) {
  KernelCall call;
  call.out = instruction.shape().type;
  if (HasTrait(instruction.opcode(), kElementwise) && instruction.operand_count() > 0 &&
      IsArrayType(call.out)) {
    call.in = instruction.operand(0)->shape().type;
    if (IsArrayType(call.in)) call.run = SpecialKernel(instruction, call);
  }
  if (call.run != nullptr) return call;
  return Unimplemented(Text(instruction.opcode()), " of ", Text(call.in), " to ", Text(call.out));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
