// Device assignments: the default one, one of several processes, wrong ones.
#include "backends/device_assignment.h"

#include "gtest/gtest.h"

namespace hlokit {
namespace {

TEST(DeviceAssignmentTest, DefaultHoldsAllDevices) {
  const DeviceAssignment devices(2, 3);
  EXPECT_EQ(devices.device_count(), 6);
  EXPECT_EQ(devices.LogicalDevice(1, 2), 5);
  EXPECT_EQ(devices.ReplicaOf(5), 1);
  EXPECT_EQ(devices.PartitionOf(5), 2);
  EXPECT_EQ(devices.GlobalDevice(5), 5);
  EXPECT_TRUE(devices.AllLocal());
  EXPECT_EQ(devices.local(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(DeviceAssignmentTest, LocalDevicesAreThoseOfTheProcess) {
  const auto devices = DeviceAssignment::Make(2, 2, {12, 8, 9, 13}, {12, 13, 14});
  ASSERT_TRUE(devices.ok()) << devices.status();
  EXPECT_FALSE(devices->AllLocal());
  EXPECT_EQ(devices->local(), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(devices->GlobalDevice(3), 13);
}

TEST(DeviceAssignmentTest, RefusesWhatIsNoAssignment) {
  EXPECT_FALSE(DeviceAssignment::Make(2, 2, {0, 1, 2}, {0}).ok());
  EXPECT_FALSE(DeviceAssignment::Make(0, 2, {}, {}).ok());
  EXPECT_FALSE(DeviceAssignment::Make(1, 2, {0, -1}, {0}).ok());
  EXPECT_FALSE(DeviceAssignment::Make(1, 2, {4, 4}, {4}).ok());
  EXPECT_FALSE(DeviceAssignment::Make(int64_t{1} << 40, int64_t{1} << 40, {}, {}).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
