// Kernels as LLVM functions, run by one thread or many, or inline.
//
// A kernel function takes the arrays and a range of units, `kernel(arrays..., begin, end)`. Kernels
// of little work (kInlineWork) are emitted inside their caller. Kernels that look alike
// (StructureOf: same opcode, shapes and body) share one function, called with other arrays, which
// saves compile time in models with equal layers. Arguments carry noalias and alignment where
// buffer assignment proves them.
#include <algorithm>

#include "backends/cpu/host_program/module_emitter_internal.h"
#include "backends/cpu/kernels/strategies.h"
#include "backends/cpu/kernels/target.h"
#include "llvm/IR/IntrinsicInst.h"
#include "runtime/parallel.h"
#include "support/status.h"

namespace hlokit {
namespace {

// LLVM's work for a function and a block, in its work for an instruction.
constexpr size_t kFunctionWork = 26, kBlockWork = 13;

// LLVM's own choice is vectors of 32 bytes, which keep up with memory.
constexpr const char *kPreferredWidth = "prefer-vector-width", *kLongestVectors = "512";

double WorkOf(const Kernel& kernel) { return static_cast<double>(kernel.units) * kernel.unit_cost; }

bool IsReadOnly(const Slice& slice) {
  return slice.kind == Slice::Kind::kParameter || slice.kind == Slice::Kind::kConstant;
}

// Part of a fusion: what its own arrays look like.
std::string StructureOf(const Instruction& i, const Kernel& kernel) {
  if (kernel.results.empty()) {
    std::string looks = absl::StrCat(Text(i.opcode()), Text(i.shape(), true));
    for (const Instruction* operand : i.operands())
      absl::StrAppend(&looks, " ", Text(operand->shape(), true));
    if (i.opcode() == Opcode::kFusion)
      absl::StrAppend(&looks, " ", i.to_apply()->instruction_count());
    return looks;
  }
  std::string looks = "part";
  for (int64_t leaf : kernel.results)
    absl::StrAppend(&looks, " ", Text(LeafShape(i.shape(), leaf), true));
  for (int64_t o : kernel.operands)
    absl::StrAppend(&looks, ", ", Text(i.operand(o)->shape(), true));
  return looks;
}

// What a kernel's code may be long by, before there is any.
int64_t RoughLength(const Instruction& i) {
  return i.opcode() == Opcode::kFusion ? i.to_apply()->instruction_count() : 1;
}

}  // namespace

// Pointers for code that stands in a kernel's function: its arguments.
class ModuleEmitter::Arguments final : public KernelArrays {
 public:
  Arguments(const Instruction& i, const BufferAssignment& buffers, const std::vector<Slice>& slices,
            llvm::Function* function)
      : i_(i), buffers_(buffers), slices_(slices), function_(function) {}
  ArrayRef operand(int64_t o) override {
    const Slice& slice = buffers_.slice(i_.operand(o));
    return {At(slice), i_.operand(o)->shape(), IsReadOnly(slice)};
  }
  ArrayRef result(int64_t leaf) override {
    return {At(buffers_.slice(&i_, leaf)), LeafShape(i_.shape(), leaf)};
  }

 private:
  llvm::Value* At(const Slice& slice) const {
    for (size_t k = 0; k < slices_.size(); ++k)
      if (slices_[k] == slice) return function_->getArg(k);
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(function_->getContext(), 0));
  }
  const Instruction& i_;
  const BufferAssignment& buffers_;
  const std::vector<Slice>& slices_;
  llvm::Function* function_;
};

ArrayRef ModuleEmitter::InlineArrays::operand(int64_t o) {
  const Slice& slice = e_.buffers_.slice(i_.operand(o));
  return {e_.Pointer(f_, slice), i_.operand(o)->shape(), IsReadOnly(slice)};
}

int64_t GrainOf(const Kernel& kernel) {
  if (HasEagerKernels()) return 1;
  return std::max<int64_t>(1, static_cast<int64_t>(kChunkWork / kernel.unit_cost));
}

absl::Status NoCode(const Instruction& unsupported) {
  return Unimplemented(Text(unsupported.opcode()), " of ", Text(unsupported.operand(0)->shape()),
                       " has no code on the CPU (instruction %", unsupported.name(), ")");
}

absl::Status ModuleEmitter::EmitKernels(Frame& f, const Instruction& i) {
  const auto in_place = [&](int64_t o, int64_t leaf) {
    const auto operand = buffers_.slices(i.operand(o));
    return !operand.empty() && operand[0] == buffers_.slice(&i, leaf);
  };
  std::vector<Kernel> together;
  double work = 0;
  for (Kernel& kernel : MakeKernels(i, in_place, CpuTargetInfo(), CpuKernelStrategies())) {
    if (kernel.units == 0) continue;
    if (WorkOf(kernel) <= kInlineWork && !HasEagerKernels()) {
      const CodeCount count(piece_code_, *f.function);
      InlineArrays arrays(*this, f, i);
      kernel.emit(f.b, arrays, f.b.getInt64(0), f.b.getInt64(kernel.units));
      if (arrays.unsupported != nullptr) return NoCode(*arrays.unsupported);
    } else if (kernel.whole_part) {
      work += WorkOf(kernel);
      together.push_back(std::move(kernel));
    } else {
      EmitKernelCall(f, i, std::move(kernel));
    }
  }
  if (together.size() > 1 && options_.parallel && (work > kParallelWork || HasEagerKernels()))
    return EmitKernelGroup(f, i, absl::MakeSpan(together));
  for (Kernel& kernel : together) EmitKernelCall(f, i, std::move(kernel));
  return absl::OkStatus();
}

// Distinct slices of an instruction's operands and results, or of those that the kernel is about.
std::vector<Slice> ModuleEmitter::SlicesOf(const Instruction& i, const Kernel& kernel) const {
  std::vector<Slice> slices;
  auto add = [&](const Slice& s) {
    if (s.kind != Slice::Kind::kNone && std::find(slices.begin(), slices.end(), s) == slices.end())
      slices.push_back(s);
  };
  if (!kernel.results.empty()) {
    for (int64_t o : kernel.operands) add(buffers_.slice(i.operand(o)));
    for (int64_t leaf : kernel.results) add(buffers_.slice(&i, leaf));
    return slices;
  }
  for (const Instruction* operand : i.operands())
    for (const Slice& s : buffers_.slices(operand)) add(s);
  for (const Slice& s : buffers_.slices(&i)) add(s);
  return slices;
}

PendingKernel& ModuleEmitter::AddKernel(const Instruction& i, Kernel kernel,
                                        std::vector<Slice> slices) {
  std::string name = absl::StrCat("kernel_", kernels_.size(), "_", i.name());
  return kernels_.emplace_back(
      PendingKernel{std::move(name), &i, std::move(kernel), std::move(slices)});
}

// Kernels that look alike go to one part: there equal ones are compiled once. Those that seem to be
// long come first, so that short ones even out what the parts have to do.
absl::Status ModuleEmitter::EmitPendingKernels() {
  std::vector<std::vector<const PendingKernel*>> groups;
  absl::flat_hash_map<std::string, size_t> group_of;
  for (const PendingKernel& pending : kernels_) {
    const std::string looks = StructureOf(*pending.instruction, pending.kernel);
    const auto [at, fresh] = group_of.try_emplace(looks, groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(&pending);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return RoughLength(*a[0]->instruction) > RoughLength(*b[0]->instruction);
  });
  for (const auto& group : groups) {
    const size_t part = LightestPart();
    for (const PendingKernel* pending : group) {
      ASSIGN_OR_RETURN(llvm::Function * function,
                       EmitKernelFunction(*out_.parts[part].module, *pending));
      if (pending->wants_range) EmitRangeFunction(*function, pending->slices.size());
      if (pending == group[0]) work_[part] += CompileWork(*function);
    }
  }
  EmitPendingCallbacks();
  return absl::OkStatus();
}

// All in one part, where equal ones are compiled once.
void ModuleEmitter::EmitPendingCallbacks() {
  if (callbacks_.empty()) return;
  const size_t part = LightestPart();
  for (const PendingCallback& pending : callbacks_) {
    llvm::Function* const function =
        DeclareFunction(*out_.parts[part].module, pending.name, pending.arrays, kCallbackIntegers);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(kPreferredWidth, kLongestVectors);
    for (unsigned a = 0; a < pending.arrays; ++a) {
      function->addParamAttr(a, llvm::Attribute::NoAlias);
      function->addParamAttr(a, llvm::Attribute::NonNull);
    }
    Builder b(llvm::BasicBlock::Create(function->getContext(), "entry", function));
    pending.emit(b, *function);
    b.CreateRetVoid();
    EmitRangeFunction(*function, pending.arrays, kCallbackIntegers);
    work_[part] += CompileWork(*function);
  }
}

void ModuleEmitter::EmitKernelCall(Frame& f, const Instruction& i, Kernel kernel) {
  const bool works_long = WorkOf(kernel) > kParallelWork || HasEagerKernels();
  const bool parallel = options_.parallel && works_long && kernel.units > 1;
  PendingKernel& pending = AddKernel(i, std::move(kernel), {});
  pending.slices = SlicesOf(i, pending.kernel);
  const size_t arrays = pending.slices.size();
  std::vector<llvm::Value*> pointers;
  for (const Slice& s : pending.slices) pointers.push_back(Pointer(f, s));
  Builder& b = f.b;
  llvm::Module& caller = *f.function->getParent();
  llvm::Value* units = b.getInt64(pending.kernel.units);
  if (!parallel) {
    pointers.push_back(b.getInt64(0));
    pointers.push_back(units);
    b.CreateCall(DeclareFunction(caller, pending.name, arrays, 2), pointers);
    return;
  }
  LibrarySite site(*this, f, i);
  llvm::Value* table = site.Pointers(pointers);
  llvm::Value* grain = b.getInt64(GrainOf(pending.kernel));
  if (arrays <= kHlokitMostKernelArrays) {
    site.Call("hlokit_parallel_kernel",
              {f.context(), DeclareFunction(caller, pending.name, arrays, 2), table,
               b.getInt64(arrays), units, grain});
    return;
  }
  pending.wants_range = true;
  site.Call(
      "hlokit_parallel_for",
      {f.context(), DeclareFunction(caller, pending.name + "_range", 1, 2), table, units, grain});
}

// void kernel(slices..., begin, end)
absl::StatusOr<llvm::Function*> ModuleEmitter::EmitKernelFunction(llvm::Module& module,
                                                                  const PendingKernel& pending) {
  const Instruction& i = *pending.instruction;
  const Kernel& kernel = pending.kernel;
  const std::vector<Slice>& slices = pending.slices;
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* function = DeclareFunction(module, pending.name, slices.size(), 2);
  function->addFnAttr(llvm::Attribute::NoInline);
  if (kernel.in_vectors) function->addFnAttr(kInVectors);
  if (kernel.is_arithmetic) function->addFnAttr(kPreferredWidth, kLongestVectors);
  if (WorkOf(kernel) >= kLongWork) function->addFnAttr(kRunsLong);
  bool distinct = true;
  for (size_t x = 0; x < slices.size(); ++x)
    for (size_t y = 0; y < x; ++y) distinct &= !Overlap(slices[x], slices[y]);
  for (unsigned a = 0; a < slices.size(); ++a) {
    if (distinct) function->addParamAttr(a, llvm::Attribute::NoAlias);
    function->addParamAttr(a, llvm::Attribute::NonNull);
    if (slices[a].kind == Slice::Kind::kArena)
      function->addParamAttr(a, llvm::Attribute::getWithAlignment(context, llvm::Align(64)));
  }
  if (options_.notes) {
    std::vector<int64_t> notes;
    for (const Slice& slice : slices) notes.push_back(AddNote(&i, slice));
    SetArgumentNotes(*function, notes);
  }
  Builder b(llvm::BasicBlock::Create(context, "entry", function));
  Arguments arrays(i, buffers_, slices, function);
  kernel.emit(b, arrays, function->getArg(slices.size()), function->getArg(slices.size() + 1));
  b.CreateRetVoid();
  if (arrays.unsupported != nullptr) return NoCode(*arrays.unsupported);
  return function;
}

// void range(void** pointers, begin, end): what hlokit_parallel_for calls. Passes `count` pointers
// on: the slices of a kernel of more arrays than the runtime passes on, or a group's environment.
llvm::Function* ModuleEmitter::EmitRangeFunction(llvm::Function& kernel, size_t count,
                                                 size_t integers) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Function* function =
      DeclareFunction(*kernel.getParent(), kernel.getName().str() + "_range", 1, integers);
  Builder b(llvm::BasicBlock::Create(context, "entry", function));
  std::vector<llvm::Value*> arguments;
  for (size_t k = 0; k < count; ++k)
    arguments.push_back(
        b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, function->getArg(0), k)));
  for (unsigned k = 1; k <= integers; ++k) arguments.push_back(function->getArg(k));
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
  return function;
}

llvm::Function* DeclareFunction(llvm::Module& module, const std::string& name, size_t pointers,
                                size_t integers) {
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types(pointers, llvm::PointerType::get(context, 0));
  types.insert(types.end(), integers, llvm::Type::getInt64Ty(context));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

size_t CodeCount::Code() const {
  size_t code = kBlockWork * function_.size();
  for (const llvm::BasicBlock& block : function_)
    for (const llvm::Instruction& i : block)
      code += !llvm::isa<llvm::CallInst>(i) || llvm::isa<llvm::IntrinsicInst>(i);
  return code;
}

// Fitted to 669 functions of 56 modules: 0.37 ms, 14 us an instruction, 0.37 ms a loop (two
// blocks).
double CompileWork(const llvm::Function& function) {
  const double code = function.getInstructionCount();
  // No loops for LLVM's passes.
  if (function.size() == 1 || function.hasFnAttribute(kInVectors)) return kFunctionWork + code / 2;
  return kFunctionWork + code + static_cast<double>(kBlockWork * function.size());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
