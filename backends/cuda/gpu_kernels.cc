// Kernels by the scalar strategies of codegen/, one unit a thread:
//
//   kernel_3_add(x, y, r):  unit = block * 256 + thread;  if (unit < units) r[unit] = x[unit] + ...
//
// The block's number is not asked for where there is one, nor the limit where it is never reached.
//
// Neighbouring threads compute neighbouring elements, so that a warp's loads and stores meet in few
// sectors of memory.
#include "backends/cuda/gpu_kernels.h"

#include "absl/strings/ascii.h"
#include "backends/cuda/attention_kernels.h"
#include "backends/cuda/convolution_kernels.h"
#include "backends/cuda/dot_kernels.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/row_kernels.h"
#include "backends/cuda/scan_kernels.h"
#include "backends/cuda/scatter_kernels.h"
#include "backends/cuda/scatter_run_kernels.h"
#include "backends/cuda/select_scatter_kernels.h"
#include "backends/cuda/sort_kernels.h"
#include "backends/cuda/split_row_kernels.h"
#include "backends/cuda/tensor_dot_kernels.h"
#include "backends/cuda/thread_group.h"
#include "backends/cuda/topk_kernels.h"
#include "backends/cuda/transpose_kernels.h"
#include "backends/cuda/vector_kernels.h"
#include "backends/cuda/warpgroup_dot_kernels.h"
#include "codegen/kernel_strategies.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "support/diagnostics.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Of every array, in bytes: what is allocated is aligned to 256, and BufferAssignment puts arrays
// of the arena at multiples of 64.
constexpr uint64_t kArrayAlignment = 16;

// Registers are 32 bits wide; kernels of larger arrays take two of them (IndexBitsOf).
constexpr TargetInfo kTarget = {.index_bits = 32, .copy_bytes = 16, .merges_scalars = true};
// A kernel an operand, whose elements need not look for theirs, where this is worth a launch.
bool AddLongConcatenateKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  constexpr int64_t kWorthALaunch = 1 << 18;  // elements an operand
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kConcatenate ||
      e.shapes[0].ElementCount() < kWorthALaunch * e.roots[0]->operand_count())
    return false;
  return AddConcatenateKernels(request, AddVectorPart, 1, out);
}

constexpr KernelStrategy kStrategies[] = {{"sort", AddSortKernels},
                                          {"top k", AddTopKKernels},
                                          {"scatter in runs", AddScatterRunKernels},
                                          {"scatter by search", AddSearchedScatterKernels},
                                          {"select and scatter", AddSelectScatterKernels},
                                          {"scatter in order", AddScatterKernels},
                                          {"update in place", AddUpdateKernels},
                                          {"concatenate", AddLongConcatenateKernels},
                                          {"scans of rows", AddRowScanKernels},
                                          {"split rows", AddSplitRowKernels},
                                          {"rows", AddGroupRowKernels},
                                          {"dot in tiles", AddTiledDotKernels},
                                          {"convolution", AddConvolutionKernels},
                                          {"transpose in tiles", AddTransposeKernels},
                                          {"vectors", AddVectorKernels},
                                          {"elements", AddElementKernels}};
constexpr KernelStrategy kTensorStrategies[] = {{"attention", AddTensorAttentionKernels},
                                                {"dot on tensor cores", AddTensorDotKernels}};
constexpr KernelStrategy kRedux[] = {{"scatter by a warp", AddTeamScatterKernels}};
constexpr KernelStrategy kWarpgroupStrategies[] = {
    {"attention, many rows a block", AddHopperAttentionKernels},
    {"dot by warpgroups", AddWarpgroupDotKernels}};

// The strategies for an architecture, in the order in which they are tried.
std::vector<KernelStrategy> StrategiesFor(const GpuArch& arch) {
  std::vector<KernelStrategy> all;
  const auto add = [&](absl::Span<const KernelStrategy> some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  if (arch.name == "sm_90a") add(kWarpgroupStrategies);
  if (arch.number >= 80) {
    add(kTensorStrategies);
    add(kRedux);
  }
  add(kStrategies);
  return all;
}

// The step's arrays as the parameters of its kernels.
class Parameters final : public KernelArrays {
 public:
  Parameters(const Step& step, llvm::Function& function, Builder& b) : step_(step), b_(b) {
    unsigned next = 0;
    for (unsigned k = 0; k < function.arg_size(); ++k)
      pointers_.push_back(ArrayParameter(function, k));
    for (const std::vector<Slice>* slices : {&step.operands, &step.results})
      for (const Slice& slice : *slices)
        numbers_.push_back(slice.kind == Slice::Kind::kNone ? -1 : static_cast<int>(next++));
  }
  // Kernels take arrays, so an operand has one leaf.
  ArrayRef operand(int64_t o) override {
    const Slice::Kind kind = step_.operands[o].kind;
    return {At(o), step_.instruction->operand(o)->shape(),
            kind == Slice::Kind::kParameter || kind == Slice::Kind::kConstant};
  }
  ArrayRef result(int64_t leaf) override {
    const auto first = static_cast<int64_t>(step_.operands.size());
    return {At(first + leaf), *Leaves(step_.instruction->shape())[leaf].shape};
  }

 private:
  llvm::Value* At(int64_t k) const {
    if (numbers_[k] >= 0) return pointers_[static_cast<size_t>(numbers_[k])];
    return llvm::ConstantPointerNull::get(b_.getPtrTy());
  }

  const Step& step_;
  Builder& b_;
  std::vector<llvm::Value*> pointers_;
  std::vector<int> numbers_;  // of parameters; -1: an array without elements
};

int64_t ArrayCount(const Step& step) {
  int64_t count = 0;
  for (const std::vector<Slice>* slices : {&step.operands, &step.results})
    for (const Slice& slice : *slices) count += slice.kind != Slice::Kind::kNone ? 1 : 0;
  return count;
}

// Names in PTX are letters, digits, `_` and `$`.
std::string KernelName(size_t number, const Instruction& i) {
  std::string name = absl::StrCat("kernel_", number, "_", i.name());
  for (char& c : name)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

llvm::Function* DeclareKernel(llvm::Module& module, const std::string& name, int64_t arrays,
                              int threads) {
  llvm::LLVMContext& context = module.getContext();
  const std::vector<llvm::Type*> types(static_cast<size_t>(arrays) + 1,
                                       llvm::PointerType::get(context, kGlobalSpace));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel->addFnAttr(llvm::Attribute::NoUnwind);
  for (llvm::Argument& array : kernel->args())
    array.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(kArrayAlignment)));
  AnnotateKernel(*kernel, "kernel", 1);
  AnnotateKernel(*kernel, "reqntidx", threads);
  return kernel;
}

// block * threads + thread, of `bits` bits.
llvm::Value* ThreadNumber(Builder& b, const GpuGrid& grid, unsigned bits) {
  llvm::IntegerType* const type = b.getIntNTy(bits);
  if (grid.Threads() == 1) return llvm::ConstantInt::get(type, 0);
  llvm::Value* const thread =
      b.CreateZExt(b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {}), type);
  if (grid.blocks == 1) return thread;
  llvm::Value* const block =
      b.CreateZExt(b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}), type);
  auto* const threads = llvm::ConstantInt::get(type, static_cast<uint64_t>(grid.threads));
  return b.CreateNSWAdd(b.CreateNSWMul(block, threads), thread);
}

bool CanWait(const GpuArch& arch) { return arch.number >= 90; }

// Lets the next kernel of a graph start when all blocks of this one have, and waits for all that
// the kernel before this one wrote.
void EmitDependence(Builder& b) {
  auto* const type = llvm::FunctionType::get(b.getVoidTy(), false);
  b.CreateCall(llvm::InlineAsm::get(type, "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;",
                                    "~{memory}", /*hasSideEffects=*/true));
}

const Instruction* EmitKernel(llvm::Module& module, const Step& step, const Kernel& kernel,
                              const GpuArch& arch, GpuLaunch& launch, int64_t& scratch_bytes) {
  llvm::LLVMContext& context = module.getContext();
  launch.grid = GridOf(kernel.units);
  llvm::Function* const function =
      DeclareKernel(module, launch.kernel, ArrayCount(step), launch.grid.threads);
  Builder b(llvm::BasicBlock::Create(context, "entry", function));
  b.set_index_bits(kernel.index_bits);
  if (CanWait(arch)) EmitDependence(b);
  Parameters arrays(step, *function, b);
  // Idle threads have numbers, too, which must not wrap.
  const bool wide = kernel.index_bits > 32 || launch.grid.Threads() > INT32_MAX;
  llvm::Value* const number = ThreadNumber(b, launch.grid, wide ? 64 : 32);
  const auto emit = [&] {
    llvm::Value* const unit = b.CreateTrunc(number, b.IndexType());
    kernel.emit(b, arrays, unit, b.CreateNSWAdd(unit, b.Index(1)));
  };
  if (launch.grid.Threads() == kernel.units)
    emit();
  else
    EmitIf(b,
           b.CreateICmpULT(number, llvm::ConstantInt::get(number->getType(),
                                                          static_cast<uint64_t>(kernel.units))),
           emit);
  b.CreateRetVoid();
  launch.shared_bytes = DynamicSharedBytes(*function);
  scratch_bytes = std::max(scratch_bytes, ScratchBytes(*function));
  return arrays.unsupported;
}

absl::Status EmitStep(llvm::Module& module, const Step& step, const GpuArch& arch,
                      absl::Span<const KernelStrategy> strategies, size_t& next, GpuKernels& out) {
  const Instruction& i = *step.instruction;
  const auto in_place = [&](int64_t o, int64_t leaf) {
    return step.operands[o] == step.results[leaf];
  };
  std::vector<GpuLaunch>& launches = out.launches[&step];
  for (const Kernel& kernel : MakeKernels(i, in_place, kTarget, strategies)) {
    if (kernel.units == 0) continue;
    GpuLaunch& launch = launches.emplace_back(KernelName(next++, i));
    const Instruction* const unsupported =
        EmitKernel(module, step, kernel, arch, launch, out.scratch_bytes);
    if (unsupported != nullptr)
      return WithPlace(
          Unimplemented(Text(unsupported->opcode()), " of ", Text(unsupported->operand(0)->shape()),
                        " has no code on GPUs (instruction %", unsupported->name(), ")"),
          i.place());
  }
  return absl::OkStatus();
}

}  // namespace

GpuGrid GridOf(int64_t units) {
  constexpr int kSizes[] = {kBlockThreads, 224, 192, 160, 128, 96, 64}, kUneven = 128;
  if (units <= kBlockThreads) return {1, static_cast<int>(units)};
  for (const int threads : kSizes)
    if (units % threads == 0) return {units / threads, threads};
  return {(units + kUneven - 1) / kUneven, kUneven};
}

absl::StatusOr<GpuKernels> EmitGpuKernels(const Program& program, const GpuArch& arch,
                                          llvm::Module& module) {
  const std::vector<KernelStrategy> strategies = StrategiesFor(arch);
  GpuKernels out;
  out.wait = CanWait(arch);
  size_t next = 0;
  for (const StepSequence& sequence : program.sequences)
    for (const Step& step : sequence.steps)
      if (step.kind == StepKind::kKernel)
        RETURN_IF_ERROR(EmitStep(module, step, arch, strategies, next, out));
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
