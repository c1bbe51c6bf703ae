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
#include "runtime/parallel.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Work (in simple float operations) below which a kernel stands in its caller.
constexpr double kInlineWork = 256;

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
    const Instruction* unsupported = nullptr;
    if (WorkOf(kernel) <= kInlineWork) {
      InlineArrays arrays(*this, f, i);
      kernel.emit(f.b, arrays, f.b.getInt64(0), f.b.getInt64(kernel.units));
      unsupported = arrays.unsupported;
    } else if (kernel.whole_part) {
      work += WorkOf(kernel);
      together.push_back(std::move(kernel));
    } else {
      unsupported = EmitKernelCall(f, i, kernel);
    }
    if (unsupported != nullptr) return NoCode(*unsupported);
  }
  if (together.size() > 1 && options_.parallel && work > kParallelWork)
    return EmitKernelGroup(f, i, together);
  for (const Kernel& kernel : together)
    if (const Instruction* unsupported = EmitKernelCall(f, i, kernel)) return NoCode(*unsupported);
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

// In the part where kernels that look alike are: there equal ones are compiled once.
llvm::Function* ModuleEmitter::EmitKernelFunction(const Instruction& i, const Kernel& kernel,
                                                  const std::vector<Slice>& slices,
                                                  const Instruction** unsupported) {
  const size_t lightest = std::min_element(work_.begin(), work_.end()) - work_.begin();
  const auto [place, fresh] = part_of_.try_emplace(StructureOf(i, kernel), lightest);
  const size_t part = place->second;
  const std::string name = absl::StrCat("kernel_", next_kernel_++, "_", i.name());
  llvm::Function* function = EmitKernelFunction(part, name, i, slices, kernel, unsupported);
  if (fresh) work_[part] += static_cast<double>(function->getInstructionCount());
  return function;
}

const Instruction* ModuleEmitter::EmitKernelCall(Frame& f, const Instruction& i,
                                                 const Kernel& kernel) {
  const std::vector<Slice> slices = SlicesOf(i, kernel);
  const Instruction* unsupported = nullptr;
  llvm::Function* function = EmitKernelFunction(i, kernel, slices, &unsupported);
  const bool parallel = options_.parallel && WorkOf(kernel) > kParallelWork && kernel.units > 1;
  std::vector<llvm::Value*> pointers;
  for (const Slice& s : slices) pointers.push_back(Pointer(f, s));
  Builder& b = f.b;
  if (!parallel) {
    pointers.push_back(b.getInt64(0));
    pointers.push_back(b.getInt64(kernel.units));
    b.CreateCall(Declare(*b.GetInsertBlock()->getModule(), *function), pointers);
    return unsupported;
  }
  LibrarySite site(*this, f, i);
  llvm::Module& caller = *b.GetInsertBlock()->getModule();
  llvm::Value* arrays = site.Pointers(pointers);
  llvm::Value* units = b.getInt64(kernel.units);
  llvm::Value* grain = b.getInt64(GrainOf(kernel));
  if (slices.size() <= kHlokitMostKernelArrays) {
    site.Call("hlokit_parallel_kernel", {f.context(), Declare(caller, *function), arrays,
                                         b.getInt64(slices.size()), units, grain});
  } else {
    llvm::Function* body = EmitRangeFunction(*function, slices.size());
    site.Call("hlokit_parallel_for", {f.context(), Declare(caller, *body), arrays, units, grain});
  }
  return unsupported;
}

// void kernel(slices..., begin, end)
llvm::Function* ModuleEmitter::EmitKernelFunction(size_t part, const std::string& name,
                                                  const Instruction& i,
                                                  const std::vector<Slice>& slices,
                                                  const Kernel& kernel,
                                                  const Instruction** unsupported) {
  llvm::Module& module = *out_.parts[part].module;
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types(slices.size(), llvm::PointerType::get(context, 0));
  types.insert(types.end(), 2, llvm::Type::getInt64Ty(context));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::NoInline);
  if (kernel.in_vectors) function->addFnAttr(kInVectors);
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
  *unsupported = arrays.unsupported;
  return function;
}

// void range(void** pointers, begin, end): what hlokit_parallel_for calls. Passes `count` pointers
// on: the slices of a kernel of more arrays than the runtime passes on, or a group's environment.
llvm::Function* ModuleEmitter::EmitRangeFunction(llvm::Function& kernel, size_t count) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, i64, i64}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                          kernel.getName() + "_range", *kernel.getParent());
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  Builder b(llvm::BasicBlock::Create(context, "entry", function));
  std::vector<llvm::Value*> arguments;
  for (size_t k = 0; k < count; ++k)
    arguments.push_back(
        b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, function->getArg(0), k)));
  arguments.push_back(function->getArg(1));
  arguments.push_back(function->getArg(2));
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
  return function;
}

// The function itself, or its declaration in another part.
llvm::Function* ModuleEmitter::Declare(llvm::Module& module, llvm::Function& function) {
  if (function.getParent() == &module) return &function;
  if (llvm::Function* known = module.getFunction(function.getName())) return known;
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types;
  for (const llvm::Argument& a : function.args())
    types.push_back(a.getType()->isPointerTy()
                        ? static_cast<llvm::Type*>(llvm::PointerType::get(context, 0))
                        : llvm::Type::getInt64Ty(context));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* declared =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, function.getName(), module);
  declared->setVisibility(llvm::GlobalValue::HiddenVisibility);
  declared->addFnAttr(llvm::Attribute::NoUnwind);
  return declared;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
