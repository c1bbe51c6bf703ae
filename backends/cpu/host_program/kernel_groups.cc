// Groups of small independent kernels (the parts of a horizontal fusion): the chunks of all of them
// are numbered through, and one parallel loop distributes them, so that threads are woken once.
#include <algorithm>

#include "backends/cpu/host_program/module_emitter_internal.h"

namespace hlokit {

// A kernel's chunks are numbers from `first` on among those of its group.
struct GroupMember {
  std::string kernel;         // its function
  std::vector<Slice> slices;  // its arguments
  int64_t units, grain, first, chunks;
};

absl::Status ModuleEmitter::EmitKernelGroup(Frame& f, const Instruction& i,
                                            absl::Span<Kernel> kernels) {
  std::vector<GroupMember> members;
  int64_t chunks = 0;
  double work = 0;
  for (Kernel& kernel : kernels) {
    GroupMember member;
    member.slices = SlicesOf(i, kernel);
    member.units = kernel.units;
    member.grain = std::min(kernel.units, GrainOf(kernel));
    member.first = chunks;
    member.chunks = (member.units + member.grain - 1) / member.grain;
    chunks += member.chunks;
    work += static_cast<double>(kernel.units) * kernel.unit_cost;
    member.kernel = AddKernel(i, std::move(kernel), member.slices).name;
    members.push_back(std::move(member));
  }
  Builder& b = f.b;
  llvm::Function* body = EmitGroupFunction(*b.GetInsertBlock()->getModule(),
                                           absl::StrCat("group_", i.name()), members);
  LibrarySite site(*this, f, i);
  llvm::Value* env = site.Pointers({f.context(), f.arena(), f.table()});
  const auto grain = static_cast<int64_t>(kChunkWork * static_cast<double>(chunks) / work);
  llvm::Function* range = EmitRangeFunction(*body, 3);
  range->setVisibility(llvm::GlobalValue::DefaultVisibility);
  range->setLinkage(llvm::GlobalValue::InternalLinkage);  // called here alone
  range->addFnAttr(llvm::Attribute::NoUnwind);
  site.Call("hlokit_parallel_for",
            {f.context(), range, env, b.getInt64(chunks), b.getInt64(std::max<int64_t>(1, grain))});
  return absl::OkStatus();
}

// void group(context, arena, table, begin, end): the chunks from begin to end, kernel by kernel.
llvm::Function* ModuleEmitter::EmitGroupFunction(llvm::Module& module, const std::string& name,
                                                 absl::Span<const GroupMember> members) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer, pointer, i64, i64}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::NoInline);
  Frame frame(function, llvm::BasicBlock::Create(context, "entry", function));
  Builder& b = frame.b;
  for (const GroupMember& member : members) {
    const auto chunk = [&](unsigned argument) {
      return b.CreateNSWSub(function->getArg(argument), b.getInt64(member.first));
    };
    llvm::Value* begin = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, chunk(3), b.getInt64(0));
    llvm::Value* end =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, chunk(4), b.getInt64(member.chunks));
    auto* some = llvm::BasicBlock::Create(context, "some", function);
    auto* next = llvm::BasicBlock::Create(context, "next", function);
    b.CreateCondBr(b.CreateICmpSLT(begin, end), some, next);
    b.SetInsertPoint(some);
    std::vector<llvm::Value*> arguments;
    for (const Slice& slice : member.slices) arguments.push_back(Pointer(frame, slice));
    llvm::Value* grain = b.getInt64(member.grain);
    arguments.push_back(b.CreateNSWMul(begin, grain));
    arguments.push_back(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWMul(end, grain),
                                                b.getInt64(member.units)));
    b.CreateCall(DeclareFunction(module, member.kernel, member.slices.size(), 2), arguments);
    b.CreateBr(next);
    b.SetInsertPoint(next);
  }
  b.CreateRetVoid();
  return function;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
