// Which instructions are loops; a kernel's arrays bound to expressions; copies.
#include "codegen/kernels.h"

#include "codegen/kernel_strategies.h"

namespace hlokit {
namespace {

bool FusionIsLoops(const Instruction& fusion) {
  const Computation& body = *fusion.to_apply();
  const Instruction* root = body.root();
  for (const Instruction* i : body.Instructions()) {
    if (i->IsParameter() && !i->shape().IsArray()) return false;
    if (i == root &&
        (i->opcode() == Opcode::kScatter || i->opcode() == Opcode::kSelectAndScatter)) {
      if (!CanEmitScatter(*i)) return false;
    } else if (i->opcode() == Opcode::kTuple) {
      if (i != root) return false;
    } else if (!CanEmitElement(*i)) {
      return false;
    }
  }
  if (root->opcode() == Opcode::kTuple)
    for (const Instruction* part : root->operands())
      if (!part->shape().IsArray()) return false;
  return true;
}

// Elements at constant places come from registers, others from memory.
void BindKnown(ElementEmitter& emitter, const Expression::Leaf& leaf,
               std::vector<ScalarValue> known, const Shape& shape, KernelArrays& arrays) {
  emitter.Bind(leaf.instruction, [&emitter, &arrays, &shape, leaf,
                                  known = std::move(known)](const ElementIndex& index) {
    Builder& b = emitter.builder();
    if (known.size() == 1) return known[0];
    const auto* at = llvm::dyn_cast<llvm::ConstantInt>(LinearOffset(b, index, shape));
    if (at != nullptr && at->getValue().ult(known.size())) return known[at->getZExtValue()];
    return LoadFrom(b, arrays.operand(leaf.operand), index);
  });
}

}  // namespace

void BindLeaves(ElementEmitter& emitter, const Expression& e, KernelArrays& arrays) {
  emitter.set_unsupported(&arrays.unsupported);
  for (const Expression::Leaf& leaf : e.leaves) {
    const Instruction* operand = e.subject->operand(leaf.operand);
    if (operand->IsConstant() && operand->shape().IsScalar() && operand->literal() != nullptr) {
      const Literal& value = *operand->literal();
      emitter.Bind(leaf.instruction, [&emitter, &value](const ElementIndex&) {
        return ConstantElement(emitter.builder(), value.type(), value.data());
      });
    } else if (auto known = arrays.known(leaf.operand); known.has_value()) {
      BindKnown(emitter, leaf, *std::move(known), operand->shape(), arrays);
    } else {
      emitter.Bind(leaf.instruction, arrays.operand(leaf.operand));
    }
  }
}

Kernel CopyKernel(int64_t operand, int64_t result_leaf, const Shape& shape) {
  const int64_t bytes = shape.ByteSize();
  constexpr int64_t kChunk = 1 << 16;
  Kernel kernel;
  kernel.units = (bytes + kChunk - 1) / kChunk;
  kernel.unit_cost = kChunk / 16;
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    llvm::Value* from = b.CreateNSWMul(begin, b.getInt64(kChunk));
    llvm::Value* to = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, b.CreateNSWMul(end, b.getInt64(kChunk)), b.getInt64(bytes));
    llvm::Value* source = b.CreateInBoundsGEP(b.getInt8Ty(), arrays.operand(operand).base, from);
    llvm::Value* target = b.CreateInBoundsGEP(b.getInt8Ty(), arrays.result(result_leaf).base, from);
    b.CreateMemCpy(target, llvm::Align(1), source, llvm::Align(1), b.CreateNSWSub(to, from));
  };
  return kernel;
}

bool CanEmitKernels(const Instruction& i) {
  if (i.opcode() == Opcode::kFusion) {
    for (const ShapeLeaf& leaf : Leaves(i.shape()))
      if (!leaf.shape->IsArray() || leaf.shape->HasDynamicDims()) return false;
    return FusionIsLoops(i);
  }
  if (i.opcode() == Opcode::kScatter || i.opcode() == Opcode::kSelectAndScatter)
    return CanEmitScatter(i);
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kConstant:
      return false;
    default:
      return CanEmitElement(i);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
