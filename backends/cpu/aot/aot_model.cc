// The model's description, field by field as runtime/aot.h has them.
#include "backends/cpu/aot/aot_model_internal.h"
#include "codegen/constant_data.h"
#include "runtime/aot.h"
#include "support/status.h"

namespace hlokit {
namespace {

llvm::Constant* Arrays(ConstantData& data, const std::vector<AotArray>& arrays) {
  std::vector<llvm::Constant*> rows;
  for (const AotArray& array : arrays)
    rows.push_back(data.Struct({data.String(array.name), data.String(Text(array.shape, true)),
                                data.Int(array.shape.IsArray() ? array.shape.ByteSize() : 0)}));
  return data.Structs(rows);
}

llvm::Constant* Sizes(ConstantData& data, const std::vector<AotSize>& sizes) {
  std::vector<int64_t> fields;
  for (const AotSize& size : sizes)
    fields.insert(fields.end(), {size.place, size.array, size.dimension, size.bound});
  return data.Ints(fields);
}

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
// Transfers to and from the host go the same way.
void CallQueue(llvm::IRBuilder<>& b, llvm::Function& caller, const Instruction& i) {
  const bool in = i.opcode() == Opcode::kInfeed || i.opcode() == Opcode::kRecvDone;
  std::vector<int64_t> sizes;
  for (const ShapeLeaf& leaf : Leaves(in ? i.shape().elements[0] : i.operand(0)->shape()))
    sizes.push_back(leaf.shape->IsArray() ? leaf.shape->ByteSize() : 0);
  const auto target = caller.getParent()->getOrInsertFunction(
      in ? "hlokit_infeed" : "hlokit_outfeed",
      llvm::FunctionType::get(b.getVoidTy(),
                              {b.getPtrTy(), b.getInt64Ty(), b.getPtrTy(), b.getPtrTy()}, false));
  b.CreateCall(target, {caller.getArg(0), b.getInt64(static_cast<uint64_t>(sizes.size())),
                        caller.getArg(in ? 3 : 2), ConstantData(*caller.getParent()).Ints(sizes)});
}

}  // namespace

void DefineModel(llvm::Module& module, const AotObject& object, const AotModelParts& parts) {
  ConstantData w(module);
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
                     Arrays(w, object.arguments),
                     Arrays(w, object.results),
                     w.Ints(parts.constant_offsets),
                     w.Ints(parts.passed_through),
                     w.Ints(object.donated),
                     w.Int(size(parts.weights)),
                     weights,
                     w.Int(static_cast<int64_t>(inside ? 0 : Fnv1a(parts.weights))),
                     w.Int(size(object.argument_sizes)),
                     Sizes(w, object.argument_sizes),
                     w.Int(size(object.result_sizes)),
                     Sizes(w, object.result_sizes),
                     w.Int(object.check_result),
                     w.Int(object.replica_count),
                     w.Int(object.partition_count),
                     w.Int(object.uses_communicator ? 1 : 0)}),
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
