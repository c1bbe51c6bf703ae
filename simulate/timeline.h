// One step of a module on every device of a topology, predicted.
//
// Each kind of device (device_kinds.h) has a clock for what it computes, and one for each level of
// the network, on which its collectives queue. Instructions run in the schedule's order, on all
// kinds at once, as one program runs on all devices:
//   fusion                     the device's clock advances by its time (kernel_model.h)
//   all-reduce                 starts when the last of its group has come, all wait for its end
//   all-reduce-start, -done    the same, but computing goes on until -done, which waits if it must
// A collective that nobody overlaps is exposed: the device waits. A loop runs until an iteration
// takes as long as the one before; the others count as much. Of a conditional the longest branch
// runs. Cost: instructions times kinds times the first iterations of loops.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "simulate/device_kinds.h"
#include "simulate/kernel_model.h"

namespace hlokit {

// A stretch of a timeline.
struct TimelineSpan {
  const Instruction* instruction = nullptr;
  int lane = 0;  // 0: what the device computes and waits for; 1 + level: a level of the network
  bool waits = false;  // for a collective
  double begin = 0, end = 0;
  double iterations = 0;  // of a loop, that the span stands for; 0: it is one instruction
};

// What one instruction took, in all its runs.
struct PredictedTime {
  const Instruction* instruction = nullptr;
  double runs = 0;
  double seconds = 0;             // of computing, or of a transfer
  double exposed = 0;             // of waiting for it
  Bound bound = Bound::kNothing;  // kNothing: a collective
  std::string algorithm;          // of a collective
  double bytes = 0;               // of a collective, each run
};

struct DeviceTimeline {
  int64_t device = 0;  // the first of its kind
  int64_t devices = 0;
  double seconds = 0;              // until its end
  double compute = 0;              // kernels
  double communication = 0;        // transfers, whether overlapped or not
  double exposed = 0;              // waiting for transfers and for other devices
  std::vector<double> sent, busy;  // by level: bytes sent, seconds of transfers
  // Of the first kinds only (kMaxDetailed).
  std::vector<TimelineSpan> spans;
  std::vector<PredictedTime> instructions;  // longest first: of computing and waiting
};

struct StepPrediction {
  int64_t devices = 0;
  double seconds = 0;
  // Of one device: products, those of them that the model needs, and the seconds that these would
  // take at the peak rate.
  double product_flops = 0, model_flops = 0, ideal_seconds = 0, model_ideal_seconds = 0;
  std::vector<DeviceTimeline> kinds;
  std::vector<double> first_start;  // by instruction id: when it first starts; -1: never
  bool guessed_trips = false;       // a loop's number of iterations is not known
};

struct SimulateOptions {
  int64_t unknown_trips = 1;  // of loops without a known number
};

inline constexpr int kMaxDetailed = 8;

// Preconditions: as hlo-cost's, known trip counts stand in backend configs
// (while-loop-trip-count-annotator). Errors: as KindsOf; Unimplemented for calls nested deeper than
// 200. The result points into `module`.
absl::StatusOr<StepPrediction> Simulate(const Module& module, const Topology& topology,
                                        const SimulateOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
