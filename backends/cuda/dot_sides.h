// The two sides of a dot or a convolution as matrices: which elements of each array are rows, terms
// and batches (groups).
#pragma once

#include <memory>
#include <optional>

#include "backends/cuda/convolution_map.h"
#include "codegen/element_emitter.h"
#include "codegen/kernels.h"
#include "ir/instruction.h"

namespace hlokit {

inline constexpr int64_t kSmall = 8;  // matrices with shorter sides are left to other strategies
inline constexpr int64_t kManyBlocks = 128;  // about as many as a device has multiprocessors

inline bool IsByte(ElementType type) {
  return type == ElementType::kS8 || type == ElementType::kU8;
}

// The fastest dimension in memory that has more than one element; -1 where none has.
int64_t FastestDimension(const Shape& shape);

// Dimensions of one array that are walked together, slowest first.
struct DimGroup {
  DimVector dims;
  int64_t size = 1;   // elements
  int64_t inner = 1;  // of the last dimension

  void Add(const Shape& shape, int64_t d);
  bool IsFastest(const Shape& shape) const {
    return !dims.empty() && FastestDimension(shape) == dims.back();
  }
};

// One operand of a dot: element (batch, free, summed). Of a convolution, `dims` of the groups name
// the dimension along which neighbours lie, if there is one.
struct DotSide {
  const Instruction* operand = nullptr;
  int64_t number = 0;  // of the operand: 0 or 1
  int64_t array = 0;   // the same among the operands of what runs: a fusion may finish the product
  DimGroup batch, free, summed;
  std::shared_ptr<const ConvolutionMap> map;  // null: a dot

  // Whether neighbours in memory differ along `summed`; else they do along `free` (or `batch`).
  bool IsAlongSummed() const { return summed.IsFastest(operand->shape()); }
  // The group along which neighbours in memory lie; null where it is `batch`.
  const DimGroup* Fastest() const;
  // The place of an element; those next to it along Fastest() are inside where it is.
  MatrixElement At(Builder& b, llvm::Value* at_batch, llvm::Value* at_free,
                   llvm::Value* at_summed) const;
};

struct DotSides {
  DotSide lhs, rhs;
  int64_t terms() const { return lhs.summed.size; }
};

// The dot or convolution that an expression is, or the one of its operands that its other
// instructions finish element by element (analysis/dot_finish.h); null for others.
const Instruction* ProductOf(const Expression& expression);
// The sides of that product; nothing where there is none.
std::optional<DotSides> SidesOfProduct(const Expression& expression);

// Stores elements of a dot's result, whose dimensions are batch, those of lhs.free, of rhs.free,
// with what an expression makes of them.
class DotResult {
 public:
  // `sum_type`: of the sums that are stored, which are converted. The expression and the sides
  // outlive this.
  DotResult(Builder& b, const Expression& e, const DotSide& lhs, const DotSide& rhs,
            KernelArrays& arrays, ElementType sum_type, llvm::Value* batch);

  // Of the first result.
  ElementType type() const { return array_.shape.type; }
  bool is_finished() const { return product_ != e_.subject; }
  // The elements of all results at a place where the product has `sum`.
  std::vector<ScalarValue> Finished(llvm::Value* row, llvm::Value* column, llvm::Value* sum);
  // Whether `count` neighbours along columns, from a multiple of it on, are neighbours in memory.
  bool HasRuns(int64_t count) const;
  llvm::Value* AddressOf(llvm::Value* row, llvm::Value* column);
  void Store(llvm::Value* row, llvm::Value* column, llvm::Value* sum);
  // Calls `body` where there is such a row, or column; without a test where tiles of `tile`
  // divide them.
  void IfRow(llvm::Value* row, int64_t tile, absl::FunctionRef<void()> body);
  void IfColumn(llvm::Value* column, int64_t tile, absl::FunctionRef<void()> body);
  // Stores at `column`, which is even, and next to it, as far as there are such columns.
  void StorePair(llvm::Value* row, llvm::Value* column, int64_t tile, llvm::Value* const* sums);

 private:
  std::vector<llvm::Value*> IndexOf(llvm::Value* row, llvm::Value* column);
  void IfInside(llvm::Value* at, int64_t size, int64_t tile, absl::FunctionRef<void()> body);

  std::vector<ScalarValue> FinishedAt(const ElementIndex& index, llvm::Value* sum);

  Builder& b_;
  const Expression& e_;
  const Instruction* const product_;
  const DotSide &lhs_, &rhs_;
  KernelArrays& arrays_;
  const ArrayRef array_;
  ElementEmitter emitter_;
  const ElementType sum_type_;
  llvm::Value* const batch_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
