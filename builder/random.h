// Random numbers.
//
// Errors are InvalidArgument with the label of the rule (docs/operations.md), kept in the builder.
// Source: XLA Operation Semantics.
#pragma once

#include "builder/xla_op.h"
#include "ir/enums.h"
#include "types/shape.h"

namespace hlokit {

// Numbers of `shape`, new ones at each run: normal with scalars mu and sigma; uniform in [a, b).
XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape, Where where = Where::current());
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape, Where where = Where::current());
// u32 ones with probability `mean` (a float scalar), else zeros, of the dimensions of `shape`.
// Source: the older builders.
XlaOp RngBernoulli(XlaOp mean, const Shape& shape, Where where = Where::current());
// (new state, random bits of `shape`), a function of the state alone. Three-fry takes u64[2],
// Philox and the default u64[2] or u64[3].
XlaOp RngBitGenerator(RngAlgorithm algorithm, XlaOp initial_state, const Shape& shape,
                      Where where = Where::current());
// The program's own state, u64[2], which moves on by `delta` each time.
XlaOp RngGetAndUpdateState(XlaBuilder* builder, int64_t delta, Where where = Where::current());

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
