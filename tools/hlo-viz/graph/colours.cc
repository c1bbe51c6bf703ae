// Tables of colours and of the families of opcodes that have them, those of XLA's hlo_graph_dumper.
#include "tools/hlo-viz/graph/colours.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "ir/op_facts.h"

namespace hlokit {
namespace {

struct LookRow {
  const char* meaning;
  Colours colours;
};

const LookRow kLooks[kLookCount] = {
    {"elementwise and others", {"#ffffff", "#9e9e9e", "#000000"}},
    {"collectives, host transfers", {"#bcaaa4", "#8c7b75", "#000000"}},
    {"dot, convolution, solvers", {"#1565c0", "#003c8f", "#ffffff"}},
    {"calls, loops, branches", {"#2e7d32", "#005005", "#ffffff"}},
    {"small parameter", {"#ffe0b2", "#cbae82", "#000000"}},
    {"large parameter", {"#ffb74d", "#c88719", "#000000"}},
    {"highlighted", {"#b71c1c", "#7f0000", "#ffffff"}},
    {"fusion", {"#cfd8dc", "#9ea7aa", "#000000"}},
    {"moves data", {"#c8e6c9", "#97b498", "#000000"}},
    {"reduces, gathers, scatters", {"#e1bee7", "#af8eb5", "#000000"}},
    {"broadcast, update in place", {"#fff9c4", "#cbc693", "#000000"}},
};

Look LookOf(Family family) {
  switch (family) {
    case Family::kGeneral:
      return Look::kWhite;
    case Family::kCommunication:
      return Look::kBrown;
    case Family::kAlgebra:
      return Look::kDarkBlue;
    case Family::kControl:
      return Look::kDarkGreen;
    case Family::kScope:
      return Look::kGrey;
    case Family::kMovement:
      return Look::kGreen;
    case Family::kAggregation:
      return Look::kPurple;
    case Family::kExpansion:
      return Look::kYellow;
  }
  return Look::kWhite;
}

std::string Hex(double red, double green, double blue) {
  const auto byte = [](double v) { return static_cast<int>(std::lround(std::clamp(v, 0., 255.))); };
  return absl::StrFormat("#%02x%02x%02x", byte(red), byte(green), byte(blue));
}

}  // namespace

Look LookOf(const Instruction& instruction, bool fused) {
  if (instruction.IsParameter())
    return instruction.shape().IsArray() && instruction.shape().ElementCount() >= kLargeElements
               ? Look::kDarkOrange
               : Look::kOrange;
  if (instruction.opcode() == Opcode::kBitcast && fused) return Look::kGreen;
  return LookOf(Facts(instruction.opcode()).family);
}

const Colours& ColoursOf(Look look) { return kLooks[static_cast<int>(look)].colours; }
absl::string_view Meaning(Look look) { return kLooks[static_cast<int>(look)].meaning; }

Colours Heat(double share) {
  const double t = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const double root = std::sqrt(t);  // what takes a tenth should be seen
  return {Hex(245 + 10 * root, 245 - 200 * root, 245 - 245 * root),
          Hex(170 + 30 * root, 170 - 140 * root, 170 - 170 * root),
          root > 0.8 ? "#ffffff" : "#000000"};
}

Colours Category(int64_t k) {
  constexpr const char* kCycle[][2] = {
      {"#bbdefb", "#6f9bc4"}, {"#ffccbc", "#cb8f7a"}, {"#c8e6c9", "#7fa982"},
      {"#e1bee7", "#a87fb0"}, {"#fff59d", "#c4b64f"}, {"#b2dfdb", "#6fa8a3"},
      {"#f8bbd0", "#c07f97"}, {"#d7ccc8", "#978880"}, {"#c5cae9", "#8188b8"},
      {"#dcedc8", "#98ad7b"}, {"#ffe0b2", "#cba66c"}, {"#b3e5fc", "#6eadc8"},
  };
  const auto& row = kCycle[static_cast<size_t>(k) % std::size(kCycle)];
  return {row[0], row[1], "#000000"};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
