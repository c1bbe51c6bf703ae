// The custom call ApproxTopK where it states `is_fallback`: exact, as XLA's conversion writes it.
//
//   custom_call @ApproxTopK(%x, %i, %least, %none) {top_k = 2, reduction_dim = 1, is_fallback =
//   true}
//   ->  sort(x, i) by the comparator, the first two of each row
// The largest alone is a reduction that keeps the better of two by the comparator. Without
// `is_fallback` the call stays, for a target that has it.
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// Keeps of two groups of values the one that `comparator` puts first. The comparator takes the
// values in pairs: (lhs 0, rhs 0, lhs 1, rhs 1, ...).
Computation* BetterOfTwo(BodyConverter& body, Computation* comparator,
                         absl::Span<Instruction* const> arrays) {
  Computation* made = body.module().module().AddComputation("ReductionFn");
  BodyConverter inside(body.module(), made, &body);
  const size_t count = arrays.size();
  std::vector<Instruction*> lhs, rhs, pairs, kept;
  for (size_t side = 0; side < 2; ++side)
    for (size_t i = 0; i < count; ++i)
      (side == 0 ? lhs : rhs)
          .push_back(
              made->AddParameter(static_cast<int64_t>(side * count + i),
                                 Shape::Scalar(arrays[i]->shape().type).WithDefaultLayout()));
  for (size_t i = 0; i < count; ++i) pairs.insert(pairs.end(), {lhs[i], rhs[i]});
  Instruction* first = inside.Add(Opcode::kCall, comparator->root()->shape(), pairs, CallAttrs());
  first->set_called({comparator});
  for (size_t i = 0; i < count; ++i)
    kept.push_back(inside.Add(Opcode::kSelect, lhs[i]->shape(), {first, lhs[i], rhs[i]}));
  inside.Return(kept, /*always_tuple=*/true);
  return made;
}

Shape TupleOfShapes(absl::Span<Instruction* const> values) {
  std::vector<Shape> shapes;
  for (const Instruction* value : values) shapes.push_back(value->shape());
  return Shape::Tuple(std::move(shapes));
}

// The best of each row, of one element along the dimension.
std::vector<Instruction*> Best(BodyConverter& body, absl::Span<Instruction* const> operands,
                               Computation* comparator, int64_t dimension, const Shape& result) {
  const absl::Span<Instruction* const> arrays = operands.first(operands.size() / 2);
  std::vector<Shape> reduced;
  for (const Instruction* array : arrays) {
    DimVector dims = array->shape().dims;
    dims.erase(dims.begin() + dimension);
    reduced.push_back(Shape::Array(array->shape().type, dims).WithDefaultLayout());
  }
  Instruction* best = body.Add(Opcode::kReduce, Shape::Tuple(std::move(reduced)), operands,
                               DimensionsAttrs{{dimension}});
  best->set_called({BetterOfTwo(body, comparator, arrays)});
  std::vector<Instruction*> values;
  for (size_t i = 0; i < arrays.size(); ++i)
    values.push_back(body.Add(Opcode::kReshape, result.elements[i],
                              {body.Element(best, static_cast<int64_t>(i))}));
  return values;
}

// The first elements of each sorted row, as many as the result has.
std::vector<Instruction*> FirstOfSorted(BodyConverter& body, absl::Span<Instruction* const> arrays,
                                        Computation* comparator, int64_t dimension,
                                        const Shape& result) {
  SortAttrs attributes;
  attributes.dimensions = {dimension};
  Instruction* sorted =
      body.Add(Opcode::kSort, TupleOfShapes(arrays), arrays, std::move(attributes));
  sorted->set_called({comparator});
  std::vector<Instruction*> values;
  for (size_t i = 0; i < arrays.size(); ++i) {
    SliceAttrs slice;
    for (const int64_t size : result.elements[i].dims) slice.slice.push_back({0, size, 1});
    values.push_back(body.Add(Opcode::kSlice, result.elements[i],
                              {body.Element(sorted, static_cast<int64_t>(i))}, std::move(slice)));
  }
  return values;
}

}  // namespace

absl::StatusOr<bool> ConvertApproxTopK(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const OpAttributes config,
                   OpAttributes(op).OptionalFields("mhlo.backend_config"));
  ASSIGN_OR_RETURN(const bool fallback, config.Bool("is_fallback", false));
  if (!fallback) return false;
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const int64_t count, config.Int("top_k"));
  ASSIGN_OR_RETURN(const int64_t dimension, config.Int("reduction_dim"));
  ASSIGN_OR_RETURN(const bool aggregates, config.Bool("aggregate_to_topk", true));
  const MlirAttribute* called = op.Find("called_computations");
  const Shape result = BodyConverter::ShapeOf(op);
  const size_t arrays = operands.size() / 2;
  if (arrays < 2 || operands.size() % 2 != 0 || op.results.size() != arrays || called == nullptr ||
      called->elements.size() != 1)
    return InvalidArgument(op.name,
                           ": ApproxTopK takes arrays and as many first values, at least "
                           "two, gives an array for each, and has one comparator");
  for (size_t i = 0; i < arrays; ++i) {
    const Shape& from = operands[i]->shape();
    const Shape& to = result.elements[i];
    bool fits = from.IsArray() && to.IsArray() && from.rank() == to.rank() &&
                from.dims == operands[0]->shape().dims && from.type == to.type && dimension >= 0 &&
                dimension < from.rank() && operands[arrays + i]->shape().IsScalar() &&
                operands[arrays + i]->shape().type == from.type;
    for (int d = 0; fits && d < from.rank(); ++d)
      fits = d == dimension ? to.dims[d] <= from.dims[d] && to.dims[d] >= count
                            : to.dims[d] == from.dims[d];
    if (!fits)
      return InvalidArgument(op.name, ": ApproxTopK: operands and results do not fit each other");
  }
  ASSIGN_OR_RETURN(Computation * comparator, body.module().Function(called->elements[0]->text));
  const absl::Span<Instruction* const> all = operands;
  const std::vector<Instruction*> values =
      aggregates && count == 1
          ? Best(body, all, comparator, dimension, result)
          : FirstOfSorted(body, all.first(arrays), comparator, dimension, result);
  body.SetResults(op, body.Tuple(values));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
