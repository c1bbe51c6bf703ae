// A module of one part and one function, compiled as every module is.
#include "backends/cpu/jit/compile_function_internal.h"
#include "support/status.h"

namespace hlokit {

absl::StatusOr<std::unique_ptr<JitCode>> CompileFunction(
    const char* name, absl::FunctionRef<void(llvm::Function&)> emit) {
  ASSIGN_OR_RETURN(const HostTarget target, FindHostTarget());
  EmittedModule module;
  EmittedModule::Part& part = module.parts.emplace_back();
  part.context = std::make_unique<llvm::LLVMContext>();
  part.module = std::make_unique<llvm::Module>(name, *part.context);
  part.module->setTargetTriple(target.triple);
  part.module->setDataLayout(target.data_layout);
  llvm::Type* pointer = llvm::PointerType::get(*part.context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(*part.context),
                                       {pointer, pointer, pointer}, false);
  emit(*llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntrySymbol,
                               *part.module));
  JitStats stats;
  return CompileToJit(std::move(module), JitOptions(), stats);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
