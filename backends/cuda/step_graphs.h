// Which steps of a program are launched together as CUDA graphs.
//
// A sequence is cut where a step needs the host (infeed, a fallback, collectives); what lies
// between is a segment, for example
//
//   kernel, kernel, while (5 times) { kernel }, | infeed | , kernel, copies
//
// has two of them, of 7 nodes and of 2. Loops that count to a constant lie in a graph as often as
// they run, up to kMaxUnrolledNodes; others are a node whose condition the device reads.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/graph_recorder.h"

namespace hlokit {

struct GraphSegment {
  size_t begin = 0, end = 0;  // of the sequence's steps
  bool has_copies = false;    // those at the sequence's end, too
  int64_t nodes = 0;          // 0: not to be recorded
  // Steps are launched one by one the first time: a program that runs once needs no graph.
  int64_t runs = 0;
  std::unique_ptr<CudaGraph> graph = nullptr;
};

class StepGraphs {
 public:
  // `has_conditions`: graphs may have conditional nodes.
  StepGraphs(const GpuProgram& program, bool has_conditions);

  // All steps of a sequence, in order.
  std::vector<GraphSegment>& SegmentsOf(int32_t sequence);
  // Whether a loop with known trips lies in a graph as often as it runs.
  bool Unrolls(const Step& loop) const;
  // After how many runs a segment is recorded.
  int64_t runs_before() const { return runs_before_; }

  // Whether kernels may start before the one before them has ended.
  bool overlaps() const { return overlaps_; }

  // Not wanted (HLOKIT_CUDA_GRAPHS=0), or not possible where each step is looked at by itself.
  static bool AreWanted(const GpuProgram& program);

 private:
  // Nodes that the step, the sequence takes; -1 where it needs the host.
  int64_t NodesOf(const Step& step) const;
  int64_t NodesOf(int32_t sequence) const;
  int64_t NodesOfLoop(const Step& step) const;
  std::vector<GraphSegment> Cut(const StepSequence& sequence) const;

  const GpuProgram& program_;
  const bool has_conditions_;
  int64_t runs_before_ = 1;
  bool overlaps_ = false;
  std::vector<int64_t> nodes_;  // of each sequence
  std::vector<std::vector<GraphSegment>> segments_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
