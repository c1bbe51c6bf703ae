// Chains of async-start, async-update and async-done.
#include "passes/async_body.h"

namespace hlokit {

bool SharesAsyncBody(const Instruction& i) {
  return i.opcode() == Opcode::kAsyncDone || i.opcode() == Opcode::kAsyncUpdate;
}

void SetAsyncBody(Instruction* start, Computation* body) {
  std::vector<Instruction*> work = {start};
  while (!work.empty()) {
    Instruction* i = work.back();
    work.pop_back();
    if (!i->called().empty()) i->SetCalled(0, body);
    for (Instruction* user : i->users())
      if (SharesAsyncBody(*user)) work.push_back(user);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
