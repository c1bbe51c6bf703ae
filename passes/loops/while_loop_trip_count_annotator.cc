// Writes into backend_config what is known of a loop's counter: its place in the state, trip count,
// initial value and step.
#include "passes/loops/while_loop_trip_count_annotator.h"

#include "absl/strings/str_cat.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> AnnotateTripCounts(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.Instructions()) {
    const std::optional<WhileState> loop = WhileState::Of(i);
    if (!loop || !i->backend_config().empty()) continue;
    const std::optional<int64_t> counter = CounterIndex(*loop);
    if (!counter) continue;
    std::string known;
    if (const std::optional<LoopCount> counted = CountLoop(*loop); counted)
      known = absl::StrCat("\"known_trip_count\":{\"n\":\"", counted->trips,
                           "\"},\"known_init_step\":{\"init\":\"", counted->init, "\",\"step\":\"",
                           counted->step, "\"},");
    i->mutable_extras().backend_config =
        absl::StrCat("{", known, "\"known_induction_variable\":{\"tuple_index\":\"", *counter,
                     "\"},\"dynamic_variables\":[]}");
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateWhileLoopTripCountAnnotator() {
  return MakeComputationPass("while-loop-trip-count-annotator", AnnotateTripCounts);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
