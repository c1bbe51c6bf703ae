// Functions for computations, their instructions in order; kernels as functions of their own.
#include "codegen/module_emitter.h"

#include <algorithm>

#include "analysis/in_place.h"
#include "codegen/call_site.h"
#include "codegen/kernels.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Work (in simple float operations) below which a kernel stands in its caller, and above which
// threads share it.
constexpr double kInlineWork = 256;
constexpr double kParallelWork = 150000;
constexpr double kChunkWork = 40000;

// Instructions in one function.
constexpr size_t kPiece = 64;

// Fields of HlokitRunContext that compiled code reads (runtime/context.h keeps their places).
constexpr int64_t kCancelledOffset = 8;  // two int32: cancelled, failed
constexpr int64_t kReplicaOffset = 24;
constexpr int64_t kPartitionOffset = 28;

bool IsReadOnly(const Slice& slice) {
  return slice.kind == Slice::Kind::kParameter || slice.kind == Slice::Kind::kConstant;
}

const Shape& LeafShape(const Shape& shape, int64_t leaf) {
  return shape.IsTuple() ? *Leaves(shape)[leaf].shape : shape;
}

class Emitter {
 public:
  Emitter(const Module& module, const BufferAssignment& buffers, const EmitOptions& options)
      : module_(module), buffers_(buffers), options_(options) {}

  absl::StatusOr<EmittedModule> Run() {
    for (int p = 0; p < std::max(1, options_.parts); ++p) {
      EmittedModule::Part part;
      part.context = std::make_unique<llvm::LLVMContext>();
      part.module = std::make_unique<llvm::Module>("hlokit", *part.context);
      part.module->setTargetTriple(options_.triple);
      part.module->setDataLayout(options_.data_layout);
      out_.parts.push_back(std::move(part));
    }
    work_.assign(out_.parts.size(), 0);
    ASSIGN_OR_RETURN(llvm::Function * entry, EmitComputation(*module_.entry(), kEntrySymbol));
    entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
    return std::move(out_);
  }

 private:
  // One computation's function while it is being written.
  struct Frame {
    Frame(llvm::Function* f, llvm::BasicBlock* block) : function(f), b(block) {}
    llvm::Function* function;
    Builder b;
    llvm::Value* context() const { return function->getArg(0); }
    llvm::Value* arena() const { return function->getArg(1); }
    llvm::Value* table() const { return function->getArg(2); }
  };

  // What runtime calls see: pointers, as the computation's function has them.
  class LibrarySite final : public CallSite {
   public:
    LibrarySite(Emitter& emitter, Frame& frame, const Instruction& i)
        : e_(emitter), f_(frame), i_(i) {}
    Builder& builder() override { return f_.b; }
    llvm::Value* context() override { return f_.context(); }
    llvm::Value* operand(int64_t o, int64_t leaf) override {
      return e_.Pointer(f_, e_.buffers_.slice(i_.operand(o), leaf));
    }
    llvm::Value* result(int64_t leaf) override {
      return e_.Pointer(f_, e_.buffers_.slice(&i_, leaf));
    }

   private:
    Emitter& e_;
    Frame& f_;
    const Instruction& i_;
  };

  // Pointers for code that stands in a kernel's function: its arguments.
  class Arguments final : public KernelArrays {
   public:
    Arguments(const Instruction& i, const BufferAssignment& buffers,
              const std::vector<Slice>& slices, llvm::Function* function)
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

  // Pointers for a kernel that stands in the computation's function.
  class InlineArrays final : public KernelArrays {
   public:
    InlineArrays(Emitter& emitter, Frame& frame, const Instruction& i)
        : e_(emitter), f_(frame), i_(i) {}
    ArrayRef operand(int64_t o) override {
      const Slice& slice = e_.buffers_.slice(i_.operand(o));
      return {e_.Pointer(f_, slice), i_.operand(o)->shape(), IsReadOnly(slice)};
    }
    ArrayRef result(int64_t leaf) override {
      return {e_.Pointer(f_, e_.buffers_.slice(&i_, leaf)), LeafShape(i_.shape(), leaf)};
    }

   private:
    Emitter& e_;
    Frame& f_;
    const Instruction& i_;
  };

  llvm::Value* Pointer(Frame& f, const Slice& slice) {
    switch (slice.kind) {
      case Slice::Kind::kNone:
        return llvm::ConstantPointerNull::get(f.b.getPtrTy());
      case Slice::Kind::kArena:
        return f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.arena(), slice.offset);
      case Slice::Kind::kParameter:
        return TableEntry(f, slice.index);
      case Slice::Kind::kConstant:
        return TableEntry(f, static_cast<int64_t>(buffers_.parameter_sizes().size()) + slice.index);
      case Slice::Kind::kOutput:
        return TableEntry(f, static_cast<int64_t>(buffers_.parameter_sizes().size() +
                                                  buffers_.constants().size()) +
                                 slice.index);
    }
    return nullptr;
  }

  llvm::Value* TableEntry(Frame& f, int64_t index) {
    llvm::LoadInst* load = f.b.CreateLoad(
        f.b.getPtrTy(), f.b.CreateConstInBoundsGEP1_64(f.b.getPtrTy(), f.table(), index));
    llvm::MDNode* none = llvm::MDNode::get(f.b.getContext(), {});
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
    load->setMetadata(llvm::LLVMContext::MD_nonnull, none);
    return load;
  }

  // Long computations are cut into pieces: LLVM's time grows faster than the length of a block.
  absl::StatusOr<llvm::Function*> EmitComputation(const Computation& computation,
                                                  const std::string& name) {
    llvm::Function* function = NewFunction(name);
    Frame frame(function, llvm::BasicBlock::Create(function->getContext(), "entry", function));
    const std::vector<Instruction*> order = computation.ScheduleOrPostOrder();
    if (order.size() <= kPiece + kPiece / 2) {
      for (const Instruction* i : order) RETURN_IF_ERROR(EmitInstruction(frame, *i));
    } else {
      for (size_t first = 0; first < order.size(); first += kPiece) {
        const size_t count = std::min(kPiece, order.size() - first);
        ASSIGN_OR_RETURN(llvm::Function * piece, EmitPiece({order.data() + first, count}, name));
        CallComputation(frame, piece);
      }
    }
    if (computation.IsEntry()) EmitCopies(frame, buffers_.output_copies());
    frame.b.CreateRetVoid();
    return function;
  }

  absl::StatusOr<llvm::Function*> EmitPiece(absl::Span<Instruction* const> instructions,
                                            const std::string& name) {
    llvm::Function* function = NewFunction(absl::StrCat(name, ".piece"));
    function->addFnAttr(llvm::Attribute::NoInline);
    Frame frame(function, llvm::BasicBlock::Create(function->getContext(), "entry", function));
    for (const Instruction* i : instructions) RETURN_IF_ERROR(EmitInstruction(frame, *i));
    frame.b.CreateRetVoid();
    return function;
  }

  // void computation(context, arena, table)
  llvm::Function* NewFunction(const std::string& name) {
    llvm::Module& module = *out_.parts[0].module;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::get(context, 0);
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
    for (unsigned a = 0; a < 3; ++a) function->addParamAttr(a, llvm::Attribute::NoAlias);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    return function;
  }

  absl::Status EmitInstruction(Frame& f, const Instruction& i) {
    switch (i.opcode()) {
      case Opcode::kParameter:
      case Opcode::kConstant:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
      case Opcode::kAfterAll:
        return absl::OkStatus();
      case Opcode::kWhile:
        return EmitWhile(f, i);
      case Opcode::kConditional:
        return EmitConditional(f, i);
      case Opcode::kCall:
        return EmitCall(f, i);
      case Opcode::kPartitionId:
      case Opcode::kReplicaId:
        EmitDeviceId(f, i);
        return absl::OkStatus();
      default:
        break;
    }
    if (IsPassThrough(i) || NothingToDo(i)) return absl::OkStatus();
    LibrarySite site(*this, f, i);
    if (EmitLibraryCall(site, i)) return absl::OkStatus();
    if (CanEmitKernels(i)) return EmitKernels(f, i);
    out_.reference_calls.push_back(&i);
    EmitReferenceCall(site, i);
    return absl::OkStatus();
  }

  bool NothingToDo(const Instruction& i) const {
    if (i.HasSideEffect()) return false;
    for (const Slice& slice : buffers_.slices(&i))
      if (slice.kind != Slice::Kind::kNone) return false;
    return true;
  }

  void EmitDeviceId(Frame& f, const Instruction& i) {
    const int64_t offset = i.opcode() == Opcode::kReplicaId ? kReplicaOffset : kPartitionOffset;
    llvm::Value* at = f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.context(), offset);
    f.b.CreateStore(f.b.CreateLoad(f.b.getInt32Ty(), at), Pointer(f, buffers_.slice(&i)));
  }

  absl::Status EmitKernels(Frame& f, const Instruction& i) {
    const auto in_place = [&](int64_t o, int64_t leaf) {
      const auto operand = buffers_.slices(i.operand(o));
      return !operand.empty() && operand[0] == buffers_.slice(&i, leaf);
    };
    for (const Kernel& kernel : MakeKernels(i, in_place)) {
      if (kernel.units == 0) continue;
      const double work = static_cast<double>(kernel.units) * kernel.unit_cost;
      const Instruction* unsupported = nullptr;
      if (work <= kInlineWork) {
        InlineArrays arrays(*this, f, i);
        kernel.emit(f.b, arrays, f.b.getInt64(0), f.b.getInt64(kernel.units));
        unsupported = arrays.unsupported;
      } else {
        unsupported = EmitKernelCall(f, i, kernel, work);
      }
      if (unsupported != nullptr)
        return Unimplemented(Text(unsupported->opcode()), " of ",
                             Text(unsupported->operand(0)->shape()),
                             " has no code on the CPU (instruction %", unsupported->name(), ")");
    }
    return absl::OkStatus();
  }

  // Distinct slices of an instruction's operands and results.
  std::vector<Slice> SlicesOf(const Instruction& i) const {
    std::vector<Slice> slices;
    auto add = [&](const Slice& s) {
      if (s.kind != Slice::Kind::kNone &&
          std::find(slices.begin(), slices.end(), s) == slices.end())
        slices.push_back(s);
    };
    for (const Instruction* operand : i.operands())
      for (const Slice& s : buffers_.slices(operand)) add(s);
    for (const Slice& s : buffers_.slices(&i)) add(s);
    return slices;
  }

  const Instruction* EmitKernelCall(Frame& f, const Instruction& i, const Kernel& kernel,
                                    double work) {
    const std::vector<Slice> slices = SlicesOf(i);
    const size_t lightest = std::min_element(work_.begin(), work_.end()) - work_.begin();
    // Kernels that look alike go to one part, where equal ones are compiled once.
    const auto [place, fresh] = part_of_.try_emplace(LooksOf(i), lightest);
    const size_t part = place->second;
    const std::string name = absl::StrCat("kernel_", next_kernel_++, "_", i.name());
    const Instruction* unsupported = nullptr;
    llvm::Function* function = EmitKernelFunction(part, name, i, slices, kernel, &unsupported);
    if (fresh) work_[part] += static_cast<double>(function->getInstructionCount());
    const bool parallel = options_.parallel && work > kParallelWork && kernel.units > 1;
    std::vector<llvm::Value*> pointers;
    for (const Slice& s : slices) pointers.push_back(Pointer(f, s));
    Builder& b = f.b;
    if (!parallel) {
      pointers.push_back(b.getInt64(0));
      pointers.push_back(b.getInt64(kernel.units));
      b.CreateCall(Declare(*b.GetInsertBlock()->getModule(), *function), pointers);
      return unsupported;
    }
    llvm::Function* body = EmitRangeFunction(*function, slices.size());
    LibrarySite site(*this, f, i);
    const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kChunkWork / kernel.unit_cost));
    llvm::Value* env = site.Pointers(pointers);
    site.Call("hlokit_parallel_for", {f.context(), Declare(*b.GetInsertBlock()->getModule(), *body),
                                      env, b.getInt64(kernel.units), b.getInt64(grain)});
    return unsupported;
  }

  static std::string LooksOf(const Instruction& i) {
    std::string looks = absl::StrCat(Text(i.opcode()), Text(i.shape(), true));
    for (const Instruction* operand : i.operands())
      absl::StrAppend(&looks, " ", Text(operand->shape(), true));
    if (i.opcode() == Opcode::kFusion)
      absl::StrAppend(&looks, " ", i.to_apply()->instruction_count());
    return looks;
  }

  // void kernel(slices..., begin, end)
  llvm::Function* EmitKernelFunction(size_t part, const std::string& name, const Instruction& i,
                                     const std::vector<Slice>& slices, const Kernel& kernel,
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
    bool distinct = true;
    for (size_t x = 0; x < slices.size(); ++x)
      for (size_t y = 0; y < x; ++y) distinct &= !Overlap(slices[x], slices[y]);
    for (unsigned a = 0; a < slices.size(); ++a) {
      if (distinct) function->addParamAttr(a, llvm::Attribute::NoAlias);
      function->addParamAttr(a, llvm::Attribute::NonNull);
      if (slices[a].kind == Slice::Kind::kArena)
        function->addParamAttr(a, llvm::Attribute::getWithAlignment(context, llvm::Align(64)));
    }
    Builder b(llvm::BasicBlock::Create(context, "entry", function));
    Arguments arrays(i, buffers_, slices, function);
    kernel.emit(b, arrays, function->getArg(slices.size()), function->getArg(slices.size() + 1));
    b.CreateRetVoid();
    *unsupported = arrays.unsupported;
    return function;
  }

  // void range(void** slices, begin, end): what hlokit_parallel_for calls.
  llvm::Function* EmitRangeFunction(llvm::Function& kernel, size_t count) {
    llvm::LLVMContext& context = kernel.getContext();
    llvm::Type* i64 = llvm::Type::getInt64Ty(context);
    llvm::Type* pointer = llvm::PointerType::get(context, 0);
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, i64, i64}, false);
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
  llvm::Function* Declare(llvm::Module& module, llvm::Function& function) {
    if (function.getParent() == &module) return &function;
    if (llvm::Function* known = module.getFunction(function.getName())) return known;
    llvm::LLVMContext& context = module.getContext();
    std::vector<llvm::Type*> types;
    for (const llvm::Argument& a : function.args())
      types.push_back(a.getType()->isPointerTy()
                          ? static_cast<llvm::Type*>(llvm::PointerType::get(context, 0))
                          : llvm::Type::getInt64Ty(context));
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
    auto* declared = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                            function.getName(), module);
    declared->setVisibility(llvm::GlobalValue::HiddenVisibility);
    declared->addFnAttr(llvm::Attribute::NoUnwind);
    return declared;
  }

  void EmitCopies(Frame& f, const std::vector<BufferCopy>& copies) {
    auto copy = [&](const Slice& from, const Slice& to) {
      llvm::Value* target = Pointer(f, to);
      llvm::Value* source = Pointer(f, from);
      f.b.CreateMemCpy(target, llvm::Align(1), source, llvm::Align(1), to.size);
    };
    for (const BufferCopy& c : copies)
      if (c.staging.kind != Slice::Kind::kNone) {
        Slice staging = c.staging;
        staging.size = c.to.size;
        copy(c.from, staging);
      }
    for (const BufferCopy& c : copies)
      copy(c.staging.kind != Slice::Kind::kNone ? c.staging : c.from, c.to);
  }

  void CallComputation(Frame& f, llvm::Function* function) {
    f.b.CreateCall(function, {f.context(), f.arena(), f.table()});
  }

  absl::Status EmitCall(Frame& f, const Instruction& i) {
    ASSIGN_OR_RETURN(llvm::Function * callee, EmitComputation(*i.to_apply(), i.to_apply()->name()));
    CallComputation(f, callee);
    return absl::OkStatus();
  }

  absl::Status EmitWhile(Frame& f, const Instruction& i) {
    ASSIGN_OR_RETURN(llvm::Function * condition,
                     EmitComputation(*i.called(0), i.called(0)->name()));
    ASSIGN_OR_RETURN(llvm::Function * body, EmitComputation(*i.called(1), i.called(1)->name()));
    EmitCopies(f, buffers_.loop_entry_copies(&i));
    Builder& b = f.b;
    auto block = [&](const char* name) {
      return llvm::BasicBlock::Create(b.getContext(), name, f.function);
    };
    llvm::BasicBlock *head = block("while.head"), *loop = block("while.body"),
                     *exit = block("while.exit");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    CallComputation(f, condition);
    llvm::Value* flag =
        b.CreateLoad(b.getInt8Ty(), Pointer(f, buffers_.slice(i.called(0)->root())));
    // cancelled and failed, read as one word
    llvm::Value* stop_at =
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), f.context(), kCancelledOffset);
    llvm::Value* stop = b.CreateAlignedLoad(b.getInt64Ty(), stop_at, llvm::Align(4), true);
    llvm::Value* go_on =
        b.CreateAnd(b.CreateICmpNE(flag, b.getInt8(0)), b.CreateICmpEQ(stop, b.getInt64(0)));
    b.CreateCondBr(go_on, loop, exit);
    b.SetInsertPoint(loop);
    CallComputation(f, body);
    EmitCopies(f, buffers_.loop_back_copies(&i));
    b.CreateBr(head);
    b.SetInsertPoint(exit);
    return absl::OkStatus();
  }

  absl::Status EmitConditional(Frame& f, const Instruction& i) {
    std::vector<llvm::Function*> branches;
    for (const Computation* c : i.called()) {
      ASSIGN_OR_RETURN(llvm::Function * branch, EmitComputation(*c, c->name()));
      branches.push_back(branch);
    }
    Builder& b = f.b;
    llvm::Value* selector = Pointer(f, buffers_.slice(i.operand(0)));
    const bool is_pred = IsPred(i.operand(0)->shape().type);
    llvm::Value* index =
        is_pred ? b.CreateZExt(b.CreateICmpEQ(b.CreateLoad(b.getInt8Ty(), selector), b.getInt8(0)),
                               b.getInt32Ty())
                : b.CreateLoad(b.getInt32Ty(), selector);
    llvm::BasicBlock* join = llvm::BasicBlock::Create(b.getContext(), "join", f.function);
    std::vector<llvm::BasicBlock*> blocks;
    for (size_t k = 0; k < branches.size(); ++k)
      blocks.push_back(llvm::BasicBlock::Create(b.getContext(), "branch", f.function));
    llvm::SwitchInst* choice =
        b.CreateSwitch(index, blocks.back(), static_cast<unsigned>(branches.size()));
    for (size_t k = 0; k + 1 < branches.size(); ++k)
      choice->addCase(b.getInt32(static_cast<uint32_t>(k)), blocks[k]);
    for (size_t k = 0; k < branches.size(); ++k) {
      b.SetInsertPoint(blocks[k]);
      CallComputation(f, branches[k]);
      EmitCopies(f, buffers_.branch_copies(&i, static_cast<int64_t>(k)));
      b.CreateBr(join);
    }
    b.SetInsertPoint(join);
    return absl::OkStatus();
  }

  const Module& module_;
  const BufferAssignment& buffers_;
  const EmitOptions& options_;
  EmittedModule out_;
  std::vector<double> work_;                          // LLVM instructions in each part
  absl::flat_hash_map<std::string, size_t> part_of_;  // by the looks of a kernel
  int64_t next_kernel_ = 0;
};

}  // namespace

absl::StatusOr<EmittedModule> EmitModule(const Module& module, const BufferAssignment& buffers,
                                         const EmitOptions& options) {
  return Emitter(module, buffers, options).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
