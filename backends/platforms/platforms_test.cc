// The registry: names, aliases, what this build lacks, capabilities.
#include "backends/platforms/platforms.h"

#include "gtest/gtest.h"

namespace hlokit {
namespace {

TEST(PlatformsTest, NamesAndAliasesInAnyCase) {
  EXPECT_EQ(PlatformNames(),
            (std::vector<absl::string_view>{"cpu", "interpreter", "ptx-sim", "cuda"}));
  EXPECT_EQ(FindPlatform("Host"), FindPlatform("cpu"));
  EXPECT_EQ(FindPlatform("DEFAULT"), FindPlatform("interpreter"));
  EXPECT_EQ(FindPlatform("tpu"), nullptr);
}

TEST(PlatformsTest, ErrorsSayWhichThereAre) {
  EXPECT_EQ(PlatformNamed("pixie").status(),
            absl::InvalidArgumentError(
                "no platform pixie; there are cpu and interpreter and ptx-sim and cuda"));
  EXPECT_EQ((*PlatformNamed("gpu"))->name, "cuda");
}

TEST(PlatformsTest, BackendsHaveTheirPlatformsNameAndCapabilities) {
  for (const Platform& platform : Platforms()) {
    if (platform.make == nullptr) continue;
    const std::unique_ptr<Backend> backend = platform.make({});
    EXPECT_EQ(backend->name(), platform.name);
    EXPECT_TRUE(backend->capabilities() == platform.capabilities) << platform.name;
    EXPECT_GT(platform.device_count, 0);
  }
}

TEST(PlatformsTest, CapabilitiesNameTheirPlatforms) {
  EXPECT_EQ(PlatformsWith(&Capabilities::sanitizes), "cpu");
  EXPECT_EQ(PlatformsWith(&Capabilities::observes), "interpreter");
  EXPECT_EQ(PlatformsWith(&Capabilities::shares_host_memory),
            "cpu and interpreter and ptx-sim and cuda");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
