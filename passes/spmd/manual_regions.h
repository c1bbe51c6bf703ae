// Which computations of a module with Shardy's markers run inside of regions that are manual on
// some axes of the mesh.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace hlokit {

// The target of a custom call; empty for any other instruction.
inline absl::string_view TargetOf(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return "";
  return i.attr<CustomCallAttrs>().target;
}

struct Region {
  std::vector<std::string> axes;  // manual ones, sorted; none: no region
  std::vector<int64_t> groups;    // ManualGroupsOf those axes; empty where there are none
  // Whether each device is by itself.
  bool IsWholly(int64_t devices) const;
};

class ManualRegions {
 public:
  ManualRegions(const Module& module, int64_t devices) : module_(module), devices_(devices) {}

  // Follows calls from the entry: what stands between a marker's arrays and another's is a call
  // whose computation lies in a region, as does all that it calls. Errors: Unimplemented for a
  // computation in two regions.
  absl::Status Find();

  const Region& Of(const Computation* computation) const;
  // What lies after a marker (GlobalToLocalShape, LocalToGlobalShape): the region around it, and
  // the axes that it names.
  absl::StatusOr<Region> BehindMarker(const Instruction& marker) const;

 private:
  absl::Status Visit(const Instruction& i);
  absl::Status Put(const Computation* computation, const Region& region);

  const Module& module_;
  const int64_t devices_;
  std::map<const Computation*, Region> regions_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
