// Compilation for GPUs: passes, buffers, steps, kernels, PTX, loading.
//
// The same steps as the CPU's, but a kernel is a function of PTX and the program a list of launches
// that the host (or a CUDA graph) goes through. Dynamic dimensions lie at their bounds; their sizes
// are arguments and results of their own.
#include "backends/cuda/cuda_backend.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "analysis/emittable.h"
#include "analysis/trip_count.h"
#include "backends/cuda/convolution_kernels.h"
#include "backends/cuda/cuda_executable.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/sort_kernels.h"
#include "backends/cuda/topk_kernels.h"
#include "ops/infer/dynamic_dimensions.h"
#include "passes/layouts/boundary_layouts.h"
#include "passes/manager.h"
#include "passes/pipelines.h"
#include "support/clock.h"
#include "support/diagnostics.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The pipeline whose fusions these kernels compute: elements, not the tiles of the pipeline "gpu".
constexpr absl::string_view kPipeline = "cuda";

// Below this a block has no 96 KiB of shared memory, which attention wants (attention_kernels.cc).
constexpr int kAttentionArch = 80;

absl::Status RunChosenPasses(Module& module, const CompileOptions& options, const GpuArch& arch) {
  PassOptions pass_options;
  pass_options.verify_each = options.verify_each;
  if (arch.number < kAttentionArch) pass_options.disabled.push_back("attention-rows-fusion");
  // A scheduled module has been through a compiler's passes already.
  const bool is_scheduled = module.header().is_scheduled;
  if (options.which_passes == CompileOptions::Passes::kListed) {
    if (!is_scheduled) RETURN_IF_ERROR(RunPasses(module, kRoundedReductionPasses));
    return RunPasses(module, options.passes, pass_options);
  }
  if (is_scheduled) return absl::OkStatus();
  if (options.which_passes == CompileOptions::Passes::kNone)
    return RunPasses(module, kRoundedReductionPasses);
  ASSIGN_OR_RETURN(const absl::string_view spec, PipelineSpec(kPipeline));
  return RunPasses(module, spec, pass_options);
}

const Instruction* FindDynamic(const Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->shape().HasDynamicDims()) return i;
  return nullptr;
}

// Dynamic dimensions lie at their bounds; their sizes are arguments and results of their own.
absl::Status RemoveDynamic(Module& module, DynamicEntry& entry) {
  DeclareDynamicDimensions(module);
  if (FindDynamic(module) == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(entry, TakeDynamicEntry(module));
  const Instruction* const i = FindDynamic(module);
  if (i == nullptr) return absl::OkStatus();
  return WithPlace(Unimplemented("dynamic dimensions have no code on GPUs (%", i->name(), ": ",
                                 Text(i->shape()), "); --platform=interpreter runs them"),
                   i->place());
}

// What a module says of its loops is not believed: a pass or a hand may have changed them since.
void ForgetTripCounts(Module& module) {
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions())
      if (KnownTripCount(*i)) i->mutable_extras().backend_config.clear();
}

absl::Status Lower(Module& module, const CompileOptions& options, const GpuArch& arch,
                   DynamicEntry& dynamic) {
  RETURN_IF_ERROR(ConvertLayoutsAtBoundaries(module).status());
  RETURN_IF_ERROR(RemoveDynamic(module, dynamic));
  RETURN_IF_ERROR(RunPasses(module, kGpuExpanderPasses));
  ForgetTripCounts(module);
  RETURN_IF_ERROR(RunChosenPasses(module, options, arch));
  RETURN_IF_ERROR(RunPasses(module, absl::StrCat(kLegalizationPasses, "{finished}")));
  // The pipeline counts before it fuses, which hides counters; other lists may say anything.
  if (options.which_passes == CompileOptions::Passes::kListed) ForgetTripCounts(module);
  return RunPasses(module, "while-loop-trip-count-annotator");
}

// True if the host may leave out the condition: it only computes whether the loop goes on.
bool OnlyComputes(const StepSequence& condition) {
  return condition.copies.empty() &&
         std::all_of(condition.steps.begin(), condition.steps.end(),
                     [](const Step& step) { return step.kind == StepKind::kKernel; });
}

absl::flat_hash_map<const Step*, int64_t> CountedLoops(const Program& program) {
  absl::flat_hash_map<const Step*, int64_t> trips;
  for (const StepSequence& sequence : program.sequences)
    for (const Step& step : sequence.steps)
      if (const std::optional<int64_t> known = KnownTripCount(*step.instruction);
          known && OnlyComputes(program.sequences[step.bodies[0]]))
        trips[&step] = *known;
  return trips;
}

// Parameters of a kernel may take 4096 bytes, and each array is an address.
constexpr size_t kMaxArrays = 500;

size_t ArrayCount(const Instruction& i) {
  size_t count = Leaves(i.shape()).size();
  for (const Instruction* operand : i.operands()) count += Leaves(operand->shape()).size();
  return count;
}

StepKind KindOf(const Instruction& i) {
  const bool has_code =
      CanEmitKernels(i) || CanSortOnGpu(i) || CanSelectOnGpu(i) || CanConvolveOnGpu(i);
  return has_code && ArrayCount(i) <= kMaxArrays ? StepKind::kKernel : StepKind::kHost;
}

// Steps and PTX of a module that has been lowered.
absl::Status Generate(const GpuArch& arch, GpuProgram& parts) {
  ASSIGN_OR_RETURN(parts.buffers, BufferAssignment::Make(*parts.module));
  parts.program = MakeProgram(*parts.module, parts.buffers, KindOf);
  parts.trips = CountedLoops(parts.program);
  llvm::LLVMContext context;
  llvm::Module code("hlokit", context);
  SetPtxTarget(code);
  ASSIGN_OR_RETURN(parts.kernels, EmitGpuKernels(parts.program, arch, code));
  parts.stats.temporary_bytes = parts.buffers.arena_size() + parts.kernels.scratch_bytes;
  ASSIGN_OR_RETURN(parts.ptx,
                   CompileToPtx(code, arch, parts.options.opt_level, parts.options.dump_to));
  parts.stats.code_bytes = static_cast<int64_t>(parts.ptx.size());
  for (const StepSequence& sequence : parts.program.sequences)
    for (const Step& step : sequence.steps)
      if (step.kind == StepKind::kHost)
        parts.stats.fallbacks.push_back({step.instruction->name(),
                                         std::string(Text(step.instruction->opcode())),
                                         "computed on the host"});
  return absl::OkStatus();
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(absl::string_view name, CudaDriver::Library library)
      : name_(name), library_(library) {}
  absl::string_view name() const override { return name_; }
  const Capabilities& capabilities() const override { return kCudaCapabilities; }
  Device& device(int64_t) override { return host_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(std::unique_ptr<Module> module,
                                                      const CompileOptions& options) override {
    ASSIGN_OR_RETURN(const CudaDriver* const driver, CudaDriver::Load(library_));
    ASSIGN_OR_RETURN(const int number, driver->ArchOf(0));
    ASSIGN_OR_RETURN(const GpuArch arch, GpuArchOfDevice(number));
    auto parts = std::make_unique<GpuProgram>();
    parts->options = options;
    parts->module = std::move(module);
    const double start = SteadySeconds();
    RETURN_IF_ERROR(Lower(*parts->module, options, arch, parts->dynamic));
    parts->stats.passes_s = SteadySeconds() - start;
    parts->stats.phases.push_back({"passes", parts->stats.passes_s});
    ASSIGN_OR_RETURN(parts->devices, DevicesOf(*parts->module, options));
    RETURN_IF_ERROR(Generate(arch, *parts));
    const double generated = SteadySeconds();
    parts->stats.codegen_s = generated - start - parts->stats.passes_s;
    parts->stats.phases.push_back({"PTX", parts->stats.codegen_s});
    auto executable = std::make_unique<CudaExecutable>(*driver, std::move(parts));
    RETURN_IF_ERROR(executable->Load());
    return executable;
  }

 private:
  const absl::string_view name_;
  const CudaDriver::Library library_;
  HostDevice host_;
};

}  // namespace

std::unique_ptr<Backend> MakeCudaBackend() {
  return std::make_unique<CudaBackend>("cuda", CudaDriver::Library::kNvidia);
}
std::unique_ptr<Backend> MakePtxSimBackend() {
  return std::make_unique<CudaBackend>("ptx-sim", CudaDriver::Library::kSimulator);
}

absl::StatusOr<std::string> PtxOfModule(std::unique_ptr<Module> module, absl::string_view arch_name,
                                        const CompileOptions& options) {
  ASSIGN_OR_RETURN(const GpuArch arch, GpuArchNamed(arch_name));
  GpuProgram parts;
  parts.options = options;
  parts.module = std::move(module);
  RETURN_IF_ERROR(Lower(*parts.module, options, arch, parts.dynamic));
  RETURN_IF_ERROR(Generate(arch, parts));
  return std::move(parts.ptx);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
