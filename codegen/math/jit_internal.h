// For tests: compiles an elementwise function into a loop over arrays, for the host, as the backend
// would.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "codegen/math/value.h"

namespace hlokit {

// void(const void* a, const void* b, void* out, int64 count), each array of elements of its own
// type.
using JittedLoop = void (*)(const void*, const void*, void*, int64_t);

struct JitResult {
  std::shared_ptr<void> owner;  // keeps the code alive
  JittedLoop loop = nullptr;
  std::string ir;  // after optimisation
  double compile_ms = 0;
};

// `body` emits one iteration: it gets the addresses of the elements a[i] and b[i] and the address
// of out[i].
using EmitBody =
    std::function<void(llvm::IRBuilderBase&, llvm::Value* a, llvm::Value* b, llvm::Value* out)>;
struct ElementTypes {
  llvm::Type* a;
  llvm::Type* b;
  llvm::Type* out;
};
JitResult JitLoop(const std::function<ElementTypes(llvm::LLVMContext&)>& types,
                  const EmitBody& body);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
