// Convolutions element by element: each thread adds the terms of one element in their order, each
// product and sum fused. For convolutions of few features in a group, such as depthwise ones, whose
// input is read from the nearest cache; those of many features are products of matrices
// (dot_kernels.cc, tensor_dot_kernels.cc, warpgroup_dot_kernels.cc).
#include "backends/cuda/convolution_kernels.h"

#include "analysis/dot_finish.h"
#include "backends/cuda/dot_sides.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

ElementType SumTypeOf(ElementType type) { return IsNarrowFloat(type) ? ElementType::kF32 : type; }

// Emits one element of the result.
class ConvolutionEmitter {
 public:
  ConvolutionEmitter(const Expression& e, const DotSides& sides, Builder& b, KernelArrays& arrays)
      : e_(e),
        sides_(sides),
        b_(b),
        arrays_(arrays),
        sum_type_(SumTypeOf(ProductOf(e)->shape().type)) {}

  void Emit(llvm::Value* unit) {
    const int64_t columns = sides_.rhs.free.size, rows = sides_.lhs.free.size;
    llvm::Value* const column = b_.CreateURem(unit, b_.Index(columns));
    llvm::Value* const number = b_.CreateUDiv(unit, b_.Index(columns));
    llvm::Value* const row = b_.CreateURem(number, b_.Index(rows));
    llvm::Value* const group = b_.CreateUDiv(number, b_.Index(rows));
    const Values sum = EmitLoopCarrying(
        b_, sides_.terms(), {ZeroElement(b_, sum_type_).re},
        [&](llvm::Value* term, const Values& carried) {
          llvm::Value* const x = Load(sides_.lhs, sides_.lhs.At(b_, group, row, term));
          llvm::Value* const y = Load(sides_.rhs, sides_.rhs.At(b_, group, column, term));
          return Values{MultiplyAdd(x, y, carried[0])};
        });
    DotResult(b_, e_, sides_.lhs, sides_.rhs, arrays_, sum_type_, group).Store(row, column, sum[0]);
  }

 private:
  llvm::Value* Load(const DotSide& side, const MatrixElement& place) {
    const ArrayRef array = arrays_.operand(side.array);
    const ScalarValue x = LoadFrom(b_, array, ElementIndex::Multi(place.multi));
    llvm::Value* const value = EmitConvert(b_, array.shape.type, sum_type_, x).re;
    if (place.inside == nullptr) return value;
    return b_.CreateSelect(place.inside, value, ZeroElement(b_, sum_type_).re);
  }

  llvm::Value* MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* sum) {
    if (IsFloat(sum_type_))
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, sum});
    return b_.CreateAdd(b_.CreateMul(x, y), sum);
  }

  const Expression& e_;
  const DotSides& sides_;
  Builder& b_;
  KernelArrays& arrays_;
  const ElementType sum_type_;
};

}  // namespace

bool CanConvolveOnGpu(const Instruction& i) {
  return i.opcode() == Opcode::kConvolution ? IsOfPlainNumbers(i) : FinishesConvolution(i);
}

bool AddConvolutionKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Instruction* const product = ProductOf(request.expression);
  if (product == nullptr || product->opcode() != Opcode::kConvolution) return false;
  const DotSides sides = *SidesOfProduct(request.expression);
  Kernel kernel;
  kernel.units = request.expression.shapes[0].ElementCount();
  kernel.emit = [sides, e = request.expression](Builder& b, KernelArrays& arrays,
                                                llvm::Value* begin, llvm::Value*) {
    ConvolutionEmitter(e, sides, b, arrays).Emit(begin);
  };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
