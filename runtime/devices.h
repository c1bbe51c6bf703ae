// The devices of one run: where compiled programs wait for one another.
#pragma once

#include <stdint.h>

#include <vector>

#include "support/rendezvous.h"

namespace hlokit {

// Shared by the threads of all devices; the contexts' `devices` points at it.
struct Devices {
  explicit Devices(int64_t count) : waits(count), meetings(waits), mailboxes(waits) {}

  // What a device brings to a collective: a pointer for each array.
  struct Contribution {
    const void* const* operands;
    void* const* results;
  };
  using Message = std::vector<std::vector<char>>;  // by array

  Rendezvous waits;
  Meetings<const int64_t*, Contribution> meetings;  // by group, as an exchange has it
  Mailboxes<Message> mailboxes;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
