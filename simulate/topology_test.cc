// Descriptions that are read, changed and refused.
#include "simulate/topology.h"

#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"

namespace hlokit {
namespace {

constexpr char kGood[] = R"({
  "name": "two-islands", "source": "made up",
  "device": {"name": "d", "flops": {"bf16": 1e12, "f8": 2e12}, "vector_flops": 8e10,
             "memory_bandwidth": 1e11, "memory": 1e9, "at_full_speed": 2},
  "links": [{"name": "near", "kind": "switch", "size": 4, "bandwidth": 1e10, "latency": 1e-6},
            {"name": "far", "kind": "torus", "axes": [2, 3], "bandwidth": 1e9}]
})";

absl::StatusOr<Topology> Read(const std::string& text) {
  return ReadTopology(SourceFile("t.json", text));
}

TEST(TopologyTest, ReadsFigures) {
  const auto t = Read(kGood);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->DeviceCount(), 24);
  EXPECT_EQ(t->links[1].axes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(t->device.functions, 1e10);
  EXPECT_EQ(t->device.ProductFlops(ElementType::kBF16), 1e12);
  EXPECT_EQ(t->device.ProductFlops(ElementType::kF8E4M3FN), 2e12);
  EXPECT_EQ(t->device.ProductFlops(ElementType::kS8), 1e12);
  EXPECT_EQ(t->device.ProductFlops(ElementType::kF32), 1e12);
  EXPECT_EQ(SharedBy(t->device, 8).memory_bandwidth, 1e11 / 4);
  EXPECT_EQ(SharedBy(t->device, 1).memory_bandwidth, 1e11);
}

TEST(TopologyTest, PointsAtWhatIsWrong) {
  const struct {
    const char *from, *to, *message;
    uint32_t line;
  } kCases[] = {
      {"\"name\": \"two-islands\", ", "", "topology has no \"name\"", 1},
      {"\"kind\": \"switch\"", "\"kind\": \"hub\"", "no kind of link: hub", 5},
      {"\"size\": 4", "\"size\": 0", "whole number of units", 5},
      {"\"size\": 4", "\"size\": \"4\"", "is a string, expected a number", 5},
      {"\"bf16\": 1e12", "\"bf17\": 1e12", "\"bf17\" is no element type", 3},
      {"\"vector_flops\": 8e10", "\"vector_flops\": -1", "expected a positive number", 3},
      {"\"memory\"", "\"memry\"", "did you mean memory?", 4},
      {"[2, 3]", "[]", "a torus without axes", 6},
      {"[2, 3]", "[4000, 4000]", "more devices than", 6},
      {"[2, 3]", "[16777216, 16777216, 65536]", "more devices than", 6},
      {"\"vector_flops\": 8e10", "\"vector_flops\": 1e999", "not a number", 3},
      {"\"far\"", "\"near\"", "two links named near", 6},
      {"\"links\": [", "\"links\": [,", "expected a JSON value", 5},
  };
  for (const auto& c : kCases) {
    const SourceFile file("t.json", absl::StrReplaceAll(kGood, {{c.from, c.to}}));
    const auto t = ReadTopology(file);
    ASSERT_FALSE(t.ok()) << c.to;
    EXPECT_NE(t.status().message().find(c.message), absl::string_view::npos) << t.status();
    EXPECT_EQ(file.Locate(PlaceOf(t.status()).offset).line, c.line) << t.status();
  }
}

TEST(TopologyTest, ChangesNumbers) {
  Topology t = *Read(kGood);
  EXPECT_TRUE(ChangeTopology(t, "links.near.bandwidth=2x").ok());
  EXPECT_EQ(t.links[0].bandwidth, 2e10);
  EXPECT_TRUE(ChangeTopology(t, "links.far.axes.1=6").ok());
  EXPECT_EQ(t.DeviceCount(), 48);
  EXPECT_TRUE(ChangeTopology(t, "links.near.size=0.5x").ok());
  EXPECT_EQ(t.DeviceCount(), 24);
  EXPECT_TRUE(ChangeTopology(t, "device.flops.bf16=5e12").ok());
  EXPECT_EQ(t.device.flops["bf16"], 5e12);
  EXPECT_TRUE(ChangeTopology(t, "links.near.latency=0").ok());
  for (const char* bad :
       {"links.near.bandwidth", "links.near.bandwidth=fast", "links.neer.bandwidth=2x",
        "links.near.bandwidth=0", "device.memory=nan", "links.near.bandwidth=-1x",
        "links.near.size=0.1x", "links.near.size=1.5", "=2x", "links.near.size=16777216"})
    EXPECT_FALSE(ChangeTopology(t, bad).ok()) << bad;
  EXPECT_NE(ChangeTopology(t, "links.neer.bandwidth=2x").message().find("links.near.bandwidth"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
