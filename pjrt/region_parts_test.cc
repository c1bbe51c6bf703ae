// Which markers of regions go, and which arrays stay in parts.
#include "pjrt/region_parts.h"

#include <string>

#include "gtest/gtest.h"
#include "parser/parser.h"
#include "pjrt/partitions.h"
#include "printer/printer.h"

namespace hlokit {
namespace {

constexpr char kHeader[] =
    R"(HloModule m, num_partitions=2, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}})";

// A region of two parameters, whose first result is returned beside something whole.
std::string RegionOf(const std::string& in, const std::string& out) {
  return std::string(kHeader) + R"(
ENTRY e {
  a = f32[4] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}]>"}
  b = f32[4] parameter(1)
  enter = (f32[2], f32[4]) custom-call(a, b), custom_call_target="xla.sdy.GlobalToLocalShape",
    frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{)" +
         in +
         R"(}]>, <@mesh, [{}]>]>"}
  pa = f32[2] get-tuple-element(enter), index=0
  pb = f32[4] get-tuple-element(enter), index=1
  sum = f32[2] add(pa, pa)
  leave = (f32[4]) custom-call(sum), custom_call_target="xla.sdy.LocalToGlobalShape",
    frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{)" +
         out +
         R"(}]>]>"}
  whole = f32[4] get-tuple-element(leave), index=0, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}]>"}
  ROOT r = (f32[4], f32[4]) tuple(whole, pb)
})";
}

struct Kept {
  PjrtPartitions cuts;
  std::string text;
};

Kept KeptOf(const std::string& text) {
  Kept kept;
  auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  PjrtCompileOptions options;
  options.partitions = 2;
  auto cuts = PartitionsOf(**module, options);
  EXPECT_TRUE(cuts.ok()) << cuts.status();
  kept.cuts = *std::move(cuts);
  const absl::Status status = KeepParts(**module, kept.cuts);
  EXPECT_TRUE(status.ok()) << status;
  kept.text = Print(**module);
  return kept;
}

TEST(RegionPartsTest, ArraysThatOnlyARegionUsesStayInParts) {
  const Kept kept = KeptOf(RegionOf(R"(\"x\")", R"(\"x\")"));
  EXPECT_TRUE(kept.cuts.TakesPart(0));
  EXPECT_FALSE(kept.cuts.TakesPart(1));  // it is not cut
  EXPECT_TRUE(kept.cuts.GivesPart(0));
  EXPECT_FALSE(kept.cuts.GivesPart(1));
  EXPECT_EQ(kept.text.find("xla.sdy.GlobalToLocalShape"), std::string::npos) << kept.text;
  EXPECT_EQ(kept.text.find("xla.sdy.LocalToGlobalShape"), std::string::npos) << kept.text;
  EXPECT_NE(kept.text.find("f32[2]{0} parameter(0)"), std::string::npos) << kept.text;
}

// As JAX has it: one result, whose cut a marker of the function says.
TEST(RegionPartsTest, LooksBehindTheMarkerOfAResult) {
  const Kept kept = KeptOf(std::string(kHeader) + R"(
ENTRY e {
  a = f32[4] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}]>"}
  enter = f32[2] custom-call(a), custom_call_target="xla.sdy.GlobalToLocalShape",
    frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>"}
  sum = f32[2] add(enter, enter)
  leave = f32[4] custom-call(sum), custom_call_target="xla.sdy.LocalToGlobalShape",
    frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>"}
  ROOT r = f32[4] custom-call(leave), custom_call_target="xla.sdy.FuncResultSharding", custom_call_has_side_effect=true,
    frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>"}
})");
  EXPECT_TRUE(kept.cuts.TakesPart(0));
  EXPECT_TRUE(kept.cuts.GivesPart(0));
  EXPECT_EQ(kept.text.find("custom-call"), std::string::npos) << kept.text;
}

TEST(RegionPartsTest, AParameterThatIsReadWholeTooStaysWhole) {
  std::string text = RegionOf(R"(\"x\")", R"(\"x\")");
  text.replace(text.find("tuple(whole, pb)"), 16, "tuple(whole, a)");
  const Kept kept = KeptOf(text);
  EXPECT_FALSE(kept.cuts.TakesPart(0));
  EXPECT_TRUE(kept.cuts.GivesPart(0));
  EXPECT_NE(kept.text.find("xla.sdy.GlobalToLocalShape"), std::string::npos) << kept.text;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
