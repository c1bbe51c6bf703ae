// What asynchronous operations run.
#pragma once

#include "ir/module.h"

namespace hlokit {

// True for async-update and async-done.
bool SharesAsyncBody(const Instruction& i);

// Makes an async-start run `body`, and with it what goes on with it, where that names a
// computation.
void SetAsyncBody(Instruction* start, Computation* body);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
