// Dimension numbers of dots and convolutions, grouped into the three indices of a batched product:
// batch, free (rows or columns) and summed.
//   dot f32[2,3,4] x f32[2,4,5], batch 0, contracting 2 x 1: lhs batch {0}, free {1}, summed {2};
//   rhs batch {0}, free {2}, summed {1}
// A kernel counts by these three; At() splits each count into the dimensions of its group, slowest
// first, by divisions that LLVM turns into multiplications. Convolutions do the same through a
// ConvolutionMap. No data moves.
#include "backends/cuda/dot_sides.h"

#include "analysis/dot_finish.h"
#include "ir/attributes.h"
#include "ops/dim_lists.h"

namespace hlokit {
namespace {

DotSide MakeSide(const Instruction& dot, int64_t number, const DimVector& batch,
                 const DimVector& summed) {
  DotSide side;
  side.operand = dot.operand(number);
  side.number = number;
  const Shape& shape = side.operand->shape();
  for (const int64_t d : batch) side.batch.Add(shape, d);
  for (const int64_t d : summed) side.summed.Add(shape, d);
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!Contains(batch, d) && !Contains(summed, d)) side.free.Add(shape, d);
  return side;
}

DotSides SidesOfConvolution(const Instruction& convolution) {
  const auto map = std::make_shared<const ConvolutionMap>(convolution);
  DotSides sides;
  for (DotSide* side : {&sides.lhs, &sides.rhs}) {
    side->number = side == &sides.rhs ? 1 : 0;
    side->operand = convolution.operand(side->number);
    side->map = map;
    side->batch.size = map->groups();
    side->summed.size = map->terms();
    side->summed.inner = map->features();
  }
  sides.lhs.free.size = map->rows();
  sides.lhs.summed.dims = {map->dims().input_feature};
  sides.rhs.free.size = sides.rhs.free.inner = map->columns();
  sides.rhs.free.dims = {map->dims().kernel_output_feature};
  sides.rhs.summed.dims = {map->dims().kernel_input_feature};
  if (map->window_fastest()) {
    const int64_t fastest = FastestDimension(sides.rhs.operand->shape());
    if (Contains(map->dims().kernel_spatial, fastest)) sides.rhs.summed.dims = {fastest};
    sides.rhs.summed.inner = map->KernelRun();
    DimGroup& along = map->HasWideWindow() ? sides.lhs.summed : sides.lhs.free;
    along.dims = {map->dims().input_spatial.back()};
    along.inner = map->HasWideWindow() ? 1 : map->InputRun();
  }
  return sides;
}

}  // namespace

int64_t FastestDimension(const Shape& shape) {
  for (const int64_t d : shape.MinorToMajor())
    if (shape.dims[d] > 1) return d;
  return -1;
}

void DimGroup::Add(const Shape& shape, int64_t d) {
  dims.push_back(d);
  size *= shape.dims[d];
  inner = shape.dims[d];
}

const DimGroup* DotSide::Fastest() const {
  for (const DimGroup* group : {&summed, &free})
    if (group->IsFastest(operand->shape())) return group;
  return nullptr;
}

MatrixElement DotSide::At(Builder& b, llvm::Value* at_batch, llvm::Value* at_free,
                          llvm::Value* at_summed) const {
  if (map != nullptr)
    return number == 0 ? map->Input(b, at_batch, at_free, at_summed)
                       : map->Kernel(b, at_batch, at_summed, at_free);
  const Shape& shape = operand->shape();
  MatrixElement element;
  element.multi.assign(static_cast<size_t>(shape.rank()), b.Index(0));
  Delinearize(b, at_batch, batch.dims, shape.dims, element.multi);
  Delinearize(b, at_free, free.dims, shape.dims, element.multi);
  Delinearize(b, at_summed, summed.dims, shape.dims, element.multi);
  return element;
}

const Instruction* ProductOf(const Expression& e) {
  const Opcode opcode = e.subject->opcode();
  if (opcode == Opcode::kDot || opcode == Opcode::kConvolution) return e.subject;
  return FindFinishedElements(*e.subject);
}

std::optional<DotSides> SidesOfProduct(const Expression& e) {
  const Instruction* const product = ProductOf(e);
  if (product == nullptr) return std::nullopt;
  DotSides sides;
  if (product->opcode() == Opcode::kConvolution) {
    sides = SidesOfConvolution(*product);
  } else {
    const auto& dims = product->attr<DotAttrs>();
    sides = {MakeSide(*product, 0, dims.lhs_batch_dims, dims.lhs_contracting_dims),
             MakeSide(*product, 1, dims.rhs_batch_dims, dims.rhs_contracting_dims)};
  }
  for (DotSide* side : {&sides.lhs, &sides.rhs})
    side->array = product == e.subject ? side->number : side->operand->parameter_number();
  return sides;
}

DotResult::DotResult(Builder& b, const Expression& e, const DotSide& lhs, const DotSide& rhs,
                     KernelArrays& arrays, ElementType sum_type, llvm::Value* batch)
    : b_(b),
      e_(e),
      product_(ProductOf(e)),
      lhs_(lhs),
      rhs_(rhs),
      arrays_(arrays),
      array_(arrays.result(0)),
      emitter_(b),
      sum_type_(sum_type),
      batch_(batch) {
  if (!is_finished()) return;
  emitter_.set_excess(true);
  BindLeaves(emitter_, e, arrays);
}

std::vector<ScalarValue> DotResult::FinishedAt(const ElementIndex& index, llvm::Value* sum) {
  const ElementType type = product_->shape().type;
  const ScalarValue own = EmitConvert(b_, sum_type_, type, {sum});
  if (!is_finished()) return {own};
  const ScalarValue taken = EmitConvert(b_, type, emitter_.TypeOf(product_->shape()), own);
  emitter_.BeginScope();
  emitter_.BindRounded(product_, [taken](const ElementIndex&) { return taken; });
  std::vector<ScalarValue> values;
  for (size_t r = 0; r < e_.roots.size(); ++r)
    values.push_back(emitter_.EmitRounded(e_.roots[r], index, e_.root_leaves[r]));
  emitter_.EndScope();
  return values;
}

std::vector<ScalarValue> DotResult::Finished(llvm::Value* row, llvm::Value* column,
                                             llvm::Value* sum) {
  return FinishedAt(ElementIndex::Multi(IndexOf(row, column)), sum);
}

bool DotResult::HasRuns(int64_t count) const {
  const Shape& shape = array_.shape;
  if (shape.rank() == 0 || IsSubByte(shape.type) || IsComplex(shape.type)) return false;
  const int64_t fastest = shape.MinorToMajor()[0];
  if (lhs_.map != nullptr)
    return fastest == lhs_.map->dims().output_feature && rhs_.free.size % count == 0;
  return !rhs_.free.dims.empty() && fastest == shape.rank() - 1 && rhs_.free.inner % count == 0;
}

llvm::Value* DotResult::AddressOf(llvm::Value* row, llvm::Value* column) {
  llvm::Value* const at = LinearOffset(b_, ElementIndex::Multi(IndexOf(row, column)), array_.shape);
  return b_.CreateInBoundsGEP(MemoryType(b_.getContext(), array_.shape.type), array_.base, at);
}

void DotResult::Store(llvm::Value* row, llvm::Value* column, llvm::Value* sum) {
  const ElementIndex index = ElementIndex::Multi(IndexOf(row, column));
  const std::vector<ScalarValue> values = FinishedAt(index, sum);
  for (size_t r = 0; r < values.size(); ++r)
    StoreTo(b_, arrays_.result(static_cast<int64_t>(r)), index, values[r]);
}

std::vector<llvm::Value*> DotResult::IndexOf(llvm::Value* row, llvm::Value* column) {
  if (lhs_.map != nullptr) return lhs_.map->Result(b_, batch_, row, column);
  std::vector<llvm::Value*> multi(static_cast<size_t>(array_.shape.rank()), b_.Index(0));
  int64_t next = 0;
  const auto place = [&](llvm::Value* at, size_t count) {
    DimVector dims;
    for (size_t k = 0; k < count; ++k) dims.push_back(next++);
    Delinearize(b_, at, dims, array_.shape.dims, multi);
  };
  place(batch_, lhs_.batch.dims.size());
  place(row, lhs_.free.dims.size());
  place(column, rhs_.free.dims.size());
  return multi;
}

void DotResult::IfInside(llvm::Value* at, int64_t size, int64_t tile,
                         absl::FunctionRef<void()> body) {
  if (size % tile == 0) return body();
  EmitIf(b_, b_.CreateICmpULT(at, b_.Index(size)), body);
}

void DotResult::IfRow(llvm::Value* row, int64_t tile, absl::FunctionRef<void()> body) {
  IfInside(row, lhs_.free.size, tile, body);
}

void DotResult::IfColumn(llvm::Value* column, int64_t tile, absl::FunctionRef<void()> body) {
  IfInside(column, rhs_.free.size, tile, body);
}

void DotResult::StorePair(llvm::Value* row, llvm::Value* column, int64_t tile,
                          llvm::Value* const* sums) {
  llvm::Value* const next = b_.CreateNSWAdd(column, b_.Index(1));
  if (rhs_.free.size % 2 == 0)  // both columns are there, or none
    return IfColumn(column, tile, [&] {
      Store(row, column, sums[0]);
      Store(row, next, sums[1]);
    });
  IfColumn(column, tile, [&] { Store(row, column, sums[0]); });
  IfColumn(next, tile, [&] { Store(row, next, sums[1]); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
