// What the host's processor can do, and a pool of target machines. Making a target machine parses
// the list of the processor's features; the pool passes on those that earlier compilations are done
// with, one to each thread.
#include <mutex>
#include <new>
#include <vector>

#include "backends/cpu/jit/host_target_internal.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "runtime/cpu_features.h"
#include "support/status.h"

namespace hlokit {
namespace {

// LLVM parses the list again and again, and every name costs a search with all that it implies.
std::string FeaturesBeyond(const llvm::Target& target, const std::string& triple,
                           const std::string& cpu) {
  const std::unique_ptr<llvm::MCSubtargetInfo> implied(
      target.createMCSubtargetInfo(triple, cpu, ""));
  const auto host = llvm::sys::getHostCPUFeatures();
  llvm::SubtargetFeatures features;
  for (const llvm::SubtargetFeatureKV& feature : implied->getAllProcessorFeatures()) {
    const auto found = host.find(feature.Key);
    if (found != host.end() && found->second != implied->getFeatureBits().test(feature.Value))
      features.AddFeature(feature.Key, found->second);
  }
  return features.getString();
}

absl::StatusOr<const llvm::Target*> FindTarget(const std::string& triple) {
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return Unimplemented("this machine's code: ", error);
  return target;
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const HostDescription& host,
                                                                 int opt_level) {
  ASSIGN_OR_RETURN(const llvm::Target* target, FindTarget(host.triple));
  const auto level = opt_level == 0   ? llvm::CodeGenOptLevel::None
                     : opt_level == 1 ? llvm::CodeGenOptLevel::Less
                                      : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(host.triple, host.cpu, host.features, llvm::TargetOptions(),
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  if (machine == nullptr) return Internal("LLVM gives no target machine for ", host.triple);
  return machine;
}

struct Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<llvm::TargetMachine>> free[4];  // by level of optimisation
};

Pool& Machines() {
  static Pool pool;
  return pool;
}

// The processor that HLOKIT_MAX_ISA makes of a better one; empty where it changes nothing.
std::string NarrowedCpu() {
#if defined(__x86_64__)
  const auto host = llvm::sys::getHostCPUFeatures();
  if (BestIsa() == Isa::kBase && host.lookup("avx2")) return "x86-64";
  if (BestIsa() == Isa::kAvx2 && host.lookup("avx512f")) return "x86-64-v3";
#endif
  return "";
}

// LLVM's own containers end the process where they get no memory, unless told otherwise: let them
// fail as those of the standard library do.
void ThrowWhereMemoryRunsOut() {
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
}

absl::StatusOr<HostDescription> Describe() {
  ThrowWhereMemoryRunsOut();
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  HostDescription host;
  host.triple = llvm::sys::getProcessTriple();
  ASSIGN_OR_RETURN(const llvm::Target* target, FindTarget(host.triple));
  host.cpu = NarrowedCpu();
  if (host.cpu.empty()) {
    host.cpu = llvm::sys::getHostCPUName().str();
    host.features = FeaturesBeyond(*target, host.triple, host.cpu);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(host, 2));
  host.data_layout = machine->createDataLayout().getStringRepresentation();
  Machines().free[2].push_back(std::move(machine));
  return host;
}

}  // namespace

const absl::StatusOr<HostDescription>& Host() {
  static const auto* host = new absl::StatusOr<HostDescription>(Describe());
  return *host;
}

void ReleaseMachine::operator()(llvm::TargetMachine* machine) const {
  Pool& pool = Machines();
  const std::lock_guard<std::mutex> lock(pool.mutex);
  pool.free[opt_level].emplace_back(machine);
}

absl::StatusOr<PooledMachine> AcquireMachine(int opt_level) {
  if (!Host().ok()) return Host().status();
  Pool& pool = Machines();
  {
    const std::lock_guard<std::mutex> lock(pool.mutex);
    if (auto& free = pool.free[opt_level]; !free.empty()) {
      PooledMachine machine(free.back().release(), {opt_level});
      free.pop_back();
      return machine;
    }
  }
  ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(*Host(), opt_level));
  return PooledMachine(machine.release(), {opt_level});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
