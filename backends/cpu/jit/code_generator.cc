// The list of code generation passes: LLVM's own list for the target, less those that the emitted
// loops do not profit from.
#include "backends/cpu/jit/code_generator_internal.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Transforms/Scalar.h"

namespace hlokit {
namespace {

// Passes that cost more time here than they save: the loops are short, the processors that we run
// on reorder instructions by themselves, and nothing in the code is to be debugged, patched,
// collected or sanitized.
const char* const kDropped[] = {
    &llvm::MachineSchedulerID,
    &llvm::PostRASchedulerID,
    &llvm::PostMachineSchedulerID,
    &llvm::EarlyIfConverterID,
    &llvm::ShrinkWrapID,
    &llvm::EarlyTailDuplicateID,
    &llvm::TailDuplicateID,
    &llvm::OptimizePHIsID,
    &llvm::StackColoringID,
    &llvm::StackSlotColoringID,
    &llvm::LocalStackSlotAllocationID,
    &llvm::DetectDeadLanesID,
    &llvm::PostRAMachineSinkingID,
    &llvm::MachineLICMID,
    &llvm::MachineLateInstrsCleanupID,
    &llvm::FEntryInserterID,
    &llvm::XRayInstrumentationID,
    &llvm::PatchableFunctionID,
    &llvm::FuncletLayoutID,
    &llvm::StackMapLivenessID,
    &llvm::FixupStatepointCallerSavedID,
    &llvm::LiveDebugValuesID,
    &llvm::RemoveRedundantDebugValuesID,
    &llvm::MachineSanitizerBinaryMetadataID,
    &llvm::GCMachineCodeAnalysisID,
    &llvm::StackFrameLayoutAnalysisPassID,
};

// For its name of a function that TargetPassConfig keeps to itself.
class OpenConfig : public llvm::TargetPassConfig {
 public:
  using llvm::TargetPassConfig::addCoreISelPasses;
};

// Of what LLVM does to IR before it selects instructions, what the emitted loops need. Reduction of
// strength alone takes a sixth of the time, and x86 computes addresses within its loads and stores.
// True where the target cannot, as addISelPasses.
bool AddSelection(llvm::LLVMTargetMachine& machine, llvm::TargetPassConfig& config,
                  llvm::legacy::PassManager& passes) {
  if (machine.getTargetTriple().getArch() != llvm::Triple::x86_64 ||
      machine.getOptLevel() < llvm::CodeGenOptLevel::Default)
    return config.addISelPasses();
  passes.add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(llvm::createUnreachableBlockEliminationPass());
  passes.add(llvm::createScalarizeMaskedMemIntrinLegacyPass());
  passes.add(llvm::createExpandReductionsPass());
  passes.add(llvm::createInterleavedAccessPass());
  config.addCodeGenPrepare();
  return (config.*&OpenConfig::addCoreISelPasses)();
}

}  // namespace

bool AddCodeGenerator(llvm::LLVMTargetMachine& machine, llvm::legacy::PassManager& passes,
                      llvm::raw_pwrite_stream& out, FunctionClock* clock) {
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  for (const char* id : kDropped) config->disablePass(id);
  passes.add(config);
  passes.add(info);
  if (AddSelection(machine, *config, passes)) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile,
                            info->getMMI().getContext()))
    return false;
  if (clock != nullptr) passes.add(CountGenerated(clock));
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
