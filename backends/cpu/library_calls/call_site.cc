// Descriptors, pointer arrays and runtime calls as IR.
#include "backends/cpu/library_calls/call_site.h"

#include "codegen/constant_data.h"

namespace hlokit {

llvm::Value* CallSite::Words(absl::Span<const int64_t> words) {
  return ConstantData(*builder().GetInsertBlock()->getModule()).Ints(words);
}

// The array stands in the function's entry block: an alloca within a loop would grow the stack.
llvm::Value* CallSite::Pointers(absl::Span<llvm::Value* const> pointers) {
  Builder& b = builder();
  llvm::Value* array = nullptr;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    array = b.CreateAlloca(b.getPtrTy(), b.getInt64(std::max<size_t>(1, pointers.size())));
  }
  for (size_t k = 0; k < pointers.size(); ++k) {
    llvm::Value* value =
        pointers[k] != nullptr ? pointers[k] : llvm::ConstantPointerNull::get(b.getPtrTy());
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(b.getPtrTy(), array, k));
  }
  return array;
}

void CallRuntime(Builder& b, const char* name, absl::Span<llvm::Value* const> arguments) {
  std::vector<llvm::Type*> types;
  std::vector<llvm::Value*> values;
  for (llvm::Value* argument : arguments) {
    values.push_back(argument != nullptr ? argument : llvm::ConstantPointerNull::get(b.getPtrTy()));
    types.push_back(values.back()->getType());
  }
  llvm::FunctionType* type = llvm::FunctionType::get(b.getVoidTy(), types, false);
  b.CreateCall(b.GetInsertBlock()->getModule()->getOrInsertFunction(name, type), values);
}

// A call of the reference evaluator on one instruction, named by its id: what no kernel and no
// library function computes. Slow, and always right.
void EmitReferenceCall(CallSite& site, const Instruction& i) {
  std::vector<llvm::Value*> operands, results;
  for (int64_t o = 0; o < i.operand_count(); ++o) {
    const int64_t leaves = static_cast<int64_t>(Leaves(i.operand(o)->shape()).size());
    for (int64_t leaf = 0; leaf < leaves; ++leaf) operands.push_back(site.operand(o, leaf));
  }
  const int64_t leaves = static_cast<int64_t>(Leaves(i.shape()).size());
  for (int64_t leaf = 0; leaf < leaves; ++leaf) results.push_back(site.result(leaf));
  llvm::Value* from = site.Pointers(operands);
  llvm::Value* to = site.Pointers(results);
  site.Call("hlokit_call_reference", {site.context(), site.builder().getInt64(i.id()), from, to});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
