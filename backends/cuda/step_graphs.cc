// Callers stand before what they call in Program::sequences, so nodes are counted from the last
// sequence to the first. Cost: linear in steps.
#include "backends/cuda/step_graphs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hlokit {
namespace {

constexpr int64_t kMaxUnrolledNodes = 4096;  // of a loop
constexpr int64_t kMaxNodes = 8192;          // of a graph
constexpr int64_t kHost = -1;

const char* WantedGraphs() {
  const char* const text = std::getenv("HLOKIT_CUDA_GRAPHS");
  return text != nullptr ? text : "";
}

int64_t NodesOfCopies(const std::vector<BufferCopy>& copies) {
  return 2 * static_cast<int64_t>(copies.size());
}

}  // namespace

bool StepGraphs::AreWanted(const GpuProgram& program) {
  return std::strcmp(WantedGraphs(), "0") != 0 && !program.options.profile &&
         program.options.limits.steps == 0 && std::getenv("HLOKIT_CUDA_WAIT") == nullptr;
}

StepGraphs::StepGraphs(const GpuProgram& program, bool has_conditions)
    : program_(program), has_conditions_(has_conditions) {
  if (std::strcmp(WantedGraphs(), "1") == 0) runs_before_ = 0;
  overlaps_ = program.kernels.wait && std::strcmp(WantedGraphs(), "apart") != 0;
  const std::vector<StepSequence>& sequences = program.program.sequences;
  nodes_.assign(sequences.size(), kHost);
  for (size_t k = sequences.size(); k-- > 0;) nodes_[k] = NodesOf(static_cast<int32_t>(k));
  for (const StepSequence& sequence : sequences) segments_.push_back(Cut(sequence));
}

std::vector<GraphSegment>& StepGraphs::SegmentsOf(int32_t sequence) {
  return segments_[static_cast<size_t>(sequence)];
}

int64_t StepGraphs::NodesOf(int32_t sequence) const {
  const StepSequence& s = program_.program.sequences[static_cast<size_t>(sequence)];
  int64_t sum = NodesOfCopies(s.copies);
  for (const Step& step : s.steps) {
    const int64_t nodes = NodesOf(step);
    if (nodes == kHost) return kHost;
    sum += nodes;
  }
  return sum;
}

bool StepGraphs::Unrolls(const Step& loop) const {
  const auto known = program_.trips.find(&loop);
  if (known == program_.trips.end()) return false;
  const int64_t body = nodes_[static_cast<size_t>(loop.bodies[1])];
  return body != kHost && known->second <= kMaxUnrolledNodes / std::max<int64_t>(body, 1);
}

int64_t StepGraphs::NodesOfLoop(const Step& step) const {
  const int64_t condition = nodes_[static_cast<size_t>(step.bodies[0])];
  const int64_t body = nodes_[static_cast<size_t>(step.bodies[1])];
  const int64_t copies = NodesOfCopies(step.copies);
  if (Unrolls(step)) return copies + program_.trips.at(&step) * body;
  if (condition == kHost || body == kHost || !has_conditions_) return kHost;
  return copies + 2 * condition + body + 3;
}

int64_t StepGraphs::NodesOf(const Step& step) const {
  switch (step.kind) {
    case StepKind::kKernel:
      return static_cast<int64_t>(program_.kernels.launches.at(&step).size());
    case StepKind::kCall:
      return nodes_[static_cast<size_t>(step.bodies[0])];
    case StepKind::kWhile:
      return NodesOfLoop(step);
    case StepKind::kConditional: {
      if (!has_conditions_) return kHost;
      int64_t sum = 0;
      for (const int32_t branch : step.bodies) {
        const int64_t nodes = nodes_[static_cast<size_t>(branch)];
        if (nodes == kHost) return kHost;
        sum += nodes + 2;
      }
      return sum;
    }
    default:
      return kHost;
  }
}

std::vector<GraphSegment> StepGraphs::Cut(const StepSequence& sequence) const {
  std::vector<GraphSegment> segments;
  bool is_open = false;
  for (size_t k = 0; k < sequence.steps.size(); ++k) {
    const int64_t nodes = NodesOf(sequence.steps[k]);
    const bool joins = is_open && nodes != kHost && segments.back().nodes + nodes <= kMaxNodes;
    if (!joins) segments.push_back({.begin = k});
    is_open = nodes != kHost && nodes <= kMaxNodes;
    segments.back().end = k + 1;
    if (is_open) segments.back().nodes += nodes;
  }
  if (segments.empty() || !is_open)
    segments.push_back({.begin = sequence.steps.size(), .end = sequence.steps.size()});
  segments.back().has_copies = true;
  segments.back().nodes += NodesOfCopies(sequence.copies);
  return segments;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
