// while-loop-trip-count-annotator: writes what is known of a loop's counter into its configuration.
#pragma once

#include "passes/framework/pass.h"

namespace hlokit {

// Matches while loops without a configuration whose condition and body read and advance one scalar
// of their tuple. Leaves backend_config={...} with known_induction_variable, and known_trip_count
// and known_init_step where the counter goes from a constant to a constant by a constant. Cost:
// linear.
std::unique_ptr<Pass> CreateWhileLoopTripCountAnnotator();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
