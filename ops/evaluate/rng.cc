// Evaluates random numbers: rng-bit-generator bit for bit as XLA, rng by distribution only. The
// generators are written plainly here and once more, vectorized, in runtime/rng; each tests the
// other. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/rng.h"
#include "ops/evaluate/values.h"
#include "support/status.h"

namespace hlokit {
namespace {

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

}  // namespace

std::array<uint32_t, 2> ThreeFry(uint64_t counter, uint64_t key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {Low(key), High(key), Low(key) ^ High(key) ^ 0x1BD11BDA};
  uint32_t x = Low(counter) + keys[0], y = High(counter) + keys[1];
  for (uint32_t round = 0; round < 5; ++round) {
    for (int rotation : kRotations[round % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(round + 1) % 3];
    y += keys[(round + 2) % 3] + round + 1;
  }
  return {x, y};
}

namespace {

struct Counter128 {
  uint64_t low = 0, high = 0;
  Counter128 operator+(uint64_t n) const { return {low + n, high + (low + n < low ? 1 : 0)}; }
};

// Philox-4x32 with 10 rounds.
std::array<uint32_t, 4> Philox(Counter128 counter, uint64_t key) {
  std::array<uint32_t, 4> x = {Low(counter.low), High(counter.low), Low(counter.high),
                               High(counter.high)};
  uint32_t k0 = Low(key), k1 = High(key);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{x[0]} * 0xD2511F53, b = uint64_t{x[2]} * 0xCD9E8D57;
    x = {High(b) ^ x[1] ^ k0, Low(b), High(a) ^ x[3] ^ k1, Low(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

// 32-bit words (64-bit ones where `wide`) for all elements of an array, in row-major order.
struct Bits {
  std::vector<uint64_t> values;
  std::vector<uint64_t> state;  // after the key
};

// Two words a counter. In 32-bit arrays they are neighbours along an even dimension (the first
// such; else the longest, whose last second word is dropped).
Bits ThreeFryBits(uint64_t key, uint64_t counter, const Shape& shape, bool wide) {
  const int64_t n = shape.ElementCount();
  Bits bits;
  if (wide) {
    for (int64_t i = 0; i < n; ++i) {
      const auto words = ThreeFry(counter + i, key);
      bits.values.push_back(Join(words[0], words[1]));
    }
    bits.state = {counter + n};
    return bits;
  }
  DimVector dims = shape.dims;
  if (dims.empty()) dims = {1};
  size_t split = 0;
  while (split < dims.size() && dims[split] % 2 != 0) ++split;
  if (split == dims.size()) {
    split = 0;
    for (size_t d = 1; d < dims.size(); ++d)
      if (dims[d] > dims[split]) split = d;
  }
  int64_t inner = 1, outer = 1;
  for (size_t d = 0; d < dims.size(); ++d) (d < split ? outer : inner) *= d == split ? 1 : dims[d];
  const int64_t size = dims[split], half = (size + 1) / 2;
  bits.values.resize(n);
  for (int64_t i = 0; n > 0 && i < outer * half * inner; ++i) {
    const auto words = ThreeFry(counter + i, key);
    const int64_t o = i / (half * inner), h = i / inner % half, k = i % inner;
    bits.values[(o * size + 2 * h) * inner + k] = words[0];
    if (2 * h + 1 < size) bits.values[(o * size + 2 * h + 1) * inner + k] = words[1];
  }
  bits.state = {counter + (n > 0 ? outer * half * inner : 0)};
  return bits;
}

Bits PhiloxBits(uint64_t key, Counter128 counter, int64_t n, bool wide) {
  Bits bits;
  const int64_t a_block = wide ? 2 : 4, blocks = (n + a_block - 1) / a_block;
  for (int64_t block = 0; block < blocks; ++block) {
    const auto words = Philox(counter + block, key);
    if (wide) {
      bits.values.push_back(Join(words[0], words[1]));
      bits.values.push_back(Join(words[2], words[3]));
    } else {
      bits.values.insert(bits.values.end(), words.begin(), words.end());
    }
  }
  bits.values.resize(n);
  const Counter128 next = counter + blocks;
  bits.state = {next.low, next.high};
  return bits;
}

// The module's generator, for rng and rng-get-and-update-state. One for the process: nothing
// promises its values.
constexpr uint64_t kGeneratorStart = 0x7012395;
std::atomic<uint64_t> generator{kGeneratorStart};

// Uniform in [0, 1), 53 bits.
double Uniform(uint64_t& counter) {
  const auto words = Philox({counter++, 0}, 0x3ec8f720);
  return std::ldexp(static_cast<double>(Join(words[0], words[1]) >> 11), -53);
}

double Normal(uint64_t& counter) {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform(counter)));
  return radius * std::cos(2 * std::numbers::pi * Uniform(counter));
}

Literal UniformIntegers(const EvalContext& context, uint64_t counter) {
  Literal result(context.instruction.shape());
  const int64_t low = context.operands[0]->GetInt(0);
  const uint64_t range =
      static_cast<uint64_t>(context.operands[1]->GetInt(0)) - static_cast<uint64_t>(low);
  for (int64_t i = 0; i < result.element_count(); ++i) {
    const auto words = Philox({counter + i, 1}, 0x3ec8f720);
    const uint64_t bits = Join(words[0], words[1]);
    result.SetInt(i, low + static_cast<int64_t>(range == 0 ? 0 : bits % range));
  }
  return result;
}

}  // namespace

void RestartGenerator() { generator = kGeneratorStart; }

absl::StatusOr<Literal> EvaluateRngBitGenerator(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  const Literal& in = *context.operands[0];
  if (in.byte_size() != 16 && in.byte_size() != 24)
    return InvalidArgument("rng-bit-generator: a state of ", Text(in.shape()));
  std::vector<uint64_t> state(in.byte_size() / 8);
  std::memcpy(state.data(), in.data(), in.byte_size());
  const RngAlgorithm algorithm = context.instruction.attr<RngBitGeneratorAttrs>().algorithm;
  const Shape& out = shape.elements[1];
  const bool wide = BitWidth(out.type) == 64;
  Bits bits;
  if (algorithm == RngAlgorithm::kThreeFry) {
    bits = ThreeFryBits(state[0], state[1], out, wide);
  } else {
    // A state of two words lets its key be the counter's high half, too.
    const Counter128 counter{state[1], state.size() > 2 ? state[2] : state[0]};
    bits = PhiloxBits(state[0], counter, out.ElementCount(), wide);
  }
  Literal next(shape.elements[0]), values(out);
  for (size_t i = 1; i < state.size() && i <= bits.state.size(); ++i) state[i] = bits.state[i - 1];
  std::memcpy(next.data(), state.data(), next.byte_size());
  for (int64_t i = 0; i < values.element_count(); ++i)
    values.SetInt(i, static_cast<int64_t>(bits.values[i]));
  std::vector<Literal> parts;
  parts.push_back(std::move(next));
  parts.push_back(std::move(values));
  return Literal::Tuple(std::move(parts));
}

absl::StatusOr<Literal> EvaluateRng(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  uint64_t counter = generator.fetch_add(2 * shape.ElementCount() + 1);
  const RngDistribution distribution = context.instruction.attr<RngAttrs>().distribution;
  if (!IsFloat(shape.type) && distribution == RngDistribution::kUniform)
    return UniformIntegers(context, counter);
  if (!IsFloat(shape.type)) return Unimplemented("rng of ", Text(shape.type));
  const double a = context.operands[0]->GetDouble(0), b = context.operands[1]->GetDouble(0);
  std::vector<double> values(shape.ElementCount());
  for (double& value : values) {
    if (distribution == RngDistribution::kNormal) {
      value = a + b * Normal(counter);
    } else {
      // 24 bits at most, so that rounding to f32 cannot reach the open end.
      const double u = shape.type == ElementType::kF64
                           ? Uniform(counter)
                           : std::ldexp(std::floor(std::ldexp(Uniform(counter), 24)), -24);
      value = a + (b - a) * u;
    }
  }
  return NarrowFrom(shape, values);
}

absl::StatusOr<Literal> EvaluateRngGetAndUpdateState(const EvalContext& context) {
  const uint64_t old = generator.fetch_add(context.instruction.attr<RngStateAttrs>().delta);
  Literal result(context.instruction.shape());
  if (result.byte_size() != 16)
    return InvalidArgument("rng-get-and-update-state: result is not u64[2]");
  const uint64_t state[2] = {old, 0};
  std::memcpy(result.data(), state, sizeof(state));
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
