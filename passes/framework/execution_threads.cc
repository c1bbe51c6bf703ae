// Threads handed down from callers.
#include "passes/framework/execution_threads.h"

#include <algorithm>

namespace hlokit {
namespace {

bool IsAsynchronous(const Instruction& i) {
  return i.opcode() == Opcode::kAsyncStart || i.opcode() == Opcode::kAsyncUpdate ||
         i.opcode() == Opcode::kAsyncDone;
}

}  // namespace

void InheritThreads(Module& module, int64_t first_new) {
  const std::vector<Computation*> computations = module.Computations();
  if (std::all_of(computations.begin(), computations.end(),
                  [](const Computation* c) { return c->execution_thread().empty(); }))
    return;
  const std::vector<Computation*> order = module.ComputationsPostOrder();
  for (auto caller = order.rbegin(); caller != order.rend(); ++caller)
    (*caller)->ForEach([&](const Instruction* i) {
      if (IsAsynchronous(*i)) return;
      for (Computation* called : i->called())
        if (called->id() >= first_new) called->set_execution_thread((*caller)->execution_thread());
    });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
