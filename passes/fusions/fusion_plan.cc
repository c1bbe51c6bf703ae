// The greedy walk from users to producers.
//
// Instructions are visited users first. One that may be the root of a loop opens a group, and each
// producer joins the groups of its users if all of them can take it:
//   z = exp(y), a = add(z, x)   ->   group {a, z}: z is computed where a needs it
// A producer with several users may be computed in each (duplicated) where that costs less than
// writing and reading it: what is free, or cheap and read once an element. Reductions end a walk
// unless the group works on the same rows. FusionLimits, the target's, bound a group's operands,
// size and depth; a chain that reads elements several times, such as a window of a window,
// multiplies work and stops at kMaxRepeatedChain.
// Where loops are launches (FusionLimits::launch_work), the work that is done again decides alone,
// and short reductions are computed where they are read:
//   s = sqrt(x);  y = f(s);  z = g(s)   ->   two loops that compute s each, instead of three
// Reads of an array that is updated in place somewhere stay where they are (ReadsUpdated), but join
// a loop that every such update waits for.
// Cost: linear in the edges, times the members of a group.
#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "analysis/emittable.h"
#include "analysis/row_scan.h"
#include "passes/fusions/fusion_plan_internal.h"
#include "passes/fusions/fusion_rules.h"

namespace hlokit {
namespace {

constexpr int kMaxRepeatedChain = 4;
constexpr double kMaxThreadSteps = 128;  // of reductions, for one element of the loop's result
constexpr int64_t kSmall = 512;          // elements, whose handling by branches does not matter

// True if a dynamic-slice reads just what `update` writes.
bool ReadsUpdatedWindow(const Instruction* slice, const Instruction* update) {
  if (slice->opcode() != Opcode::kDynamicSlice || slice->operand(0) != update->operand(0) ||
      slice->shape().dims != update->operand(1)->shape().dims)
    return false;
  for (int64_t k = 1; k < slice->operand_count(); ++k)
    if (slice->operand(k) != update->operand(k + 1)) return false;
  return true;
}

bool IsLinearStep(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kConstant:
      return true;
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return IsReshape(*i);
    case Opcode::kBroadcast:
      return i->operand(0)->shape().IsScalar();
    case Opcode::kIota:
      return i->shape().rank() == 1;
    default:
      break;
  }
  return HasTrait(i->opcode(), kElementwise) && i->opcode() != Opcode::kBitcastConvert;
}

bool IsPointwise(const Instruction* i) {
  if (i->IsConstant()) return true;
  if (i->opcode() == Opcode::kBroadcast) return i->operand(0)->IsConstant();
  return HasTrait(i->opcode(), kElementwise);
}

}  // namespace

// True where an array that is updated in place somewhere is read by `i`, which would move to where
// `root` is, and not every update waits for that.
bool FusionPlan::ReadsUpdated(const Instruction* i, const Instruction* root) {
  for (const Instruction* operand : i->operands()) {
    const auto found = updates_.find(operand);
    if (operand->shape().rank() == 0 || found == updates_.end()) continue;
    for (const Instruction* update : found->second)
      if (!WaitsFor(update, root)) return true;
  }
  return false;
}

// Whether the update needs what `root` gives. Of many updates no: each search takes in all that one
// needs.
bool FusionPlan::WaitsFor(const Instruction* update, const Instruction* root) {
  constexpr size_t kMaxUpdates = 32;
  const auto known = needed_by_.find(update);
  if (known != needed_by_.end()) return known->second.contains(root);
  if (needed_by_.size() >= kMaxUpdates) return false;
  absl::flat_hash_set<const Instruction*>& needed = needed_by_[update];
  std::vector<const Instruction*> work = {update};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    for (const Instruction* operand : at->operands())
      if (needed.insert(operand).second) work.push_back(operand);
  }
  return needed.contains(root);
}

// Whether what is written by a dynamic-update-slice is made, element by element or of slices, of
// other places of the array that it writes over.
bool FusionPlan::ReadsAround(const Instruction& update) const {
  constexpr size_t kMaxSeen = 64;
  std::vector<const Instruction*> work = {update.operand(1)};
  absl::flat_hash_set<const Instruction*> seen = {update.operand(1)};
  while (!work.empty() && seen.size() <= kMaxSeen) {
    const Instruction* at = work.back();
    work.pop_back();
    if (!CanFuse(*at) || at->opcode() == Opcode::kReduce) continue;
    for (const Instruction* operand : at->operands()) {
      if (operand == update.operand(0) && !ReadsUpdatedWindow(at, &update)) return true;
      if (seen.insert(operand).second) work.push_back(operand);
    }
  }
  return false;
}

int FusionGroup::Find(const Instruction* i) const {
  for (size_t k = 0; k < members.size(); ++k)
    if (members[k].instruction == i) return static_cast<int>(k);
  return -1;
}

FusionPlan::FusionPlan(const Computation& computation, const FusionLimits& limits)
    : limits_(limits) {
  std::vector<Instruction*> order = computation.PostOrder();
  for (const Instruction* i : order) first_id_ = std::min(first_id_, i->id());
  for (const Instruction* i : order)
    if (i->opcode() == Opcode::kDynamicUpdateSlice || i->opcode() == Opcode::kScatter)
      updates_[i->operand(0)].push_back(i);
  for (size_t k = order.size(); k-- > 0;) {
    Instruction* i = order[k];
    if (IsScatterRoot(*i) || IsScanRoot(*i)) {
      StartGroup(i);
      continue;
    }
    if (!CanFuse(*i) && !IsWindowSum(*i)) continue;
    if (i->IsRoot() || !TryAbsorb(i)) StartGroup(i);
  }
  std::erase_if(groups_, [](const FusionGroup& g) {
    return std::all_of(g.members.begin() + 1, g.members.end(),
                       [](const FusionGroup::Member& m) { return m.instruction->IsConstant(); });
  });
}

void FusionPlan::StartGroup(Instruction* root) {
  FusionGroup group;
  double evaluations = static_cast<double>(ResultElements(*root));
  if (root->opcode() == Opcode::kDynamicUpdateSlice)
    evaluations = static_cast<double>(ResultElements(*root->operand(1)));
  group.members.push_back({root, evaluations, 0});
  group.copies.push_back(1);
  group.linear = IsLinearStep(root);
  if (root->opcode() == Opcode::kReduce && !IsShortReduction(root)) group.reduce = root;
  // A reshape moves nothing, and the runtime transposes by blocks.
  group.closed = IsReshape(*root) || IsStridedTranspose(*root) || root->IsConstant() ||
                 (root->opcode() == Opcode::kDynamicUpdateSlice && ReadsAround(*root));
  for (Instruction* operand : root->operands()) group.inputs.insert(operand);
  places_[Slot(root)].push_back({static_cast<int>(groups_.size()), 0});
  groups_.push_back(std::move(group));
}

bool FusionPlan::StaysApart(const Instruction* producer, const Instruction* root,
                            absl::string_view why) {
  apart_.push_back({producer, root, why});
  return false;
}

bool FusionPlan::TryAbsorb(Instruction* p) {
  if (p->users().empty() || !p->shape().IsArray()) return false;
  if (p->opcode() == Opcode::kDynamicUpdateSlice)
    return StaysApart(p, nullptr, "an update in place is the root of its loop");
  bool all = true;
  std::vector<int> into;
  absl::flat_hash_map<int, size_t> slots;  // of a group in `into`
  for (const Instruction* user : p->users()) {
    all &= !places_[Slot(user)].empty();
    for (const Place& place : places_[Slot(user)])
      if (slots.try_emplace(place.group, into.size()).second) into.push_back(place.group);
  }
  const bool free = IsFree(*p);
  if (into.empty()) return StaysApart(p, nullptr, "nothing that reads it is in a loop");
  if (!all && !free)
    return StaysApart(p, nullptr, "something else than loops reads it, so it is in memory anyway");
  constexpr absl::string_view kTooMuchWork =
      "to compute it in each loop costs more than to write it once";
  if (into.size() > 1 && !MayRepeat(p, into.size())) return StaysApart(p, nullptr, kTooMuchWork);
  std::vector<Entry> entries = Enter(p, slots);
  size_t taken = 0;
  for (size_t k = 0; k < into.size(); ++k) {
    const int g = into[k];
    const absl::string_view why = Obstacle(p, groups_[g], entries[k], g);
    if (why.empty()) {
      into[taken] = g;
      entries[taken++] = entries[k];
    } else {
      StaysApart(p, groups_[g].root(), why);
      if (!free) return false;
      all = false;
    }
  }
  double evaluations = 0;
  for (size_t k = 0; k < taken; ++k) evaluations += entries[k].evaluations;
  const double repeated = limits_.launch_work > 0 ? RepeatedWork(p, evaluations) : 0;
  if (limits_.launch_work > 0 && !free && !IsWorthALaunch(p, evaluations, repeated))
    return StaysApart(p, nullptr, kTooMuchWork);
  for (size_t k = 0; k < taken; ++k) Absorb(p, into[k], entries[k]);
  if (limits_.launch_work > 0) {
    repeated_work_[Slot(p)] = repeated;
  } else if (taken > 1) {
    int below = 0;
    for (const Instruction* user : p->users()) below = std::max(below, repeats_[Slot(user)]);
    repeats_[Slot(p)] = below + !IsTrivial(*p);
  }
  return all;
}

// The work that repeats what is done for `p` once, and what has been repeated of what reads it.
double FusionPlan::RepeatedWork(const Instruction* p, double evaluations) const {
  double below = 0;
  for (const Instruction* user : p->users()) below = std::max(below, repeated_work_.at(Slot(user)));
  if (IsTrivial(*p)) return below;
  const double again = std::max(0.0, evaluations - static_cast<double>(ResultElements(*p)));
  return below + again * WorkPerElement(*p);
}

bool FusionPlan::IsWorthALaunch(const Instruction* p, double evaluations, double repeated) const {
  if (IsTrivial(*p)) return true;  // as quickly made as read
  return evaluations <= 1.01 * static_cast<double>(ResultElements(*p)) ||
         repeated <= static_cast<double>(limits_.launch_work);
}

bool FusionPlan::MayRepeat(const Instruction* p, size_t groups) const {
  if (limits_.launch_work > 0) return true;  // IsWorthALaunch decides
  if (IsFree(*p)) return true;
  if (IsTrivial(*p)) return groups <= 8;
  if (!IsCheapElementwise(*p) || groups > 4) return false;
  int below = 0, arrays = 0;
  for (const Instruction* user : p->users()) below = std::max(below, repeats_.at(Slot(user)));
  for (const Instruction* operand : p->operands()) arrays += !IsFree(*operand);
  return below < kMaxRepeatedChain && (arrays <= 1 || groups <= 2);
}

std::vector<FusionPlan::Entry> FusionPlan::Enter(
    const Instruction* p, const absl::flat_hash_map<int, size_t>& slots) const {
  struct Reads {
    absl::InlinedVector<int, 4> same;  // index numbers shared with users
    int others = 0;
  };
  std::vector<Entry> entries(slots.size());
  std::vector<Reads> reads(slots.size());
  for (const Instruction* user : p->users())
    for (const Place& place : places_.at(Slot(user))) {
      const size_t slot = slots.at(place.group);
      Entry& entry = entries[slot];
      const FusionGroup& group = groups_[place.group];
      const FusionGroup::Member& member = group.members[place.member];
      for (int64_t o = 0; o < user->operand_count(); ++o) {
        if (user->operand(o) != p) continue;
        if (ReadsSameIndex(*user, o)) {
          auto& same = reads[slot].same;
          if (std::find(same.begin(), same.end(), member.index) != same.end()) continue;
          same.push_back(member.index);
        } else {
          ++reads[slot].others;
        }
        // The starts of an update are computed once.
        const bool start = user->opcode() == Opcode::kDynamicUpdateSlice && o > 1;
        entry.evaluations += start ? 1 : member.evaluations * ReadsPerElement(*user, o);
        entry.copies += group.copies[member.index];
      }
    }
  for (size_t k = 0; k < entries.size(); ++k)
    if (reads[k].same.size() == 1 && reads[k].others == 0) entries[k].index = reads[k].same[0];
  return entries;
}

absl::string_view FusionPlan::Obstacle(const Instruction* p, const FusionGroup& group,
                                       const Entry& entry, int g) {
  if (group.closed)
    return "a reshape, transpose or constant that is a loop's root takes nothing in, nor an update "
           "of an array by what lies around";
  if (limits_.launch_work > 0 && IsFree(*p)) return "";
  if (std::ssize(group.members) >= limits_.max_members)
    return "the loop has as many instructions as it may (max-members)";
  if (p->IsConstant()) return "";
  if (entry.copies > static_cast<double>(limits_.max_copies))
    return "its code would stand in the loop too often";
  if (group.code + entry.copies > static_cast<double>(limits_.max_code))
    return "the loop's code would be too long (max-code)";
  auto inputs = static_cast<int64_t>(group.inputs.size());
  for (Instruction* operand : p->operands())
    inputs += !operand->IsConstant() && !group.inputs.contains(operand);
  if (inputs > limits_.max_inputs + 1) return "the loop would read too many arrays (max-inputs)";
  const double repeated = entry.evaluations / static_cast<double>(ResultElements(*p));
  if (repeated > 1.01 && limits_.launch_work == 0 && !IsTrivial(*p))
    return "the loop reads its elements several times and would compute each as often";
  if (limits_.launch_work == 0 && ((group.divides && !IsLinearStep(p)) || !FitsReshape(p, group)))
    return "a reshape between them would need a division for each element";
  if (!FitsReduction(p, group, entry, g))
    return "after a reduction a loop does only pointwise work on its results";
  if (!FitsUpdate(p, group)) return "it reads an array that is updated in place";
  if (limits_.launch_work == 0 &&
      (p->opcode() == Opcode::kConcatenate || p->opcode() == Opcode::kPad)) {
    const bool small = ResultElements(*p) <= kSmall && entry.copies <= 1;
    return small ? ""
                 : "a large concatenate or pad is copied in blocks, without tests for each element";
  }
  if (p->opcode() == Opcode::kTranspose && IsStridedTranspose(*p))
    return "a library call transposes it faster, in blocks";
  return "";
}

// A scatter takes in what makes its base and updates, and gives nothing to a loop.
bool FusionPlan::IsScatterRoot(const Instruction& i) const {
  return limits_.launch_work > 0 && i.opcode() == Opcode::kScatter && i.shape().IsArray() &&
         CanEmitScatter(i) && IsPlain(i);
}

// A scan of rows takes in what it scans, and gives nothing to a loop, whose elements would each
// begin it anew.
bool FusionPlan::IsScanRoot(const Instruction& i) const {
  return limits_.launch_work > 0 && RowScanOf(i).has_value() && IsPlain(i);
}

// Windows' reductions are read as elements where nothing but the work that is repeated counts.
bool FusionPlan::IsWindowSum(const Instruction& i) const {
  return limits_.launch_work > 0 && i.opcode() == Opcode::kReduceWindow && i.shape().IsArray() &&
         CanEmitElement(i) && IsPlain(i);
}

bool FusionPlan::IsShortReduction(const Instruction* p) const {
  return limits_.launch_work > 0 && p->opcode() == Opcode::kReduce &&
         p->operand(0)->shape().ElementCount() <= FusionLimits::kMaxShort * ResultElements(*p);
}

bool FusionPlan::FitsReshape(const Instruction* p, const FusionGroup& group) const {
  return !IsReshape(*p) || group.linear || !ReshapeDivides(p->operand(0)->shape(), p->shape());
}

bool FusionPlan::FitsReduction(const Instruction* p, const FusionGroup& group, const Entry& entry,
                               int g) const {
  if (IsShortReduction(p) || IsWindowSum(*p)) {
    // The loop's threads go through all of them, one element after the other.
    const double steps =
        entry.evaluations * WorkPerElement(*p) / static_cast<double>(ResultElements(*group.root()));
    return steps <= kMaxThreadSteps;
  }
  if (p->opcode() == Opcode::kReduce) {
    // After a reduction come pointwise operations only.
    if (entry.index != 0 || entry.copies > 1 || p->shape().dims != group.root()->shape().dims)
      return false;
    const bool column = IsColumnReduce(*p);
    for (const FusionGroup::Member& m : group.members)
      if (m.index == 0 && m.instruction->opcode() != Opcode::kReduce && !IsPointwise(m.instruction))
        return false;
    if (group.reduce == nullptr) return !column || p->shape().rank() > 0;
    return group.reduce->operand(0)->shape().dims == p->operand(0)->shape().dims &&
           group.reduce->attr<DimensionsAttrs>().dimensions ==
               p->attr<DimensionsAttrs>().dimensions;
  }
  if (group.reduce == nullptr || !IsColumnReduce(*group.reduce)) return true;
  // What only the pointwise part reads must be pointwise too.
  for (const Instruction* user : p->users())
    for (const Place& place : places_.at(Slot(user)))
      if (place.group == g && user->opcode() != Opcode::kReduce &&
          group.members[place.member].index == 0 && !IsPointwise(p))
        return false;
  return true;
}

bool FusionPlan::FitsUpdate(const Instruction* p, const FusionGroup& group) {
  const Instruction* root = group.root();
  if (root->opcode() != Opcode::kDynamicUpdateSlice) return !ReadsUpdated(p, root);
  if (root->operand(0) == p) return false;
  for (const Instruction* operand : p->operands()) {
    if (operand->shape().rank() == 0 || !updates_.contains(operand)) continue;
    if (operand != root->operand(0) || !ReadsUpdatedWindow(p, root)) return false;
  }
  return true;
}

void FusionPlan::Absorb(Instruction* p, int g, const Entry& entry) {
  FusionGroup& group = groups_[g];
  int index = entry.index;
  if (index < 0) {
    index = static_cast<int>(group.copies.size());
    group.copies.push_back(entry.copies);
  }
  places_[Slot(p)].push_back({g, static_cast<int>(group.members.size())});
  group.members.push_back({p, entry.evaluations, index});
  group.inputs.erase(p);
  for (Instruction* operand : p->operands())
    if (!operand->IsConstant()) group.inputs.insert(operand);
  group.code += entry.copies;
  group.linear = group.linear && IsLinearStep(p);
  if (p->opcode() == Opcode::kReduce && !IsShortReduction(p)) group.reduce = p;
  if (IsReshape(*p) && ReshapeDivides(p->operand(0)->shape(), p->shape())) group.divides = true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
