// Each looks at an instruction and its operands, no farther.
#include "passes/rewrite/matchers.h"

#include <cmath>

namespace hlokit {

const Literal* SplatValue(const Instruction* i) {
  if (i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().IsScalar()) i = i->operand(0);
  return i->IsConstant() && i->shape().IsScalar() ? i->literal() : nullptr;
}

bool IsSplat(const Instruction* i, double value) {
  const Literal* scalar = SplatValue(i);
  if (scalar == nullptr) return false;
  const ElementType type = scalar->type();
  if (IsComplex(type)) {
    const auto z = scalar->GetComplex(0);
    return z.real() == value && z.imag() == 0 && !std::signbit(z.real()) && !std::signbit(z.imag());
  }
  if (!IsFloat(type)) return static_cast<double>(scalar->GetInt(0)) == value;
  const double x = scalar->GetDouble(0);
  return x == value && std::signbit(x) == std::signbit(value);
}

bool IsAllOnes(const Instruction* i) {
  if (IsPred(i->shape().type)) return IsSplat(i, 1);
  const Literal* scalar = SplatValue(i);
  if (scalar == nullptr || !IsInteger(scalar->type())) return false;
  const int bits = BitWidth(scalar->type());
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return (static_cast<uint64_t>(scalar->GetInt(0)) & mask) == mask;
}

std::optional<int64_t> IntegerSplat(const Instruction* i) {
  const Literal* scalar = SplatValue(i);
  if (scalar == nullptr || !IsInteger(scalar->type())) return std::nullopt;
  return scalar->GetInt(0);
}

IntegerRange RangeOf(const Instruction* i) {
  while (i->opcode() == Opcode::kBroadcast || i->opcode() == Opcode::kReshape) i = i->operand(0);
  if (!IsInteger(i->shape().type)) return {};
  if (const auto value = IntegerSplat(i)) return {value, value};
  switch (i->opcode()) {
    case Opcode::kClamp: {
      const auto low = IntegerSplat(i->operand(0)), high = IntegerSplat(i->operand(2));
      return !low || !high || *low <= *high ? IntegerRange{low, high} : IntegerRange{};
    }
    case Opcode::kMaximum: {
      const auto a = IntegerSplat(i->operand(0)), b = IntegerSplat(i->operand(1));
      return {a ? a : b, std::nullopt};
    }
    case Opcode::kMinimum: {
      const auto a = IntegerSplat(i->operand(0)), b = IntegerSplat(i->operand(1));
      return {std::nullopt, a ? a : b};
    }
    case Opcode::kConvert:
      return IsPred(i->operand(0)->shape().type) && BitWidth(i->shape().type) >= 8
                 ? IntegerRange{0, 1}
                 : IntegerRange{};
    case Opcode::kPartitionId:
      return {0, i->module()->header().num_partitions - 1};
    case Opcode::kReplicaId:
      return {0, i->module()->header().replica_count - 1};
    default:
      return {};
  }
}

bool IsIota(absl::Span<const int64_t> dims) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != static_cast<int64_t>(d)) return false;
  return true;
}

bool SameShape(const Shape& a, const Shape& b) {
  if (a == b) return true;
  return a.IsArray() && SameIgnoringLayout(a, b) && a.MinorToMajor() == b.MinorToMajor() &&
         a.layout.memory_space() == b.layout.memory_space();
}

bool SameWithoutOnes(const Shape& a, const Shape& b) {
  DimVector x, y;
  for (int64_t d : a.dims)
    if (d != 1) x.push_back(d);
  for (int64_t d : b.dims)
    if (d != 1) y.push_back(d);
  return x == y;
}

void GroupEnd(const Shape& from, const Shape& to, int64_t& a, int64_t& b) {
  int64_t x = from.dims[a++], y = to.dims[b++];
  while (x != y) {
    if (x < y) {
      x *= from.dims[a++];
    } else {
      y *= to.dims[b++];
    }
  }
}

DimVector MapWithoutOnes(const Shape& from, const Shape& to) {
  DimVector map;
  int64_t t = 0;
  for (int64_t size : from.dims) {
    if (size == 1) {
      map.push_back(-1);
      continue;
    }
    while (to.dims[t] == 1) ++t;
    map.push_back(t++);
  }
  return map;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
