// Copies and reductions in the order that a GPU's kernels read memory.
//   sqrt(copy(x))  ->  copy(sqrt(x))
//   reduce(x{0,1}) ->  reduce(bitcast(x){1,0})
#include <algorithm>

#include "absl/algorithm/container.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsCopy(const Instruction* i) {
  return i->opcode() == Opcode::kCopy && i->shape().IsArray() && i->operand(0)->shape().IsArray() &&
         i->operand(0)->shape().layout.memory_space() == i->shape().layout.memory_space();
}

// `shape` in the order of memory of `like`, an array of as many dimensions.
Shape InOrderOf(Shape shape, const Shape& like) {
  shape.layout = like.layout;
  return shape;
}

// The instruction on `operands`, which are what its own are copies of, and a copy behind it.
Instruction* CopyAfter(Instruction* i, Rewriter& r, absl::Span<Instruction* const> operands) {
  const Shape shape = InOrderOf(i->shape(), operands[0]->shape());
  Instruction* earlier = r.Clone(i, shape, operands);
  return r.Add(Opcode::kCopy, i->shape(), {earlier});
}

Instruction* BehindFirst(Instruction* i, Rewriter& r) {
  if (!IsCopy(i->operand(0))) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  operands[0] = i->operand(0)->operand(0);
  return CopyAfter(i, r, operands);
}

bool FeedsConvolution(const Instruction& i) {
  return i.users().size() == 1 && i.users()[0]->opcode() == Opcode::kConvolution;
}

Instruction* BehindAll(Instruction* i, Rewriter& r) {
  std::vector<Instruction*> operands;
  for (Instruction* operand : i->operands()) {
    if (!IsCopy(operand)) return nullptr;
    operands.push_back(operand->operand(0));
    const Shape &first = operands[0]->shape(), &other = operands.back()->shape();
    if (first.layout != other.layout) return nullptr;
    if (i->opcode() != Opcode::kConcatenate && first != other) return nullptr;
  }
  return operands.empty() ? nullptr : CopyAfter(i, r, operands);
}

Made MoveCopy(Instruction* i, Rewriter& r) {
  if (!i->shape().IsArray() || i->operand_count() == 0) return nullptr;
  switch (i->opcode()) {
    case Opcode::kPad:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kReverse:
    case Opcode::kReduceWindow:
      return i->operand(0)->shape().IsArray() ? BehindFirst(i, r) : nullptr;
    case Opcode::kReduce: {
      if (!IsCopy(i->operand(0)) || i->operand_count() != 2) return nullptr;
      return r.Clone(i, i->shape(), {i->operand(0)->operand(0), i->operand(1)});
    }
    case Opcode::kConvert:
      return FeedsConvolution(*i) ? nullptr : BehindFirst(i, r);
    case Opcode::kConcatenate:
      return BehindAll(i, r);
    case Opcode::kCopy:
    case Opcode::kReducePrecision:
    case Opcode::kBitcastConvert:
      return nullptr;
    default:
      if (!HasTrait(i->opcode(), kElementwise)) return nullptr;
      if (i->operand_count() == 1) return BehindFirst(i, r);
      return i->operand_count() == 2 ? BehindAll(i, r) : nullptr;
  }
}

// ---- reductions

// The dimensions of an array, major-most first.
DimVector MajorToMinor(const Shape& shape) {
  DimVector order = shape.MinorToMajor();
  std::reverse(order.begin(), order.end());
  return order;
}

Shape InMemoryOrder(const Shape& shape) {
  DimVector dims;
  for (const int64_t d : MajorToMinor(shape)) dims.push_back(shape.dims[d]);
  return RowMajor(shape.type, dims);
}

// The result of the reduce whose operand has its dimensions in memory order: its dimensions in the
// operand's order, laid out as `result` is.
Shape ResultOf(const Shape& result, const Shape& operand, const DimVector& reduced) {
  DimVector kept, place(result.rank());  // of a result's dimension among the new ones
  for (const int64_t d : MajorToMinor(operand)) {
    if (absl::c_linear_search(reduced, d)) continue;
    const int64_t before = absl::c_count_if(reduced, [d](int64_t r) { return r < d; });
    place[d - before] = static_cast<int64_t>(kept.size());
    kept.push_back(operand.dims[d]);
  }
  DimVector order;
  for (const int64_t d : result.MinorToMajor()) order.push_back(place[d]);
  return Shape::ArrayWithLayout(result.type, kept, order);
}

Made NormalizeReduction(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduce) return nullptr;
  const int64_t count = i->operand_count() / 2;
  const Shape& first = i->operand(0)->shape();
  for (int64_t k = 0; k < count; ++k)
    if (i->operand(k)->shape().layout != first.layout || i->operand(k)->shape().HasDynamicDims())
      return nullptr;
  if (first.IsRowMajor()) return nullptr;
  const DimVector& reduced = i->attr<DimensionsAttrs>().dimensions;
  DimVector dimensions;
  const DimVector order = MajorToMinor(first);
  for (size_t k = 0; k < order.size(); ++k)
    if (absl::c_linear_search(reduced, order[k])) dimensions.push_back(static_cast<int64_t>(k));
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < count; ++k) {
    Instruction* operand = i->operand(k);
    operands.push_back(r.Add(Opcode::kBitcast, InMemoryOrder(operand->shape()), {operand}));
    const Shape& result = i->shape().IsTuple() ? i->shape().elements[k] : i->shape();
    shapes.push_back(ResultOf(result, operand->shape(), reduced));
  }
  for (int64_t k = count; k < i->operand_count(); ++k) operands.push_back(i->operand(k));
  const bool is_tuple = i->shape().IsTuple();
  Instruction* reduce = r.Clone(i, is_tuple ? Shape::Tuple(shapes) : shapes[0], operands);
  reduce->mutable_attr<DimensionsAttrs>().dimensions = dimensions;
  if (reduce->shape() == i->shape()) return reduce;
  if (!is_tuple) return r.Add(Opcode::kBitcast, i->shape(), {reduce});
  HloWriter w(r);
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < count; ++k)
    parts.push_back(r.Add(Opcode::kBitcast, i->shape().elements[k], {w.Part(reduce, k)}));
  return w.Tuple(parts);
}

}  // namespace

// move_copy_to_users: a copy to another layout moves behind the pad, slice, reverse, window or
// elementwise operation that reads it, where all operands are such copies; a reduce reads what was
// copied. Converts that only a convolution reads stay. Exact.
std::unique_ptr<Pass> CreateMoveCopyToUsers() {
  return MakeExpander("move_copy_to_users", MoveCopy);
}

// reduction-layout-normalizer: a reduce reads its operands as arrays whose dimensions lie in the
// order of memory, through bitcasts. Reassociates floats where several dimensions are reduced.
std::unique_ptr<Pass> CreateReductionLayoutNormalizer() {
  return MakeExpander("reduction-layout-normalizer", NormalizeReduction);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
