// A prediction as a table, as JSON, as a trace for Perfetto and as a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/memory_profile.h"
#include "simulate/timeline.h"
#include "simulate/topology.h"

namespace hlokit {

// What a report tells of.
struct SimulationReport {
  std::string module;
  const Topology* topology = nullptr;
  const StepPrediction* step = nullptr;
  const MemoryProfile* memory = nullptr;  // null: not known
  // With --what-if: the changes, and the prediction without them.
  std::vector<std::string> changes;
  const StepPrediction* before = nullptr;
};

// Times, shares, memory, links, then the instructions that take longest: at most `rows`.
std::string SimulationTable(const SimulationReport& report, int rows = 20);
// One object: topology, devices, step_s, kinds (each with compute_s, exposed_s, links,
// instructions), memory.
std::string SimulationJson(const SimulationReport& report);
// Chrome's trace events, which ui.perfetto.dev and chrome://tracing read: a process for each kind
// of device, a track for its kernels and for each level of the network, a counter for memory.
std::string SimulationTrace(const SimulationReport& report);
// A page that stands alone: the table's figures, timelines to point at, memory, traffic by link.
std::string SimulationHtml(const SimulationReport& report);

// "1.23 ms", "4.5 GB", "12.3 TFLOP/s": four digits at most.
std::string SecondsWithUnit(double seconds);
std::string BytesWithUnit(double bytes);
// Devices of a peak rate that the step's products reach, as model flops utilisation: products of
// the model at the peak of their types, against the step. 0 where nothing runs.
double ModelFlopsUtilisation(const StepPrediction& step);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
