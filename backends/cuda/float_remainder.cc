// fmod by doubling and subtraction, all steps of which are exact:
//
//   t = |y|; while (t + t <= r) t = t + t          r = |x|
//   while (t >= |y|) { if (r >= t) r = r - t; t = t / 2 }
//
// fmod(7, 2): t = 4, r = 3; t = 2, r = 1; t = 1 < 2: 1. A step a binary digit of the quotient: at
// most 277 for f32 and 2098 for f64. Halving gives back the doubles of |y|, so it is exact too.
#include "backends/cuda/float_remainder_internal.h"

#include <vector>

namespace hlokit {
namespace {

// Blocks of T remainder(T x, T y).
class RemainderFunction {
 public:
  RemainderFunction(llvm::Module& module, llvm::Type* type, const std::string& name)
      : context_(module.getContext()), type_(type), b_(context_) {
    auto* signature = llvm::FunctionType::get(type, {type, type}, false);
    function_ = llvm::Function::Create(signature, llvm::GlobalValue::InternalLinkage, name, module);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
  }

  llvm::Function* Emit() {
    llvm::BasicBlock *entry = Block("entry"), *special = Block("special"), *start = Block("start");
    llvm::BasicBlock *up = Block("up"), *down = Block("down"), *step = Block("step");
    llvm::BasicBlock* done = Block("done");
    b_.SetInsertPoint(entry);
    llvm::Value* const x = function_->getArg(0);
    llvm::Value* const r = Magnitude(x);
    llvm::Value* const y = Magnitude(function_->getArg(1));
    llvm::Value* const infinity = llvm::ConstantFP::getInfinity(type_);
    llvm::Value* const has_value = b_.CreateAnd(
        b_.CreateFCmpOLT(r, infinity), b_.CreateFCmpOGT(y, llvm::ConstantFP::get(type_, 0)));
    llvm::Value* const is_larger = b_.CreateFCmpOGE(r, y);
    b_.CreateCondBr(b_.CreateAnd(has_value, is_larger), start, special);
    b_.SetInsertPoint(special);
    b_.CreateRet(b_.CreateSelect(has_value, x, llvm::ConstantFP::getNaN(type_)));
    b_.SetInsertPoint(start);
    b_.CreateBr(up);
    b_.SetInsertPoint(up);
    llvm::PHINode* const multiple = Phi(y, start);
    llvm::Value* const twice = b_.CreateFAdd(multiple, multiple);
    multiple->addIncoming(twice, up);
    b_.CreateCondBr(b_.CreateFCmpOLE(twice, r), up, down);
    b_.SetInsertPoint(down);
    llvm::PHINode* const t = Phi(multiple, up);
    llvm::PHINode* const rest = Phi(r, up);
    b_.CreateCondBr(b_.CreateFCmpOGE(t, y), step, done);
    b_.SetInsertPoint(step);
    rest->addIncoming(b_.CreateSelect(b_.CreateFCmpOGE(rest, t), b_.CreateFSub(rest, t), rest),
                      step);
    t->addIncoming(b_.CreateFMul(t, llvm::ConstantFP::get(type_, 0.5)), step);
    b_.CreateBr(down);
    b_.SetInsertPoint(done);
    b_.CreateRet(b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rest, x));
    return function_;
  }

 private:
  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(context_, name, function_);
  }
  llvm::Value* Magnitude(llvm::Value* value) {
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  }
  llvm::PHINode* Phi(llvm::Value* value, llvm::BasicBlock* from) {
    llvm::PHINode* const phi = b_.CreatePHI(type_, 2);
    phi->addIncoming(value, from);
    return phi;
  }

  llvm::LLVMContext& context_;
  llvm::Type* type_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_;
};

llvm::Function* RemainderOf(llvm::Module& module, llvm::Type* type) {
  const std::string name = type->isDoubleTy() ? "hlokit_fmod_f64" : "hlokit_fmod_f32";
  if (llvm::Function* const known = module.getFunction(name)) return known;
  return RemainderFunction(module, type, name).Emit();
}

}  // namespace

void ReplaceRemainders(llvm::Module& module) {
  std::vector<llvm::Instruction*> remainders;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& i : block)
        if (i.getOpcode() == llvm::Instruction::FRem) remainders.push_back(&i);
  for (llvm::Instruction* i : remainders) {
    llvm::IRBuilder<> b(i);
    llvm::Type* const type = i->getType();
    llvm::Type* const wide = type->isDoubleTy() ? type : b.getFloatTy();
    llvm::Value* const result = b.CreateCall(
        RemainderOf(module, wide),
        {b.CreateFPCast(i->getOperand(0), wide), b.CreateFPCast(i->getOperand(1), wide)});
    i->replaceAllUsesWith(b.CreateFPCast(result, type));
    i->eraseFromParent();
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
