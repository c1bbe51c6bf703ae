// Each algorithm against its formula worked out by hand, and which one is taken when.
#include "simulate/collective_model.h"

#include <gtest/gtest.h>

namespace hlokit {
namespace {

// Switches of 8 at 100 GB/s, 1 us; four of them at 10 GB/s, 5 us.
Topology Islands() {
  Topology t;
  t.links = {{"inner", LinkKind::kSwitch, {8}, 100e9, 1e-6},
             {"outer", LinkKind::kFatTree, {4}, 10e9, 5e-6}};
  return t;
}
Topology Torus() {
  Topology t;
  t.links = {{"ici", LinkKind::kTorus, {4, 8}, 10e9, 1e-6}};
  return t;
}

std::vector<int64_t> Devices(int64_t count, int64_t stride = 1) {
  std::vector<int64_t> devices(count);
  for (int64_t i = 0; i < count; ++i) devices[i] = i * stride;
  return devices;
}

constexpr double kBytes = 8e9;

TEST(CollectiveModelTest, GroupsLieInLevels) {
  const Topology t = Islands();
  const GroupShape all = ShapeOfGroup(t, Devices(32));
  EXPECT_EQ(all.levels[0].count(), 8);
  EXPECT_EQ(all.levels[1].count(), 4);
  EXPECT_EQ(ShapeOfGroup(t, Devices(4, 8)).levels[0].count(), 1);
  EXPECT_EQ(ShapeOfGroup(t, Devices(4, 8)).levels[1].count(), 4);
  EXPECT_EQ(ShapeOfGroup(t, Devices(4)).OutermostLevel(), 0);
  EXPECT_EQ(ShapeOfGroup(t, {5}).OutermostLevel(), -1);
  const GroupShape column = ShapeOfGroup(Torus(), Devices(4, 8));
  EXPECT_EQ(column.levels[0].axes, (std::vector<int64_t>{4, 1}));
  EXPECT_TRUE(column.levels[0].wraps[0]);
  EXPECT_FALSE(ShapeOfGroup(Torus(), Devices(4)).levels[0].wraps[1]);
  // No box: 0, 1 and 8 of a torus.
  EXPECT_EQ(ShapeOfGroup(Torus(), {0, 1, 8}).levels[0].axes, (std::vector<int64_t>{3}));
}

TEST(CollectiveModelTest, RingOfOneSwitch) {
  const Topology t = Islands();
  const GroupShape eight = ShapeOfGroup(t, Devices(8));
  EXPECT_DOUBLE_EQ(TimeOfRing(CollectiveKind::kAllreduce, kBytes, eight, t).seconds,
                   2 * 7 * 1e-6 + 2 * kBytes * 7 / 8 / 100e9);
  EXPECT_DOUBLE_EQ(TimeOfRing(CollectiveKind::kAllgather, kBytes, eight, t).seconds,
                   7 * 1e-6 + kBytes * 7 / 8 / 100e9);
  EXPECT_DOUBLE_EQ(TimeOfRing(CollectiveKind::kReducescatter, kBytes, eight, t).seconds,
                   7 * 1e-6 + kBytes * 7 / 8 / 100e9);
  EXPECT_DOUBLE_EQ(TimeOfRing(CollectiveKind::kBcast, kBytes, eight, t).seconds,
                   7 * 1e-6 + kBytes / 100e9);
}

TEST(CollectiveModelTest, FlatRingPassesEachIslandThroughAllItsLinks) {
  const Topology t = Islands();
  const CollectiveTime time =
      TimeOfRing(CollectiveKind::kAllreduce, kBytes, ShapeOfGroup(t, Devices(32)), t);
  EXPECT_DOUBLE_EQ(time.sent[0], 2 * kBytes * 31 / 32);
  EXPECT_DOUBLE_EQ(time.sent[1], 2 * kBytes * 31 / 32 / 8);
  // The slower level decides: 15.5e9 / 100e9 inside, 15.5e9 / 8 / 10e9 outside. 28 edges inside, 3
  // between the four units.
  EXPECT_DOUBLE_EQ(time.seconds, 2 * (28 * 1e-6 + 3 * 5e-6) + 2 * kBytes * 31 / 32 / 8 / 10e9);
}

TEST(CollectiveModelTest, TreeHasFewSteps) {
  const Topology t = Islands();
  const GroupShape all = ShapeOfGroup(t, Devices(32));
  EXPECT_DOUBLE_EQ(TimeOfTree(CollectiveKind::kAllreduce, kBytes, all, t).seconds,
                   2 * (3 * 1e-6 + 2 * 5e-6) + 2 * kBytes / 8 / 10e9);
  EXPECT_DOUBLE_EQ(TimeOfTree(CollectiveKind::kBcast, kBytes, all, t).seconds,
                   3 * 1e-6 + 2 * 5e-6 + kBytes / 8 / 10e9);
  EXPECT_GT(TimeOfTree(CollectiveKind::kAllgather, kBytes, all, t).seconds, 1e9);
}

TEST(CollectiveModelTest, HierarchicalGoesLevelByLevel) {
  const Topology t = Islands();
  const GroupShape all = ShapeOfGroup(t, Devices(32));
  EXPECT_DOUBLE_EQ(
      TimeOfHierarchical(CollectiveKind::kAllreduce, kBytes, all, t).seconds,
      2 * 7 * 1e-6 + 2 * kBytes * 7 / 8 / 100e9 + (2 * 3 * 5e-6 + 2 * kBytes / 8 * 3 / 4 / 10e9));
  EXPECT_DOUBLE_EQ(TimeOfHierarchical(CollectiveKind::kAllgather, kBytes, all, t).seconds,
                   7 * 1e-6 + kBytes * 7 / 8 / 100e9 + (3 * 5e-6 + kBytes / 8 * 3 / 4 / 10e9));
  EXPECT_GT(TimeOfHierarchical(CollectiveKind::kAllreduce, kBytes, ShapeOfGroup(t, Devices(8)), t)
                .seconds,
            1e9);
}

TEST(CollectiveModelTest, SizeDecides) {
  const Topology t = Islands();
  const GroupShape all = ShapeOfGroup(t, Devices(32));
  EXPECT_EQ(TimeOf(CollectiveKind::kAllreduce, 1e3, all, t).algorithm, "tree");
  EXPECT_EQ(TimeOf(CollectiveKind::kAllreduce, kBytes, all, t).algorithm, "ring");
  EXPECT_EQ(TimeOf(CollectiveKind::kAllgather, 1e6, all, t).algorithm, "hierarchical");
  EXPECT_EQ(TimeOf(CollectiveKind::kAllreduce, 1e9, ShapeOfGroup(t, {3}), t).seconds, 0);
}

TEST(CollectiveModelTest, TorusUsesAllAxes) {
  const Topology t = Torus();
  const GroupShape all = ShapeOfGroup(t, Devices(32));
  EXPECT_DOUBLE_EQ(TimeOf(CollectiveKind::kAllreduce, kBytes, all, t).seconds,
                   2 * (2 + 4) * 1e-6 + 2 * kBytes * 31 / 32 / 40e9);
  // Half of a row: no way round, one link each way.
  EXPECT_DOUBLE_EQ(
      TimeOf(CollectiveKind::kAllgather, kBytes, ShapeOfGroup(t, Devices(4)), t).seconds,
      3 * 1e-6 + kBytes * 3 / 4 / 10e9);
}

TEST(CollectiveModelTest, AllToAllSendsWhatLeaves) {
  const Topology t = Islands();
  const CollectiveTime time =
      TimeOf(CollectiveKind::kAlltoall, kBytes, ShapeOfGroup(t, Devices(32)), t);
  EXPECT_DOUBLE_EQ(time.sent[0], kBytes * 7 / 32);
  EXPECT_DOUBLE_EQ(time.sent[1], kBytes * 24 / 32);
  EXPECT_DOUBLE_EQ(time.seconds, 6e-6 + kBytes * 24 / 32 / 10e9);
  // A ring of eight: each byte passes two links on average, of two that each device has.
  const CollectiveTime row =
      TimeOf(CollectiveKind::kAlltoall, kBytes, ShapeOfGroup(Torus(), Devices(8)), Torus());
  EXPECT_DOUBLE_EQ(row.seconds, 4e-6 + kBytes * 7 / 8 / 10e9);
}

TEST(CollectiveModelTest, ABusIsShared) {
  Topology t;
  t.links = {{"memory", LinkKind::kBus, {8}, 8e9, 1e-6}};
  const GroupShape four = ShapeOfGroup(t, Devices(4));
  EXPECT_DOUBLE_EQ(TimeOfRing(CollectiveKind::kAllreduce, kBytes, four, t).seconds,
                   2 * 3 * 1e-6 + 2 * kBytes * 3 / 4 / 2e9);
  EXPECT_DOUBLE_EQ(TimeOfTree(CollectiveKind::kAllreduce, kBytes, four, t).seconds,
                   2 * 2 * 1e-6 + 2 * kBytes / 2e9);
  EXPECT_DOUBLE_EQ(TimeOf(CollectiveKind::kAlltoall, kBytes, four, t).seconds,
                   1e-6 + kBytes * 3 / 4 / 2e9);
}

TEST(CollectiveModelTest, MessagesTakeHops) {
  const Topology islands = Islands(), torus = Torus();
  EXPECT_EQ(HopsBetween(islands, 1, 3), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(HopsBetween(islands, 1, 11), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(HopsBetween(torus, 0, 7), (std::vector<int64_t>{1}));
  EXPECT_EQ(HopsBetween(torus, 0, 20), (std::vector<int64_t>{6}));
  EXPECT_DOUBLE_EQ(TimeOfMessage(1e9, {0, 1}, islands).seconds, 5e-6 + 0.1);
  EXPECT_DOUBLE_EQ(TimeOfMessage(1e9, {3}, torus).seconds, 3e-6 + 0.3);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
