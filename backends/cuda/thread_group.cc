// Combinations across threads. Within a warp, values go from register to register: in round d each
// thread combines its value with that of the thread whose number differs in bit d,
//
//   lanes 0 1 2 3:   a b c d  ->  ab ab cd cd  ->  abcd abcd abcd abcd
//
// so that after five rounds all 32 have the result. The operands of a combination are the same two
// in both threads, so a commutative one gives both the same bits. Across a block, the result of
// each warp goes through shared memory, of which each combination has a place of its own: one
// barrier is enough.
//
// Limits: values are integers, floats or i1 of up to 64 bits.
#include "backends/cuda/thread_group.h"

#include "absl/strings/str_cat.h"
#include "backends/cuda/ptx_code.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hlokit {
namespace {

constexpr int64_t kWarps = kBlockThreads / kWarp;
constexpr unsigned kSharedSpace = 3;
// Attributes of kernels.
constexpr char kSharedBytes[] = "hlokit-shared-bytes";
constexpr char kScratchBytes[] = "hlokit-scratch-bytes";

// A value of another thread of the warp, word by word: `kind` is a shuffle, `which` its argument.
llvm::Value* Shuffle(Builder& b, llvm::Value* value, llvm::Intrinsic::ID kind, llvm::Value* which) {
  const auto word_of = [&](llvm::Value* word) {
    return b.CreateIntrinsic(kind, {},
                             {b.getInt32(0xffffffffu), word, which, b.getInt32(kWarp - 1)});
  };
  llvm::Value* const words = ToWords(b, value);
  if (words->getType()->isIntegerTy(32)) return FromWords(b, word_of(words), value->getType());
  llvm::Value* const low = word_of(b.CreateTrunc(words, b.getInt32Ty()));
  llvm::Value* const high = word_of(b.CreateTrunc(b.CreateLShr(words, 32), b.getInt32Ty()));
  llvm::Value* const both =
      b.CreateOr(b.CreateZExt(low, b.getInt64Ty()),
                 b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), b.getInt64(32)));
  return FromWords(b, both, value->getType());
}

// That of the thread whose number differs in the bits of `distance`.
llvm::Value* Exchange(Builder& b, llvm::Value* value, int64_t distance) {
  return Shuffle(b, value, llvm::Intrinsic::nvvm_shfl_sync_bfly_i32,
                 b.getInt32(static_cast<uint32_t>(distance)));
}

// The number that an emitter gave the kernel as an attribute; 0 where it did not.
int64_t NumberOf(const llvm::Function& kernel, const char* attribute) {
  int64_t number = 0;
  const llvm::StringRef text = kernel.getFnAttribute(attribute).getValueAsString();
  return text.getAsInteger(10, number) ? 0 : number;
}

}  // namespace

llvm::Value* ToWords(Builder& b, llvm::Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  if (!value->getType()->isIntegerTy()) value = b.CreateBitCast(value, b.getIntNTy(bits));
  return bits < 32 ? b.CreateZExt(value, b.getInt32Ty()) : value;
}

llvm::Value* FromWords(Builder& b, llvm::Value* words, llvm::Type* type) {
  const unsigned bits = type->getScalarSizeInBits();
  if (bits < 32) words = b.CreateTrunc(words, b.getIntNTy(bits));
  return type->isIntegerTy() ? words : b.CreateBitCast(words, type);
}

llvm::Value* ReadLane(Builder& b, llvm::Value* value, llvm::Value* lane) {
  return Shuffle(b, value, llvm::Intrinsic::nvvm_shfl_sync_idx_i32, lane);
}

void AnnotateKernel(llvm::Function& kernel, const char* what, int value) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::Metadata* const row[] = {
      llvm::ValueAsMetadata::get(&kernel), llvm::MDString::get(context, what),
      llvm::ConstantAsMetadata::get(
          llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), static_cast<uint64_t>(value)))};
  kernel.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, row));
}

llvm::GlobalVariable* MakeShared(Builder& b, llvm::Type* type, int64_t count) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  auto* const array = llvm::ArrayType::get(type, static_cast<uint64_t>(count));
  auto* const shared =
      new llvm::GlobalVariable(module, array, /*isConstant=*/false,
                               llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(array),
                               "shared", nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  shared->setAlignment(llvm::Align(16));
  return shared;
}

llvm::Value* MakeDynamicShared(Builder& b, int64_t bytes) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  b.GetInsertBlock()->getParent()->addFnAttr(kSharedBytes, absl::StrCat(bytes));
  if (llvm::GlobalVariable* const known = module.getNamedGlobal("dynamic_shared")) return known;
  auto* const shared =
      new llvm::GlobalVariable(module, llvm::ArrayType::get(b.getInt8Ty(), 0), /*isConstant=*/false,
                               llvm::GlobalValue::ExternalLinkage, nullptr, "dynamic_shared",
                               nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  shared->setAlignment(llvm::Align(1024));
  return shared;
}

int64_t DynamicSharedBytes(const llvm::Function& kernel) { return NumberOf(kernel, kSharedBytes); }

llvm::Value* ArrayParameter(llvm::Function& kernel, unsigned number) {
  llvm::BasicBlock& entry = kernel.getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  return b.CreateAddrSpaceCast(kernel.getArg(number), b.getPtrTy());
}

llvm::Value* MakeScratch(Builder& b, int64_t bytes) {
  llvm::Function& kernel = *b.GetInsertBlock()->getParent();
  kernel.addFnAttr(kScratchBytes, absl::StrCat(bytes));
  return ArrayParameter(kernel, static_cast<unsigned>(kernel.arg_size() - 1));
}

int64_t ScratchBytes(const llvm::Function& kernel) { return NumberOf(kernel, kScratchBytes); }

llvm::Value* ThreadGroup::CombineLanes(llvm::Value* value, int64_t lanes, Combiner combine) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, Exchange(b_, value, distance));
  return value;
}

// The first thread of each warp shares its warp's value; each warp then combines all of them.
llvm::Value* ThreadGroup::CombineWarps(llvm::Value* value, Combiner combine) {
  llvm::Value* const words = ToWords(b_, value);
  llvm::GlobalVariable* const shared = MakeShared(b_, words->getType(), kWarps);
  const auto place = [&](llvm::Value* warp) {
    return b_.CreateInBoundsGEP(shared->getValueType(), shared, {b_.Index(0), warp});
  };
  llvm::Value* const in_warp = b_.CreateAnd(lane_, b_.Index(kWarp - 1));
  EmitIf(b_, b_.CreateICmpEQ(in_warp, b_.Index(0)),
         [&] { b_.CreateStore(words, place(b_.CreateUDiv(lane_, b_.Index(kWarp)))); });
  Meet();
  llvm::Value* const which = b_.CreateAnd(lane_, b_.Index(kWarps - 1));
  llvm::Value* const loaded = b_.CreateLoad(words->getType(), place(which));
  return CombineLanes(FromWords(b_, loaded, value->getType()), kWarps, combine);
}

llvm::Value* ThreadGroup::Combine(llvm::Value* value, Combiner combine) {
  if (threads_ <= kWarp) return CombineLanes(value, threads_, combine);
  return CombineWarps(CombineLanes(value, kWarp, combine), combine);
}

void ThreadGroup::Meet() {
  if (threads_ == 1) return;
  if (threads_ <= kWarp)
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b_.getInt32(0xffffffffu)});
  else
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
