// The compiler behind math_jit_internal.h: O3 for the host, then ORC.
#include "codegen/math/jit_internal.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace hlokit {
namespace {

template <typename T>
T Must(llvm::Expected<T> value) {
  if (value) return std::move(*value);
  std::fprintf(stderr, "jit: %s\n", llvm::toString(value.takeError()).c_str());
  std::abort();
}

void EmitLoop(llvm::Module& module, const ElementTypes& types, const EmitBody& body) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type* pointer = builder.getPtrTy();
  auto* type = llvm::FunctionType::get(builder.getVoidTy(),
                                       {pointer, pointer, pointer, builder.getInt64Ty()}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "loop", module);
  for (int i : {0, 1, 2}) function->addParamAttr(i, llvm::Attribute::NoAlias);
  function->addFnAttr("prefer-vector-width", "512");
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* loop = llvm::BasicBlock::Create(context, "body", function);
  auto* exit = llvm::BasicBlock::Create(context, "exit", function);
  builder.SetInsertPoint(entry);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  auto* index = builder.CreatePHI(builder.getInt64Ty(), 2);
  index->addIncoming(builder.getInt64(0), entry);
  llvm::Value* at[3];
  llvm::Type* element[3] = {types.a, types.b, types.out};
  for (int i : {0, 1, 2}) at[i] = builder.CreateInBoundsGEP(element[i], function->getArg(i), index);
  body(builder, at[0], at[1], at[2]);
  llvm::Value* next = builder.CreateNUWAdd(index, builder.getInt64(1));
  index->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpULT(next, function->getArg(3)), loop, exit);
  builder.SetInsertPoint(exit);
  builder.CreateRetVoid();
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  // One vector a step: the same arithmetic in less code, which compiles sooner.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = tuning.LoopUnrolling = false;
  llvm::PassBuilder passes(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(sccs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, sccs, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

}  // namespace

JitResult JitLoop(const std::function<ElementTypes(llvm::LLVMContext&)>& types,
                  const EmitBody& body) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("math", *context);
  auto target = Must(llvm::orc::JITTargetMachineBuilder::detectHost());
  target.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  target.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto machine = Must(target.createTargetMachine());
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple().str());
  EmitLoop(*module, types(*context), body);
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
  }
  if (llvm::verifyModule(*module, &llvm::errs())) std::abort();

  JitResult result;
  auto start = std::chrono::steady_clock::now();
  Optimize(*module, *machine);
  llvm::raw_string_ostream(result.ir) << *module;
  auto jit = Must(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
  llvm::cantFail(
      jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  result.loop = Must(jit->lookup("loop")).toPtr<JittedLoop>();
  result.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  result.owner = std::shared_ptr<void>(jit.release(),
                                       [](void* p) { delete static_cast<llvm::orc::LLJIT*>(p); });
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
