// Running elementwise operations over bit patterns, and the values that the tests feed them.
#include "codegen/scalars/harness_internal.h"

#include <cmath>
#include <random>

#include "support/status.h"

namespace hlokit {
namespace {

std::vector<uint8_t> Pack(T type, const Patterns& patterns) {
  int width = ByteWidth(type);
  std::vector<uint8_t> bytes(patterns.size() * width);
  for (size_t i = 0; i < patterns.size(); ++i) std::memcpy(&bytes[i * width], &patterns[i], width);
  return bytes;
}

}  // namespace

std::string Name(T type) { return std::string(AsStd(Text(type))); }

Patterns RunLoop(T x_type, T y_type, T out_type, const Emit& emit, const Patterns& x,
                 const Patterns& y) {
  JitResult jit = JitLoop(
      [&](llvm::LLVMContext& context) {
        return ElementTypes{MemoryType(context, x_type), MemoryType(context, y_type),
                            MemoryType(context, out_type)};
      },
      [&](llvm::IRBuilderBase& b, llvm::Value* a, llvm::Value* c, llvm::Value* out) {
        ScalarValue result = emit(b, LoadElement(b, x_type, a), LoadElement(b, y_type, c));
        StoreElement(b, out_type, result, out);
      });
  std::vector<uint8_t> a = Pack(x_type, x), b = Pack(y_type, y);
  int width = ByteWidth(out_type);
  std::vector<uint8_t> bytes(x.size() * width);
  jit.loop(a.data(), b.data(), bytes.data(), static_cast<int64_t>(x.size()));
  Patterns out(x.size());
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], &bytes[i * width], width);
  return out;
}

Patterns RunUnary(Opcode opcode, T type, const Patterns& x) {
  return RunLoop(
      type, type, type, [&](auto& b, auto& v, auto&) { return EmitUnary(b, opcode, type, v); }, x,
      x);
}

Patterns RunBinary(Opcode opcode, T type, const Patterns& x, const Patterns& y) {
  return RunLoop(
      type, type, type,
      [&](auto& b, auto& v, auto& w) { return EmitBinary(b, opcode, type, v, w); }, x, y);
}

Patterns RunConvert(T from, T to, const Patterns& x) {
  return RunLoop(
      from, from, to, [&](auto& b, auto& v, auto&) { return EmitConvert(b, from, to, v); }, x, x);
}

Patterns AllPatterns(T type) {
  Patterns all;
  for (uint64_t i = 0; i < uint64_t{1} << BitWidth(type); ++i) all.push_back(i);
  return all;
}

std::vector<double> ManyFloats() {
  std::vector<double> values = {0.0,  -0.0,  INFINITY, -INFINITY, NAN, 1e-320,
                                3e38, 1e300, -1e300,   0.5,       1.5, 2.5};
  std::mt19937_64 random(11);
  for (int i = 0; i < 30000; ++i) values.push_back(Cast<float>(static_cast<uint32_t>(random())));
  for (int exponent = -40; exponent < 20; ++exponent) {
    for (int m = 16; m < 64; ++m) {
      double v = std::ldexp(m, exponent);
      values.insert(values.end(), {v, -v, std::nextafter(v, INFINITY), std::nextafter(v, 0.0)});
    }
  }
  return values;
}

__int128 ValueOf(T type, uint64_t bits) {
  int spare = 64 - BitWidth(type);
  uint64_t top = bits << spare;
  return IsSigned(type) ? __int128{static_cast<int64_t>(top) >> spare} : __int128{top >> spare};
}

uint64_t PatternOf(T type, __int128 value) {
  uint64_t wrapped = static_cast<uint64_t>(ValueOf(type, static_cast<uint64_t>(value)));
  int bytes = ByteWidth(type);
  return bytes == 8 ? wrapped : wrapped & ((uint64_t{1} << (8 * bytes)) - 1);
}

void IntegerPairs(T type, Patterns& x, Patterns& y) {
  Patterns values;
  if (BitWidth(type) <= 8) {
    for (uint64_t bits : AllPatterns(type)) values.push_back(PatternOf(type, ValueOf(type, bits)));
  } else {
    std::mt19937_64 random(5);
    for (int64_t v : {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 1000}) {
      values.push_back(PatternOf(type, v));
      values.push_back(PatternOf(type, -v));
    }
    for (int shift : {1, 0}) {
      uint64_t top = uint64_t{1} << (BitWidth(type) - 1);
      values.push_back(PatternOf(type, top - shift));
      values.push_back(PatternOf(type, ~top + shift));
    }
    for (int i = 0; i < 300; ++i) values.push_back(PatternOf(type, random() >> (i % 64)));
  }
  for (uint64_t a : values) {
    for (uint64_t b : values) x.push_back(a), y.push_back(b);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
