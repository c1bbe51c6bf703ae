// Sums at sorted places are what the interpreter's are, within their rounding.
#include "backends/cuda/scatter_run_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "backends/cuda/kernel_testing_internal.h"

namespace hlokit {
namespace {

// `updates` rows of `columns` to `targets` different ones of 1000, some outside.
std::string Rows(const std::string& type, int64_t updates, int64_t columns, int64_t targets) {
  return absl::Substitute(R"(HloModule m
add { a = $0[] parameter(0) b = $0[] parameter(1) ROOT s = $0[] add(a, b) }
ENTRY e {
  x = $0[1000,$2] parameter(0)
  raw = s32[$1,1] parameter(1)
  targets = s32[$1,1] broadcast(s32[] constant($3)), dimensions={}
  near = s32[$1,1] remainder(raw, targets)
  u = $0[$1,$2] parameter(2)
  ROOT r = $0[1000,$2] scatter(x, near, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
})",
                          type, updates, columns, targets);
}

// Remainders are negative, too, so that half of the updates lie outside. Narrow floats round at
// each step, in the order of the updates.
TEST(ScatterRunKernelsSimulationTest, RunsOfEveryLength) {
  const struct {
    const char* type;
    double error;
  } types[] = {{"f32", 1e-4}, {"f64", 1e-12}, {"bf16", 0}, {"f16", 0}};
  for (const auto& [type, error] : types)
    for (const int64_t targets : {1, 3, 1000000}) {
      CheckOnSimulator(Rows(type, 1200, 80, targets), error);
      CheckOnSimulator(Rows(type, 1237, 61, targets), error);
    }
  CheckOnSimulator(Rows("f32", 9000, 8, 1), 1e-3);
}

TEST(ScatterRunKernelsTest, TwoKernelsAndNoAtomics) {
  const std::string ptx = PtxForTest(Rows("f32", 1200, 80, 3));
  EXPECT_THAT(ptx, testing::Not(testing::ContainsRegex("(atom|red)[a-z.]*\\.global")));
  EXPECT_THAT(ptx, testing::HasSubstr("0f80000000"));  // what later segments begin with
}

// Sorted by the program itself, in two dimensions of places with windows between them.
TEST(ScatterRunKernelsTest, SortedByTheProgram) {
  CheckOnSimulator(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[70,30,80] parameter(0)
  n = s32[40,25,1] iota(), iota_dimension=0
  k = s32[40,25,1] iota(), iota_dimension=1
  twelve = s32[40,25,1] broadcast(s32[] constant(12)), dimensions={}
  half = s32[40,25,1] divide(k, twelve)
  i = s32[40,25,2] concatenate(n, half), dimensions={2}
  u = f32[30,40,25] parameter(1)
  ROOT r = f32[70,30,80] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={0,2},
    scatter_dims_to_operand_dims={0,2}, index_vector_dim=2, indices_are_sorted=true, to_apply=add
})",
                   1e-4);
  CheckOnSimulator(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[3,60000] parameter(0)
  i = s32[3,3000] iota(), iota_dimension=1
  nine = s32[3,3000] broadcast(s32[] constant(90)), dimensions={}
  at = s32[3,3000] divide(i, nine)
  u = f32[3,3000] parameter(1)
  ROOT r = f32[3,60000] scatter(x, at, u), update_window_dims={}, inserted_window_dims={1},
    scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0},
    index_vector_dim=2, indices_are_sorted=true, to_apply=add
})",
                   1e-4);
}

// Columns, tokens of a batch, and planes that two components name in another order.
TEST(ScatterRunKernelsSimulationTest, PlacesThatAreNoRows) {
  const struct {
    const char *base, *indices, *updates, *dims;
  } forms[] = {{"64,700", "1700,1", "64,1700",
                "update_window_dims={0}, inserted_window_dims={1}, "
                "scatter_dims_to_operand_dims={1}, index_vector_dim=1"},
               {"3000,32", "8,300", "8,300,30",
                "update_window_dims={2}, inserted_window_dims={0}, "
                "scatter_dims_to_operand_dims={0}, index_vector_dim=2"},
               {"20,90,30", "40,40,2", "60,40,40",
                "update_window_dims={0}, inserted_window_dims={0,2}, "
                "scatter_dims_to_operand_dims={2,0}, index_vector_dim=2"}};
  for (const auto& f : forms) {
    const std::string text = absl::Substitute(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[$0] parameter(0)
  raw = s32[$1] parameter(1)
  forty = s32[$1] broadcast(s32[] constant(40)), dimensions={}
  i = s32[$1] remainder(raw, forty)
  u = f32[$2] parameter(2)
  ROOT r = f32[$0] scatter(x, i, u), $3, to_apply=add
})",
                                              f.base, f.indices, f.updates, f.dims);
    CheckOnSimulator(text, 1e-4);
    EXPECT_THAT(PtxForTest(text), testing::HasSubstr("sort"));
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
