// Which instructions go into which fusion, decided before anything is rewritten.
#pragma once

#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "analysis/fusion_limits.h"
#include "ir/computation.h"
#include "support/dense_map.h"

namespace hlokit {

// Instructions that one loop computes. An instruction may be a member of several groups, then each
// computes it.
struct FusionGroup {
  struct Member {
    Instruction* instruction;
    double evaluations;  // of its elements, over the whole loop
    int index;           // members of equal number are evaluated at equal indices
  };
  std::vector<Member> members;  // users before producers; the root first
  std::vector<double> copies;   // by index number: how often the code for such an index is emitted
  absl::flat_hash_set<Instruction*>
      inputs;  // operands of members that are no members so far, constants left out
  Instruction* reduce = nullptr;  // one of the reductions inside
  bool linear = true;    // every member reads its operands at its own place in memory, or scalars
  bool divides = false;  // holds a reshape that needs divisions unless the group is linear
  bool closed = false;   // takes nothing in
  double code = 0;       // emitted operations

  Instruction* root() const { return members[0].instruction; }
  int Find(const Instruction* i) const;  // its place in members
};

// Row computations (analysis/row_form.h) that are worth a kernel of their own: a reduction whose
// result goes back to elements of its row. Nothing in a group is used outside but its root.
// `together`: those of rows that lie together, else those of others, such as columns.
std::vector<FusionGroup> FindRowGroups(const Computation& computation, bool together,
                                       const FusionLimits& limits);

// Makes each group a fusion, and takes what only they needed out of the computation.
void FuseAll(absl::Span<const FusionGroup> groups, Computation& computation);

class FusionPlan {
 public:
  FusionPlan(const Computation& computation, const FusionLimits& limits);
  // Groups of more than one member, users before producers.
  const std::vector<FusionGroup>& groups() const { return groups_; }

  // A producer that stays apart from a loop that reads it, and why.
  struct Apart {
    const Instruction *producer, *root;  // of the loop; null: all loops that read it
    absl::string_view why;
  };
  const std::vector<Apart>& apart() const { return apart_; }

 private:
  struct Place {
    int group, member;
  };
  // How a producer would be evaluated in a group.
  struct Entry {
    double evaluations = 0;
    int index = -1;  // of the users that read at their own index, where they all agree
    double copies = 0;
  };

  bool TryAbsorb(Instruction* producer);
  bool MayRepeat(const Instruction* producer, size_t groups) const;
  double RepeatedWork(const Instruction* producer, double evaluations) const;
  bool IsWorthALaunch(const Instruction* producer, double evaluations, double repeated) const;
  // In each of the groups that read it; `slots` tells where an entry stands among the results.
  std::vector<Entry> Enter(const Instruction* producer,
                           const absl::flat_hash_map<int, size_t>& slots) const;
  // Why the group cannot compute the producer; empty if it can.
  absl::string_view Obstacle(const Instruction* producer, const FusionGroup& group,
                             const Entry& entry, int g);
  bool StaysApart(const Instruction* producer, const Instruction* root, absl::string_view why);
  bool IsScatterRoot(const Instruction& i) const;
  bool IsWindowSum(const Instruction& i) const;
  bool IsScanRoot(const Instruction& i) const;
  bool IsShortReduction(const Instruction* producer) const;
  bool FitsReshape(const Instruction* producer, const FusionGroup& group) const;
  bool FitsReduction(const Instruction* producer, const FusionGroup& group, const Entry& entry,
                     int g) const;
  bool ReadsUpdated(const Instruction* i, const Instruction* root);
  bool WaitsFor(const Instruction* update, const Instruction* root);
  bool ReadsAround(const Instruction& update) const;
  bool FitsUpdate(const Instruction* producer, const FusionGroup& group);
  void Absorb(Instruction* producer, int g, const Entry& entry);
  void StartGroup(Instruction* root);
  // In the tables below: ids from the computation's first on.
  size_t Slot(const Instruction* i) const { return static_cast<size_t>(i->id() - first_id_); }

  const FusionLimits limits_;
  std::vector<FusionGroup> groups_;
  int64_t first_id_ = std::numeric_limits<int64_t>::max();
  DenseMap<std::vector<Place>> places_;
  DenseMap<double> repeated_work_ = DenseMap<double>(0);  // of the instruction and those below
  DenseMap<int> repeats_;  // length of the chain of repeated instructions below
  std::vector<Apart> apart_;
  // By array: what writes over it; by such an update: all that it needs, once asked for.
  absl::flat_hash_map<const Instruction*, std::vector<const Instruction*>> updates_;
  absl::flat_hash_map<const Instruction*, absl::flat_hash_set<const Instruction*>> needed_by_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
