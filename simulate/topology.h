// A machine of many equal devices, described by figures: what one device computes and moves, and
// the levels of the network between them.
//
// Levels stand one inside the other. Devices are numbered so that those of one inner unit follow
// each other: with `nvlink` of 8 and `infiniband` of 16, device 13 is the sixth of unit 1.
//   links: nvlink (switch, 8), infiniband (fat-tree, 16)   -> 128 devices
// A torus is one level with several axes; the last axis counts fastest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "support/diagnostics.h"
#include "types/element_type.h"

namespace hlokit {

enum class LinkKind : uint8_t {
  kSwitch,   // any two units talk at full speed
  kFatTree,  // the same, divided by `oversubscription` where all talk at once
  kRing,     // neighbours of one axis, each device with a link either way
  kTorus,    // the same on several axes
  kBus,      // all units share one bandwidth: memory of a host, a bus
};

struct Link {
  std::string name;
  LinkKind kind = LinkKind::kSwitch;
  std::vector<int64_t> axes;  // how many units this level joins; of a torus an axis each
  double bandwidth = 0;       // bytes a second that a device sends; ring and torus: over one link
  double latency = 0;         // seconds of one message, or of one hop
  double efficiency = 1;      // share of the bandwidth that collectives reach
  double oversubscription = 1;
  // Seconds that a group spends at a collective on each further unit of this level, beside the
  // latency: threads of a process that are woken one after the other, processes that are told.
  double collective = 0;

  int64_t size() const;  // the axes' product
  double Bandwidth() const { return bandwidth * efficiency / oversubscription; }
};

struct DeviceModel {
  std::string name;
  std::map<std::string, double> flops;  // of products, by element type: "bf16", "f8", ...; a second
  double vector_flops = 0;              // of other arithmetic
  double functions = 0;                 // elementary functions such as exp, a second
  double memory_bandwidth = 0;          // bytes a second
  double memory = 0;                    // bytes
  double launch = 0;                    // seconds before each kernel
  double start = 0;                     // seconds before a step's first instruction
  double product_efficiency = 1, memory_efficiency = 1;
  // Devices that have these speeds at the same time; more share them (threads of one host). 0: all.
  double at_full_speed = 0;
  // Groups, each of one innermost unit, that can meet at the same time (a host's cores); more take
  // turns. 0: all.
  double groups_at_once = 0;

  // Of products whose operands have this type; a type that is not listed has the rate of its
  // family ("f8", "s8"), then of the next wider type that is.
  double ProductFlops(ElementType type) const;
};

// Devices of a topology, at most.
inline constexpr int64_t kMaxDevices = int64_t{1} << 24;

struct Topology {
  std::string name, source;  // source: where the figures are from
  DeviceModel device;
  std::vector<Link> links;  // inner levels first

  int64_t DeviceCount() const;  // saturates at INT64_MAX
  // Calls fn("links.nvlink.bandwidth", value) for every number that --what-if may change.
  void ForEachNumber(const std::function<void(const std::string&, double&)>& fn);
};

// Reads a JSON description (docs/planning.md). Errors: InvalidArgument with a place in `file`.
absl::StatusOr<Topology> ReadTopology(const SourceFile& file);

// "links.nvlink.bandwidth=2x" multiplies, "device.memory=80e9" sets. Errors: InvalidArgument where
// there is no such number, or the new value is none that a topology may have.
absl::Status ChangeTopology(Topology& topology, absl::string_view change);

// Speeds divided by how many devices share them.
DeviceModel SharedBy(const DeviceModel& device, int64_t devices);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
