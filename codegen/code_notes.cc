// Notes of arrays and instructions in LLVM IR: calls of marker functions for arrays, metadata for
// instructions. They tell the sanitizer which array a pointer belongs to and which HLO instruction
// a load or store came from; the passes that add checks remove them (backends/cpu/sanitizer).
#include "codegen/code_notes.h"

namespace hlokit {
namespace {

constexpr char kWanted[] = "hlokit.notes";

llvm::Metadata* NumberNote(llvm::LLVMContext& context, int64_t number) {
  return llvm::ConstantAsMetadata::get(
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), static_cast<uint64_t>(number)));
}

int64_t NumberIn(const llvm::MDOperand& operand) {
  return llvm::mdconst::extract<llvm::ConstantInt>(operand)->getSExtValue();
}

llvm::Module& ModuleOf(const Builder& b) { return *b.GetInsertBlock()->getModule(); }

}  // namespace

llvm::Value* NotedArray(Builder& b, int64_t note, llvm::Value* array) {
  llvm::Type* types[] = {b.getInt64Ty(), b.getPtrTy()};
  llvm::FunctionType* type = llvm::FunctionType::get(b.getPtrTy(), types, false);
  llvm::FunctionCallee mark = ModuleOf(b).getOrInsertFunction(kMarkArray, type);
  auto* const function = llvm::cast<llvm::Function>(mark.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  llvm::CallInst* call = b.CreateCall(mark, {b.getInt64(static_cast<uint64_t>(note)), array});
  call->addFnAttr(llvm::Attribute::NoMerge);
  return call;
}

int64_t ArrayNoteOf(const llvm::Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr || callee->getName() != kMarkArray) return -1;
  const auto* note = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
  return note != nullptr ? note->getSExtValue() : -1;
}

void SetArgumentNotes(llvm::Function& function, const std::vector<int64_t>& numbers) {
  llvm::LLVMContext& context = function.getContext();
  std::vector<llvm::Metadata*> nodes;
  for (int64_t number : numbers) nodes.push_back(NumberNote(context, number));
  function.setMetadata(kArgumentsNote, llvm::MDNode::get(context, nodes));
}

int64_t InstructionNoteOf(const llvm::Instruction& at) {
  const llvm::MDNode* node = at.getMetadata(kInstructionNote);
  return node != nullptr ? NumberIn(node->getOperand(0)) : -1;
}

std::vector<int64_t> ArgumentNotes(const llvm::Function& function) {
  std::vector<int64_t> numbers;
  const llvm::MDNode* node = function.getMetadata(kArgumentsNote);
  if (node == nullptr) return numbers;
  for (const llvm::MDOperand& operand : node->operands()) numbers.push_back(NumberIn(operand));
  return numbers;
}

void EmitMark(Builder& b, const char* mark, int64_t note, llvm::Value* array) {
  llvm::Type* types[] = {b.getInt64Ty(), b.getPtrTy()};
  llvm::FunctionType* type = llvm::FunctionType::get(b.getVoidTy(), types, false);
  llvm::CallInst* call = b.CreateCall(ModuleOf(b).getOrInsertFunction(mark, type),
                                      {b.getInt64(static_cast<uint64_t>(note)), array});
  call->addFnAttr(llvm::Attribute::NoMerge);
}

void WantNotes(llvm::Module& module) { module.getOrInsertNamedMetadata(kWanted); }

bool WantsNotes(const llvm::Module& module) { return module.getNamedMetadata(kWanted) != nullptr; }

void InstructionNote::Set(const Instruction* instruction) {
  // A builder takes over what it is to insert from an instruction that has it.
  auto* const carrier = new llvm::UnreachableInst(b_.getContext());
  llvm::LLVMContext& context = b_.getContext();
  if (instruction != nullptr)
    carrier->setMetadata(kInstructionNote,
                         llvm::MDNode::get(context, {NumberNote(context, instruction->id())}));
  b_.CollectMetadataToCopy(carrier, {b_.getContext().getMDKindID(kInstructionNote)});
  carrier->deleteValue();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
