// Checks as IR: what an access costs is inline, whatever is wrong calls the Sanitizer.
//
//   %v = load float, ptr %p
//   ->  %safe = check(site, base, %p, size, tag);  %v = load float, ptr %safe, align 1
// Where a pointer comes from is found by walking back over offsets, selects and phis to what it
// starts in (OriginOf): an array of the module, of which the emitters left notes that are taken
// away at the end, a table, or the stack. The check compares the access with that array's size and
// the state of its bytes, and gives the address, or that of a scratch place where the access would
// be out of bounds. Sites are numbers to the code; only a finding turns one into words.
// Pointers of unknown origin (the context, what the runtime hands out) are counted as unchecked.
// Arithmetic that the code marks as free of overflow (nsw, nuw) is computed once more with the
// overflow bit.
#include "backends/cpu/sanitizer/sanitize_code_internal.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/sanitizer/sanitize_functions_internal.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace hlokit {
namespace {

using Kind = CheckedSite::Kind;

// Where a pointer comes from.
struct Origin {
  llvm::Value* base = nullptr;  // null: not known
  int64_t array = -1;           // of the module; -1: other memory
  int64_t size = 0;
};

class FunctionSanitizer {
 public:
  FunctionSanitizer(llvm::Function& function, Sanitizer& sanitizer, CheckFunctions& checks,
                    SanitizeStage stage)
      : function_(function),
        stage_(stage),
        layout_(function.getParent()->getDataLayout()),
        sanitizer_(sanitizer),
        checks_(checks),
        arguments_(ArgumentNotes(function)) {}
  void Run();

 private:
  void Visit(llvm::Instruction& i);
  void VisitCall(llvm::CallInst& call);
  void VisitMark(llvm::CallInst& call, llvm::StringRef name);
  void VisitCopy(llvm::CallInst& call, unsigned to, unsigned from, unsigned length);
  void CheckArgumentAlignments();
  void CheckAccess(llvm::Instruction& i, unsigned pointer, llvm::Type* type, llvm::Align alignment,
                   Kind kind);
  void CheckMasked(llvm::CallInst& call, unsigned pointer, unsigned mask, llvm::Type* type,
                   Kind kind);
  void CheckArithmetic(llvm::BinaryOperator& op);
  void CheckOverflow(llvm::BinaryOperator& op, llvm::Intrinsic::ID intrinsic);
  void ReportWhere(llvm::IRBuilder<>& b, llvm::BinaryOperator& op, llvm::Value* wrong);

  Origin OriginOf(llvm::Value* pointer) const;
  Origin OriginOf(llvm::Value* pointer, llvm::SmallPtrSetImpl<llvm::Value*>& seen) const;
  Origin OriginOfBase(llvm::Value* base) const;
  int64_t AddSite(const llvm::Instruction& i, Kind kind, int64_t array, int64_t bytes,
                  llvm::Align alignment, std::string what) const;
  uint8_t TagOf(const Origin& origin) const;
  bool MayWrite(const Origin& origin) const {
    return origin.array < 0 || sanitizer_.MayWrite(sanitizer_.arrays()[origin.array]);
  }

  llvm::Function& function_;
  const SanitizeStage stage_;
  const llvm::DataLayout& layout_;
  Sanitizer& sanitizer_;
  CheckFunctions& checks_;
  const std::vector<int64_t> arguments_;
};

void FunctionSanitizer::Run() {
  std::vector<llvm::Instruction*> all;
  for (llvm::Instruction& i : llvm::instructions(function_)) all.push_back(&i);
  CheckArgumentAlignments();
  for (llvm::Instruction* i : all) Visit(*i);
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(function_))) {
    if (ArrayNoteOf(i) < 0) continue;
    i.replaceAllUsesWith(llvm::cast<llvm::CallInst>(i).getArgOperand(1));
    i.eraseFromParent();
  }
}

llvm::Value* WithoutOffsets(llvm::Value* pointer) {
  while (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(pointer)) pointer = gep->getPointerOperand();
  return pointer;
}

Origin FunctionSanitizer::OriginOf(llvm::Value* pointer) const {
  llvm::SmallPtrSet<llvm::Value*, 8> seen;
  return OriginOf(pointer, seen);
}

// Where several pointers meet: what all of them come from.
Origin FunctionSanitizer::OriginOf(llvm::Value* pointer,
                                   llvm::SmallPtrSetImpl<llvm::Value*>& seen) const {
  pointer = WithoutOffsets(pointer);
  std::vector<llvm::Value*> sources;
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) {
    sources.assign(phi->op_begin(), phi->op_end());
  } else if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer)) {
    sources = {select->getTrueValue(), select->getFalseValue()};
  } else {
    return OriginOfBase(pointer);
  }
  seen.insert(pointer);
  Origin common;
  for (llvm::Value* source : sources) {
    if (seen.contains(WithoutOffsets(source))) continue;
    const Origin origin = OriginOf(source, seen);
    if (origin.base == nullptr || (common.base != nullptr && common.base != origin.base)) return {};
    common = origin;
  }
  return common;
}

Origin FunctionSanitizer::OriginOfBase(llvm::Value* pointer) const {
  if (pointer->getType()->isVectorTy()) return {};
  if (const int64_t array = ArrayNoteOf(*pointer); array >= 0)
    return {pointer, array, sanitizer_.arrays()[array].slice.size};
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(pointer)) {
    if (argument->getArgNo() >= arguments_.size()) return {};
    const int64_t array = arguments_[argument->getArgNo()];
    return {pointer, array, sanitizer_.arrays()[array].slice.size};
  }
  if (const auto* array = llvm::dyn_cast<llvm::AllocaInst>(pointer)) {
    const auto size = array->getAllocationSize(layout_);
    return size ? Origin{pointer, -1, static_cast<int64_t>(size->getFixedValue())} : Origin();
  }
  if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer))
    return {pointer, -1,
            static_cast<int64_t>(layout_.getTypeAllocSize(global->getValueType()).getFixedValue())};
  return {};
}

uint8_t FunctionSanitizer::TagOf(const Origin& origin) const {
  if (origin.array < 0) return 0;
  return Sanitizer::TagOf(sanitizer_.arrays()[origin.array].slice);
}

int64_t FunctionSanitizer::AddSite(const llvm::Instruction& i, Kind kind, int64_t array,
                                   int64_t bytes, llvm::Align alignment, std::string what) const {
  CheckedSite site;
  site.kind = kind;
  site.instruction = checks_.instruction(InstructionNoteOf(i));
  // Where it has no array of its own, whatever the function works on names the instruction.
  site.array = array;
  if (array < 0 && site.instruction == nullptr && !arguments_.empty())
    site.instruction = sanitizer_.arrays()[arguments_[0]].instruction;
  site.bytes = bytes;
  site.alignment = static_cast<int64_t>(alignment.value());
  site.what = std::move(what);
  return sanitizer_.AddSite(std::move(site));
}

// Of the kernel's arguments, what their attributes say.
void FunctionSanitizer::CheckArgumentAlignments() {
  if (arguments_.empty()) return;
  llvm::IRBuilder<> b(&*function_.getEntryBlock().getFirstInsertionPt());
  for (unsigned a = 0; a < arguments_.size(); ++a) {
    llvm::Argument* argument = function_.getArg(a);
    const llvm::MaybeAlign alignment = argument->getParamAlign();
    if (!alignment || argument->use_empty()) continue;  // LLVM gives no value to what is unused
    const Origin origin = OriginOf(argument);
    const int64_t site =
        AddSite(*b.GetInsertPoint(), Kind::kRead, origin.array, 0, *alignment, "argument");
    checks_.CallAligned(b, site, argument, *alignment);
    function_.removeParamAttr(a, llvm::Attribute::Alignment);
  }
}

void FunctionSanitizer::Visit(llvm::Instruction& i) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
    CheckAccess(i, load->getPointerOperandIndex(), load->getType(), load->getAlign(), Kind::kRead);
    load->setAlignment(llvm::Align(1));
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
    CheckAccess(i, store->getPointerOperandIndex(), store->getValueOperand()->getType(),
                store->getAlign(), Kind::kWrite);
    store->setAlignment(llvm::Align(1));
  } else if (auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&i)) {
    if (stage_ == SanitizeStage::kEmitted) CheckArithmetic(*op);
  } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) {
    VisitCall(*call);
  }
}

void FunctionSanitizer::CheckAccess(llvm::Instruction& i, unsigned pointer, llvm::Type* type,
                                    llvm::Align alignment, Kind kind) {
  llvm::Value* address = i.getOperand(pointer);
  const Origin origin = OriginOf(address);
  if (origin.base == nullptr) {
    // The context, and what the runtime hands to functions that it calls.
    sanitizer_.CountUnchecked();
    return;
  }
  const auto bytes = static_cast<int64_t>(layout_.getTypeStoreSize(type).getFixedValue());
  const int64_t site =
      AddSite(i, kind, origin.array, bytes, alignment,
              llvm::isa<llvm::AllocaInst>(origin.base) ? "an array on the stack" : "a table");
  llvm::IRBuilder<> b(&i);
  i.setOperand(pointer, checks_.CallCheck(b, kind == Kind::kWrite, bytes, alignment,
                                          {site, origin.base, address, origin.size, TagOf(origin),
                                           MayWrite(origin)}));
}

unsigned LanesOf(llvm::Value* mask) {
  return llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
}
bool HasMaskBits(llvm::Value* mask) { return LanesOf(mask) <= 64; }

// The mask as the low bits of an i64.
llvm::Value* MaskBits(llvm::IRBuilder<>& b, llvm::Value* mask) {
  return b.CreateZExt(b.CreateBitCast(mask, b.getIntNTy(LanesOf(mask))), b.getInt64Ty());
}

// Masked loads and stores have one address, gathers and scatters one for each lane.
void FunctionSanitizer::CheckMasked(llvm::CallInst& call, unsigned pointer, unsigned mask,
                                    llvm::Type* type, Kind kind) {
  llvm::Value* address = call.getArgOperand(pointer);
  const Origin origin = HasMaskBits(call.getArgOperand(mask)) ? OriginOf(address) : Origin();
  if (origin.base == nullptr) return sanitizer_.CountUnchecked();
  const bool per_lane = address->getType()->isVectorTy();
  auto* alignment = llvm::cast<llvm::ConstantInt>(call.getArgOperand(pointer + 1));
  auto* element = llvm::cast<llvm::VectorType>(type)->getElementType();
  const auto bytes = static_cast<int64_t>(layout_.getTypeStoreSize(element).getFixedValue());
  const int64_t site =
      AddSite(call, kind, origin.array, bytes, llvm::Align(alignment->getZExtValue()),
              per_lane ? "a table" : "an array on the stack");
  llvm::IRBuilder<> b(&call);
  llvm::Value* bits = MaskBits(b, call.getArgOperand(mask));
  const CheckedAccess access = {site, origin.base, address, origin.size, TagOf(origin)};
  call.setArgOperand(pointer, per_lane ? checks_.CallLanes(b, bits, bytes, access)
                                       : checks_.CallMasked(b, bits, bytes, access));
  call.setArgOperand(pointer + 1, b.getInt32(1));
}

// A block of `length` bytes; one that is out of bounds is not copied.
void FunctionSanitizer::VisitCopy(llvm::CallInst& call, unsigned to, unsigned from,
                                  unsigned length) {
  llvm::IRBuilder<> b(&call);
  llvm::Value* bytes = b.CreateZExt(call.getArgOperand(length), b.getInt64Ty());
  for (const bool write : {false, true}) {
    const unsigned pointer = write ? to : from;
    if (pointer == length) continue;  // a fill reads nothing
    llvm::Value* address = call.getArgOperand(pointer);
    const Origin origin = OriginOf(address);
    if (origin.base == nullptr) {
      sanitizer_.CountUnchecked();
      continue;
    }
    const llvm::Align alignment = call.getParamAlign(pointer).valueOrOne();
    const int64_t site = AddSite(call, write ? Kind::kWrite : Kind::kRead, origin.array, 0,
                                 alignment, "an array on the stack");
    bytes = checks_.CallBlock(b, bytes, {site, origin.base, address, origin.size, TagOf(origin)});
    call.removeParamAttr(pointer, llvm::Attribute::Alignment);
  }
  call.setArgOperand(length, b.CreateTrunc(bytes, call.getArgOperand(length)->getType()));
}

void FunctionSanitizer::VisitMark(llvm::CallInst& call, llvm::StringRef name) {
  const int64_t array = llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getSExtValue();
  const Slice& slice = sanitizer_.arrays()[array].slice;
  const uint8_t tag = Sanitizer::TagOf(slice);
  llvm::IRBuilder<> b(&call);
  llvm::Value* base = call.getArgOperand(1);
  const bool write = name == kMarkWritten;
  const int64_t site = AddSite(call,
                               write              ? Kind::kWrite
                               : name == kMarkEnd ? Kind::kResult
                                                  : Kind::kRead,
                               array, slice.size, llvm::Align(1), "");
  const CheckedAccess access = {site, base, base, slice.size, tag};
  if (name == kMarkBegin) {
    checks_.CallBegin(b, base, slice.size);
  } else if (name == kMarkEnd) {
    checks_.CallEnd(b, access);
  } else {
    checks_.CallBlock(b, b.getInt64(static_cast<uint64_t>(slice.size)), access);
  }
  call.eraseFromParent();
}

void FunctionSanitizer::VisitCall(llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return;
  const llvm::StringRef name = callee->getName();
  if (name == kMarkArray) return;
  if (name.starts_with("hlokit_mark_")) return VisitMark(call, name);
  if (name == "hlokit_copy" || name == "hlokit_copy_out") return VisitCopy(call, 2, 1, 3);
  if (name == "hlokit_fill_zero") return VisitCopy(call, 1, 2, 2);
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::memcpy:
    case llvm::Intrinsic::memmove:
      return VisitCopy(call, 0, 1, 2);
    case llvm::Intrinsic::memset:
      return VisitCopy(call, 0, 2, 2);
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
      return CheckMasked(call, 0, 2, call.getType(), Kind::kRead);
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      return CheckMasked(call, 1, 3, call.getArgOperand(0)->getType(), Kind::kWrite);
    default:
      return;
  }
}

void FunctionSanitizer::ReportWhere(llvm::IRBuilder<>& b, llvm::BinaryOperator& op,
                                    llvm::Value* wrong) {
  if (wrong->getType()->isVectorTy()) wrong = b.CreateOrReduce(wrong);
  const int64_t site =
      AddSite(op, Kind::kArithmetic, -1, 0, llvm::Align(1), std::string(op.getOpcodeName()));
  const auto word = [&](llvm::Value* v) {
    if (v->getType()->isVectorTy()) v = b.CreateExtractElement(v, uint64_t{0});
    return b.CreateSExtOrTrunc(v, b.getInt64Ty());
  };
  checks_.CallOverflow(b, site, wrong, word(op.getOperand(0)), word(op.getOperand(1)));
}

void FunctionSanitizer::CheckOverflow(llvm::BinaryOperator& op, llvm::Intrinsic::ID intrinsic) {
  llvm::IRBuilder<> b(op.getNextNode());
  llvm::Value* pair = b.CreateBinaryIntrinsic(intrinsic, op.getOperand(0), op.getOperand(1));
  ReportWhere(b, op, b.CreateExtractValue(pair, 1));
}

void FunctionSanitizer::CheckArithmetic(llvm::BinaryOperator& op) {
  using llvm::Instruction;
  const bool flagged = llvm::isa<llvm::OverflowingBinaryOperator>(op);
  const bool nsw = flagged && op.hasNoSignedWrap(), nuw = flagged && op.hasNoUnsignedWrap();
  switch (op.getOpcode()) {
    case Instruction::Add:
      if (nsw) CheckOverflow(op, llvm::Intrinsic::sadd_with_overflow);
      if (nuw) CheckOverflow(op, llvm::Intrinsic::uadd_with_overflow);
      break;
    case Instruction::Sub:
      if (nsw) CheckOverflow(op, llvm::Intrinsic::ssub_with_overflow);
      if (nuw) CheckOverflow(op, llvm::Intrinsic::usub_with_overflow);
      break;
    case Instruction::Mul:
      if (nsw) CheckOverflow(op, llvm::Intrinsic::smul_with_overflow);
      if (nuw) CheckOverflow(op, llvm::Intrinsic::umul_with_overflow);
      break;
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem: {
      if (llvm::isa<llvm::Constant>(op.getOperand(1))) break;
      llvm::IRBuilder<> b(op.getNextNode());
      ReportWhere(b, op,
                  b.CreateICmpEQ(op.getOperand(1), llvm::Constant::getNullValue(op.getType())));
      break;
    }
    default:
      break;
  }
  if (flagged) {
    op.setHasNoSignedWrap(false);
    op.setHasNoUnsignedWrap(false);
  }
}

}  // namespace

void SanitizeCode(llvm::Module& module, Sanitizer& sanitizer, SanitizeStage stage) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) functions.push_back(&f);
  CheckFunctions checks(module, sanitizer);
  for (llvm::Function* f : functions) FunctionSanitizer(*f, sanitizer, checks, stage).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
