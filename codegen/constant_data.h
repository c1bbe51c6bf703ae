// Data that compiled code carries along: numbers, texts and structs in memory that is only read.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "codegen/llvm.h"

namespace hlokit {

class ConstantData {
 public:
  explicit ConstantData(llvm::Module& module)
      : module_(module),
        pointer_(llvm::PointerType::get(module.getContext(), 0)),
        int64_(llvm::Type::getInt64Ty(module.getContext())) {}

  llvm::Constant* Int(int64_t value) const { return llvm::ConstantInt::get(int64_, value); }
  llvm::Constant* Null() const { return llvm::ConstantPointerNull::get(pointer_); }
  // An array of int64_t; null where it is empty.
  llvm::Constant* Ints(absl::Span<const int64_t> values);
  // Bytes; `zero` adds one at the end.
  llvm::GlobalVariable* Bytes(absl::string_view bytes, bool zero, int64_t alignment);
  llvm::Constant* String(absl::string_view text) { return Bytes(text, true, 1); }
  llvm::Constant* Struct(llvm::ArrayRef<llvm::Constant*> fields);
  // An array of structs of one type; null where it is empty.
  llvm::Constant* Structs(llvm::ArrayRef<llvm::Constant*> rows);
  // A place for the value: a name is for other objects to see.
  llvm::GlobalVariable* Global(llvm::Constant* value, int64_t alignment,
                               const std::string& name = "");

 private:
  llvm::Module& module_;
  llvm::PointerType* pointer_;
  llvm::IntegerType* int64_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
