// The formulas of collective_model.h. Below, n participants of a level share what the levels inside
// hold: a flat ring runs as many channels as there are participants in a unit, each through a link
// of its own, so that a device sends 1 / below of its bytes over an outer level.
// Sources: R. Thakur et al., "Optimization of Collective Communication Operations in MPICH" (ring,
// recursive doubling); P. Sanders et al., "Two-Tree Algorithms for Full Bandwidth Broadcast,
// Reduction and Scan" (trees that use the whole bandwidth).
#include "simulate/collective_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_set.h"

namespace hlokit {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool IsGrid(const Link& link) {
  return link.kind == LinkKind::kRing || link.kind == LinkKind::kTorus;
}

// Links that a device sends through at once.
double Lanes(const Link& link, const GroupShape::Level& level) {
  if (!IsGrid(link)) return 1;
  double lanes = 0;
  for (size_t a = 0; a < level.axes.size(); ++a)
    if (level.axes[a] > 1) lanes += level.wraps[a] && level.axes[a] > 2 ? 2 : 1;
  return std::max(1.0, lanes);
}

// What one device has while all of its group send: on a bus a share.
double Bandwidth(const Link& link, const GroupShape::Level& level) {
  if (link.kind == LinkKind::kBus) return link.Bandwidth() / static_cast<double>(level.count());
  return link.Bandwidth() * Lanes(link, level);
}

// Steps in which a ring (a grid: rings of all axes, one axis after the other) passes all parts on.
double RingSteps(const Link& link, const GroupShape::Level& level) {
  if (!IsGrid(link)) return static_cast<double>(level.count() - 1);
  double steps = 0;
  for (size_t a = 0; a < level.axes.size(); ++a)
    steps += static_cast<double>(level.wraps[a] ? level.axes[a] / 2 : level.axes[a] - 1);
  return steps;
}

double TreeSteps(int64_t n) { return std::ceil(std::log2(static_cast<double>(n))); }

// How often the bytes pass a link: an all-reduce is a reduce-scatter and an all-gather.
double Passes(CollectiveKind kind) { return kind == CollectiveKind::kAllreduce ? 2 : 1; }

CollectiveTime Start(const char* algorithm, const Topology& topology) {
  return {0, algorithm, std::vector<double>(topology.links.size(), 0)};
}

// Calls fn(level, participants in the units inside).
template <typename Fn>
void ForEachLevel(const GroupShape& group, Fn fn) {
  double below = 1;
  for (size_t l = 0; l < group.levels.size(); ++l) {
    if (group.levels[l].count() > 1) fn(l, below);
    below *= static_cast<double>(group.levels[l].count());
  }
}

// Share of a grid's links that an all-to-all loads on its longest axis, against a switch.
double AllToAllLoad(const Link& link, const GroupShape::Level& level) {
  if (!IsGrid(link)) return 1;
  double load = 0;
  for (size_t a = 0; a < level.axes.size(); ++a)
    load = std::max(load, static_cast<double>(level.axes[a]) / (level.wraps[a] ? 8 : 4));
  return std::max(load, 0.5);
}

CollectiveTime TimeOfAllToAll(double bytes, const GroupShape& group, const Topology& topology) {
  CollectiveTime time = Start("direct", topology);
  const auto n = static_cast<double>(group.count());
  double latency = 0, transfer = 0;
  ForEachLevel(group, [&](size_t l, double below) {
    const GroupShape::Level& level = group.levels[l];
    const Link& link = topology.links[l];
    time.sent[l] = bytes * below * static_cast<double>(level.count() - 1) / n;
    const double bandwidth = IsGrid(link) ? link.Bandwidth() : Bandwidth(link, level);
    transfer = std::max(transfer, time.sent[l] * AllToAllLoad(link, level) / bandwidth);
    latency += link.latency * (IsGrid(link) ? RingSteps(link, level) : 1);
  });
  time.seconds = latency + transfer;
  return time;
}

}  // namespace

int64_t GroupShape::Level::count() const {
  int64_t count = 1;
  for (const int64_t axis : axes) count *= axis;
  return count;
}

int64_t GroupShape::count() const {
  int64_t count = 1;
  for (const Level& level : levels) count *= level.count();
  return count;
}

int GroupShape::OutermostLevel() const {
  int outermost = -1;
  for (size_t l = 0; l < levels.size(); ++l)
    if (levels[l].count() > 1) outermost = static_cast<int>(l);
  return outermost;
}

absl::string_view Text(CollectiveKind kind) {
  constexpr absl::string_view kNames[] = {"all-reduce", "all-gather", "reduce-scatter",
                                          "all-to-all", "broadcast"};
  return kNames[static_cast<int>(kind)];
}

GroupShape ShapeOfGroup(const Topology& topology, absl::Span<const int64_t> devices) {
  GroupShape shape;
  std::vector<int64_t> units(devices.begin(), devices.end());  // of the level at hand
  for (const Link& link : topology.links) {
    const int64_t size = link.size();
    absl::flat_hash_set<int64_t> outer;
    std::vector<absl::flat_hash_set<int64_t>> along(link.axes.size());
    for (const int64_t unit : units) {
      outer.insert(unit / size);
      int64_t place = unit % size;
      for (size_t a = link.axes.size(); a-- > 0; place /= link.axes[a])
        along[a].insert(place % link.axes[a]);
    }
    const auto inside = static_cast<int64_t>((units.size() + outer.size() - 1) / outer.size());
    GroupShape::Level level;
    level.axes.clear();
    level.wraps.clear();
    for (size_t a = 0; a < link.axes.size(); ++a) {
      level.axes.push_back(static_cast<int64_t>(along[a].size()));
      level.wraps.push_back(level.axes[a] == link.axes[a]);
    }
    // Not a box, or different in each outer unit: one chain of as many.
    if (level.count() != inside) level = {{inside}, {inside == size}};
    shape.levels.push_back(level);
    units.assign(outer.begin(), outer.end());
  }
  return shape;
}

std::vector<int64_t> HopsBetween(const Topology& topology, int64_t from, int64_t to) {
  std::vector<int64_t> hops;
  for (const Link& link : topology.links) {
    const int64_t size = link.size();
    int64_t count = 0, a_place = from % size, b_place = to % size;
    for (size_t a = link.axes.size(); a-- > 0;) {
      const int64_t k = link.axes[a];
      const int64_t distance = std::abs(a_place % k - b_place % k);
      count += IsGrid(link) ? std::min(distance, k - distance) : distance != 0;
      a_place /= k;
      b_place /= k;
    }
    hops.push_back(count);
    from /= size;
    to /= size;
  }
  // Over switches a message takes the outermost level it needs; the inner ones only carry it there.
  for (size_t l = hops.size(); l-- > 1;)
    if (hops[l] > 0 && !IsGrid(topology.links[l]))
      for (size_t inner = 0; inner < l; ++inner) hops[inner] = 0;
  return hops;
}

CollectiveTime TimeOfRing(CollectiveKind kind, double bytes, const GroupShape& group,
                          const Topology& topology) {
  CollectiveTime time = Start("ring", topology);
  const auto n = static_cast<double>(group.count());
  const double moved = kind == CollectiveKind::kBcast ? bytes : bytes * (n - 1) / n;
  double latency = 0, transfer = 0, units = n;
  ForEachLevel(group, [&](size_t l, double below) {
    const GroupShape::Level& level = group.levels[l];
    const Link& link = topology.links[l];
    const double outer = units / static_cast<double>(level.count());
    time.sent[l] = Passes(kind) * moved / below;
    transfer = std::max(transfer, time.sent[l] / Bandwidth(link, level));
    latency += Passes(kind) * link.latency * outer * RingSteps(link, level);
    units = outer;
  });
  time.seconds = latency + transfer;
  return time;
}

CollectiveTime TimeOfTree(CollectiveKind kind, double bytes, const GroupShape& group,
                          const Topology& topology) {
  CollectiveTime time = Start("tree", topology);
  bool fits = kind == CollectiveKind::kAllreduce || kind == CollectiveKind::kBcast;
  double latency = 0, transfer = 0;
  ForEachLevel(group, [&](size_t l, double below) {
    const Link& link = topology.links[l];
    fits = fits && !IsGrid(link);
    time.sent[l] = Passes(kind) * bytes / below;
    transfer = std::max(transfer, time.sent[l] / Bandwidth(link, group.levels[l]));
    latency += Passes(kind) * link.latency * TreeSteps(group.levels[l].count());
  });
  time.seconds = fits ? latency + transfer : kNever;
  return time;
}

CollectiveTime TimeOfHierarchical(CollectiveKind kind, double bytes, const GroupShape& group,
                                  const Topology& topology) {
  CollectiveTime time = Start("hierarchical", topology);
  int levels = 0;
  ForEachLevel(group, [&](size_t l, double below) {
    const GroupShape::Level& level = group.levels[l];
    const auto count = static_cast<double>(level.count());
    time.sent[l] = Passes(kind) * bytes / below * (count - 1) / count;
    time.seconds += Passes(kind) * topology.links[l].latency * RingSteps(topology.links[l], level) +
                    time.sent[l] / Bandwidth(topology.links[l], level);
    ++levels;
  });
  if (levels < 2 || kind == CollectiveKind::kBcast) time.seconds = kNever;
  return time;
}

CollectiveTime TimeOf(CollectiveKind kind, double bytes, const GroupShape& group,
                      const Topology& topology) {
  if (group.count() <= 1) return Start("none", topology);
  if (kind == CollectiveKind::kAlltoall) return TimeOfAllToAll(bytes, group, topology);
  CollectiveTime best = TimeOfRing(kind, bytes, group, topology);
  for (const auto& other :
       {TimeOfTree(kind, bytes, group, topology), TimeOfHierarchical(kind, bytes, group, topology)})
    if (other.seconds < best.seconds) best = other;
  return best;
}

CollectiveTime TimeOfMessage(double bytes, absl::Span<const int64_t> hops,
                             const Topology& topology) {
  CollectiveTime time = Start("direct", topology);
  for (size_t l = 0; l < hops.size(); ++l) {
    if (hops[l] == 0) continue;
    const Link& link = topology.links[l];
    const double loads = IsGrid(link) ? static_cast<double>(hops[l]) : 1;
    time.sent[l] = bytes * loads;
    time.seconds += link.latency * static_cast<double>(hops[l]) + time.sent[l] / link.Bandwidth();
  }
  return time;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
