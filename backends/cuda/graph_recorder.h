// A CUDA graph as it is recorded: work in a row, each node after the one before it, so that the
// driver launches all of it at once.
//
//   kernel a -> copy -> while (condition) { kernel b -> copy -> kernel "set_condition" } -> kernel
//   c
//
// Conditions are read on the device: a kernel of one thread gives the value that the program
// computed (a pred[] or the number of a branch) to the conditional node, so the host never waits.
#pragma once

#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "backends/cuda/loaded_code.h"

namespace hlokit {

// A graph that can be launched, destroyed with its owner.
class CudaGraph {
 public:
  CudaGraph(const CudaDriver& driver, cuda::GraphExec exec) : driver_(driver), exec_(exec) {}
  ~CudaGraph() { driver_.cuGraphExecDestroy(exec_); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  absl::Status Launch(cuda::Stream stream) const {
    return driver_.Check(driver_.cuGraphLaunch(exec_, stream), "cuGraphLaunch");
  }

 private:
  const CudaDriver& driver_;
  const cuda::GraphExec exec_;
};

// Errors of its methods: Unimplemented where the driver does not take such graphs, so that the
// caller launches one by one instead; else the driver's.
class GraphRecorder {
 public:
  using Address = cuda::DeviceAddress;
  using Body = absl::FunctionRef<absl::Status()>;  // adds the nodes inside a conditional one

  explicit GraphRecorder(const LoadedCode& code) : code_(code) {}
  ~GraphRecorder();
  GraphRecorder(const GraphRecorder&) = delete;
  GraphRecorder& operator=(const GraphRecorder&) = delete;

  absl::Status Begin();
  // The values of the parameters are read now. `waits`: the kernel waits by itself for what the one
  // before it writes and tells when the next may start (griddepcontrol), so that neighbours
  // overlap.
  absl::Status AddKernel(cuda::Function function, int64_t blocks, int threads, int64_t shared_bytes,
                         void** parameters, bool waits = false);
  absl::Status AddCopy(Address to, Address from, int64_t bytes);
  // while (condition(), *selector) body(). `selector` is a pred[] that `condition` computes.
  absl::Status AddWhile(Address selector, Body condition, Body body);
  // switch (*selector) { case k: branch(k) }, as Step::selector, of `bytes` bytes, says.
  absl::Status AddBranches(Address selector, int64_t bytes, int count,
                           absl::FunctionRef<absl::Status(int)> branch);
  absl::StatusOr<std::unique_ptr<CudaGraph>> Finish();

 private:
  absl::Status Check(cuda::Result result, absl::string_view call) const;
  absl::Status Add(cuda::GraphNodeParams& params, absl::string_view what);
  absl::StatusOr<cuda::GraphCondition> MakeCondition();
  // Branch 0 of a pred[] is the one of true.
  absl::Status AddSetCondition(cuda::GraphCondition condition, Address selector, uint32_t bytes,
                               uint32_t branch, uint32_t branches);
  absl::Status AddConditional(int type, cuda::GraphCondition condition, Body body);

  const LoadedCode& code_;
  cuda::Graph root_ = nullptr;
  cuda::Graph graph_ = nullptr;     // to which nodes are added
  cuda::GraphNode last_ = nullptr;  // of graph_
  bool last_waits_ = false;         // a kernel that tells when the next may start
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
