// Tilings of both kinds of sharding, and shards cut and joined again.
#include "ops/collective/shards.h"

#include "gtest/gtest.h"
#include "ops/collective/sdy_internal.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

const Shape kMatrix = Shape::Array(ElementType::kS32, {4, 6});

Tiling Parsed(const char* sharding, const Shape& shape, int64_t devices) {
  const auto tiling = TilingOf(*ParseSharding(sharding), shape, devices);
  EXPECT_TRUE(tiling.ok()) << tiling.status();
  return tiling.ok() ? *tiling : WholeOn(shape, devices);
}

TEST(ShardsTest, TilesGoToDevicesInTheGivenOrder) {
  EXPECT_EQ(Parsed("{devices=[2,2]<=[4]}", kMatrix, 4).tile_of, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(Parsed("{devices=[2,2]<=[2,2]T(1,0)}", kMatrix, 4).tile_of,
            (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(Parsed("{devices=[2,1]1,0}", kMatrix, 2).tile_of, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(Parsed("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", kMatrix, 4).tile_of,
            (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_TRUE(Parsed("{replicated}", kMatrix, 3).IsTrivial());
  EXPECT_TRUE(Parsed("{maximal device=1}", kMatrix, 3).IsTrivial());
}

TEST(ShardsTest, DevicesOfMeshesThatInstructionsSpellOut) {
  const auto devices = [](const std::string& attributes) {
    const auto module = ParseModule("HloModule m\nENTRY e { x = f32[4] parameter(0)" + attributes +
                                    "\n ROOT r = f32[4] negate(x) }");
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok() ? DevicesNamed(**module) : -1;
  };
  EXPECT_EQ(devices(""), 1);
  EXPECT_EQ(devices(R"(, sharding={devices=[2]<=[2]})"), 2);
  EXPECT_EQ(devices(R"(, frontend_attributes={xla.sdy.sharding="#sdy.sharding<mesh<[\"a\"=4]>, )"
                    R"([{\"a\"}]>"})"),
            4);
  EXPECT_EQ(devices(R"(, frontend_attributes={xla.sdy.sharding="mesh<"})"), 1);
}

// An operand that is a tuple itself has the tilings of all its arrays, not that of its first one.
TEST(ShardsTest, ResultsInsideOfTuples) {
  const auto module =
      ParseModule(R"(HloModule m, num_partitions=2, allow_spmd_sharding_propagation_to_output={true}
ENTRY e {
  x = s32[4] parameter(0), sharding={devices=[2]<=[2]}
  y = s32[6] parameter(1)
  t = (s32[4], s32[6]) tuple(x, y)
  ROOT r = ((s32[4], s32[6]), s32[6]) tuple(t, y)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto tilings = ResultTilings(*(*module)->entry(), 2);
  ASSERT_TRUE(tilings.ok()) << tilings.status();
  ASSERT_EQ(tilings->size(), 3);
  EXPECT_TRUE((*tilings)[1].IsTrivial());
  EXPECT_TRUE((*tilings)[2].IsTrivial());
}

TEST(ShardsTest, RefusesOtherNumbersOfDevicesAndDimensions) {
  const auto sharding = ParseSharding("{devices=[2,2]<=[4]}");
  EXPECT_FALSE(TilingOf(*sharding, kMatrix, 8).ok());
  EXPECT_FALSE(TilingOf(*sharding, Shape::Array(ElementType::kS32, {2, 2, 2}), 4).ok());
}

TEST(ShardsTest, JoiningShardsGivesTheWhole) {
  for (const Shape& shape : {kMatrix, Shape::Array(ElementType::kS32, {3, 5})}) {
    Literal whole(shape);
    for (int64_t i = 0; i < whole.element_count(); ++i) whole.SetInt(i, i + 1);
    const Tiling tiling = Parsed("{devices=[2,4]<=[8]}", shape, 8);
    std::vector<Literal> shards;
    std::vector<const Literal*> pointers;
    for (int64_t d = 0; d < 8; ++d) shards.push_back(ShardOf(whole, tiling, d));
    for (const Literal& shard : shards) pointers.push_back(&shard);
    EXPECT_EQ(shards[7].shape(), ShardShape(shape, tiling));
    EXPECT_TRUE(JoinShards(shape, tiling, pointers) == whole);
  }
}

absl::StatusOr<Tiling> Sdy(const char* meshes, const char* text, int64_t devices,
                           const std::vector<std::string>* only = nullptr) {
  const auto parsed = ReadSdyMeshes(meshes);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto shardings = ReadSdyShardings(text, *parsed);
  if (!shardings.ok()) return shardings.status();
  return TilingOf(shardings->at(0), kMatrix, devices, only);
}

TEST(ShardsTest, AxesOfMeshes) {
  const char* mesh = R"({mesh = #sdy.mesh<["x"=2, "y"=2]>})";
  EXPECT_EQ(Sdy(mesh, R"(#sdy.sharding<@mesh, [{"y"}, {"x"}]>)", 4)->tile_of,
            (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(Sdy(mesh, R"(#sdy.sharding<@mesh, [{"x", "y"}, {?}]>)", 4)->tiles, (DimVector{4, 1}));
  EXPECT_EQ(
      Sdy(mesh, R"(#sdy.sharding_per_value<[<@mesh, [{"x", ?}p1, {}], replicated={"y"}>]>)", 4)
          ->tile_of,
      (std::vector<int64_t>{0, 0, 1, 1}));
  const std::vector<std::string> only = {"x"};
  EXPECT_EQ(Sdy(mesh, R"(#sdy.sharding<@mesh, [{"x"}, {"y"}]>)", 4, &only)->tiles,
            (DimVector{2, 1}));
}

TEST(ShardsTest, PartsOfAxesAndOrdersOfDevices) {
  const char* mesh = R"({m = #sdy.mesh<["x"=4], device_ids=[3, 2, 1, 0]>})";
  EXPECT_EQ(Sdy(mesh, R"(#sdy.sharding<@m, [{"x":(1)2}, {"x":(2)2}]>)", 4)->tile_of,
            (std::vector<int64_t>{3, 2, 1, 0}));
  EXPECT_EQ(Sdy(mesh, R"(#sdy.sharding<@m, [{"x":(2)2}, {}]>)", 4)->tile_of,
            (std::vector<int64_t>{1, 0, 1, 0}));
}

TEST(ShardsTest, RefusesBadShardyText) {
  const char* mesh = R"({m = #sdy.mesh<["x"=4]>})";
  for (const char* text : {"", "#sdy.sharding<", "#sdy.sharding<@n, [{}, {}]>",
                           "#sdy.sharding<@m, [{\"y\"}, {}]>", "#sdy.sharding<@m, [{\"x\"}]>",
                           "#sdy.sharding<@m, [{\"x\":(3)2}, {}]>", "#sdy.sharding<@m, [{"})
    EXPECT_FALSE(Sdy(mesh, text, 4).ok()) << text;
  EXPECT_FALSE(ReadSdyMeshes("{m = #sdy.mesh<[\"x\"=0]>}").ok());
  EXPECT_FALSE(ReadSdyMeshes("{m").ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
