// Reads `"known_trip_count":{"n":"8"}` of a while's backend_config, as XLA writes it.
// while-loop-trip-count-annotator (passes/loops) is what computes it.
#include "analysis/trip_count.h"

#include "ops/vendor/call_config.h"

namespace hlokit {

std::optional<int64_t> KnownTripCount(const Instruction& loop) {
  if (loop.opcode() != Opcode::kWhile || loop.backend_config().empty()) return std::nullopt;
  const absl::StatusOr<ConfigValue> config = ParseCallConfig(loop.backend_config());
  const ConfigValue* known = config.ok() ? config->Find("known_trip_count") : nullptr;
  const double trips = known != nullptr ? known->NumberOr("n", -1) : -1;
  if (!(trips >= 0 && trips < 0x1p62)) return std::nullopt;
  return static_cast<int64_t>(trips);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
