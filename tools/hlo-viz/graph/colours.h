// Colours of drawn nodes: XLA's, by class of opcode, and scales for what else can colour them.
#pragma once

#include <cstdint>
#include <string>

#include "ir/instruction.h"

namespace hlokit {

// `#rrggbb` each.
struct Colours {
  std::string fill, stroke, text = "#000000";
  bool operator==(const Colours&) const = default;
};

// The classes that XLA's graph dumper colours alike.
enum class Look : uint8_t {
  kWhite,       // elementwise, and the rest
  kBrown,       // talks to other devices or the host
  kDarkBlue,    // dot, convolution, fft and the like
  kDarkGreen,   // runs computations: while, call, conditional, custom-call
  kOrange,      // small parameters
  kDarkOrange,  // parameters of kLargeElements elements and more
  kDarkRed,     // highlighted
  kGrey,        // fusion, map, domain, sizes of dynamic dimensions
  kGreen,       // moves data
  kPurple,      // reduces, gathers, scatters
  kYellow,      // broadcast, dynamic-update-slice
};
inline constexpr int kLookCount = static_cast<int>(Look::kYellow) + 1;

// From this many elements on, parameters and edges are drawn as large.
inline constexpr int64_t kLargeElements = 4096;

// `fused`: it stands in a fusion's computation, where a bitcast moves data.
Look LookOf(const Instruction& instruction, bool fused = false);
const Colours& ColoursOf(Look look);
// What the class holds, for legends: "moves data".
absl::string_view Meaning(Look look);

// From pale grey at 0 to red at 1, as XLA shows profiles; outside values are clamped.
Colours Heat(double share);
// Colour number `k` of a cycle of soft colours for categories.
Colours Category(int64_t k);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
