// What asynchronous operations run.
#pragma once

#include "ir/module.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// True for async-update and async-done.
bool SharesAsyncBody(const Instruction& i);

// Makes an async-start run `body`, and with it what goes on with it, where that names a
// computation.
void SetAsyncBody(Instruction* start, Computation* body);

// A computation of that name (or one like it) that holds a copy of `i`, named as it is, on
// parameters param_0, param_1, ...
Computation* BodyHolding(Instruction* i, absl::string_view name);

// async-start and async-done around a computation that holds a copy of `i`, on the same operands;
// gives the done, of i's shape.
Instruction* WrapAsync(Instruction* i, Rewriter& r);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
