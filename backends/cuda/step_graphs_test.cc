// Where programs are cut into graphs, and that graphs compute what launches one by one do.
#include "backends/cuda/step_graphs.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cuda/cuda_backend.h"
#include "parser/parser.h"
#include "types/compare.h"

namespace hlokit {
namespace {

// while (7 times) { 2 kernels }, kernel, infeed, while (?) { kernel }, kernel
GpuProgram LoopsAroundAHostStep() {
  GpuProgram p;
  p.program.sequences.resize(5);
  const auto step = [](StepKind kind, std::vector<int32_t> bodies = {}) {
    Step s;
    s.kind = kind;
    s.bodies = std::move(bodies);
    return s;
  };
  const Step kernel = step(StepKind::kKernel);
  p.program.sequences[0].steps = {step(StepKind::kWhile, {1, 2}), kernel, step(StepKind::kHost),
                                  step(StepKind::kWhile, {3, 4}), kernel};
  p.program.sequences[2].steps = {kernel, kernel};
  for (const int k : {1, 3, 4}) p.program.sequences[static_cast<size_t>(k)].steps = {kernel};
  for (const StepSequence& sequence : p.program.sequences)
    for (const Step& s : sequence.steps)
      if (s.kind == StepKind::kKernel) p.kernels.launches[&s] = {GpuLaunch{"k", {1, 1}}};
  p.trips[&p.program.sequences[0].steps[0]] = 7;
  return p;
}

TEST(StepGraphsTest, AreCutWhereTheHostIsNeeded) {
  GpuProgram p = LoopsAroundAHostStep();
  StepGraphs graphs(p, /*has_conditions=*/true);
  const std::vector<GraphSegment>& segments = graphs.SegmentsOf(0);
  ASSERT_EQ(segments.size(), 3);
  EXPECT_EQ(segments[0].end, 2);
  EXPECT_EQ(segments[0].nodes, 15);
  EXPECT_EQ(segments[1].nodes, 0);
  EXPECT_EQ(segments[2].begin, 3);
  EXPECT_EQ(segments[2].end, 5);
  EXPECT_EQ(segments[2].nodes, 7);  // two conditions, what sets them twice, the node, two kernels
  EXPECT_TRUE(segments[2].has_copies);
}

TEST(StepGraphsTest, DriversWithoutConditionsUnrollOnly) {
  GpuProgram p = LoopsAroundAHostStep();
  StepGraphs graphs(p, /*has_conditions=*/false);
  const std::vector<GraphSegment>& segments = graphs.SegmentsOf(0);
  ASSERT_EQ(segments.size(), 4);
  EXPECT_EQ(segments[0].nodes, 15);
  EXPECT_EQ(segments[1].nodes + segments[2].nodes, 0);
  EXPECT_EQ(graphs.SegmentsOf(4)[0].nodes, 1);
}

TEST(StepGraphsTest, LongLoopsAreNotUnrolled) {
  GpuProgram p = LoopsAroundAHostStep();
  const Step& loop = p.program.sequences[0].steps[0];
  p.trips[&loop] = 2048;
  EXPECT_TRUE(StepGraphs(p, true).Unrolls(loop));
  p.trips[&loop] = 2049;
  StepGraphs graphs(p, true);
  EXPECT_FALSE(graphs.Unrolls(loop));
  EXPECT_EQ(graphs.SegmentsOf(0)[0].nodes, 8);
}

// Loops by data, loops that count, in each other, branches by pred and by number, out of range too.
constexpr char kControlFlow[] = R"(HloModule m
grows { s = (s32[], f32[4]) parameter(0) x = f32[4] get-tuple-element(s), index=1 e = f32[1] slice(x), slice={[0:1]} y = f32[] reshape(e) n = f32[] constant(32) ROOT c = pred[] compare(y, n), direction=LT }
neg { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }
sq { x = f32[4] parameter(0) ROOT y = f32[4] multiply(x, x) }
few { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(3) ROOT c = pred[] compare(i, n), direction=LT }
half { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1) j = s32[] add(i, one)
  x = f32[4] get-tuple-element(s), index=1 h = f32[] constant(0.75) hs = f32[4] broadcast(h), dimensions={} y = f32[4] multiply(x, hs) ROOT r = (s32[], f32[4]) tuple(j, y) }
body { s = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1) j = s32[] add(i, one)
  x = f32[4] get-tuple-element(s), index=1 y = f32[4] add(x, x) z = f32[4] add(y, y) zero = s32[] constant(0)
  t = (s32[], f32[4]) tuple(zero, z) inner = (s32[], f32[4]) while(t), condition=few, body=half w = f32[4] get-tuple-element(inner), index=1
  two = s32[] constant(2) odd = pred[] compare(j, two), direction=EQ v = f32[4] conditional(odd, w, w), branch_computations={sq, neg} u = f32[4] abs(v)
  ROOT r = (s32[], f32[4]) tuple(j, u) }
ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] parameter(1)
  start = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(start), condition=grows, body=body
  i = s32[] get-tuple-element(loop), index=0
  y = f32[4] get-tuple-element(loop), index=1
  z = f32[4] conditional(i, y, y, y), branch_computations={neg, sq, neg}
  ROOT r = (s32[], f32[4], f32[4]) tuple(i, y, z)
})";

std::vector<Literal> RunsOf(const Module& module, const char* graphs, float first, int32_t start) {
  setenv("HLOKIT_CUDA_GRAPHS", graphs, 1);
  auto executable = MakePtxSimBackend()->Compile(module.Clone(), {}).value();
  const float values[] = {first, 2, -3, 4};
  const Literal x = Literal::R1<float>(values), zero = Literal::R0(start);
  auto run = executable->Prepare({{&x, &zero}}).value();
  std::vector<Literal> results;
  for (int k = 0; k < 3; ++k) {
    EXPECT_TRUE(run->Run().ok());
    results.push_back(std::move(run->TakeResults()->front()));
  }
  unsetenv("HLOKIT_CUDA_GRAPHS");
  return results;
}

TEST(StepGraphsTest, GraphsComputeWhatLaunchesCompute) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", kControlFlow);
  const auto module = ParseModule(source, {}, diagnostics).value();
  for (const float first : {1.0f, 40.0f})  // 40: no round of the loop
    for (const int32_t start : {-9, 0, 1, 5}) {
      const std::vector<Literal> launched = RunsOf(*module, "0", first, start);
      for (const char* graphs : {"1", ""}) {
        const std::vector<Literal> together = RunsOf(*module, graphs, first, start);
        for (size_t k = 0; k < launched.size(); ++k)
          EXPECT_TRUE(Compare(launched[k], together[k], {}).equal) << first << " " << start;
      }
    }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
