// Evaluates elementwise ops: kernels over chunks of widened elements.
//
//   add of f16[1000]: chunks of 512 and 488; in each both operands to double, additions, to f16
// The kernel is chosen once (kernels.cc); the buffers of a chunk fit the first-level cache. A
// scalar operand stands for every element and is widened once. Dynamic sizes are those of the first
// operand that has them.
#include <cstring>

#include "ops/evaluate/elementwise_sizes.h"
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/kernels.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

// One operand of a run over chunks; scalars stand for every element.
struct Source {
  const Literal* literal;
  bool repeats;
  alignas(16) uint8_t wide[kChunk * 16];

  void Load(int64_t start, int64_t n) {
    const ElementType type = literal->type();
    if (!repeats) return LoadWide(type, literal->data() + start * ByteWidth(type), n, wide);
    if (start > 0) return;  // chunks only get shorter
    const int width = WideBytes(type);
    LoadWide(type, literal->data(), 1, wide);
    for (int64_t i = 1; i < n; ++i) std::memcpy(wide + i * width, wide, width);
  }
};

absl::StatusOr<Literal> EvaluateChunks(const EvalContext& context) {
  ASSIGN_OR_RETURN(KernelCall call, FindKernel(context.instruction));
  Literal result(context.instruction.shape());
  const ElementwiseOperands operands(context);
  operands.SetSizes(result);
  const int64_t count = result.element_count();
  std::vector<Source> sources(context.operands.size());
  const void* in[3] = {nullptr, nullptr, nullptr};
  for (size_t i = 0; i < sources.size() && i < 3; ++i) {
    const Literal& operand = operands[i];
    sources[i].literal = &operand;
    sources[i].repeats = operand.element_count() == 1 && count != 1;
    if (operand.element_count() != count && !sources[i].repeats)
      return InvalidArgument(Text(context.instruction.opcode()), ": operand ", i, " has ",
                             operand.element_count(), " elements, the result ", count);
    in[i] = sources[i].wide;
  }
  alignas(16) uint8_t out[kChunk * 16];
  const int width = ByteWidth(call.out);
  for (int64_t start = 0; start < count; start += kChunk) {
    const int64_t n = std::min(kChunk, count - start);
    for (Source& source : sources) source.Load(start, n);
    call.run(call, in, out, n);
    StoreWide(call.out, out, n, result.data() + start * width);
  }
  return result;
}

}  // namespace

absl::StatusOr<Literal> EvaluateUnary(const EvalContext& context) {
  return EvaluateChunks(context);
}
absl::StatusOr<Literal> EvaluateBinary(const EvalContext& context) {
  return EvaluateChunks(context);
}
absl::StatusOr<Literal> EvaluateCompare(const EvalContext& context) {
  return EvaluateChunks(context);
}
absl::StatusOr<Literal> EvaluateSelect(const EvalContext& context) {
  return EvaluateChunks(context);
}
absl::StatusOr<Literal> EvaluateClamp(const EvalContext& context) {
  return EvaluateChunks(context);
}
absl::StatusOr<Literal> EvaluateConvert(const EvalContext& context) {
  return EvaluateChunks(context);
}
absl::StatusOr<Literal> EvaluateReducePrecision(const EvalContext& context) {
  return EvaluateChunks(context);
}
absl::StatusOr<Literal> EvaluateStochasticConvert(const EvalContext& context) {
  return EvaluateChunks(context);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
