// The passes: products and sums become fused multiply-adds and floats are settled (as on a CPU that
// has fused multiply-adds, so that both have the same bits), remainders become calls of a loop
// (NVPTX would divide, which rounds), then LLVM's own pipeline, then what PTX has an instruction
// for and LLVM does not know of (hardware_forms.cc). Loops are not vectorized: threads are the
// vectors here.
#include "backends/cuda/ptx_code.h"

#include "absl/strings/str_cat.h"
#include "backends/cuda/float_remainder_internal.h"
#include "backends/cuda/hardware_forms_internal.h"
#include "backends/cuda/neighbour_addresses_internal.h"
#include "codegen/ir_file.h"
#include "codegen/llvm_passes/rounding.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";

// Collects errors that LLVM would print, or end the process for.
class Collector : public llvm::DiagnosticHandler {
 public:
  explicit Collector(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream out(errors_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    return true;
  }

 private:
  std::string& errors_;
};

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const GpuArch& arch,
                                                                 int opt_level) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string error;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) return Internal("LLVM has no NVPTX target: ", error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const auto level = llvm::CodeGenOpt::getLevel(opt_level);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, AsStd(arch.processor), AsStd(arch.features), options, llvm::Reloc::PIC_,
      std::nullopt, level.value_or(llvm::CodeGenOptLevel::Default)));
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine, int arch, int opt_level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
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
  llvm::ModulePassManager all;
  // First: alignments of parameters are not seen through conversions of their pointers.
  all.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::InferAddressSpacesPass()));
  all.addPass(llvm::createModuleToFunctionPassAdaptor(FuseSumsPass(FuseSumsPass::Which::kAll)));
  all.addPass(llvm::createModuleToFunctionPassAdaptor(SettleBitsPass()));
  all.addPass(llvm::createModuleToFunctionPassAdaptor(BrainRoundingPass(arch)));
  if (opt_level > 0) {  // after what settles bits, which looks at who uses a product
    all.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::EarlyCSEPass()));
    all.addPass(llvm::createModuleToFunctionPassAdaptor(NeighbourAddressesPass()));
  }
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1, llvm::OptimizationLevel::O2,
      llvm::OptimizationLevel::O3};
  all.addPass(opt_level == 0 ? builder.buildO0DefaultPipeline(levels[0])
                             : builder.buildPerModuleDefaultPipeline(levels[opt_level]));
  if (opt_level > 0) all.addPass(llvm::createModuleToFunctionPassAdaptor(HardwareFormsPass(arch)));
  all.run(module, modules);
}

absl::Status Dump(absl::string_view folder, absl::string_view name, const llvm::Module& module) {
  return folder.empty() ? absl::OkStatus() : WriteIr(module, absl::StrCat(folder, "/", name));
}

}  // namespace

void SetPtxTarget(llvm::Module& module) {
  module.setTargetTriple(kTriple);
  module.setDataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64");
}

absl::StatusOr<std::string> CompileToPtx(llvm::Module& module, const GpuArch& arch, int opt_level,
                                         absl::string_view dump_to) {
  const int level = std::min(std::max(opt_level, 0), 3);
  ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(arch, level));
  module.setDataLayout(machine->createDataLayout());
  std::string errors;
  module.getContext().setDiagnosticHandler(std::make_unique<Collector>(errors));
  RETURN_IF_ERROR(Dump(dump_to, "module.ir-no-opt.ll", module));
  ReplaceRemainders(module);
  Optimize(module, *machine, arch.number, level);
  RETURN_IF_ERROR(Dump(dump_to, "module.ir-with-opt.ll", module));
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Internal("LLVM emits no PTX");
  passes.run(module);
  if (!errors.empty()) return Internal("LLVM refuses a kernel: ", errors);
  std::string ptx(text.data(), text.size());
  if (!dump_to.empty()) RETURN_IF_ERROR(AtomicWriteFile(absl::StrCat(dump_to, "/module.ptx"), ptx));
  return ptx;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
