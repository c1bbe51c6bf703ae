// The model's description, field by field as runtime/aot.h has them.
#include "backends/cpu/aot_model_internal.h"
#include "runtime/aot.h"
#include "support/status.h"

namespace hlokit {
namespace {

class ModelWriter {
 public:
  explicit ModelWriter(llvm::Module& module)
      : module_(module),
        pointer_(llvm::PointerType::get(module.getContext(), 0)),
        int64_(llvm::Type::getInt64Ty(module.getContext())) {}

  llvm::Constant* Int(int64_t value) const { return llvm::ConstantInt::get(int64_, value); }
  llvm::Constant* Null() const { return llvm::ConstantPointerNull::get(pointer_); }

  // Bytes in memory that is only read; `zero` adds one at the end.
  llvm::GlobalVariable* Bytes(absl::string_view bytes, bool zero, int64_t alignment) {
    return Global(llvm::ConstantDataArray::getString(module_.getContext(),
                                                     {bytes.data(), bytes.size()}, zero),
                  alignment);
  }
  llvm::Constant* String(absl::string_view text) { return Bytes(text, true, 1); }

  llvm::Constant* Arrays(const std::vector<AotArray>& arrays) {
    if (arrays.empty()) return Null();
    std::vector<llvm::Constant*> rows;
    for (const AotArray& array : arrays)
      rows.push_back(Struct({String(array.name), String(Text(array.shape, true)),
                             Int(array.shape.IsArray() ? array.shape.ByteSize() : 0)}));
    auto* type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
    return Global(llvm::ConstantArray::get(type, rows), 8);
  }

  llvm::Constant* Sizes(const std::vector<AotSize>& sizes) {
    std::vector<int64_t> fields;
    for (const AotSize& size : sizes)
      fields.insert(fields.end(), {size.place, size.array, size.dimension, size.bound});
    return Ints(fields);
  }

  llvm::Constant* Ints(const std::vector<int64_t>& values) {
    if (values.empty()) return Null();
    const std::vector<uint64_t> bits(values.begin(), values.end());
    return Global(llvm::ConstantDataArray::get(module_.getContext(), bits), 8);
  }

  llvm::Constant* Struct(llvm::ArrayRef<llvm::Constant*> fields) {
    return llvm::ConstantStruct::getAnon(module_.getContext(), fields);
  }

  llvm::GlobalVariable* Global(llvm::Constant* value, int64_t alignment,
                               const std::string& name = "") {
    auto* global = new llvm::GlobalVariable(
        module_, value->getType(), /*isConstant=*/true,
        name.empty() ? llvm::GlobalValue::PrivateLinkage : llvm::GlobalValue::ExternalLinkage,
        value, name);
    global->setAlignment(llvm::Align(alignment));
    return global;
  }

 private:
  llvm::Module& module_;
  llvm::PointerType* pointer_;
  llvm::IntegerType* int64_;
};

uint64_t Fnv1a(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

// What a custom call names, with the pointers that `caller` has.
absl::Status CallSymbol(llvm::IRBuilder<>& b, llvm::Function& caller, const Instruction& i) {
  for (const Instruction* operand : i.operands())
    if (!operand->shape().IsArray())
      return Unimplemented("custom call %", i.name(), " takes ", Text(operand->shape()),
                           "; ahead of time only arrays are passed");
  const auto target = caller.getParent()->getOrInsertFunction(
      i.attr<CustomCallAttrs>().target,
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false));
  llvm::Value* out = caller.getArg(3);
  if (i.shape().IsArray()) out = b.CreateLoad(b.getPtrTy(), out);
  b.CreateCall(target, {out, caller.getArg(2)});
  return absl::OkStatus();
}

// hlokit_infeed or hlokit_outfeed, with the arrays of the item: those before the token's place.
void CallQueue(llvm::IRBuilder<>& b, llvm::Function& caller, const Instruction& i) {
  const bool in = i.opcode() == Opcode::kInfeed;
  std::vector<int64_t> sizes;
  for (const ShapeLeaf& leaf : Leaves(in ? i.shape().elements[0] : i.operand(0)->shape()))
    sizes.push_back(leaf.shape->IsArray() ? leaf.shape->ByteSize() : 0);
  const auto target = caller.getParent()->getOrInsertFunction(
      in ? "hlokit_infeed" : "hlokit_outfeed",
      llvm::FunctionType::get(b.getVoidTy(),
                              {b.getPtrTy(), b.getInt64Ty(), b.getPtrTy(), b.getPtrTy()}, false));
  b.CreateCall(target, {caller.getArg(0), b.getInt64(static_cast<uint64_t>(sizes.size())),
                        caller.getArg(in ? 3 : 2), ModelWriter(*caller.getParent()).Ints(sizes)});
}

}  // namespace

void DefineModel(llvm::Module& module, const AotObject& object, const AotModelParts& parts) {
  ModelWriter w(module);
  const bool inside = parts.weights_in_object && !parts.weights.empty();
  llvm::Constant* weights = inside ? w.Bytes(parts.weights, false, HLOKIT_AOT_ALIGNMENT) : w.Null();
  llvm::Constant* host_calls = parts.host_calls;
  const auto size = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  w.Global(w.Struct({w.Int(HLOKIT_AOT_VERSION),
                     w.String(parts.name),
                     parts.entry,
                     host_calls == nullptr ? w.Null() : host_calls,
                     w.Int(object.arena_bytes),
                     w.Int(size(object.arguments)),
                     w.Int(size(parts.constant_offsets)),
                     w.Int(size(object.results)),
                     w.Arrays(object.arguments),
                     w.Arrays(object.results),
                     w.Ints(parts.constant_offsets),
                     w.Ints(parts.passed_through),
                     w.Ints(object.donated),
                     w.Int(size(parts.weights)),
                     weights,
                     w.Int(static_cast<int64_t>(inside ? 0 : Fnv1a(parts.weights))),
                     w.Int(size(object.argument_sizes)),
                     w.Sizes(object.argument_sizes),
                     w.Int(size(object.result_sizes)),
                     w.Sizes(object.result_sizes),
                     w.Int(object.check_result)}),
           8, parts.name + "_model");
}

absl::StatusOr<llvm::Function*> DefineHostCalls(
    llvm::Module& module, const std::string& name,
    const std::vector<const Instruction*>& instructions) {
  if (instructions.empty()) return nullptr;
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::get(context, 0);
  auto* int64 = llvm::Type::getInt64Ty(context);
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                                     {pointer, int64, pointer, pointer}, false),
                             llvm::GlobalValue::InternalLinkage, name + ".host_calls", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  auto* end = llvm::BasicBlock::Create(context, "end", function);
  llvm::SwitchInst* by_id = b.CreateSwitch(function->getArg(1), end);
  for (const Instruction* i : instructions) {
    auto* block = llvm::BasicBlock::Create(context, "call", function, end);
    by_id->addCase(b.getInt64(i->id()), block);
    b.SetInsertPoint(block);
    if (i->opcode() == Opcode::kCustomCall) {
      RETURN_IF_ERROR(CallSymbol(b, *function, *i));
    } else {
      CallQueue(b, *function, *i);
    }
    b.CreateBr(end);
  }
  b.SetInsertPoint(end);
  b.CreateRetVoid();
  return function;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
