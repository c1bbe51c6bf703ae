// How one element of each HLO type lives in memory and in registers of generated code.
//
//   type                 in memory            while computing (the compute form)
//   pred                 i8, 0 or 1           i1
//   integers             iN                   iN; sub-byte types an i8, sign- or zero-extended
//   f32, f64             float, double        the same
//   f16                  half                 float that holds an already rounded value
//   bf16, f8*, f4*       i16, i8              float that holds an already rounded value
//   c64, c128            two floats, doubles  two values
// Every function works alike on scalars and on LLVM vectors of compute forms, except loads and
// stores.
#pragma once

#include "codegen/llvm.h"
#include "types/element_type.h"

namespace hlokit {

// One element in compute form; `im` only for complex types. A null `re` means that there is no code
// for the request. What was loaded or chosen as a narrow float keeps its memory form, so that
// moving it computes nothing.
struct ScalarValue {
  llvm::Value* re = nullptr;
  llvm::Value* im = nullptr;
  llvm::Value* memory = nullptr;  // of a value of memory_type
  ElementType memory_type = ElementType::kInvalid;
  explicit operator bool() const { return re != nullptr; }
};

llvm::Type* MemoryType(llvm::LLVMContext& context, ElementType type);
// The type of ScalarValue::re (and im).
llvm::Type* ComputeType(llvm::LLVMContext& context, ElementType type);

// The element at `address`, which is aligned to its own width.
ScalarValue LoadElement(llvm::IRBuilderBase& builder, ElementType type, llvm::Value* address,
                        bool never_written = false);
void StoreElement(llvm::IRBuilderBase& builder, ElementType type, const ScalarValue& value,
                  llvm::Value* address);

// Between the memory form (one value of MemoryType, or for complex two) and the compute form.
ScalarValue FromMemoryForm(llvm::IRBuilderBase& builder, ElementType type, llvm::Value* value);
llvm::Value* ToMemoryForm(llvm::IRBuilderBase& builder, ElementType type, const ScalarValue& value);

// The element whose bytes, as a Literal keeps them, stand at `bytes`: constants that LLVM folds.
ScalarValue ConstantElement(llvm::IRBuilderBase& builder, ElementType type, const void* bytes);
// Zero of any array type (f8e8m0fnu has none: its compute form is zero all the same).
ScalarValue ZeroElement(llvm::IRBuilderBase& builder, ElementType type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
