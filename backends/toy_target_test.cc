// A whole target on what codegen/ shares, without backends/cpu: kernels are scalar LLVM functions,
// the steps of a Program are launched one by one, the interpreter computes what has no kernel.
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "analysis/emittable.h"
#include "backends/toy_target_internal.h"
#include "codegen/kernel_strategies.h"
#include "codegen/program.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Support/TargetSelect.h"
#include "passes/layouts/boundary_layouts.h"
#include "passes/manager.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr TargetInfo kTarget;  // scalar code
constexpr KernelStrategy kStrategies[] = {{"scatter", AddScatterKernels},
                                          {"update in place", AddUpdateKernels},
                                          {"concatenate", AddConcatenateKernels},
                                          {"elements", AddElementKernels}};

StepKind ToyStepKind(const Instruction& i) {
  return CanEmitKernels(i) ? StepKind::kKernel : StepKind::kHost;
}

// Arrays of a step in the order of Step::operands and Step::results: arguments of its function.
class ToyArrays final : public KernelArrays {
 public:
  ToyArrays(Builder& b, const Step& step, llvm::Value* pointers)
      : b_(b), step_(step), pointers_(pointers) {}
  // Kernels take arrays, so an operand has one leaf.
  ArrayRef operand(int64_t o) override { return {At(o), step_.instruction->operand(o)->shape()}; }
  ArrayRef result(int64_t leaf) override {
    const auto first = static_cast<int64_t>(step_.operands.size());
    return {At(first + leaf), *Leaves(step_.instruction->shape())[leaf].shape};
  }

 private:
  llvm::Value* At(int64_t k) {
    return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), pointers_, k));
  }
  Builder& b_;
  const Step& step_;
  llvm::Value* pointers_;
};

// A compiled module: the steps, and a function for each of them that is a kernel.
class ToyExecutable {
 public:
  using KernelFunction = void (*)(void** arrays);
  static absl::StatusOr<std::unique_ptr<ToyExecutable>> Compile(std::unique_ptr<Module> module) {
    // Sums of bf16 round where XLA's CPU rounds them; what BufferAssignment asks for.
    RETURN_IF_ERROR(RunPasses(*module,
                              "tree_reduction_rewriter{rounded},reduce-window-rewriter{rounded},"
                              "flatten-call-graph"));
    RETURN_IF_ERROR(ConvertLayoutsAtBoundaries(*module).status());
    auto made = std::make_unique<ToyExecutable>();
    made->module_ = std::move(module);
    ASSIGN_OR_RETURN(made->buffers_, BufferAssignment::Make(*made->module_));
    made->program_ = MakeProgram(*made->module_, made->buffers_, ToyStepKind);
    RETURN_IF_ERROR(made->CompileKernels());
    return made;
  }

  const Module& module() const { return *module_; }
  const BufferAssignment& buffers() const { return buffers_; }
  const Program& program() const { return program_; }
  KernelFunction kernel(const Step& step) const { return functions_.at(&step); }

 private:
  absl::Status CompileKernels() {
    [[maybe_unused]] static const bool once =
        llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter();
    auto machine = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
    machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
    auto context = std::make_unique<llvm::LLVMContext>();
    auto code = std::make_unique<llvm::Module>("toy", *context);
    jit_ = llvm::cantFail(
        llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
    code->setDataLayout(jit_->getDataLayout());
    absl::flat_hash_map<const Step*, std::string> names;
    for (const StepSequence& sequence : program_.sequences)
      for (const Step& step : sequence.steps)
        if (step.kind == StepKind::kKernel) names[&step] = absl::StrCat("kernel_", names.size());
    for (const auto& [step, name] : names) RETURN_IF_ERROR(EmitKernel(*code, name, *step));
    llvm::cantFail(
        jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(code), std::move(context))));
    for (const auto& [step, name] : names)
      functions_[step] = llvm::cantFail(jit_->lookup(name)).toPtr<KernelFunction>();
    return absl::OkStatus();
  }

  // void kernel(void** arrays): all of the step's loops, one after the other.
  static absl::Status EmitKernel(llvm::Module& module, const std::string& name, const Step& step) {
    llvm::LLVMContext& context = module.getContext();
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                         {llvm::PointerType::get(context, 0)}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    Builder b(llvm::BasicBlock::Create(context, "entry", function));
    ToyArrays arrays(b, step, function->getArg(0));
    const auto in_place = [&](int64_t o, int64_t leaf) {
      return step.operands[o] == step.results[leaf];
    };
    for (const Kernel& kernel : MakeKernels(*step.instruction, in_place, kTarget, kStrategies))
      kernel.emit(b, arrays, b.getInt64(0), b.getInt64(kernel.units));
    b.CreateRetVoid();
    if (arrays.unsupported == nullptr) return absl::OkStatus();
    return Unimplemented("no code for %", arrays.unsupported->name());
  }

  std::unique_ptr<Module> module_;
  BufferAssignment buffers_;
  Program program_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  absl::flat_hash_map<const Step*, KernelFunction> functions_;
};

uint8_t* Bytes(std::string& buffer) { return reinterpret_cast<uint8_t*>(buffer.data()); }

// The arrays inside a value, depth first, each in the layout of its leaf of `shape`.
void AppendBytes(const Literal& value, const Shape& shape, std::vector<std::string>& out) {
  if (shape.IsTuple()) {
    for (size_t e = 0; e < shape.elements.size(); ++e)
      AppendBytes(value.elements()[e], shape.elements[e], out);
    return;
  }
  std::string& bytes = out.emplace_back(shape.IsArray() ? shape.ByteSize() : 0, '\0');
  if (!bytes.empty()) ToLayout(value, shape, Bytes(bytes));
}

// One execution on one device.
class ToyRun {
 public:
  ToyRun(const ToyExecutable& executable, DeviceGroup& group, int64_t device)
      : e_(executable), group_(group), device_(device), arena_(e_.buffers().arena_size(), 0) {
    constants_.resize(e_.buffers().constants().size());
    for (const Instruction* constant : e_.buffers().constants()) PlaceConstant(*constant);
    for (int64_t size : e_.buffers().output_sizes()) outputs_.emplace_back(size, '\0');
  }

  absl::StatusOr<Literal> Run(absl::Span<const Literal* const> arguments) {
    const Computation& entry = *e_.module().entry();
    for (int64_t p = 0; p < entry.parameter_count(); ++p)
      AppendBytes(*arguments[p], entry.parameter(p)->shape(), parameters_);
    RETURN_IF_ERROR(RunSequence(0));
    std::vector<Slice> results;
    for (size_t k = 0; k < outputs_.size(); ++k)
      results.push_back({Slice::Kind::kOutput, static_cast<int64_t>(k)});
    const Slice* next = results.data();
    return ReadValue(entry.root()->shape(), next);
  }

 private:
  void PlaceConstant(const Instruction& constant) {
    std::vector<std::string> leaves;
    AppendBytes(*constant.literal(), constant.shape(), leaves);
    const absl::Span<const Slice> slices = e_.buffers().slices(&constant);
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
      if (slices[leaf].kind == Slice::Kind::kConstant)
        constants_[slices[leaf].index] = std::move(leaves[leaf]);
  }

  uint8_t* At(const Slice& slice) {
    switch (slice.kind) {
      case Slice::Kind::kNone:
        return nullptr;
      case Slice::Kind::kArena:
        return Bytes(arena_) + slice.offset;
      case Slice::Kind::kParameter:
        return Bytes(parameters_[slice.index]);
      case Slice::Kind::kConstant:
        return Bytes(constants_[slice.index]);
      case Slice::Kind::kOutput:
        return Bytes(outputs_[slice.index]);
    }
    return nullptr;
  }

  // The value whose leaves lie in the slices from `next` on.
  Literal ReadValue(const Shape& shape, const Slice*& next) {
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      for (const Shape& e : shape.elements) elements.push_back(ReadValue(e, next));
      return Literal::Tuple(std::move(elements));
    }
    const uint8_t* const bytes = At(*next++);
    if (!shape.IsArray()) return Literal::Token();
    Literal literal(shape);
    if (literal.byte_size() > 0) FromLayout(bytes, shape, literal);
    return literal;
  }

  absl::Status RunSequence(int32_t number) {
    const StepSequence& sequence = e_.program().sequences[number];
    for (const Step& step : sequence.steps) RETURN_IF_ERROR(RunStep(step));
    RunCopies(sequence.copies);
    return absl::OkStatus();
  }

  absl::Status RunStep(const Step& step) {
    switch (step.kind) {
      case StepKind::kKernel:
        RunKernel(step);
        return absl::OkStatus();
      case StepKind::kWhile:
        return RunWhile(step);
      case StepKind::kConditional:
        return RunSequence(step.bodies[ChosenBranch(step)]);
      case StepKind::kCall:
        return RunSequence(step.bodies[0]);
      default:
        return RunOnHost(step);
    }
  }

  void RunKernel(const Step& step) {
    std::vector<void*> arrays;
    for (const Slice& slice : step.operands) arrays.push_back(At(slice));
    for (const Slice& slice : step.results) arrays.push_back(At(slice));
    e_.kernel(step)(arrays.data());
  }

  absl::Status RunWhile(const Step& step) {
    RunCopies(step.copies);
    for (;;) {
      RETURN_IF_ERROR(RunSequence(step.bodies[0]));
      if (*At(step.selector) == 0) return absl::OkStatus();
      RETURN_IF_ERROR(RunSequence(step.bodies[1]));
    }
  }

  size_t ChosenBranch(const Step& step) {
    if (step.selector.size == 1) return *At(step.selector) != 0 ? 0 : 1;
    uint32_t number;
    std::memcpy(&number, At(step.selector), sizeof number);
    return std::min<size_t>(number, step.bodies.size() - 1);
  }

  absl::Status RunOnHost(const Step& step) {
    std::vector<Literal> operands;
    const Slice* next = step.operands.data();
    for (const Instruction* operand : step.instruction->operands())
      operands.push_back(ReadValue(operand->shape(), next));
    std::vector<const Literal*> pointers;
    for (const Literal& operand : operands) pointers.push_back(&operand);
    ASSIGN_OR_RETURN(const Literal result, group_.Evaluate(device_, *step.instruction, pointers));
    std::vector<std::string> leaves;
    AppendBytes(result, step.instruction->shape(), leaves);
    for (size_t k = 0; k < leaves.size(); ++k)
      if (!leaves[k].empty()) std::memcpy(At(step.results[k]), leaves[k].data(), leaves[k].size());
    return absl::OkStatus();
  }

  void RunCopies(const std::vector<BufferCopy>& copies) {
    std::vector<const uint8_t*> sources;
    for (const BufferCopy& copy : copies) {
      const bool staged = copy.staging.kind != Slice::Kind::kNone;
      if (staged) std::memcpy(At(copy.staging), At(copy.from), copy.to.size);
      sources.push_back(At(staged ? copy.staging : copy.from));
    }
    for (size_t k = 0; k < copies.size(); ++k)
      std::memmove(At(copies[k].to), sources[k], copies[k].to.size);
  }

  const ToyExecutable& e_;
  DeviceGroup& group_;
  const int64_t device_;
  std::string arena_;
  std::vector<std::string> parameters_, constants_, outputs_;
};

}  // namespace

absl::StatusOr<std::vector<Literal>> RunOnToy(std::unique_ptr<Module> module,
                                              absl::Span<const Literal* const> arguments,
                                              const InterpreterOptions& options) {
  ASSIGN_OR_RETURN(const auto executable, ToyExecutable::Compile(std::move(module)));
  const ModuleHeader& header = executable->module().header();
  const int64_t devices = header.replica_count * header.num_partitions;
  DeviceGroup group(options, header.replica_count, header.num_partitions);
  std::vector<absl::StatusOr<Literal>> results(devices, Literal::Token());
  std::vector<std::thread> threads;
  for (int64_t d = 0; d < devices; ++d)
    threads.emplace_back([&, d] { results[d] = ToyRun(*executable, group, d).Run(arguments); });
  for (std::thread& thread : threads) thread.join();
  std::vector<Literal> values;
  for (absl::StatusOr<Literal>& result : results) {
    RETURN_IF_ERROR(result.status());
    values.push_back(*std::move(result));
  }
  return values;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
