// What can colour a picture besides the opcode: sharding, scope, time, bytes, flops, memory space,
// difference.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tools/hlo-viz/graph/colours.h"
#include "tools/hlo-viz/graph/module_index.h"

namespace hlokit {

// By instruction id; empty: colours by opcode.
struct Overlay {
  struct Mark {
    Colours colours;
    std::string line;      // added to the node's text; may be empty
    bool present = false;  // false: the look of the opcode, washed out
  };
  enum class Kind : uint8_t { kCategories, kHeat, kDifference };
  Kind kind = Kind::kCategories;
  std::vector<Mark> marks;
  std::vector<double> weights;                     // kHeat: the value of each instruction
  double total = 0;                                // of all that run on their own
  std::function<std::string(double)> weight_text;  // `3.4 KiB`
  std::vector<std::string> legend_titles;
  std::vector<Colours> legend_colours;

  const Mark* Of(const Instruction& instruction) const {
    return marks.empty() ? nullptr : &marks[instruction.id()];
  }
  // Of a scope that stands for all of these: the sum's share, the most frequent category, how many
  // were added and changed. Not present where colours go by opcode or nothing is known.
  Mark OfScope(const std::vector<const Instruction*>& instructions) const;
};

// What the legend of a heat scale shows, of the largest value.
inline constexpr double kHeatLegendShares[] = {0, 0.1, 0.4, 1};

// Seconds by an instruction's name.
using TimeByName = absl::flat_hash_map<std::string, double>;

// Reads a profile: a trace of hlo-run --profile=FILE.json (or any of Chrome's trace events, `name`
// and `dur` in microseconds, summed by name), or lines of `name,seconds`. InvalidArgument where no
// time is found.
absl::StatusOr<TimeByName> ReadProfile(const std::string& path);

// What to tell of a profile of another module, such as the one after passes: a twentieth of its
// time or more is of names that `index` does not have. Empty where all is well.
std::string ProfileNote(const ModuleIndex& index, const TimeByName& times);

struct OverlayInputs {
  const TimeByName* times = nullptr;  // for "time"
  const Module* other = nullptr;      // for "diff": the module before
};

// The values of --color-by: opcode, sharding, op_name, time, bytes, flops, memory-space, diff.
// Errors: InvalidArgument where `by` is none of them, or needs an input that is not there.
absl::StatusOr<Overlay> MakeOverlay(const ModuleIndex& index, absl::string_view by,
                                    const OverlayInputs& inputs);

// The scope of an op_name without its last part: `jit(f)/layer_0` of `jit(f)/layer_0/dot`. Slashes
// in brackets do not count.
absl::string_view ScopeOf(absl::string_view op_name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
