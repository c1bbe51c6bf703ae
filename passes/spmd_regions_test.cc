// Cuts that spread through regions that are manual on some axes (passes/spmd/region_stand_ins.h).
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ir/computation.h"
#include "parser/parser.h"
#include "passes/manager.h"
#include "passes/spmd/region_stand_ins.h"
#include "passes/spmd/shardy_stand_ins.h"
#include "printer/printer.h"

namespace hlokit {
namespace {

// A region that is manual on "x" and leaves dimensions open: f32[8,8], cut by "x" and "y" outside,
// is f32[2,8] inside, where `BODY` makes the root.
constexpr char kRegion[] =
    R"(HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=4, "y"=2]>}}

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }

%xla.sdy.manual_computation_body (p: f32[2,8]) -> f32[OUT] {
  p = f32[2,8] parameter(0)
  BODY
}

ENTRY %main (x: f32[8,8]) -> f32[WHOLE] {
  x = f32[8,8] parameter(0), sharding={devices=[4,2]<=[8]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>"}
  enter = f32[2,8] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{AXES}>"}
  call = f32[OUT] call(enter), to_apply=%xla.sdy.manual_computation_body, frontend_attributes={inlineable="false"}
  leave = f32[WHOLE] custom-call(call), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{AXES}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [LEFT]>]>"}
  ROOT result = f32[WHOLE] copy(leave)
}
)";

struct RegionCase {
  std::string axes = "\\\"x\\\"", body, out = "2,8", whole = "8,8", left = "{\\\"x\\\", ?}, {?}";
};

// The module of a case; null where it does not parse.
std::unique_ptr<Module> RegionModule(const RegionCase& c) {
  auto module = ParseModule(absl::StrReplaceAll(
      kRegion,
      {{"BODY", c.body}, {"OUT", c.out}, {"WHOLE", c.whole}, {"LEFT", c.left}, {"AXES", c.axes}}));
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// How the result is cut, or "none".
std::string ResultCut(const RegionCase& c) {
  const std::unique_ptr<Module> module = RegionModule(c);
  if (module == nullptr) return "no module";
  EXPECT_TRUE(OpenManualRegions(*module));
  EXPECT_TRUE(RunPasses(*module, "call-inliner").ok());
  SetShardyStandIns(*module);
  module->header().propagate_sharding_to_output = {true};
  const absl::Status spread = RunPasses(*module, "shardy-xla");
  EXPECT_TRUE(spread.ok()) << spread;
  const Sharding* const found = module->entry()->root()->sharding();
  return found == nullptr ? "none" : Text(*found);
}

TEST(SpmdRegionsTest, OtherAxesCutGoesThrough) {
  EXPECT_EQ(ResultCut({.body = "ROOT r = f32[2,8] negate(p)"}), "{devices=[4,2]<=[8]}");
}

// A sum over the manual axis; results that every device along it has alike.
TEST(SpmdRegionsTest, CollectivesKeepTheOtherAxesCut) {
  const std::string groups =
      "channel_id=1, use_global_device_ids=true, replica_groups={{0,2,4,6},{1,3,5,7}}";
  EXPECT_EQ(ResultCut({.body = "ROOT r = f32[2,8] all-reduce(p), to_apply=add, " + groups,
                       .whole = "2,8",
                       .left = "{?}, {?}"}),
            "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(ResultCut({.body = "ROOT r = f32[8,8] all-gather(p), dimensions={0}, " + groups,
                       .out = "8,8",
                       .left = "{?}, {?}"}),
            "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(ResultCut({.body = "ROOT r = f32[2,8] collective-permute(p), channel_id=1, "
                               "source_target_pairs={{0,2},{2,4},{1,3},{3,5}}"}),
            "{devices=[4,2]<=[8]}");
}

TEST(SpmdRegionsTest, ASumOverTheOtherAxesDimensionLosesIt) {
  EXPECT_EQ(
      ResultCut(
          {.body =
               "z = f32[] constant(0)\n  s = f32[2] reduce(p, z), dimensions={1}, to_apply=add\n"
               "  ROOT r = f32[2,8] broadcast(s), dimensions={0}"}),
      "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
}

TEST(SpmdRegionsTest, RegionsThatAreManualOnAllAxesStay) {
  const auto module =
      RegionModule({.axes = "\\\"x\\\", \\\"y\\\"", .body = "ROOT r = f32[2,8] negate(p)"});
  ASSERT_NE(module, nullptr);
  EXPECT_FALSE(OpenManualRegions(*module));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
