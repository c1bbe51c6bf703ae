// Graphs of the simulated driver: order, copies of instances, conditions, refusals.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cuda_api/cuda_api.h"
#include "ptxsim/driver/client_api.h"
#include "ptxsim/driver/sim_extensions.h"

namespace hlokit::cuda {
namespace {

// more(x, by): *x += by. go(c, x, limit): sets the condition to *x < limit.
constexpr char kKernels[] = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);
.visible .entry more(.param .u64 x, .param .u32 by)
{
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [by];
  ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry go(.param .u64 c, .param .u64 x, .param .u32 limit)
{
  .reg .b64 %rd<3>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [x]; ld.param.u32 %r1, [limit];
  ld.global.u32 %r2, [%rd2]; setp.lt.u32 %p1, %r2, %r1; selp.u32 %r3, 1, 0, %p1;
  { .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1; st.param.b32 [b], %r3;
    call.uni cudaGraphSetConditional, (a, b); }
  ret;
}
)";

class GraphsTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("HLOKIT_CUDA_SIM_DEVICES", "2", 1);
    ASSERT_EQ(cuInit(0), kSuccess);
    Context context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 1), kSuccess);
    ASSERT_EQ(cuCtxSetCurrent(context), kSuccess);
    Module module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, kKernels), kSuccess) << hlokitSimLastError();
    ASSERT_EQ(cuModuleGetFunction(&more_, module, "more"), kSuccess) << hlokitSimLastError();
    ASSERT_EQ(cuModuleGetFunction(&go_, module, "go"), kSuccess) << hlokitSimLastError();
    ASSERT_EQ(cuMemAlloc_v2(&x_, 8), kSuccess);
    ASSERT_EQ(cuMemsetD32_v2(x_, 1, 2), kSuccess);
    ASSERT_EQ(cuGraphCreate(&graph_, 0), kSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cuGraphDestroy(graph_), kSuccess);
    EXPECT_EQ(cuMemFree_v2(x_), kSuccess);
  }
  Result Add(Graph graph, GraphNode& last, GraphNodeParams& params) {
    GraphNode node = nullptr;
    const Result result = cuGraphAddNode(&node, graph, &last, last != nullptr ? 1 : 0, &params);
    last = node;
    return result;
  }
  Result AddKernel(Graph graph, GraphNode& last, Function function, void** parameters) {
    GraphNodeParams params = {};
    params.type = kKernelNode;
    params.kernel = {
        .function = function, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
    return Add(graph, last, params);
  }
  Result AddMore(Graph graph, GraphNode& last, uint32_t by) {
    void* parameters[] = {&x_, &by};
    return AddKernel(graph, last, more_, parameters);
  }
  Result AddGo(Graph graph, GraphNode& last, GraphCondition condition, uint32_t limit) {
    void* parameters[] = {&condition, &x_, &limit};
    return AddKernel(graph, last, go_, parameters);
  }
  uint32_t Word(int k) {
    uint32_t value = 0;
    EXPECT_EQ(cuMemcpyDtoH_v2(&value, x_ + 4 * static_cast<DeviceAddress>(k), 4), kSuccess);
    return value;
  }

  Function more_ = nullptr, go_ = nullptr;
  DeviceAddress x_ = 0;
  Graph graph_ = nullptr;
};

TEST_F(GraphsTest, KernelsAndCopiesInOrder) {
  GraphNode last = nullptr;
  ASSERT_EQ(AddMore(graph_, last, 4), kSuccess);
  GraphNodeParams copy = {};
  copy.type = kCopyNode;
  copy.copy.from.memory_type = copy.copy.to.memory_type = kDeviceMemory;
  copy.copy.from.device = x_;
  copy.copy.to.device = x_ + 4;
  copy.copy.width_bytes = 4;
  copy.copy.height = copy.copy.depth = 1;
  ASSERT_EQ(Add(graph_, last, copy), kSuccess);
  GraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph_, 0), kSuccess);
  ASSERT_EQ(AddMore(graph_, last, 100), kSuccess);  // not in the instance
  EXPECT_EQ(Word(0), 1u);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), kSuccess);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), kSuccess);
  EXPECT_EQ(Word(0), 9u);
  EXPECT_EQ(Word(1), 9u);
  EXPECT_EQ(cuGraphExecDestroy(exec), kSuccess);
}

// x = 1; while (x < 20) { x += 3; if (x < 8) x += 10; }
TEST_F(GraphsTest, LoopsAndBranchesByConditions) {
  GraphNode last = nullptr;
  GraphCondition loop = 0, small = 0;
  ASSERT_EQ(cuGraphConditionalHandleCreate(&loop, graph_, nullptr, 0, 0), kSuccess);
  ASSERT_EQ(AddGo(graph_, last, loop, 20), kSuccess);
  GraphNodeParams params = {};
  params.type = kConditionalNode;
  params.conditional = {.condition = loop, .type = kWhileNode, .body_count = 1};
  ASSERT_EQ(Add(graph_, last, params), kSuccess);
  const Graph body = params.conditional.bodies[0];
  GraphNode inside = nullptr;
  ASSERT_EQ(AddMore(body, inside, 3), kSuccess);
  ASSERT_EQ(cuGraphConditionalHandleCreate(&small, body, nullptr, 0, 0), kSuccess);
  ASSERT_EQ(AddGo(body, inside, small, 8), kSuccess);
  params.conditional = {.condition = small, .type = kIfNode, .body_count = 1};
  ASSERT_EQ(Add(body, inside, params), kSuccess);
  GraphNode branch = nullptr;
  ASSERT_EQ(AddMore(params.conditional.bodies[0], branch, 10), kSuccess);
  ASSERT_EQ(AddGo(body, inside, loop, 20), kSuccess);
  GraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph_, 0), kSuccess);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), kSuccess) << hlokitSimLastError();
  EXPECT_EQ(Word(0), 20u);  // 4 and 14, 17, 20
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), kSuccess);
  EXPECT_EQ(Word(0), 20u);
  EXPECT_EQ(cuGraphExecDestroy(exec), kSuccess);
}

TEST_F(GraphsTest, RefusesWhatIsWrong) {
  GraphNode last = nullptr, other = nullptr;
  Graph second = nullptr;
  ASSERT_EQ(cuGraphCreate(&second, 0), kSuccess);
  ASSERT_EQ(AddMore(second, other, 1), kSuccess);
  EXPECT_EQ(AddMore(graph_, other, 1), kInvalidValue);  // another graph's node
  EXPECT_EQ(cuGraphDestroy(second), kSuccess);
  GraphNodeParams params = {};
  params.type = kConditionalNode;
  params.conditional = {.condition = x_, .type = kWhileNode, .body_count = 1};
  EXPECT_EQ(Add(graph_, last, params), kInvalidValue);  // not a condition
  params.type = kCopyNode;
  params.copy = {};
  EXPECT_EQ(Add(graph_, last, params), kNotSupported);
  const GraphEdge edge = {.to_port = 1};
  params.type = kConditionalNode;
  EXPECT_EQ(cuGraphAddNode_v2(&other, graph_, &last, &edge, 1, &params), kInvalidValue);
  GraphExec exec = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, nullptr, 0), kInvalidValue);
  EXPECT_EQ(cuGraphLaunch(nullptr, nullptr), kInvalidValue);
}

}  // namespace
}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
