// Whether computations that run at the same time and talk over channels can wait for each other
// forever.
#pragma once

#include "absl/types/span.h"
#include "ir/module.h"
#include "support/diagnostics.h"

namespace hlokit {

// Adds an error [channel-c2] for each computation in which sends and receives stand in an order
// that closes a circle of waiting: each computation runs its schedule (else its instructions as
// they were added) one after the other, and for each channel the recv comes before the send, the
// send before its send-done and before the recv-done, and the recv before its recv-done. Channels
// that only one side uses are left out, as are transfers to and from the host. Source: S66.
void CheckChannelOrder(absl::Span<const Computation* const> computations, Diagnostics& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
