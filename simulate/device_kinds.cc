// Sites first (instructions with equal groups share one), then refinement by hashes: a device's new
// color is its old one with, site by site, the shape of its group and the sum of its members'
// hashed colors, which does not depend on their order.
#include "simulate/device_kinds.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "ir/op_facts.h"
#include "ops/collective/device_group_list.h"
#include "ops/collective/device_groups.h"
#include "support/status.h"

namespace hlokit {
namespace {

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
  x ^= x >> 29;
  x *= 0x94D049BB133111EBu;
  return x ^ (x >> 32);
}

// Groups of devices, or messages between them.
struct Site {
  const Instruction* like;  // the first instruction that has them
  std::vector<std::vector<int64_t>> groups;
  std::vector<int> group_of;         // by device; -1: in none
  std::vector<GroupShape> shapes;    // by group
  std::vector<uint64_t> shape_hash;  // by group
  bool messages = false;
  std::vector<int64_t> source;             // by device; -1: receives nothing
  std::vector<std::vector<int64_t>> hops;  // by device
};

// Pairs of a permute, or of a send or receive that names them.
std::vector<std::pair<int64_t, int64_t>> PairsOf(const Instruction& i) {
  return VisitAttributes(i.opcode(), i.attributes(), [&]<typename A>(const A& attrs) {
    if constexpr (requires { attrs.source_target_pairs; }) {
      return attrs.source_target_pairs;
    } else {
      return TransferPairs(i);
    }
  });
}

bool IsTransfer(const Instruction& i) {
  return i.opcode() == Opcode::kRecv && !i.attr<SendRecvAttrs>().is_host_transfer;
}
bool IsSite(const Instruction& i) { return HasTrait(i.opcode(), kCollective) || IsTransfer(i); }

bool SameSite(const Instruction& a, const Instruction& b) {
  const auto left = CollectiveGroupsOf(a), right = CollectiveGroupsOf(b);
  if (!left || !right || left->groups == nullptr || right->groups == nullptr)
    return (left.has_value() && left->groups != nullptr) ==
               (right.has_value() && right->groups != nullptr) &&
           IsTransfer(a) == IsTransfer(b) && (IsTransfer(a) || left->mode() == right->mode()) &&
           PairsOf(a) == PairsOf(b);
  return left->mode() == right->mode() && *left->groups == *right->groups;
}

uint64_t HashOf(const GroupShape& shape) {
  uint64_t hash = shape.levels.size();
  for (const GroupShape::Level& level : shape.levels)
    for (size_t a = 0; a < level.axes.size(); ++a)
      hash = Mix(hash, static_cast<uint64_t>(level.axes[a] * 2 + level.wraps[a]));
  return hash;
}

// Whether some collective's groups count replicas, of a module whose header has no counts.
bool CountsReplicas(const Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) {
      const auto collective = CollectiveGroupsOf(*i);
      if (!collective) continue;
      const CollectiveOpGroupMode mode = collective->mode();
      if (mode == CollectiveOpGroupMode::kCrossReplica ||
          mode == CollectiveOpGroupMode::kCrossReplicaAndPartition)
        return true;
    }
  return false;
}

class KindFinder {
 public:
  KindFinder(const Module& module, const Topology& topology)
      : module_(module), topology_(topology) {
    kinds_.devices = DeviceCountOf(module);
    const bool from_header =
        module.header().replica_count * module.header().num_partitions == kinds_.devices;
    replicas_ = from_header              ? module.header().replica_count
                : CountsReplicas(module) ? kinds_.devices
                                         : 1;
    partitions_ = kinds_.devices / replicas_;
  }

  absl::StatusOr<DeviceKinds> Run() {
    if (kinds_.devices > topology_.DeviceCount())
      return InvalidArgument("the module runs on ", kinds_.devices, " devices, ", topology_.name,
                             " has ", topology_.DeviceCount());
    kinds_.site_of.assign(module_.id_bound(), -1);
    for (const Computation* c : module_.Computations())
      for (const Instruction* i : c->Instructions())
        if (IsSite(*i)) RETURN_IF_ERROR(AddInstruction(*i));
    Refine();
    Describe();
    return std::move(kinds_);
  }

 private:
  absl::Status AddInstruction(const Instruction& i) {
    for (size_t s = 0; s < sites_.size(); ++s)
      if (SameSite(*sites_[s].like, i)) {
        kinds_.site_of[i.id()] = static_cast<int>(s);
        return absl::OkStatus();
      }
    kinds_.site_of[i.id()] = static_cast<int>(sites_.size());
    Site& site = sites_.emplace_back();
    site.like = &i;
    const auto collective = CollectiveGroupsOf(i);
    site.messages = IsTransfer(i) || (collective && collective->groups == nullptr);
    return WithPlace(site.messages ? AddMessages(i, site) : AddGroups(i, site), i.place());
  }

  absl::Status AddGroups(const Instruction& i, Site& site) {
    ASSIGN_OR_RETURN(site.groups, DeviceGroupListOf(i, replicas_, partitions_));
    site.group_of.assign(kinds_.devices, -1);
    for (size_t g = 0; g < site.groups.size(); ++g) {
      for (const int64_t device : site.groups[g]) site.group_of[device] = static_cast<int>(g);
      site.shapes.push_back(ShapeOfGroup(topology_, site.groups[g]));
      site.shape_hash.push_back(HashOf(site.shapes.back()));
    }
    return absl::OkStatus();
  }

  // Pairs count replicas or partitions as the mode says; each device receives from one.
  absl::Status AddMessages(const Instruction& i, Site& site) {
    site.source.assign(kinds_.devices, -1);
    site.hops.resize(kinds_.devices);
    const auto collective = CollectiveGroupsOf(i);
    const auto mode = collective ? collective->mode() : CollectiveOpGroupMode::kFlattenedID;
    const bool of_partitions = mode == CollectiveOpGroupMode::kCrossPartition;
    const bool flat = mode == CollectiveOpGroupMode::kFlattenedID;
    const int64_t ids = flat ? kinds_.devices : of_partitions ? partitions_ : replicas_;
    for (const auto& [from, to] : PairsOf(i)) {
      if (from < 0 || to < 0 || from >= ids || to >= ids)
        return InvalidArgument("source_target_pairs names {", from, ",", to, "}, of ", ids);
      const int64_t copies = kinds_.devices / ids;
      for (int64_t c = 0; c < copies; ++c) {
        const auto device = [&](int64_t id) {
          if (flat) return id;
          return of_partitions ? c * partitions_ + id : id * partitions_ + c;
        };
        site.source[device(to)] = device(from);
        site.hops[device(to)] = HopsBetween(topology_, device(from), device(to));
      }
    }
    return absl::OkStatus();
  }

  // One round; true if it told more devices apart.
  bool RefineOnce() {
    std::vector<uint64_t> hash(kinds_.devices, 0);
    for (int64_t d = 0; d < kinds_.devices; ++d) hash[d] = static_cast<uint64_t>(color_[d]);
    for (const Site& site : sites_) {
      std::vector<uint64_t> of_group(site.groups.size(), 0);
      for (size_t g = 0; g < site.groups.size(); ++g) {
        for (const int64_t device : site.groups[g])
          of_group[g] += Mix(1, static_cast<uint64_t>(color_[device]));
        of_group[g] = Mix(of_group[g], site.shape_hash[g]);
      }
      for (int64_t d = 0; d < kinds_.devices; ++d) {
        uint64_t met = 0;
        if (!site.messages) {
          if (site.group_of[d] >= 0) met = of_group[site.group_of[d]];
        } else if (site.source[d] >= 0) {
          met = Mix(2, static_cast<uint64_t>(color_[site.source[d]]));
          for (const int64_t hops : site.hops[d]) met = Mix(met, static_cast<uint64_t>(hops));
        }
        hash[d] = Mix(hash[d], met);
      }
    }
    absl::flat_hash_map<uint64_t, int> colors;
    for (int64_t d = 0; d < kinds_.devices; ++d)
      color_[d] = colors.try_emplace(hash[d], static_cast<int>(colors.size())).first->second;
    const bool more = static_cast<int>(colors.size()) > count_;
    count_ = static_cast<int>(colors.size());
    return more;
  }

  void Refine() {
    color_.assign(kinds_.devices, 0);
    count_ = 1;
    while (RefineOnce()) {
    }
    kinds_.first.assign(count_, -1);
    kinds_.count.assign(count_, 0);
    for (int64_t d = 0; d < kinds_.devices; ++d) {
      ++kinds_.count[color_[d]];
      if (kinds_.first[color_[d]] < 0) kinds_.first[color_[d]] = d;
    }
  }

  void Describe() {
    for (const Site& site : sites_) {
      std::vector<KindAtSite>& rows = kinds_.sites.emplace_back(count_);
      for (int k = 0; k < count_; ++k) {
        const int64_t device = kinds_.first[k];
        KindAtSite& row = rows[k];
        row.takes_part = site.messages ? site.source[device] >= 0 : site.group_of[device] >= 0;
        if (!row.takes_part) continue;
        if (site.messages) {
          row.source = color_[site.source[device]];
          row.hops = site.hops[device];
          continue;
        }
        const int group = site.group_of[device];
        row.shape = site.shapes[group];
        for (const int64_t member : site.groups[group]) row.members.push_back(color_[member]);
        std::sort(row.members.begin(), row.members.end());
        row.members.erase(std::unique(row.members.begin(), row.members.end()), row.members.end());
      }
    }
  }

  const Module& module_;
  const Topology& topology_;
  int64_t replicas_ = 1, partitions_ = 1;
  std::vector<Site> sites_;
  std::vector<int> color_;  // by device
  int count_ = 1;           // of colors
  DeviceKinds kinds_;
};

}  // namespace

int64_t DeviceCountOf(const Module& module) {
  const int64_t header = module.header().replica_count * module.header().num_partitions;
  if (header > 1) return header;
  int64_t highest = 0;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) {
      const auto collective = CollectiveGroupsOf(*i);
      if (!collective) continue;
      if (collective->groups != nullptr && !collective->groups->empty())
        for (const std::vector<int64_t>& group : collective->groups->Expand())
          for (const int64_t id : group) highest = std::max(highest, id);
      for (const auto& [from, to] : PairsOf(*i)) highest = std::max({highest, from, to});
    }
  return std::max(header, highest + 1);
}

absl::StatusOr<DeviceKinds> KindsOf(const Module& module, const Topology& topology) {
  return KindFinder(module, topology).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
