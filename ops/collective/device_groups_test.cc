// Device groups of the four modes, of permutes and manual regions, and ids that are no device.
#include "ops/collective/device_groups.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ops/collective/device_group_list.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

using Mode = CollectiveOpGroupMode;
using Groups = std::vector<std::vector<int64_t>>;

// A module whose root is one collective over f32[12], `attributes` behind its operand.
std::unique_ptr<Module> Parsed(absl::string_view opcode, absl::string_view attributes) {
  auto module = ParseModule(
      absl::StrCat("HloModule m\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                   "  ROOT s = f32[] add(a, b)\n}\n\nENTRY e {\n  p = f32[12]{0} parameter(0)\n"
                   "  ROOT r = f32[12]{0} ",
                   opcode, "(p), ", attributes, "\n}\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// On 2 replicas of 3 partitions.
Groups Found(absl::string_view opcode, absl::string_view attributes) {
  const auto module = Parsed(opcode, attributes);
  const auto groups = DeviceGroupsOf(*module->entry()->root(), 2, 3);
  EXPECT_TRUE(groups.ok()) << groups.status();
  if (!groups.ok()) return {};
  for (int64_t device = 0; device < 6; ++device) {
    const auto one = DeviceGroupOf(*module->entry()->root(), device, 2, 3);
    EXPECT_EQ((*groups)[device], *one);
  }
  const auto list = DeviceGroupListOf(*module->entry()->root(), 2, 3);
  EXPECT_TRUE(list.ok()) << list.status();
  size_t listed = 0, grouped = 0;
  for (const std::vector<int64_t>& group : *list) {
    for (const int64_t device : group) EXPECT_EQ((*groups)[device], group);
    listed += group.size();
  }
  for (const std::vector<int64_t>& group : *groups) grouped += !group.empty();
  EXPECT_EQ(listed, grouped);
  return *groups;
}

Mode ModeFor(absl::string_view opcode, absl::string_view attributes) {
  return CollectiveGroupsOf(*Parsed(opcode, attributes)->entry()->root())->mode();
}

TEST(DeviceGroupsTest, ModesAreXlas) {
  const char sum[] = "all-reduce";
  EXPECT_EQ(ModeFor(sum, "to_apply=add"), Mode::kCrossReplica);
  EXPECT_EQ(ModeFor(sum, "channel_id=1, to_apply=add"), Mode::kCrossReplicaAndPartition);
  EXPECT_EQ(ModeFor(sum,
                    "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
                    "to_apply=add"),
            Mode::kFlattenedID);
  EXPECT_EQ(ModeFor("collective-broadcast", "channel_id=1, replica_groups={{0,1}}"),
            Mode::kCrossPartition);
  EXPECT_EQ(ModeFor("collective-permute", "source_target_pairs={{0,1}}"), Mode::kCrossReplica);
  EXPECT_EQ(ModeFor("collective-permute", "channel_id=1, source_target_pairs={{0,1}}"),
            Mode::kCrossPartition);
}

TEST(DeviceGroupsTest, ReplicasMeetWithinTheirPartition) {
  EXPECT_EQ(Found("all-reduce", "replica_groups={{1,0}}, to_apply=add"),
            (Groups{{3, 0}, {4, 1}, {5, 2}, {3, 0}, {4, 1}, {5, 2}}));
  EXPECT_EQ(Found("all-reduce", "replica_groups={}, to_apply=add"),
            (Groups{{0, 3}, {1, 4}, {2, 5}, {0, 3}, {1, 4}, {2, 5}}));
}

TEST(DeviceGroupsTest, PartitionsMeetWithinTheirReplica) {
  EXPECT_EQ(Found("collective-broadcast", "channel_id=1, replica_groups={{2,0}}"),
            (Groups{{2, 0}, {}, {2, 0}, {5, 3}, {}, {5, 3}}));
  EXPECT_EQ(Found("collective-permute", "channel_id=1, source_target_pairs={{0,1}}"),
            (Groups{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {3, 4, 5}, {3, 4, 5}, {3, 4, 5}}));
}

TEST(DeviceGroupsTest, ReplicasMeetWithAllOfTheirPartitions) {
  const std::vector<int64_t> all = {3, 4, 5, 0, 1, 2};
  EXPECT_EQ(Found("all-reduce", "channel_id=1, replica_groups={{1,0}}, to_apply=add"),
            Groups(6, all));
}

TEST(DeviceGroupsTest, DevicesMeetByTheirFlattenedIds) {
  EXPECT_EQ(Found("all-reduce",
                  "channel_id=1, replica_groups=[3,2]<=[2,3]T(1,0), use_global_device_ids=true, "
                  "to_apply=add"),
            (Groups{{0, 3}, {1, 4}, {2, 5}, {0, 3}, {1, 4}, {2, 5}}));
}

TEST(DeviceGroupsTest, OnlyMembersSeeAnIdThatIsNoDevice) {
  const auto module = Parsed("all-reduce", "replica_groups={{0},{1,2}}, to_apply=add");
  const Instruction& root = *module->entry()->root();
  EXPECT_TRUE(DeviceGroupOf(root, 0, 2, 3).ok());
  EXPECT_FALSE(DeviceGroupOf(root, 3, 2, 3).ok());
  EXPECT_FALSE(DeviceGroupsOf(root, 2, 3).ok());
}

TEST(DeviceGroupsTest, OtherOpcodesHaveNone) {
  const auto module = ParseModule("HloModule m\nENTRY e {\n  ROOT p = f32[2]{0} parameter(0)\n}\n");
  ASSERT_TRUE(module.ok());
  EXPECT_FALSE(CollectiveGroupsOf(*(*module)->entry()->root()).has_value());
  EXPECT_FALSE(DeviceGroupsOf(*(*module)->entry()->root(), 1, 1).ok());
}

TEST(IdCountTest, DoesNotOverflow) {
  EXPECT_EQ(IdCount(Mode::kCrossReplica, 2, 3), 2);
  EXPECT_EQ(IdCount(Mode::kCrossReplicaAndPartition, 2, 3), 2);
  EXPECT_EQ(IdCount(Mode::kCrossPartition, 2, 3), 3);
  EXPECT_EQ(IdCount(Mode::kFlattenedID, 2, 3), 6);
  EXPECT_EQ(IdCount(Mode::kFlattenedID, int64_t{1} << 40, int64_t{1} << 40),
            std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
