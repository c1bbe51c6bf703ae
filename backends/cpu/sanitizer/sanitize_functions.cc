// Functions of checks. Of an access of N bytes:
//   ptr check(ptr base, ptr address, i64 size, i64 site, iN*8 state) {
//     if (address - base + N <= size, address is aligned, the state of the N bytes is `state`)
//       return address;              // a write sets the state instead
//     return slow(...);
//   }
#include "backends/cpu/sanitizer/sanitize_functions_internal.h"

#include "absl/strings/str_cat.h"
#include "backends/cpu/sanitizer/shadow_memory_internal.h"
#include "ir/module.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxInlineBytes = 64;
// What accesses out of bounds use instead: as long as the longest.
constexpr int64_t kNowhereBytes = 4096;

char* Nowhere() {
  alignas(64) thread_local char bytes[kNowhereBytes];
  return bytes;
}

// ---- called by compiled code ----

char* SlowCheck(Sanitizer* s, int64_t site, const char* base, char* address, int64_t size,
                int64_t bytes, int64_t tag) {
  const bool inside = s->Check({site, base, address, size, bytes, static_cast<uint8_t>(tag)});
  if (inside) return address;
  std::fill_n(Nowhere(), kNowhereBytes, 0);
  return Nowhere();
}

// Lane k is bit k of the mask, `bytes` bytes at address + k * bytes.
char* CheckMasked(Sanitizer* s, int64_t site, const char* base, char* address, int64_t size,
                  int64_t bytes, int64_t tag, int64_t mask) {
  bool inside = true;
  for (int64_t k = 0; k < 64; ++k)
    if ((static_cast<uint64_t>(mask) >> k & 1) != 0)
      inside &= s->Check({site, base, address + k * bytes, size, bytes, static_cast<uint8_t>(tag)});
  if (inside) return address;
  std::fill_n(Nowhere(), kNowhereBytes, 0);
  return Nowhere();
}

// Changes addresses that are out of bounds.
void CheckLanes(Sanitizer* s, int64_t site, const char* base, char** addresses, int64_t size,
                int64_t bytes, int64_t tag, int64_t mask) {
  for (int64_t k = 0; k < 64; ++k)
    if ((static_cast<uint64_t>(mask) >> k & 1) != 0 &&
        !s->Check({site, base, addresses[k], size, bytes, static_cast<uint8_t>(tag)}))
      addresses[k] = Nowhere();
}

int64_t CheckBlock(Sanitizer* s, int64_t site, const char* base, char* address, int64_t size,
                   int64_t bytes, int64_t tag) {
  return s->Check({site, base, address, size, bytes, static_cast<uint8_t>(tag)}) ? bytes : 0;
}

// Of no bytes: only the address is looked at.
void CheckAligned(Sanitizer* s, int64_t site, char* address) { s->CheckAlignment(site, address); }

void Begin(Sanitizer* s, char* array, int64_t size) { s->Begin(array, size); }

void End(Sanitizer* s, int64_t site, char* array, int64_t size, int64_t tag) {
  s->End(site, array, size, static_cast<uint8_t>(tag));
}

void Overflow(Sanitizer* s, int64_t site, int64_t x, int64_t y) { s->ReportOverflow(site, x, y); }

template <typename F>
const void* AddressOf(F* function) {
  return reinterpret_cast<const void*>(function);
}

llvm::APInt Splat(int64_t bytes, uint8_t tag) {
  return llvm::APInt::getSplat(static_cast<unsigned>(8 * bytes), llvm::APInt(8, tag));
}

llvm::Value* Word(llvm::IRBuilder<>& b, int64_t value) {
  return b.getInt64(static_cast<uint64_t>(value));
}

}  // namespace

CheckFunctions::CheckFunctions(llvm::Module& module, Sanitizer& sanitizer)
    : module_(module), sanitizer_(sanitizer) {
  for (const ArrayNote& note : sanitizer.arrays()) {
    if (note.instruction == nullptr || !by_id_.empty()) continue;
    for (const Computation* c : note.instruction->module()->Computations())
      for (const Instruction* i : c->Instructions()) by_id_[i->id()] = i;
  }
}

const Instruction* CheckFunctions::instruction(int64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

llvm::Function* CheckFunctions::NewFunction(const std::string& name, llvm::Type* result,
                                            llvm::ArrayRef<llvm::Type*> types) {
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                          llvm::GlobalValue::InternalLinkage, name, module_);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

llvm::Value* CheckFunctions::CallProcess(llvm::IRBuilder<>& b, const void* function,
                                         llvm::Type* result,
                                         llvm::ArrayRef<llvm::Value*> arguments) {
  const auto pointer = [&](const void* address) {
    return llvm::ConstantExpr::getIntToPtr(b.getInt64(reinterpret_cast<uintptr_t>(address)),
                                           b.getPtrTy());
  };
  std::vector<llvm::Value*> all = {pointer(&sanitizer_)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : all) types.push_back(v->getType());
  llvm::CallInst* call =
      b.CreateCall(llvm::FunctionType::get(result, types, false), pointer(function), all);
  call->addFnAttr(llvm::Attribute::Cold);
  return call;
}

llvm::Function* CheckFunctions::CheckOf(bool write, int64_t bytes, llvm::Align alignment,
                                        bool tagged) {
  llvm::Function*& function = checks_[{write, bytes, alignment.value(), tagged}];
  if (function != nullptr) return function;
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type *ptr = llvm::PointerType::get(context, 0), *i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* bits = llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * bytes));
  function = NewFunction(absl::StrCat("sanitize_", write ? "write" : "read", bytes), ptr,
                         {ptr, ptr, i64, i64, bits});
  llvm::Argument *base = function->getArg(0), *address = function->getArg(1),
                 *size = function->getArg(2), *site = function->getArg(3),
                 *state = function->getArg(4);
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(context, name, function);
  };
  llvm::BasicBlock *entry = block("entry"), *inside = block("inside"), *good = block("good"),
                   *slow = block("slow");
  llvm::IRBuilder<> b(entry);
  llvm::Value* at = b.CreatePtrToInt(address, i64);
  llvm::Value* offset = b.CreateSub(at, b.CreatePtrToInt(base, i64));
  llvm::Value* fits = b.CreateAnd(b.CreateICmpULT(offset, size),
                                  b.CreateICmpULE(b.CreateAdd(offset, Word(b, bytes)), size));
  llvm::Value* low = b.CreateAnd(at, Word(b, static_cast<int64_t>(alignment.value()) - 1));
  b.CreateCondBr(b.CreateAnd(fits, b.CreateICmpEQ(low, Word(b, 0))), inside, slow);
  b.SetInsertPoint(inside);
  llvm::Value* shadow = b.CreateIntToPtr(b.CreateAdd(at, Word(b, kShadowDistance)), ptr);
  if (tagged && write) b.CreateAlignedStore(state, shadow, llvm::Align(1));
  if (tagged && !write) {
    llvm::Value* found = b.CreateAlignedLoad(bits, shadow, llvm::Align(1));
    b.CreateCondBr(b.CreateICmpEQ(found, state), good, slow);
  } else {
    b.CreateBr(good);
  }
  b.SetInsertPoint(good);
  b.CreateRet(address);
  b.SetInsertPoint(slow);
  llvm::Value* tag = tagged ? b.CreateZExt(b.CreateTrunc(state, b.getInt8Ty()), i64) : Word(b, 0);
  b.CreateRet(
      CallProcess(b, AddressOf(SlowCheck), ptr, {site, base, address, size, Word(b, bytes), tag}));
  return function;
}

llvm::Value* CheckFunctions::CallCheck(llvm::IRBuilder<>& b, bool write, int64_t bytes,
                                       llvm::Align alignment, const CheckedAccess& a) {
  if (bytes > kMaxInlineBytes || (write && !a.may_write))
    return CallProcess(
        b, AddressOf(SlowCheck), b.getPtrTy(),
        {Word(b, a.site), a.base, a.address, Word(b, a.size), Word(b, bytes), Word(b, a.tag)});
  llvm::Function* check = CheckOf(write, bytes, alignment, a.tag != 0);
  return b.CreateCall(check, {a.base, a.address, Word(b, a.size), Word(b, a.site),
                              llvm::ConstantInt::get(module_.getContext(), Splat(bytes, a.tag))});
}

llvm::Value* CheckFunctions::CallMasked(llvm::IRBuilder<>& b, llvm::Value* mask,
                                        int64_t element_bytes, const CheckedAccess& a) {
  return CallProcess(b, AddressOf(CheckMasked), b.getPtrTy(),
                     {Word(b, a.site), a.base, a.address, Word(b, a.size), Word(b, element_bytes),
                      Word(b, a.tag), mask});
}

llvm::Value* CheckFunctions::CallLanes(llvm::IRBuilder<>& b, llvm::Value* mask,
                                       int64_t element_bytes, const CheckedAccess& a) {
  llvm::Type* type = a.address->getType();
  llvm::AllocaInst* addresses = nullptr;
  {
    const llvm::IRBuilderBase::InsertPointGuard guard(b);
    llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    addresses = b.CreateAlloca(type);
  }
  b.CreateStore(a.address, addresses);
  CallProcess(b, AddressOf(CheckLanes), b.getVoidTy(),
              {Word(b, a.site), a.base, addresses, Word(b, a.size), Word(b, element_bytes),
               Word(b, a.tag), mask});
  return b.CreateLoad(type, addresses);
}

llvm::Value* CheckFunctions::CallBlock(llvm::IRBuilder<>& b, llvm::Value* bytes,
                                       const CheckedAccess& a) {
  return CallProcess(b, AddressOf(CheckBlock), b.getInt64Ty(),
                     {Word(b, a.site), a.base, a.address, Word(b, a.size), bytes, Word(b, a.tag)});
}

void CheckFunctions::CallAligned(llvm::IRBuilder<>& b, int64_t site, llvm::Value* address,
                                 llvm::Align) {
  CallProcess(b, AddressOf(CheckAligned), b.getVoidTy(), {Word(b, site), address});
}

void CheckFunctions::CallBegin(llvm::IRBuilder<>& b, llvm::Value* array, int64_t size) {
  CallProcess(b, AddressOf(Begin), b.getVoidTy(), {array, Word(b, size)});
}

void CheckFunctions::CallEnd(llvm::IRBuilder<>& b, const CheckedAccess& a) {
  CallProcess(b, AddressOf(End), b.getVoidTy(),
              {Word(b, a.site), a.base, Word(b, a.size), Word(b, a.tag)});
}

llvm::Function* CheckFunctions::OverflowFunction() {
  if (overflow_ != nullptr) return overflow_;
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type *i1 = llvm::Type::getInt1Ty(context), *i64 = llvm::Type::getInt64Ty(context);
  overflow_ = NewFunction("sanitize_overflow", llvm::Type::getVoidTy(context), {i1, i64, i64, i64});
  auto* entry = llvm::BasicBlock::Create(context, "entry", overflow_);
  auto* bad = llvm::BasicBlock::Create(context, "bad", overflow_);
  auto* good = llvm::BasicBlock::Create(context, "good", overflow_);
  llvm::IRBuilder<> b(entry);
  b.CreateCondBr(overflow_->getArg(0), bad, good);
  b.SetInsertPoint(bad);
  CallProcess(b, AddressOf(Overflow), b.getVoidTy(),
              {overflow_->getArg(1), overflow_->getArg(2), overflow_->getArg(3)});
  b.CreateBr(good);
  b.SetInsertPoint(good);
  b.CreateRetVoid();
  return overflow_;
}

void CheckFunctions::CallOverflow(llvm::IRBuilder<>& b, int64_t site, llvm::Value* wrong,
                                  llvm::Value* x, llvm::Value* y) {
  b.CreateCall(OverflowFunction(), {wrong, Word(b, site), x, y});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
