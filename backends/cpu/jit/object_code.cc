// LLVM's pass pipelines, cut to what the emitted IR needs.
//
// The default O2 pipeline spends most of its time looking for things that the emitters never write
// (unrotated loops, promotable variables, dead arguments). Functions are of two kinds:
//   loops over elements    scalar promotion, common subexpressions, invariant code motion, our own
//                          passes (halves, lanes, indices), the loop vectorizer, cleaning up
//   the rest               one block, or loops written in vectors already: common subexpressions
// and
//                          instruction combining
// Inlining runs only where something could be inlined. What decides bits (which sums are fused) is
// in codegen/llvm_passes and runs at every level, so that the level changes time and never results.
#include "backends/cpu/jit/object_code_internal.h"

#include "backends/cpu/jit/code_generator_internal.h"
#include "backends/cpu/jit/host_target_internal.h"
#include "backends/cpu/jit/object_cache_internal.h"
#include "backends/cpu/llvm_passes/fuse_products_internal.h"
#include "backends/cpu/llvm_passes/limit_lanes_internal.h"
#include "backends/cpu/llvm_passes/quick_selection_internal.h"
#include "backends/cpu/llvm_passes/scalar_loops_internal.h"
#include "backends/cpu/llvm_passes/widen_halves_internal.h"
#include "codegen/ir_file.h"
#include "codegen/llvm_passes/rounding.h"
#include "codegen/llvm_passes/wrapping_indices.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
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
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "support/clock.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

// True if a function of the module calls another that may be inlined.
bool HasCallsToInline(const llvm::Module& module) {
  for (const llvm::Function& f : module)
    if (!f.isDeclaration() && f.hasLocalLinkage() && !f.hasFnAttribute(llvm::Attribute::NoInline))
      return true;
  return false;
}

// Runs a pipeline on functions with loops to work on, another on the rest: those that are one
// block, and those whose loops are written in vectors.
class WhereLoops : public llvm::PassInfoMixin<WhereLoops> {
 public:
  WhereLoops(llvm::FunctionPassManager loops, llvm::FunctionPassManager rest)
      : loops_(std::move(loops)), rest_(std::move(rest)) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    if (function.hasOptNone()) return llvm::PreservedAnalyses::all();
    const bool rest = function.size() == 1 || function.hasFnAttribute(kInVectors);
    return (rest ? rest_ : loops_).run(function, analyses);
  }
  static bool isRequired() { return true; }

 private:
  llvm::FunctionPassManager loops_, rest_;
};

// Whether the loop does more with indices than count and find addresses: comparisons beside the one
// that ends it, divisions, conversions. Those of loops inside are theirs.
bool TestsIndices(const llvm::Loop& loop, const llvm::LoopInfo& loops) {
  const auto is_index = [](const llvm::Value& value) { return value.getType()->isIntegerTy(64); };
  int comparisons = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    if (loops.getLoopFor(block) != &loop) continue;
    for (const llvm::Instruction& i : *block) {
      if (llvm::isa<llvm::ICmpInst>(i) && is_index(*i.getOperand(0))) ++comparisons;
      if (llvm::isa<llvm::CastInst>(i) && (is_index(i) != is_index(*i.getOperand(0)))) return true;
      const unsigned opcode = i.getOpcode();
      if (is_index(i) && (opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem))
        return true;
    }
  }
  return comparisons > 1;
}

// The end of a loop that counts up to a bound by ones, and that begins below it, asked for by != in
// place of <: an instruction less where flags of the addition do.
void EndByEquality(const llvm::Loop& loop, llvm::ScalarEvolution& values) {
  const llvm::BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
  if (before == nullptr || latch == nullptr) return;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  if (branch == nullptr || !branch->isConditional()) return;
  auto* end = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (end == nullptr || !end->hasOneUse() || end->getPredicate() != llvm::ICmpInst::ICMP_SLT ||
      branch->getSuccessor(0) != loop.getHeader() || !loop.isLoopInvariant(end->getOperand(1)))
    return;
  const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(end->getOperand(0));
  if (next == nullptr || next->getOpcode() != llvm::Instruction::Add) return;
  const auto* index = llvm::dyn_cast<llvm::PHINode>(next->getOperand(0));
  const auto* step = llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1));
  if (index == nullptr || step == nullptr || !step->isOne() ||
      index->getParent() != loop.getHeader() || index->getIncomingValueForBlock(latch) != next)
    return;
  const llvm::SCEV* first = values.getSCEV(index->getIncomingValueForBlock(before));
  const llvm::SCEV* bound = values.getSCEV(end->getOperand(1));
  if (values.isLoopEntryGuardedByCond(&loop, llvm::ICmpInst::ICMP_SLT, first, bound))
    end->setPredicate(llvm::ICmpInst::ICMP_NE);
}

// Simplifies indices where there is something to be gained: a tenth of LLVM's time where it runs on
// every loop.
class WhereIndicesAreTested : public llvm::PassInfoMixin<WhereIndicesAreTested> {
 public:
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& results,
                              llvm::LPMUpdater& updater) {
    if (!TestsIndices(loop, results.LI)) {
      EndByEquality(loop, results.SE);
      return llvm::PreservedAnalyses::all();
    }
    return llvm::IndVarSimplifyPass().run(loop, analyses, results, updater);
  }
};

// For code without loops: common subexpressions, then instruction combining.
llvm::FunctionPassManager PlainPipeline() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(false));
  passes.addPass(llvm::InstCombinePass());
  return passes;
}

// What the emitted IR needs of LLVM's O2, in order: it comes in rotated loops, without allocas to
// promote in most kernels, so that most of the default pipeline would find nothing to do.
llvm::FunctionPassManager LoopPipeline() {
  llvm::FunctionPassManager early;
  early.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  early.addPass(llvm::EarlyCSEPass(true));
  early.addPass(llvm::SimplifyCFGPass());
  early.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  loops.addPass(WhereIndicesAreTested());
  loops.addPass(llvm::LoopDeletionPass());
  early.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  early.addPass(llvm::LoopUnrollPass(
      llvm::LoopUnrollOptions(2, true, false).setPartial(false).setRuntime(false)));
  early.addPass(llvm::EarlyCSEPass(true));
  early.addPass(WidenHalvesPass());
  early.addPass(LimitLanesPass());
  early.addPass(WrappingIndicesPass());
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
  return early;
}

llvm::ModulePassManager KernelPipeline(bool inlines, FunctionClock* clock) {
  llvm::ModulePassManager module;
  if (inlines) module.addPass(llvm::ModuleInlinerWrapperPass(llvm::getInlineParams(250)));
  llvm::FunctionPassManager passes;
  passes.addPass(WhereLoops(LoopPipeline(), PlainPipeline()));
  if (clock != nullptr) passes.addPass(CountOptimized(clock));
  module.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  return module;
}

llvm::PipelineTuningOptions Tuning(int opt_level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = opt_level >= 2;
  tuning.SLPVectorization = false;
  // Elementwise loops gain nothing from copies of their body, and compiling them takes most of the
  // time; loops that carry sums ask for interleaving themselves (codegen/loops.cc).
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  tuning.MergeFunctions = false;
  return tuning;
}

bool HasScalarFma(const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().isX86() && machine.getMCSubtargetInfo()->checkFeatures("+fma");
}

bool HasFusedSums(const llvm::TargetMachine& machine) {
  return HasScalarFma(machine) || machine.getTargetTriple().isAArch64();
}

// Whatever bits depend on, the same at every level: LLVM is then left no choice.
llvm::ModulePassManager SettlingPipeline(const llvm::Module& module,
                                         const llvm::TargetMachine& machine, int opt_level,
                                         FunctionClock* clock) {
  const bool fuses = HasFusedSums(machine);
  llvm::ModulePassManager all;
  // Equal kernels (layers of one network) are optimised once, but not where they carry notes of
  // arrays of their own.
  if (!WantsNotes(module)) all.addPass(llvm::MergeFunctionsPass());
  using Which = FuseSumsPass::Which;
  if (fuses) all.addPass(llvm::createModuleToFunctionPassAdaptor(FuseSumsPass(Which::kOrdered)));
  if (opt_level == 2 || LeavesBitsOpen(module))
    all.addPass(KernelPipeline(HasCallsToInline(module), clock));
  if (fuses) all.addPass(llvm::createModuleToFunctionPassAdaptor(FuseSumsPass(Which::kAll)));
  all.addPass(llvm::createModuleToFunctionPassAdaptor(SettleBitsPass()));
  return all;
}

// Keeps remarks off standard error: LLVM says there why it did not vectorize a loop for which
// LimitLanesPass names a width.
class ErrorsOnly : public llvm::DiagnosticHandler {
 public:
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    return info.getSeverity() != llvm::DS_Error;
  }
};

void Optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level,
              FunctionClock* clock = nullptr,
              llvm::PassInstrumentationCallbacks* callbacks = nullptr) {
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorsOnly>());
  llvm::PassBuilder builder(&machine, Tuning(opt_level), std::nullopt, callbacks);
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(WrappingIndicesPass());
      });
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
  if (opt_level == 2) MarkGlue(module);
  llvm::ModulePassManager all = SettlingPipeline(module, machine, opt_level, clock);
  if (opt_level == 0) all.addPass(builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0));
  if (opt_level == 1)
    all.addPass(builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1));
  if (opt_level == 3)
    all.addPass(builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
  all.addPass(llvm::createModuleToFunctionPassAdaptor(WidenHalvesPass()));
  if (opt_level >= 2 && HasScalarFma(machine))
    all.addPass(llvm::createModuleToFunctionPassAdaptor(FuseProductsPass()));
  if (opt_level >= 2) {
    all.addPass(llvm::createModuleToFunctionPassAdaptor(ScalarLoopsPass(machine)));
    all.addPass(llvm::createModuleToFunctionPassAdaptor(HideConstantsPass()));
  }
  all.run(module, modules);
}

// STEM.s, of a copy: generating code changes the module.
absl::Status DumpAssembly(const llvm::Module& module, llvm::TargetMachine& machine,
                          const std::string& stem) {
  if (stem.empty()) return absl::OkStatus();
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  ObjectBytes text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Internal("LLVM emits no assembly here");
  passes.run(*copy);
  return AtomicWriteFile(stem + ".s", absl::string_view(text.data(), text.size()));
}

absl::StatusOr<ObjectBytes> Generate(llvm::Module& module, llvm::TargetMachine& machine,
                                     FunctionClock* clock = nullptr) {
  ObjectBytes bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (!AddCodeGenerator(static_cast<llvm::LLVMTargetMachine&>(machine), passes, out, clock))
    return Internal("LLVM emits no objects here");
  passes.run(module);
  return bytes;
}

absl::Status Dump(const llvm::Module& module, const std::string& stem, const char* suffix) {
  return stem.empty() ? absl::OkStatus() : WriteIr(module, stem + suffix);
}

}  // namespace

absl::StatusOr<ObjectBytes> CompileForMachine(llvm::Module& module, llvm::TargetMachine& machine,
                                              int opt_level) {
  Optimize(module, machine, opt_level);
  return Generate(module, machine);
}

void TryCompiler(llvm::Module& module, llvm::TargetMachine& machine,
                 const std::function<bool()>& wanted) {
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef, const llvm::Any&) { return wanted(); });
  Optimize(module, machine, 2, nullptr, &callbacks);
  if (wanted()) Generate(module, machine).status().IgnoreError();
}

absl::StatusOr<CompiledObject> CompileObject(EmittedModule::Part& part, const JitOptions& options,
                                             size_t number, CompileProgress* progress) {
  const std::string stem =
      options.dump_to.empty() ? "" : absl::StrCat(options.dump_to, "/part", number);
  llvm::Module& module = *part.module;
  RETURN_IF_ERROR(Dump(module, stem, ".ir-no-opt.ll"));
  // Dumps show the way of the code, so it has to be gone.
  const ObjectCache cache(stem.empty() ? options.cache_dir : "");
  const std::string path = cache.enabled() ? cache.PathOf(module, options.opt_level) : "";
  CompiledObject object;
  if (cache.enabled()) object.code = cache.Load(path);
  object.cached = object.code != nullptr;
  if (object.cached) return object;
  ASSIGN_OR_RETURN(const PooledMachine machine, AcquireMachine(options.opt_level));
  const double start = SteadySeconds();
  FunctionClock clock(progress);
  Optimize(module, *machine, options.opt_level, &clock);
  if (options.after_passes) options.after_passes(module);
  RETURN_IF_ERROR(Dump(module, stem, ".ir-with-opt.ll"));
  object.optimize_s = SteadySeconds() - start;
  RETURN_IF_ERROR(DumpAssembly(module, *machine, stem));
  clock.Start();
  ASSIGN_OR_RETURN(ObjectBytes bytes, Generate(module, *machine, &clock));
  object.slowest = clock.Longest(kSlowestFunctions);
  object.generate_s = SteadySeconds() - start - object.optimize_s;
  if (!stem.empty())
    RETURN_IF_ERROR(AtomicWriteFile(stem + ".o", absl::string_view(bytes.data(), bytes.size())));
  if (cache.enabled()) object.kept = cache.Store(path, {bytes.data(), bytes.size()});
  part.module.reset();
  object.code = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), false);
  return object;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
