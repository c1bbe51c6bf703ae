// Compilation for the CPU: passes, legalization, buffers, code.
//
// A scheduled module, or one after --no-passes, goes straight to legalization. Dynamic sizes become
// masks inside the module (dynamic_padder) and arguments and results of their own at its borders.
// docs/architecture.md follows one module through all steps.
#include "backends/cpu/cpu_backend.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "analysis/buffer_assignment.h"
#include "analysis/buffer_check.h"
#include "backends/cpu/executable/cpu_executable.h"
#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/jit/warm_up.h"
#include "backends/cpu/sanitizer/sanitize_code_internal.h"
#include "ops/infer/dynamic_dimensions.h"
#include "passes/layouts/boundary_layouts.h"
#include "passes/manager.h"
#include "passes/pipelines.h"
#include "support/clock.h"
#include "support/diagnostics.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::Status RunChosenPasses(Module& module, const CompileOptions& options) {
  PassOptions pass_options;
  pass_options.verify_each = options.verify_each;
  // A scheduled module has been through a compiler's passes already.
  if (options.which_passes != CompileOptions::Passes::kListed && module.header().is_scheduled)
    return absl::OkStatus();
  if (options.which_passes != CompileOptions::Passes::kPipeline && !module.header().is_scheduled)
    RETURN_IF_ERROR(RunPasses(module, kRoundedReductionPasses));
  if (options.which_passes == CompileOptions::Passes::kNone) return absl::OkStatus();
  if (options.which_passes == CompileOptions::Passes::kListed)
    return RunPasses(module, options.passes, pass_options);
  ASSIGN_OR_RETURN(const absl::string_view spec, PipelineSpec("cpu"));
  return RunPasses(module, spec, pass_options);
}

// The first instruction of dynamic shape; null where there is none.
const Instruction* FindDynamic(const Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->shape().HasDynamicDims()) return i;
  return nullptr;
}

// Sizes that only the run knows have no native code: inside a module masks stand for them, where
// dynamic_padder can put these; at its borders they are arguments and results of their own, or
// (where `entry` is null) refused.
absl::Status RemoveDynamic(Module& module, DynamicEntry* entry) {
  DeclareDynamicDimensions(module);
  if (FindDynamic(module) == nullptr) return absl::OkStatus();
  if (entry != nullptr) {
    ASSIGN_OR_RETURN(*entry, TakeDynamicEntry(module));
  } else {
    RETURN_IF_ERROR(ExposeDynamic(module));
    RETURN_IF_ERROR(RunPasses(module, kMaskDynamicSizesPasses));
  }
  const Instruction* i = FindDynamic(module);
  if (i == nullptr) return absl::OkStatus();
  return WithPlace(Unimplemented("dynamic dimensions have no code on the CPU (%", i->name(), ": ",
                                 Text(i->shape()), "); --platform=interpreter runs them"),
                   i->place());
}

absl::StatusOr<EmitOptions> EmitOptionsFor(const CompileOptions& options) {
  EmitOptions emit;
  ASSIGN_OR_RETURN(const HostTarget target, FindHostTarget());
  emit.triple = target.triple;
  emit.data_layout = target.data_layout;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  emit.parts = std::max(1, options.threads > 0 ? options.threads : cores);
  emit.parallel = options.threads != 1;
  emit.profile = options.profile;
  emit.count_steps = options.limits.steps > 0;
  emit.notes = options.sanitize != CompileOptions::Sanitize::kNone;
  return emit;
}

void Record(const JitStats& jit, CompileStats& stats) {
  stats.phases.push_back({"LLVM passes (all threads)", jit.optimize_s});
  stats.phases.push_back({"LLVM code generation (all threads)", jit.generate_s});
  stats.phases.push_back({"linking", jit.link_s});
  for (const FunctionTime& f : jit.slowest)
    stats.phases.push_back({absl::StrCat("  LLVM for ", f.name), f.seconds});
  stats.objects = jit.objects;
  stats.cached_objects = jit.cached_objects;
  stats.kept = jit.kept;
}

void Record(const BufferAssignment& buffers, CompileStats& stats) {
  stats.temporary_bytes = buffers.arena_size();
  for (const Donation& donation : buffers.donations()) {
    ++stats.donated;
    stats.donated_bytes += buffers.output_sizes()[donation.result];
  }
}

// Adds checks to the code, or has them added after LLVM's passes.
std::unique_ptr<Sanitizer> Sanitize(const Module& module, const BufferAssignment& buffers,
                                    EmittedModule& emitted, const CompileOptions& options,
                                    JitOptions& jit) {
  jit.cache_dir.clear();  // such code is of this process alone: it names addresses
  auto sanitizer = std::make_unique<Sanitizer>(std::move(emitted.arrays), buffers);
  sanitizer->AddStatic(CheckBuffers(module, buffers));
  if (options.sanitize == CompileOptions::Sanitize::kOptimized) {
    jit.after_passes = [s = sanitizer.get()](llvm::Module& code) {
      SanitizeCode(code, *s, SanitizeStage::kOptimized);
    };
    return sanitizer;
  }
  for (EmittedModule::Part& part : emitted.parts)
    SanitizeCode(*part.module, *sanitizer, SanitizeStage::kEmitted);
  return sanitizer;
}

class CpuBackend : public Backend {
 public:
  absl::string_view name() const override { return "cpu"; }
  const Capabilities& capabilities() const override { return kCpuCapabilities; }
  Device& device(int64_t) override { return host_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(std::unique_ptr<Module> module,
                                                      const CompileOptions& options) override {
    CompileStats stats;
    const double start = SteadySeconds();
    DynamicEntry dynamic;
    RETURN_IF_ERROR(LowerForCpu(*module, options, &dynamic));
    stats.passes_s = SteadySeconds() - start;
    stats.phases.push_back({"passes", stats.passes_s});
    ASSIGN_OR_RETURN(BufferAssignment buffers,
                     BufferAssignment::Make(*module, {.donate = options.donate}));
    Record(buffers, stats);
    const double emission = SteadySeconds();
    stats.phases.push_back({"buffer assignment", emission - start - stats.passes_s});
    ASSIGN_OR_RETURN(const EmitOptions emit, EmitOptionsFor(options));
    ASSIGN_OR_RETURN(EmittedModule emitted, EmitModule(*module, buffers, emit));
    for (const Instruction* i : emitted.reference_calls)
      stats.fallbacks.push_back({i->name(), std::string(Text(i->opcode())), "no native code"});
    stats.phases.push_back({"emission of LLVM IR", SteadySeconds() - emission});
    ASSIGN_OR_RETURN(DeviceAssignment devices, DevicesOf(*module, options));
    const bool uses_communicator = emitted.uses_communicator;
    JitOptions jit_options;
    jit_options.opt_level = options.opt_level;
    jit_options.dump_to = options.dump_to;
    jit_options.cache_dir = options.cache_dir;
    jit_options.progress = options.progress;
    std::unique_ptr<Sanitizer> sanitizer =
        emit.notes ? Sanitize(*module, buffers, emitted, options, jit_options) : nullptr;
    JitStats jit;
    ASSIGN_OR_RETURN(std::unique_ptr<JitCode> code,
                     CompileToJit(std::move(emitted), jit_options, jit));
    Record(jit, stats);
    stats.code_bytes = code->code_bytes();
    stats.codegen_s = SteadySeconds() - start - stats.passes_s;
    auto executable = std::make_unique<CpuExecutable>(
        std::move(module), std::move(buffers), std::move(code), std::move(stats), options.threads);
    executable->set_dynamic_entry(std::move(dynamic));
    executable->set_flush_denormals(options.flush_denormals);
    executable->set_host(options.host);
    executable->set_profile(options.profile);
    executable->set_sanitizer(std::move(sanitizer));
    executable->set_step_limit(options.limits.steps);
    executable->set_uses_communicator(uses_communicator);
    executable->set_devices(std::move(devices));
    executable->set_communicators(options.communicators);
    executable->set_frozen(options.frozen_parameters);
    RETURN_IF_ERROR(executable->BindConstants());
    return executable;
  }

 private:
  HostDevice host_;
};

class WarmCpuBackend final : public CpuBackend {
 private:
  WarmUp warm_up_;
};

}  // namespace

absl::Status LowerForCpu(Module& module, const CompileOptions& options, DynamicEntry* dynamic) {
  // Passes that put a callee in its call's place must not bring layouts together that differ.
  RETURN_IF_ERROR(ConvertLayoutsAtBoundaries(module).status());
  RETURN_IF_ERROR(RemoveDynamic(module, dynamic));
  RETURN_IF_ERROR(RunChosenPasses(module, options));
  return RunPasses(module, absl::StrCat(kLegalizationPasses, "{attention}"));
}

std::unique_ptr<Backend> MakeCpuBackend() { return std::make_unique<CpuBackend>(); }
std::unique_ptr<Backend> MakeWarmCpuBackend() { return std::make_unique<WarmCpuBackend>(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
