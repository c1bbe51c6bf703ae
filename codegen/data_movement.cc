// Elements of operations that place operand elements: an element of the result is an element of the
// operand at another index, so the emitter transforms the index and emits the operand there.
//   broadcast: drop dimensions        transpose: permute        reverse: size - 1 - i
//   pad: (i - low) / (interior + 1), the padding value outside
//   concatenate: a select over the operands
// No memory is moved: fused into a loop, a transpose is another address computation.
#include "codegen/element_emitter.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kExactFloats = 1 << 24;  // whole numbers below are floats

// How wide an element is where it is part of a wider one.
int BitsInArray(ElementType type) { return IsSubByte(type) ? BitWidth(type) : 8 * ByteWidth(type); }

// The unsigned integer of the width that the type has in memory.
ElementType Container(ElementType type) {
  switch (ByteWidth(type)) {
    case 1:
      return ElementType::kU8;
    case 2:
      return ElementType::kU16;
    case 4:
      return ElementType::kU32;
    default:
      return ElementType::kU64;
  }
}

}  // namespace

ScalarValue ElementEmitter::EmitConstant(const Instruction* i, const ElementIndex&) {
  return ConstantElement(b_, i->literal()->type(), i->literal()->data());
}

ScalarValue ElementEmitter::EmitBroadcast(const Instruction* i, const ElementIndex& index) {
  const Instruction* operand = i->operand(0);
  if (operand->shape().IsScalar()) return Emit(operand, ElementIndex::Multi({}));
  const auto& dims = i->attr<BroadcastAttrs>().dimensions;
  if (index.linear != nullptr && operand->shape().dims == i->shape().dims &&
      operand->shape().MinorToMajor() == i->shape().MinorToMajor() &&
      std::is_sorted(dims.begin(), dims.end()))
    return Emit(operand, index);
  const ElementIndex full = WithMulti(b_, index, i->shape());
  std::vector<llvm::Value*> multi;
  for (size_t d = 0; d < dims.size(); ++d)
    multi.push_back(operand->shape().dims[d] == 1 ? b_.Index(0) : full.multi[dims[d]]);
  return Emit(operand, ElementIndex::Multi(std::move(multi)));
}

ScalarValue ElementEmitter::EmitReshape(const Instruction* i, const ElementIndex& index) {
  const Instruction* from = i->operand(0);
  return Emit(from, ReshapedIndex(b_, index, i->shape(), from->shape()));
}

ScalarValue ElementEmitter::EmitBitcast(const Instruction* i, const ElementIndex& index) {
  const Instruction* from = i->operand(0);
  const ElementIndex at = BitcastIndex(b_, index, i->shape(), from->shape());
  if (i->shape().type == from->shape().type) return Emit(from, at);
  return EmitBitcastConvert(b_, from->shape().type, i->shape().type, EmitRounded(from, at));
}

ScalarValue ElementEmitter::EmitTranspose(const Instruction* i, const ElementIndex& index) {
  const auto& perm = i->attr<DimensionsAttrs>().dimensions;
  const ElementIndex full = WithMulti(b_, index, i->shape());
  std::vector<llvm::Value*> multi(perm.size());
  for (size_t d = 0; d < perm.size(); ++d) multi[perm[d]] = full.multi[d];
  return Emit(i->operand(0), ElementIndex::Multi(std::move(multi)));
}

ScalarValue ElementEmitter::EmitReverse(const Instruction* i, const ElementIndex& index) {
  ElementIndex at = ElementIndex::Multi(WithMulti(b_, index, i->shape()).multi);
  for (int64_t d : i->attr<DimensionsAttrs>().dimensions)
    at.multi[d] = b_.CreateNSWSub(b_.Index(i->shape().dims[d] - 1), at.multi[d]);
  return Emit(i->operand(0), at);
}

ScalarValue ElementEmitter::EmitIota(const Instruction* i, const ElementIndex& index) {
  const int64_t d = i->attr<IotaAttrs>().iota_dimension;
  llvm::Value* at = i->shape().rank() == 1 && index.linear != nullptr
                        ? index.linear
                        : WithMulti(b_, index, i->shape()).multi[d];
  const ElementType type = TypeOf(i->shape());
  const int64_t size = i->shape().dims[d];
  if (size <= kExactFloats && IsNarrowFloat(type)) {
    llvm::Value* small = b_.CreateTrunc(at, b_.getInt32Ty());
    const ScalarValue whole = EmitConvert(b_, ElementType::kS32, ElementType::kF32, {small});
    return EmitConvert(b_, ElementType::kF32, type, whole);
  }
  // Small numbers convert faster and vectorise wider as i32.
  if (size <= INT32_MAX)
    return EmitConvert(b_, ElementType::kS32, type, {b_.CreateTrunc(at, b_.getInt32Ty())});
  return EmitConvert(b_, ElementType::kS64, type, {at});
}

ScalarValue ElementEmitter::EmitPad(const Instruction* i, const ElementIndex& index) {
  const Instruction* operand = i->operand(0);
  const ScalarValue padding = Emit(i->operand(1), ElementIndex::Multi({}));
  if (operand->shape().ElementCount() == 0) return padding;
  const PaddingConfig& config = i->attr<PadAttrs>().padding;
  const ElementIndex full = WithMulti(b_, index, i->shape());
  llvm::Value* inside = b_.getTrue();
  std::vector<llvm::Value*> multi;
  for (int64_t d = 0; d < operand->shape().rank(); ++d) {
    const PaddingDim& pad = config[d];
    const int64_t size = operand->shape().dims[d];
    if (pad.low == 0 && pad.high <= 0 && pad.interior == 0) {
      multi.push_back(full.multi[d]);
      continue;
    }
    llvm::Value* at = b_.CreateNSWSub(full.multi[d], b_.Index(pad.low));
    if (pad.interior > 0) {
      llvm::Value* step = b_.Index(pad.interior + 1);
      inside = b_.CreateAnd(inside, b_.CreateICmpEQ(b_.CreateSRem(at, step), b_.Index(0)));
      // A negative position is refused by the next test only if division keeps it negative.
      inside = b_.CreateAnd(inside, b_.CreateICmpSGE(at, b_.Index(0)));
      at = b_.CreateSDiv(at, step);
    }
    llvm::Value* valid = b_.CreateICmpULT(at, b_.Index(size));
    inside = b_.CreateAnd(inside, valid);
    multi.push_back(b_.CreateSelect(valid, at, b_.Index(0)));
  }
  return EmitSelect(b_, {inside}, Emit(operand, ElementIndex::Multi(std::move(multi))), padding);
}

ScalarValue ElementEmitter::EmitConcatenate(const Instruction* i, const ElementIndex& index) {
  const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
  ElementIndex full = ElementIndex::Multi(WithMulti(b_, index, i->shape()).multi);
  llvm::Value* at = full.multi[d];
  std::vector<std::pair<const Instruction*, int64_t>>
      parts;  // operand and its start, empty ones left out
  int64_t start = 0;
  for (const Instruction* operand : i->operands()) {
    if (operand->shape().dims[d] > 0) parts.push_back({operand, start});
    start += operand->shape().dims[d];
  }
  // Few parts are selected from, which vectorises; many are branched to, last part first.
  auto part_at = [&](size_t k) {
    llvm::Value* local = b_.CreateNSWSub(at, b_.Index(parts[k].second));
    if (parts.size() <= 4) {
      llvm::Value* last = b_.Index(parts[k].first->shape().dims[d] - 1);
      local = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, local, b_.Index(0));
      local = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, local, last);
    }
    ElementIndex inner = full;
    inner.multi[d] = local;
    return Emit(parts[k].first, inner);
  };
  if (parts.size() <= 4) {
    ScalarValue result = part_at(0);
    for (size_t k = 1; k < parts.size(); ++k)
      result =
          EmitSelect(b_, {b_.CreateICmpSGE(at, b_.Index(parts[k].second))}, part_at(k), result);
    return result;
  }
  const ElementType type = TypeOf(i->shape());
  const std::vector<ScalarValue> like = {ZeroElement(b_, type)};
  std::function<Values(size_t, size_t)> choose = [&](size_t first, size_t last) -> Values {
    if (first + 1 == last) return Flatten({part_at(first)});
    const size_t middle = (first + last) / 2;
    auto scoped = [&](size_t from, size_t to) {
      BeginScope();
      Values v = choose(from, to);
      EndScope();
      return v;
    };
    return EmitIfElse(
        b_, b_.CreateICmpSLT(at, b_.Index(parts[middle].second)),
        [&] { return scoped(first, middle); }, [&] { return scoped(middle, last); });
  };
  return Unflatten(choose(0, parts.size()), like)[0];
}

// Elements of other widths: several of the narrow ones, low part first, are the last dimension.
ScalarValue ElementEmitter::EmitBitcastConvertElement(const Instruction* i,
                                                      const ElementIndex& index) {
  const Instruction* operand = i->operand(0);
  const ElementType from_type = operand->shape().type, to_type = i->shape().type;
  const int from = BitsInArray(from_type), to = BitsInArray(to_type);
  if (from == to) return EmitBitcastConvert(b_, from_type, to_type, RoundedOperand(i, 0, index));
  const ElementType container = Container(to_type);
  llvm::Type* type = ComputeType(b_.getContext(), container);
  const auto bits_at = [&](const ElementIndex& at) {
    llvm::Value* bits =
        EmitBitcastConvert(b_, from_type, Container(from_type), EmitRounded(operand, at)).re;
    return IsSubByte(from_type) ? b_.CreateAnd(bits, (1u << from) - 1) : bits;
  };
  ElementIndex at = ElementIndex::Multi(WithMulti(b_, index, i->shape()).multi);
  if (from > to) {
    llvm::Value* part = at.multi.back();
    at.multi.pop_back();
    llvm::Value* bits = bits_at(at);
    llvm::Value* shift = b_.CreateMul(b_.CreateZExtOrTrunc(part, bits->getType()),
                                      llvm::ConstantInt::get(bits->getType(), to));
    llvm::Value* low = b_.CreateTrunc(b_.CreateLShr(bits, shift), type);
    return EmitBitcastConvert(b_, container, to_type, {low});
  }
  llvm::Value* joined = llvm::ConstantInt::get(type, 0);
  at.multi.push_back(nullptr);
  for (int k = 0; k < to / from; ++k) {
    at.multi.back() = b_.Index(k);
    joined = b_.CreateOr(
        joined, b_.CreateShl(b_.CreateZExt(bits_at(at), type), static_cast<uint64_t>(k * from)));
  }
  return EmitBitcastConvert(b_, container, to_type, {joined});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
