// ORC and LLVM's pipelines. The only file that includes them: its headers are slow to compile.
#include "backends/cpu/jit.h"

#include <mutex>
#include <thread>

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"
#include "llvm/Transforms/IPO/ModuleInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "runtime/kernels.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::Status FromLlvm(llvm::Error error, absl::string_view what) {
  return Internal(what, ": ", llvm::toString(std::move(error)));
}

void InitializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::string HostFeatures() {
  llvm::SubtargetFeatures features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.first(), feature.second);
  return features.getString();
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(int opt_level) {
  InitializeOnce();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return Unimplemented("this machine's code: ", error);
  llvm::TargetOptions options;
  const auto level = opt_level == 0   ? llvm::CodeGenOptLevel::None
                     : opt_level == 1 ? llvm::CodeGenOptLevel::Less
                                      : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, llvm::sys::getHostCPUName(), HostFeatures(), options,
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  if (machine == nullptr) return Internal("LLVM gives no target machine for ", triple);
  return machine;
}

// What the emitted IR needs of LLVM's O2, in order: it comes in rotated loops, without allocas to
// promote in most kernels, so that most of the default pipeline would find nothing to do.
llvm::ModulePassManager KernelPipeline() {
  llvm::ModulePassManager module;
  module.addPass(llvm::ModuleInlinerWrapperPass(llvm::getInlineParams(250)));
  llvm::FunctionPassManager early;
  early.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  early.addPass(llvm::EarlyCSEPass(true));
  early.addPass(llvm::SimplifyCFGPass());
  early.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  loops.addPass(llvm::IndVarSimplifyPass());
  loops.addPass(llvm::LoopDeletionPass());
  early.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  early.addPass(llvm::LoopUnrollPass(
      llvm::LoopUnrollOptions(2, true, false).setPartial(false).setRuntime(false)));
  early.addPass(llvm::EarlyCSEPass(true));
  early.addPass(llvm::LoopVectorizePass(llvm::LoopVectorizeOptions(true, false)));
  early.addPass(llvm::InstCombinePass());
  early.addPass(llvm::EarlyCSEPass(true));
  early.addPass(llvm::LoopUnrollPass(
      llvm::LoopUnrollOptions(2, true, false).setPartial(false).setRuntime(false)));
  early.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager late;
  late.addPass(llvm::LICMPass(llvm::LICMOptions()));
  early.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(late), true));
  early.addPass(llvm::DSEPass());
  module.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(early)));
  return module;
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = opt_level >= 2;
  tuning.SLPVectorization = false;
  // Elementwise loops gain nothing from copies of their body, and compiling them takes most of the
  // time; loops that carry sums ask for interleaving themselves (codegen/loops.cc).
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  tuning.MergeFunctions = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  const auto level = opt_level == 0   ? llvm::OptimizationLevel::O0
                     : opt_level == 1 ? llvm::OptimizationLevel::O1
                     : opt_level == 2 ? llvm::OptimizationLevel::O2
                                      : llvm::OptimizationLevel::O3;
  llvm::ModulePassManager pipeline = opt_level == 0 ? builder.buildO0DefaultPipeline(level)
                                     : opt_level == 2
                                         ? KernelPipeline()
                                         : builder.buildPerModuleDefaultPipeline(level);
  // Equal kernels (layers of one network) are optimised once.
  llvm::ModulePassManager all;
  all.addPass(llvm::MergeFunctionsPass());
  all.addPass(std::move(pipeline));
  all.run(module, modules);
}

absl::Status Dump(const llvm::Module& module, const std::string& path) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return AtomicWriteFile(path, text);
}

struct Object {
  absl::Status status;
  std::unique_ptr<llvm::MemoryBuffer> code;
};

Object CompilePart(EmittedModule::Part& part, int opt_level, const std::string& dump_to,
                   size_t number) {
  auto machine = MakeMachine(opt_level);
  if (!machine.ok()) return {machine.status(), nullptr};
  llvm::Module& module = *part.module;
  const std::string stem = absl::StrCat(dump_to, "/part", number);
  if (!dump_to.empty())
    if (absl::Status s = Dump(module, stem + ".ir-no-opt.ll"); !s.ok()) return {s, nullptr};
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", (*machine)->getTargetCPU());
    f.addFnAttr("target-features", (*machine)->getTargetFeatureString());
  }
  Optimize(module, **machine, opt_level);
  if (!dump_to.empty())
    if (absl::Status s = Dump(module, stem + ".ir-with-opt.ll"); !s.ok()) return {s, nullptr};
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* mc = nullptr;
  if ((*machine)->addPassesToEmitMC(passes, mc, out, true))
    return {Internal("LLVM emits no objects here"), nullptr};
  passes.run(module);
  if (!dump_to.empty())
    if (absl::Status s =
            AtomicWriteFile(stem + ".o", absl::string_view(bytes.data(), bytes.size()));
        !s.ok())
      return {s, nullptr};
  part.module.reset();
  return {absl::OkStatus(),
          std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), false)};
}

class OrcCode final : public JitCode {
 public:
  OrcCode(std::unique_ptr<llvm::orc::LLJIT> jit, Entry entry, int64_t bytes)
      : jit_(std::move(jit)), entry_(entry), bytes_(bytes) {}
  Entry entry() const override { return entry_; }
  int64_t code_bytes() const override { return bytes_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  Entry entry_;
  int64_t bytes_;
};

llvm::orc::SymbolMap RuntimeSymbols(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
#define HLOKIT_KERNEL(name)                                             \
  symbols[jit.mangleAndIntern(#name)] = {                               \
      llvm::orc::ExecutorAddr::fromPtr(reinterpret_cast<void*>(&name)), \
      llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
#include "runtime/kernels.def"
#undef HLOKIT_KERNEL
  return symbols;
}

}  // namespace

absl::StatusOr<HostTarget> FindHostTarget() {
  ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(0));
  return HostTarget{machine->getTargetTriple().str(),
                    machine->createDataLayout().getStringRepresentation()};
}

absl::StatusOr<std::unique_ptr<JitCode>> CompileToJit(EmittedModule emitted, int opt_level,
                                                      const std::string& dump_to) {
  InitializeOnce();
  std::vector<Object> objects(emitted.parts.size());
  std::vector<std::thread> threads;
  for (size_t p = 1; p < objects.size(); ++p)
    threads.emplace_back(
        [&, p] { objects[p] = CompilePart(emitted.parts[p], opt_level, dump_to, p); });
  objects[0] = CompilePart(emitted.parts[0], opt_level, dump_to, 0);
  for (std::thread& t : threads) t.join();

  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return FromLlvm(jit.takeError(), "JIT");
  llvm::orc::JITDylib& library = (*jit)->getMainJITDylib();
  auto generator = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator) return FromLlvm(generator.takeError(), "JIT");
  if (auto error = library.define(llvm::orc::absoluteSymbols(RuntimeSymbols(**jit))))
    return FromLlvm(std::move(error), "JIT");
  library.addGenerator(std::move(*generator));
  int64_t bytes = 0;
  for (Object& object : objects) {
    RETURN_IF_ERROR(object.status);
    bytes += static_cast<int64_t>(object.code->getBufferSize());
    if (auto error = (*jit)->addObjectFile(std::move(object.code)))
      return FromLlvm(std::move(error), "JIT");
  }
  auto entry = (*jit)->lookup(kEntrySymbol);
  if (!entry) return FromLlvm(entry.takeError(), "linking");
  const auto function = entry->toPtr<JitCode::Entry>();
  return std::make_unique<OrcCode>(std::move(*jit), function, bytes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
