// Evaluates map (a scalar computation on every element) and scan (a computation on every slice,
// carrying values).
#include "ops/evaluate/elementwise_sizes.h"
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/movement.h"
#include "ops/evaluate/scalar_program.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The slices of an array along one dimension, without that dimension.
struct Slices {
  int64_t dimension;

  void Box(const Shape& shape, int64_t at, DimVector& starts, DimVector& sizes) const {
    starts.assign(shape.rank(), 0);
    sizes = shape.dims;
    starts[dimension] = at;
    sizes[dimension] = 1;
  }
  Literal Get(const Literal& array, int64_t at) const {
    DimVector starts, sizes;
    Box(array.shape(), at, starts, sizes);
    Literal slice = SliceBox(array, starts, sizes);
    sizes.erase(sizes.begin() + dimension);
    slice.set_shape(Shape::Array(array.type(), sizes));
    return slice;
  }
  void Set(Literal slice, int64_t at, Literal& array) const {
    DimVector starts, sizes;
    Box(array.shape(), at, starts, sizes);
    slice.set_shape(Shape::Array(slice.type(), sizes));
    PlaceBox(slice, starts, array);
  }
};

std::vector<Literal> PartsOf(Literal value) {
  if (value.shape().IsTuple()) return std::move(value.elements());
  std::vector<Literal> parts;
  parts.push_back(std::move(value));
  return parts;
}

}  // namespace

absl::StatusOr<Literal> EvaluateMap(const EvalContext& context) {
  Literal result(context.instruction.shape());
  const ElementwiseOperands operands(context);
  operands.SetSizes(result);
  LaneFunction function(*context.instruction.to_apply(), context.call, kChunk);
  std::vector<std::vector<Complex>> chunks(context.operands.size() + 1,
                                           std::vector<Complex>(kChunk));
  std::vector<const void*> in;
  for (size_t i = 0; i < context.operands.size(); ++i) in.push_back(chunks[i].data());
  void* const out[] = {chunks.back().data()};
  for (int64_t start = 0; start < result.element_count(); start += kChunk) {
    const int64_t n = std::min(kChunk, result.element_count() - start);
    for (size_t i = 0; i < context.operands.size(); ++i) {
      const Literal& operand = operands[i];
      LoadWide(operand.type(), operand.data() + start * ByteWidth(operand.type()), n,
               chunks[i].data());
    }
    RETURN_IF_ERROR(function.Run(in, out, n));
    StoreWide(result.type(), out[0], n, result.data() + start * ByteWidth(result.type()));
  }
  return result;
}

// Operands are the scanned arrays, then the carries; results the stacked outputs, then the final
// carries.
absl::StatusOr<Literal> EvaluateScan(const EvalContext& context) {
  const ScanAttrs& attrs = context.instruction.attr<ScanAttrs>();
  const Slices slices{attrs.dimensions.empty() ? 0 : attrs.dimensions[0]};
  const int64_t carries = attrs.num_carries,
                inputs = static_cast<int64_t>(context.operands.size()) - carries;
  const bool tuple = context.instruction.shape().IsTuple();
  std::vector<Literal> results = PartsOf(Literal(context.instruction.shape()));
  const int64_t outputs = static_cast<int64_t>(results.size()) - carries;
  if (inputs < 0 || outputs < 0) return InvalidArgument("scan: num_carries is ", carries);
  const Shape& scanned = inputs > 0 ? context.operands[0]->shape() : results[0].shape();
  const int64_t steps = scanned.rank() > slices.dimension ? scanned.dims[slices.dimension] : 0;
  std::vector<Literal> state;
  for (int64_t c = 0; c < carries; ++c) state.push_back(*context.operands[inputs + c]);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t at = attrs.is_reverse ? steps - 1 - step : step;
    std::vector<Literal> arguments;
    for (int64_t i = 0; i < inputs; ++i) arguments.push_back(slices.Get(*context.operands[i], at));
    for (Literal& carry : state) arguments.push_back(std::move(carry));
    std::vector<const Literal*> pointers;
    for (const Literal& a : arguments) pointers.push_back(&a);
    ASSIGN_OR_RETURN(Literal made, context.call(*context.instruction.to_apply(), pointers));
    std::vector<Literal> parts = PartsOf(std::move(made));
    if (static_cast<int64_t>(parts.size()) != outputs + carries)
      return InvalidArgument("scan: the computation gives ", parts.size(), " results");
    for (int64_t o = 0; o < outputs; ++o) slices.Set(std::move(parts[o]), at, results[o]);
    for (int64_t c = 0; c < carries; ++c) state[c] = std::move(parts[outputs + c]);
  }
  for (int64_t c = 0; c < carries; ++c) results[outputs + c] = std::move(state[c]);
  return tuple ? Literal::Tuple(std::move(results)) : std::move(results[0]);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
