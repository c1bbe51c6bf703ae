// Memory and compute forms of elements.
#include "codegen/scalars/type.h"

#include <cstring>

#include "codegen/scalars/float_internal.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

llvm::Align ComponentAlignment(ElementType type) {
  return llvm::Align(IsComplex(type) ? ByteWidth(type) / 2 : ByteWidth(type));
}

llvm::Type* ComponentType(llvm::LLVMContext& context, ElementType type) {
  return MemoryType(context, RealComponent(type));
}

llvm::Value* ImaginaryAddress(llvm::IRBuilderBase& builder, ElementType type,
                              llvm::Value* address) {
  return builder.CreateConstInBoundsGEP1_32(ComponentType(builder.getContext(), type), address, 1);
}

// Leaves bool and sub-byte patterns within their byte, everything else as it is.
ScalarValue FromComponent(llvm::IRBuilderBase& builder, ElementType type, llvm::Value* value) {
  if (IsPred(type))
    return {builder.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()))};
  if (IsNarrowFloat(type))
    return {DecodeFloat(type, Val(builder, value)).get(), nullptr, value, type};
  return {value};
}

llvm::Value* ToComponent(llvm::IRBuilderBase& builder, ElementType type, const ScalarValue& value) {
  if (value.memory != nullptr && value.memory_type == type) return value.memory;
  Val val(builder, value.re);
  if (IsPred(type)) return ResizeUnsigned(val, 8).get();
  if (IsNarrowFloat(type)) return EncodeFloat(type, val).get();
  return value.re;
}

}  // namespace

llvm::Type* MemoryType(llvm::LLVMContext& context, ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return llvm::Type::getDoubleTy(context);
    case ElementType::kF32:
      return llvm::Type::getFloatTy(context);
    case ElementType::kF16:
      return llvm::Type::getHalfTy(context);
    case ElementType::kC64:
      return llvm::ArrayType::get(llvm::Type::getFloatTy(context), 2);
    case ElementType::kC128:
      return llvm::ArrayType::get(llvm::Type::getDoubleTy(context), 2);
    default:
      return llvm::Type::getIntNTy(context, 8 * ByteWidth(type));
  }
}

llvm::Type* ComputeType(llvm::LLVMContext& context, ElementType type) {
  if (IsPred(type)) return llvm::Type::getInt1Ty(context);
  if (IsNarrowFloat(type)) return llvm::Type::getFloatTy(context);
  return MemoryType(context, IsComplex(type) ? RealComponent(type) : type);
}

ScalarValue LoadElement(llvm::IRBuilderBase& builder, ElementType type, llvm::Value* address,
                        bool never_written) {
  llvm::Type* component = ComponentType(builder.getContext(), type);
  const auto load = [&](llvm::Value* from) {
    llvm::LoadInst* value = builder.CreateAlignedLoad(component, from, ComponentAlignment(type));
    if (never_written)
      value->setMetadata(llvm::LLVMContext::MD_invariant_load,
                         llvm::MDNode::get(builder.getContext(), {}));
    return value;
  };
  llvm::Value* re = load(address);
  if (!IsComplex(type)) return FromComponent(builder, type, re);
  return {re, load(ImaginaryAddress(builder, type, address))};
}

void StoreElement(llvm::IRBuilderBase& builder, ElementType type, const ScalarValue& value,
                  llvm::Value* address) {
  llvm::Align alignment = ComponentAlignment(type);
  builder.CreateAlignedStore(ToComponent(builder, type, value), address, alignment);
  if (value.im)
    builder.CreateAlignedStore(value.im, ImaginaryAddress(builder, type, address), alignment);
}

ScalarValue FromMemoryForm(llvm::IRBuilderBase& builder, ElementType type, llvm::Value* value) {
  if (!IsComplex(type)) return FromComponent(builder, type, value);
  return {builder.CreateExtractValue(value, 0), builder.CreateExtractValue(value, 1)};
}

llvm::Value* ToMemoryForm(llvm::IRBuilderBase& builder, ElementType type,
                          const ScalarValue& value) {
  if (!IsComplex(type)) return ToComponent(builder, type, value);
  llvm::Value* pair = llvm::PoisonValue::get(MemoryType(builder.getContext(), type));
  return builder.CreateInsertValue(builder.CreateInsertValue(pair, value.re, 0), value.im, 1);
}

ScalarValue ConstantElement(llvm::IRBuilderBase& builder, ElementType type, const void* bytes) {
  if (IsComplex(type)) {
    ElementType part = RealComponent(type);
    const char* start = static_cast<const char*>(bytes);
    return {ConstantElement(builder, part, start).re,
            ConstantElement(builder, part, start + ByteWidth(part)).re};
  }
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, ByteWidth(type));
  llvm::Constant* value = builder.getIntN(8 * ByteWidth(type), bits);
  value = llvm::ConstantExpr::getBitCast(value, MemoryType(builder.getContext(), type));
  return FromComponent(builder, type, value);
}

ScalarValue ZeroElement(llvm::IRBuilderBase& builder, ElementType type) {
  llvm::Value* zero = llvm::Constant::getNullValue(ComputeType(builder.getContext(), type));
  return {zero, IsComplex(type) ? zero : nullptr};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
