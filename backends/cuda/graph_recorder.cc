// Nodes are added by the one function that takes all kinds (cuGraphAddNode). A conditional node has
// a graph of its own inside, into which the recorder steps and from which it returns.
#include "backends/cuda/graph_recorder.h"

#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {

GraphRecorder::~GraphRecorder() {
  if (root_ != nullptr) code_.driver->cuGraphDestroy(root_);
}

absl::Status GraphRecorder::Check(cuda::Result result, absl::string_view call) const {
  const absl::Status status = code_.driver->Check(result, call);
  const bool refused = result == cuda::kNotSupported || result == cuda::kInvalidValue;
  return refused ? absl::UnimplementedError(status.message()) : status;
}

absl::Status GraphRecorder::Begin() {
  RETURN_IF_ERROR(Check(code_.driver->cuGraphCreate(&root_, 0), "cuGraphCreate"));
  graph_ = root_;
  return absl::OkStatus();
}

absl::Status GraphRecorder::Add(cuda::GraphNodeParams& params, absl::string_view what) {
  cuda::GraphNode node = nullptr;
  RETURN_IF_ERROR(
      Check(code_.driver->cuGraphAddNode(&node, graph_, &last_, last_ != nullptr ? 1 : 0, &params),
            absl::StrCat("cuGraphAddNode of ", what)));
  last_ = node;
  last_waits_ = false;
  return absl::OkStatus();
}

absl::Status GraphRecorder::AddKernel(cuda::Function function, int64_t blocks, int threads,
                                      int64_t shared_bytes, void** parameters, bool waits) {
  cuda::GraphNodeParams params = {};
  params.type = cuda::kKernelNode;
  cuda::KernelNodeParams kernel = {};
  kernel.function = function;
  kernel.grid[0] = static_cast<unsigned>(blocks);
  kernel.block[0] = static_cast<unsigned>(threads);
  kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
  kernel.shared_bytes = static_cast<unsigned>(shared_bytes);
  kernel.parameters = parameters;
  params.kernel = kernel;
  if (!waits || !last_waits_) {
    RETURN_IF_ERROR(Add(params, "a kernel"));
    last_waits_ = waits;
    return absl::OkStatus();
  }
  constexpr cuda::GraphEdge kProgrammatic = {
      .from_port = 1, .to_port = 0, .type = 1, .reserved = {}};
  cuda::GraphNode node = nullptr;
  RETURN_IF_ERROR(
      Check(code_.driver->cuGraphAddNode_v2(&node, graph_, &last_, &kProgrammatic, 1, &params),
            "cuGraphAddNode_v2 of a kernel"));
  last_ = node;
  return absl::OkStatus();
}

absl::Status GraphRecorder::AddCopy(Address to, Address from, int64_t bytes) {
  const auto width = static_cast<size_t>(bytes);
  const auto side = [&](Address address) {
    cuda::CopySide side = {};
    side.memory_type = cuda::kDeviceMemory;
    side.device = address;
    side.pitch = width;
    side.height = 1;
    return side;
  };
  cuda::GraphNodeParams params = {};
  params.type = cuda::kCopyNode;
  params.copy = {.flags = 0,
                 .reserved = 0,
                 .context = code_.context,
                 .from = side(from),
                 .to = side(to),
                 .width_bytes = width,
                 .height = 1,
                 .depth = 1};
  return Add(params, "a copy");
}

absl::StatusOr<cuda::GraphCondition> GraphRecorder::MakeCondition() {
  if (code_.set_condition == nullptr) return Unimplemented("the driver has no conditional nodes");
  cuda::GraphCondition condition = 0;
  RETURN_IF_ERROR(
      Check(code_.driver->cuGraphConditionalHandleCreate(&condition, graph_, code_.context, 0, 0),
            "cuGraphConditionalHandleCreate"));
  return condition;
}

absl::Status GraphRecorder::AddSetCondition(cuda::GraphCondition condition, Address selector,
                                            uint32_t bytes, uint32_t branch, uint32_t branches) {
  void* parameters[] = {&condition, &selector, &bytes, &branch, &branches};
  return AddKernel(code_.set_condition, 1, 1, 0, parameters);
}

absl::Status GraphRecorder::AddConditional(int type, cuda::GraphCondition condition, Body body) {
  cuda::GraphNodeParams params = {};
  params.type = cuda::kConditionalNode;
  params.conditional = {.condition = condition,
                        .type = type,
                        .body_count = 1,
                        .bodies = nullptr,
                        .context = code_.context};
  RETURN_IF_ERROR(Add(params, "a condition"));
  const cuda::Graph outer = std::exchange(graph_, params.conditional.bodies[0]);
  const cuda::GraphNode node = std::exchange(last_, nullptr);
  RETURN_IF_ERROR(body());
  graph_ = outer;
  last_ = node;
  last_waits_ = false;
  return absl::OkStatus();
}

absl::Status GraphRecorder::AddWhile(Address selector, Body condition, Body body) {
  ASSIGN_OR_RETURN(const cuda::GraphCondition goes_on, MakeCondition());
  RETURN_IF_ERROR(condition());
  RETURN_IF_ERROR(AddSetCondition(goes_on, selector, 1, 0, 2));
  return AddConditional(cuda::kWhileNode, goes_on, [&]() -> absl::Status {
    RETURN_IF_ERROR(body());
    RETURN_IF_ERROR(condition());
    return AddSetCondition(goes_on, selector, 1, 0, 2);
  });
}

absl::Status GraphRecorder::AddBranches(Address selector, int64_t bytes, int count,
                                        absl::FunctionRef<absl::Status(int)> branch) {
  // All are decided before the first of them runs, which may write over the selector.
  std::vector<cuda::GraphCondition> chosen;
  const auto size = static_cast<uint32_t>(bytes), branches = static_cast<uint32_t>(count);
  for (uint32_t k = 0; k < branches; ++k) {
    ASSIGN_OR_RETURN(const cuda::GraphCondition condition, MakeCondition());
    chosen.push_back(condition);
    RETURN_IF_ERROR(AddSetCondition(condition, selector, size, k, branches));
  }
  for (int k = 0; k < count; ++k)
    RETURN_IF_ERROR(
        AddConditional(cuda::kIfNode, chosen[static_cast<size_t>(k)], [&] { return branch(k); }));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CudaGraph>> GraphRecorder::Finish() {
  cuda::GraphExec exec = nullptr;
  RETURN_IF_ERROR(Check(code_.driver->cuGraphInstantiateWithFlags(&exec, root_, 0),
                        "cuGraphInstantiateWithFlags"));
  return std::make_unique<CudaGraph>(*code_.driver, exec);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
