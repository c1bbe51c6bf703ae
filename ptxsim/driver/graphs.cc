// Graphs of the simulated driver: nodes in the order in which they were added, which their
// dependencies allow, since a node depends on nodes that are there already. An instance is a copy,
// as it is of NVIDIA's driver: nodes that are added later are not in it. A condition is the address
// of a word of device memory, which lives as long as the graph and its instances.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "ptxsim/driver/client_api.h"

namespace hlokit::cuda {
namespace {

// A condition's word, freed with the last that holds it.
struct Condition {
  DeviceAddress address = 0;
  uint32_t value = 0;
  bool is_reset = false;  // to `value`, at each launch
  Condition() = default;
  Condition(const Condition&) = delete;
  ~Condition() { cuMemFree_v2(address); }
};
using Conditions = std::vector<std::shared_ptr<Condition>>;

// A context must be current, and not lost.
Result CheckCurrent() { return cuCtxSynchronize(); }

}  // namespace

struct GraphNodeHandle {
  int type = 0;
  KernelNodeParams kernel = {};
  std::vector<std::byte> parameters;
  CopyNodeParams copy = {};
  ConditionalNodeParams conditional = {};
  std::unique_ptr<GraphHandle> body;
  Graph body_address = nullptr;  // what the caller's `bodies` points to
};

struct GraphHandle {
  std::vector<std::unique_ptr<GraphNodeHandle>> nodes;
  std::shared_ptr<Conditions> conditions = std::make_shared<Conditions>();  // of the whole graph

  std::unique_ptr<GraphHandle> Copy() const {
    auto copy = std::make_unique<GraphHandle>();
    copy->conditions = conditions;
    for (const auto& node : nodes) {
      auto& made = copy->nodes.emplace_back(std::make_unique<GraphNodeHandle>());
      made->type = node->type;
      made->kernel = node->kernel;
      made->parameters = node->parameters;
      made->copy = node->copy;
      made->conditional = node->conditional;
      if (node->body != nullptr) made->body = node->body->Copy();
    }
    return copy;
  }
};

struct GraphExecHandle {
  std::unique_ptr<GraphHandle> graph;
};

namespace {

Result Run(const GraphHandle& graph);

Result RunConditional(const GraphNodeHandle& node) {
  for (;;) {
    uint32_t value = 0;
    if (const Result read = cuMemcpyDtoHAsync_v2(&value, node.conditional.condition, 4, nullptr);
        read != kSuccess)
      return read;
    if (value == 0) return kSuccess;
    if (const Result result = Run(*node.body); result != kSuccess) return result;
    if (node.conditional.type == kIfNode) return kSuccess;
  }
}

Result RunNode(GraphNodeHandle& node) {
  switch (node.type) {
    case kKernelNode:
      return LaunchStored(node.kernel.function, node.kernel.grid, node.kernel.block,
                          node.kernel.shared_bytes, node.parameters);
    case kCopyNode:
      return cuMemcpyDtoDAsync_v2(node.copy.to.device, node.copy.from.device, node.copy.width_bytes,
                                  nullptr);
    default:
      return RunConditional(node);
  }
}

Result Run(const GraphHandle& graph) {
  for (const auto& node : graph.nodes)
    if (const Result result = RunNode(*node); result != kSuccess) return result;
  return kSuccess;
}

bool HasNode(const GraphHandle& graph, GraphNode node) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [node](const auto& n) { return n.get() == node; });
}

bool HasCondition(const GraphHandle& graph, GraphCondition condition) {
  return std::any_of(graph.conditions->begin(), graph.conditions->end(),
                     [condition](const auto& c) { return c->address == condition; });
}

// Rows of device memory are what is copied here.
bool IsSupportedCopy(const CopyNodeParams& copy) {
  const auto is_row = [](const CopySide& side) {
    return side.memory_type == kDeviceMemory && side.x_bytes == 0 && side.y == 0 && side.z == 0 &&
           side.lod == 0;
  };
  return is_row(copy.from) && is_row(copy.to) && copy.height == 1 && copy.depth == 1;
}

// Fills the node from the caller's parameters, which it checks.
Result Fill(GraphHandle& graph, GraphNodeParams& params, GraphNodeHandle& node) {
  node.type = params.type;
  if (params.type == kKernelNode) {
    if (params.kernel.function == nullptr) return kInvalidHandle;
    if (params.kernel.extra != nullptr) return kNotSupported;
    node.kernel = params.kernel;
    node.parameters = StoredParameters(params.kernel.function, params.kernel.parameters);
    return kSuccess;
  }
  if (params.type == kCopyNode) {
    node.copy = params.copy;
    return IsSupportedCopy(params.copy) ? kSuccess : kNotSupported;
  }
  if (params.type != kConditionalNode) return kNotSupported;
  const ConditionalNodeParams& conditional = params.conditional;
  if (conditional.type != kIfNode && conditional.type != kWhileNode) return kNotSupported;
  if (conditional.body_count != 1) return kNotSupported;
  if (!HasCondition(graph, conditional.condition)) return kInvalidValue;
  node.conditional = conditional;
  node.body = std::make_unique<GraphHandle>();
  node.body->conditions = graph.conditions;
  node.body_address = node.body.get();
  params.conditional.bodies = &node.body_address;
  return kSuccess;
}

}  // namespace

extern "C" {

Result cuGraphCreate(Graph* graph, unsigned flags) {
  if (const Result result = CheckCurrent(); result != kSuccess) return result;
  if (graph == nullptr || flags != 0) return kInvalidValue;
  *graph = new GraphHandle();
  return kSuccess;
}

// Destroys even where the call is made to fail: the caller has no second chance.
Result cuGraphDestroy(Graph graph) {
  const Result result = CheckCurrent();
  delete graph;
  return result;
}

Result cuGraphAddNode(GraphNode* node, Graph graph, const GraphNode* dependencies,
                      size_t dependency_count, GraphNodeParams* params) {
  if (const Result result = CheckCurrent(); result != kSuccess) return result;
  if (node == nullptr || graph == nullptr || params == nullptr) return kInvalidValue;
  for (size_t k = 0; k < dependency_count; ++k)
    if (!HasNode(*graph, dependencies[k])) return kInvalidValue;
  auto made = std::make_unique<GraphNodeHandle>();
  if (const Result filled = Fill(*graph, *params, *made); filled != kSuccess) return filled;
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return kSuccess;
}

// Edges say when a node may start; here it starts when all before it have ended.
Result cuGraphAddNode_v2(GraphNode* node, Graph graph, const GraphNode* dependencies,
                         const GraphEdge* edges, size_t dependency_count, GraphNodeParams* params) {
  for (size_t k = 0; edges != nullptr && k < dependency_count; ++k)
    if (edges[k].type > 1 || edges[k].from_port > 2 || edges[k].to_port != 0) return kInvalidValue;
  return cuGraphAddNode(node, graph, dependencies, dependency_count, params);
}

Result cuGraphConditionalHandleCreate(GraphCondition* condition, Graph graph, Context,
                                      unsigned value, unsigned flags) {
  if (const Result result = CheckCurrent(); result != kSuccess) return result;
  if (condition == nullptr || graph == nullptr || flags > 1) return kInvalidValue;
  auto made = std::make_shared<Condition>();
  made->value = value;
  made->is_reset = flags == 1;
  if (const Result result = cuMemAlloc_v2(&made->address, 4); result != kSuccess) return result;
  if (const Result result = cuMemcpyHtoDAsync_v2(made->address, &value, 4, nullptr);
      result != kSuccess)
    return result;
  *condition = made->address;
  graph->conditions->push_back(std::move(made));
  return kSuccess;
}

Result cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long flags) {
  if (const Result result = CheckCurrent(); result != kSuccess) return result;
  if (exec == nullptr || graph == nullptr || flags != 0) return kInvalidValue;
  *exec = new GraphExecHandle{graph->Copy()};
  return kSuccess;
}

Result cuGraphExecDestroy(GraphExec exec) {
  const Result result = CheckCurrent();
  delete exec;
  return result;
}

Result cuGraphLaunch(GraphExec exec, Stream) {
  if (const Result result = CheckCurrent(); result != kSuccess) return result;
  if (exec == nullptr) return kInvalidValue;
  for (const auto& condition : *exec->graph->conditions)
    if (condition->is_reset)
      if (const Result result =
              cuMemcpyHtoDAsync_v2(condition->address, &condition->value, 4, nullptr);
          result != kSuccess)
        return result;
  return Run(*exec->graph);
}

}  // extern "C"

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
