// The threads that computations made by passes run on.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Computations whose ids are `first_new` and above get the thread of the computation that calls
// them; what asynchronous starts call stays as it is. Costs nothing where all run on the main one.
void InheritThreads(Module& module, int64_t first_new);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
