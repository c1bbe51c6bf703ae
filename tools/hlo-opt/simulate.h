// --simulate: what a step of the module takes on a machine that a topology file describes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

struct SimulateFlags {
  std::string topology;  // a file, or the name of one that is installed; empty: no simulation
  std::string format = "table";
  std::vector<std::string> what_if;  // changes of the topology's numbers
  int64_t trips = 1;                 // of loops without a known number
  int64_t rows = 20;                 // of the table's instructions
  bool list = false;                 // name the installed topologies instead
};

// The report in the format asked for. Errors in the topology file are printed, located; the status
// then says nothing new.
absl::StatusOr<std::string> SimulationText(const Module& module, const SimulateFlags& flags);

// A line for each installed topology: its name, devices and source.
absl::StatusOr<std::string> TopologyList();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
