// Which devices of a module behave alike, so that one of each kind is simulated.
//
// All devices run one program; they differ in how the groups of their collectives lie in the
// network, and in who waits for whom. Two devices are of one kind when at every collective their
// groups have the same shape and hold as many devices of each kind: the coarsest such division,
// found by refining a first one (by shapes) until it is stable, as Hopcroft's minimization of
// automata.
//   all-reduce over all of 4,096 devices                      1 kind
//   a permute 0 -> 1 -> 2 -> 3, no way round                   4 kinds: the stages of a pipeline
// Cost: devices times distinct collectives, times rounds (few).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "simulate/collective_model.h"

namespace hlokit {

// What a kind of device meets at a collective (all collectives with the same groups share one).
struct KindAtSite {
  bool takes_part = false;
  GroupShape shape;          // of groups
  std::vector<int> members;  // kinds in its group, each once
  int source = -1;           // of permutes: the kind that it receives from; -1: it receives nothing
  std::vector<int64_t> hops;  // from there, by level
};

struct DeviceKinds {
  int64_t devices = 0;         // of the module
  std::vector<int64_t> first;  // lowest device of each kind
  std::vector<int64_t> count;  // devices of each kind
  // By instruction id: which site a collective, or a start of one, belongs to; -1: none.
  std::vector<int> site_of;
  std::vector<std::vector<KindAtSite>> sites;  // by site and kind
};

// Errors: InvalidArgument where a group names what is no device, where the topology has fewer
// devices than the module.
absl::StatusOr<DeviceKinds> KindsOf(const Module& module, const Topology& topology);

// Devices that the module runs on: replicas times partitions of its header, or as many as its
// groups of global devices name where the header says nothing.
int64_t DeviceCountOf(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
