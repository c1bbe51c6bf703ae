// Random numbers.
#include "builder/random.h"

#include "builder/broadcast_internal.h"
#include "builder/constants.h"
#include "builder/elementwise.h"
#include "builder/emit_internal.h"

namespace hlokit {
namespace {

XlaOp Rng(const Where& where, RngDistribution distribution, XlaOp a, XlaOp b, const Shape& shape) {
  return Emit(where, Opcode::kRng, {a, b}, RngAttrs{distribution}, {shape});
}

}  // namespace

XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape, Where where) {
  return Rng(where, RngDistribution::kNormal, mu, sigma, shape);
}

XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape, Where where) {
  return Rng(where, RngDistribution::kUniform, a, b, shape);
}

XlaOp RngBernoulli(XlaOp mean, const Shape& shape, Where where) {
  return WithShapes(where, {mean}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (!s[0].IsScalar() || !IsFloat(s[0].type))
      return InvalidArgument("bernoulli: the mean is ", Text(s[0]), ", expected a float scalar");
    XlaBuilder* builder = mean.builder();
    const Shape dims = Shape::Array(s[0].type, shape.dims);
    const XlaOp zero = Zero(builder, s[0].type, where);
    const XlaOp uniform = RngUniform(zero, One(builder, s[0].type, where), dims, where);
    const XlaOp hit = Lt(uniform, StretchTo(mean, dims, where), {}, where);
    return ConvertElementType(hit, ElementType::kU32, where);
  });
}

XlaOp RngBitGenerator(RngAlgorithm algorithm, XlaOp initial_state, const Shape& shape,
                      Where where) {
  return WithShapes(where, {initial_state},
                    [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
                      return Emit(where, Opcode::kRngBitGenerator, {initial_state},
                                  RngBitGeneratorAttrs{algorithm}, {Shape::Tuple({s[0], shape})});
                    });
}

XlaOp RngGetAndUpdateState(XlaBuilder* builder, int64_t delta, Where where) {
  return EmitIn(builder, where, Opcode::kRngGetAndUpdateState, {}, RngStateAttrs{delta});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
