// How long a collective takes on a topology, in closed form, by algorithm.
//
// A group of n devices lies in the levels of the network as a box: `count` participants of a level
// in each unit of the next. For all-reduce of S bytes over one switch of bandwidth B, latency L:
//   ring          2 (n - 1) L + 2 S (n - 1) / n / B
//   tree          2 ceil(log2 n) L + 2 S / B
//   hierarchical  reduce-scatter inside, the same of S / n0 outside, all-gather inside
// The fastest is taken, as libraries of collectives do by size and group. All-gather and
// reduce-scatter take half of a ring's or hierarchical all-reduce. On a torus every axis that the
// group spans wholly gives two links (one where it spans a part), used at once; a ring of k hops
// has k / 2 steps. All-to-all sends what belongs to other units over each level, on a torus
// through k / 4 links of an axis on average. Contention of one group with another is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "simulate/topology.h"

namespace hlokit {

// How a replica group lies in the topology, by level, inner first.
struct GroupShape {
  struct Level {
    // Participants along each axis of the level, in a unit of the next one.
    std::vector<int64_t> axes = {1};
    std::vector<bool> wraps = {false};  // whether they are all of that axis
    int64_t count() const;
    bool operator==(const Level&) const = default;
  };
  std::vector<Level> levels;
  int64_t count() const;  // of participants
  // Level that its participants need at most; -1: one device.
  int OutermostLevel() const;
  bool operator==(const GroupShape&) const = default;
};

// Of devices by number. Units with fewer participants than others count as the fullest.
GroupShape ShapeOfGroup(const Topology& topology, absl::Span<const int64_t> devices);

// Hops from one device to another, by level: 0 where they are equal, on a torus those of the
// shorter way round.
std::vector<int64_t> HopsBetween(const Topology& topology, int64_t from, int64_t to);

// Spelled as MPI spells them.
enum class CollectiveKind : uint8_t {
  kAllreduce,      // `bytes` of the operand of one device
  kAllgather,      // of the result
  kReducescatter,  // of the operand
  kAlltoall,       // of the operand
  kBcast,          // of the operand: a broadcast from one
};
absl::string_view Text(CollectiveKind kind);

struct CollectiveTime {
  double seconds = 0;
  std::string algorithm;     // "ring", "tree", "hierarchical", "direct"
  std::vector<double> sent;  // bytes that one device sends over each level
};

// Of one participant; they all take the same time.
CollectiveTime TimeOf(CollectiveKind kind, double bytes, const GroupShape& group,
                      const Topology& topology);
// One of the algorithms that TimeOf chooses from; infinite where it does not fit.
CollectiveTime TimeOfRing(CollectiveKind kind, double bytes, const GroupShape& group,
                          const Topology& topology);
CollectiveTime TimeOfTree(CollectiveKind kind, double bytes, const GroupShape& group,
                          const Topology& topology);
CollectiveTime TimeOfHierarchical(CollectiveKind kind, double bytes, const GroupShape& group,
                                  const Topology& topology);

// A message of `bytes` over so many hops of each level. On rings and tori a shift by h hops loads
// each link h times.
CollectiveTime TimeOfMessage(double bytes, absl::Span<const int64_t> hops,
                             const Topology& topology);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
