// Which instructions are loops; a kernel's arrays bound to expressions; copies.
#include "codegen/kernels.h"

#include <cmath>

namespace hlokit {
namespace {

constexpr int64_t kMaxPosition = 1 << 30;  // of 31 bits, since complex numbers have two parts

bool PositionsFit(const Shape& shape) {
  for (const ShapeLeaf& leaf : Leaves(shape))
    if (leaf.shape->IsArray() && leaf.shape->ElementCount() > kMaxPosition) return false;
  return true;
}

// Whether the positions in a padded and dilated operand fit, padding included.
bool WindowFits(const Instruction& i) {
  const auto fits = [&](size_t d, int64_t dilation, int64_t low, int64_t high) {
    const auto size = [](int64_t x) { return std::abs(static_cast<double>(x)); };
    return size(i.operand(0)->shape().dims[d]) * size(dilation) + size(low) + size(high) <=
           static_cast<double>(kMaxPosition);
  };
  bool all = true;
  if (i.opcode() == Opcode::kPad) {
    const PaddingConfig& padding = i.attr<PadAttrs>().padding;
    for (size_t d = 0; d < padding.size(); ++d)
      all &= fits(d, padding[d].interior + 1, padding[d].low, padding[d].high);
  } else if (i.opcode() == Opcode::kReduceWindow || i.opcode() == Opcode::kSelectAndScatter) {
    const Window& window = i.attr<WindowAttrs>().window;
    for (size_t d = 0; d < window.size(); ++d)
      all &= fits(d, window[d].base_dilation, window[d].pad_low, window[d].pad_high);
  }
  return all;
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

Kernel CopyKernel(int64_t operand, int64_t result_leaf, const Shape& shape,
                  const TargetInfo& target) {
  const int64_t bytes = shape.ByteSize(), chunk = target.copy_bytes;
  Kernel kernel;
  kernel.units = (bytes + chunk - 1) / chunk;
  kernel.unit_cost = static_cast<double>(chunk / 16);
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    const auto start_of = [&](llvm::Value* unit) {  // bytes, which may be more than indices hold
      return b.CreateNSWMul(b.CreateSExt(unit, b.getInt64Ty()), b.getInt64(chunk));
    };
    llvm::Value* from = start_of(begin);
    llvm::Value* to =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start_of(end), b.getInt64(bytes));
    llvm::Value* source = b.CreateInBoundsGEP(b.getInt8Ty(), arrays.operand(operand).base, from);
    llvm::Value* to_array =
        b.CreateInBoundsGEP(b.getInt8Ty(), arrays.result(result_leaf).base, from);
    b.CreateMemCpy(to_array, llvm::Align(1), source, llvm::Align(1), b.CreateNSWSub(to, from));
  };
  return kernel;
}

int IndexBitsOf(const Expression& e, const TargetInfo& target) {
  for (const Shape& shape : e.shapes)
    if (!PositionsFit(shape)) return 64;
  for (const Instruction* i : Body(e)) {
    if (!PositionsFit(i->shape()) || !WindowFits(*i)) return 64;
    for (const Instruction* operand : i->operands())
      if (!PositionsFit(operand->shape())) return 64;
  }
  return target.index_bits;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
