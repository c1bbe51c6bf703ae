// Evaluates scatter: windows of updates combined into copies of the operands; a window that does
// not fit is skipped.
#include <algorithm>
#include <cstring>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/index_vectors.h"
#include "ops/evaluate/reducer.h"
#include "ops/evaluate/scalar_program.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Calls visit(position in the operand, position in the updates) for each element that is combined,
// in order.
template <typename Visit>
absl::Status ForEachUpdate(const EvalContext& context, Visit visit) {
  const ScatterAttrs& attrs = context.instruction.attr<ScatterAttrs>();
  const int64_t n = context.operands.size() / 2;
  const Shape& operand = context.operands[0]->shape();
  const Literal& updates = *context.operands[n + 1];
  const IndexVectors vectors(*context.operands[n], attrs.index_vector_dim,
                             attrs.scatter_dims_to_operand_dims, attrs.input_batching_dims,
                             attrs.scatter_indices_batching_dims);
  const DimVector window_dims =
      Others(operand.rank(), attrs.inserted_window_dims, attrs.input_batching_dims);
  const DimVector window = Pick(updates.shape().dims, attrs.update_window_dims);
  const DimVector strides = RowMajorStrides(operand.dims);
  const DimVector update_strides = RowMajorStrides(updates.shape().dims);
  const std::vector<int64_t> into = Offsets(window, Pick(strides, window_dims));
  const std::vector<int64_t> inside =
      Offsets(window, Pick(update_strides, attrs.update_window_dims));
  const std::vector<int64_t> sources =
      Offsets(vectors.batch_sizes,
              Pick(update_strides, Others(updates.shape().rank(), attrs.update_window_dims)));
  DimVector extent(operand.rank(), 1), start(operand.rank(), 0);
  for (size_t k = 0; k < window_dims.size(); ++k) extent[window_dims[k]] = window[k];
  for (size_t i = 0; i < sources.size(); ++i) {
    vectors.Start(i, absl::MakeSpan(start));
    bool fits = true;
    int64_t at = 0;
    for (int d = 0; d < operand.rank(); ++d) {
      fits &= start[d] >= 0 && start[d] <= operand.dims[d] - extent[d];
      if (fits) at += start[d] * strides[d];
    }
    if (!fits) continue;
    for (size_t k = 0; k < into.size(); ++k)
      RETURN_IF_ERROR(visit(at + into[k], sources[i] + inside[k]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> Overwrite(const EvalContext& context) {
  Literal result = *context.operands[0];
  const Literal& updates = *context.operands[2];
  const int width = ByteWidth(result.type());
  RETURN_IF_ERROR(ForEachUpdate(context, [&](int64_t to, int64_t from) {
    std::memcpy(result.data() + to * width, updates.data() + from * width, width);
    return absl::OkStatus();
  }));
  return result;
}

// One operand, combined by a single opcode in widened values; floats narrower than f32 are rounded
// at each step.
absl::StatusOr<Literal> Accumulate(const EvalContext& context, Opcode opcode) {
  const ElementType type = context.operands[0]->type();
  const KernelCall call{BinaryKernelFor(opcode, type), type, type};
  if (call.run == nullptr) return Unimplemented("scatter with ", Text(opcode), " of ", Text(type));
  const bool rounds = RoundsSteps(opcode, type);
  return VisitWide(type, [&](auto own) -> absl::StatusOr<Literal> {
    using T = decltype(own);
    std::vector<T> values = WidenTo<T>(*context.operands[0]);
    const std::vector<T> updates = WidenTo<T>(*context.operands[2]);
    RETURN_IF_ERROR(ForEachUpdate(context, [&](int64_t to, int64_t from) {
      const void* const in[] = {&values[to], &updates[from]};
      call.run(call, in, &values[to], 1);
      if (rounds) RoundWide(type, &values[to], 1);
      return absl::OkStatus();
    }));
    return NarrowFrom(context.operands[0]->shape(), values);
  });
}

absl::StatusOr<Literal> CombineByComputation(const EvalContext& context,
                                             const Computation& combiner) {
  const int64_t n = context.operands.size() / 2;
  LaneFunction function(combiner, context.call, 1);
  std::vector<Literal> results;
  std::vector<Complex> cells(3 * n);  // current values, updates, combined
  std::vector<const void*> in;
  std::vector<void*> out;
  for (int64_t i = 0; i < n; ++i) results.push_back(*context.operands[i]);
  for (int64_t i = 0; i < 2 * n; ++i) in.push_back(&cells[i]);
  for (int64_t i = 0; i < n; ++i) out.push_back(&cells[2 * n + i]);
  RETURN_IF_ERROR(ForEachUpdate(context, [&](int64_t to, int64_t from) {
    for (int64_t i = 0; i < n; ++i) {
      const ElementType type = results[i].type();
      LoadWide(type, results[i].data() + to * ByteWidth(type), 1, &cells[i]);
      LoadWide(type, context.operands[n + 1 + i]->data() + from * ByteWidth(type), 1,
               &cells[n + i]);
    }
    RETURN_IF_ERROR(function.Run(in, absl::MakeSpan(out), 1));
    for (int64_t i = 0; i < n; ++i)
      StoreWide(results[i].type(), out[i], 1,
                results[i].data() + to * ByteWidth(results[i].type()));
    return absl::OkStatus();
  }));
  return context.instruction.shape().IsTuple() ? Literal::Tuple(std::move(results))
                                               : std::move(results[0]);
}

}  // namespace

absl::StatusOr<Literal> EvaluateScatter(const EvalContext& context) {
  const Computation& combiner = *context.instruction.to_apply();
  if (context.operands.size() == 3 && !context.instruction.shape().IsTuple()) {
    if (ReturnedParameter(combiner) == 1) return Overwrite(context);
    if (std::optional<Opcode> opcode = SimpleReducer(combiner)) return Accumulate(context, *opcode);
  }
  return CombineByComputation(context, combiner);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
