// The groups of instructions that may cross the boundary of a conditional, and the gain of each.
// The numbers are those of XLA's conditional code motion, so that both decide alike:
//   a pair of instruction and user gains 10, divided by the users of the one and the operands of
//   the other that are no constants; parameters, constants and get-tuple-elements gain nothing.
#include "passes/calls/conditional_groups.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "passes/cleanup/cse.h"
#include "passes/rewrite/control_edges.h"

namespace hlokit {
namespace {

constexpr int64_t kReuse = 10;
constexpr int64_t kMaxComparedReducer = 64;  // instructions
using Side = MotionGroup::Side;

bool IsCommunication(const Instruction* i) {
  return HasTrait(i->opcode(), kCollective) || i->opcode() == Opcode::kSend ||
         i->opcode() == Opcode::kRecv;
}

// Opcodes that are worth a motion, by the opcode of what they read first.
bool WorthMoving(const Instruction* i) {
  const std::optional<Opcode> reads =
      i->operand_count() == 0 ? std::nullopt : std::optional(i->operand(0)->opcode());
  switch (i->opcode()) {
    case Opcode::kConvert:  // stays with the product whose rounding it is
      return reads == Opcode::kAllReduce || reads == Opcode::kReshape ||
             reads == Opcode::kGetTupleElement;
    case Opcode::kGetTupleElement:
    case Opcode::kTuple:
      return reads != Opcode::kParameter;
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
    case Opcode::kReduce:
    case Opcode::kConstant:
    case Opcode::kReshape:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kScatter:
      return true;
    default:
      return HasTrait(i->opcode(), kElementwise);
  }
}

int64_t CountWithoutConstants(absl::Span<Instruction* const> instructions) {
  absl::flat_hash_set<const Instruction*> counted;
  for (const Instruction* i : instructions)
    if (!i->IsConstant()) counted.insert(i);
  return static_cast<int64_t>(counted.size());
}

int64_t Reuse(const Instruction* i, const Instruction* user) {
  if (user->opcode() == Opcode::kGetTupleElement) return 0;
  const bool product = i->opcode() == Opcode::kDot || i->opcode() == Opcode::kConvolution;
  if (product && user->opcode() == Opcode::kConvert) return 0;
  switch (i->opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kGetTupleElement:
      return 0;
    case Opcode::kConditional:
      return kReuse;
    default:
      return kReuse / std::max<int64_t>(CountWithoutConstants(i->users()), 1) /
             std::max<int64_t>(CountWithoutConstants(user->operands()), 1);
  }
}

bool IsCrossModuleAllReduce(const Instruction* i) {
  return i->opcode() == Opcode::kAllReduce && i->attr<AllReduceAttrs>().channel_id.has_value();
}

bool SameFunctions(const Instruction* a, const Instruction* b) {
  if (a->called().size() != b->called().size()) return false;
  for (size_t k = 0; k < a->called().size(); ++k)
    if (!SameComputation(a->called(k), b->called(k), kMaxComparedReducer)) return false;
  return true;
}

// Channels of all-reduces do not count: each branch has its own.
bool SameOwnAttributes(const Instruction* a, const Instruction* b) {
  if (a->attributes() == nullptr) return true;
  if (!IsCrossModuleAllReduce(a) || !IsCrossModuleAllReduce(b))
    return a->attributes()->Equals(*b->attributes());
  AttributesOf<AllReduceAttrs> x(a->attr<AllReduceAttrs>());
  x.value.channel_id = b->attr<AllReduceAttrs>().channel_id;
  return x.Equals(*b->attributes());
}

bool SameInstruction(const Instruction* a, const Instruction* b) {
  if (a->opcode() != b->opcode() || a->shape() != b->shape() ||
      a->operand_count() != b->operand_count() || !SameOwnAttributes(a, b) || !SameFunctions(a, b))
    return false;
  for (int64_t k = 0; k < a->operand_count(); ++k)
    if (a->operand(k)->shape() != b->operand(k)->shape()) return false;
  return true;
}

class Planner {
 public:
  explicit Planner(Instruction* conditional) : conditional_(conditional) {}

  MotionPlan Plan() {
    std::vector<Motion> out, in;
    int64_t gain_out = 0, gain_in = 0;
    MotionPlan plan;
    Seed();
    while (!seeds_.empty()) {
      const MotionGroup seed = std::move(seeds_.front());
      seeds_.pop_front();
      if (!seen_.insert(seed).second) continue;
      std::optional<Motion> motion = Consider(seed);
      if (!motion) continue;
      const bool outward = seed.side == Side::kInside;
      (outward ? gain_out : gain_in) += motion->benefit;
      (outward ? out : in).push_back(*std::move(motion));
      // Asked after each motion, so that of equal gains the direction that came first stays.
      if (outward && gain_out >= gain_in) plan.direction = MotionPlan::Direction::kOut;
      if (!outward && gain_out < gain_in) plan.direction = MotionPlan::Direction::kIn;
    }
    if (plan.direction == MotionPlan::Direction::kOut) plan.motions = std::move(out);
    if (plan.direction == MotionPlan::Direction::kIn) plan.motions = std::move(in);
    return plan;
  }

 private:
  void Seed() {
    MotionGroup roots{Side::kInside, {}};
    for (const Computation* branch : conditional_->called())
      roots.members.push_back(branch->root());
    seeds_.push_back(std::move(roots));
    for (Instruction* user : conditional_->users()) seeds_.push_back({Side::kReader, {user}});
    for (int64_t k = 1; k < conditional_->operand_count(); ++k)
      seeds_.push_back({Side::kOperand, {conditional_->operand(k)}});
  }

  // The motion that starts with `seed`; groups that stay become seeds where none moves.
  std::optional<Motion> Consider(const MotionGroup& seed) {
    Motion motion;
    rest_.clear();
    Collect(seed, motion.moved);
    if (motion.moved.empty()) {
      seeds_.insert(seeds_.end(), rest_.begin(), rest_.end());
      return std::nullopt;
    }
    motion.benefit = Benefit(motion.moved);
    if (motion.benefit < 0) {
      for (const MotionGroup& group : rest_) staying_.erase(group.first());
      return std::nullopt;
    }
    motion.rest = rest_;
    return motion;
  }

  void Collect(const MotionGroup& seed, std::vector<MotionGroup>& moved) {
    std::deque<MotionGroup> work = {seed};
    absl::flat_hash_set<MotionGroup> visited;
    while (!work.empty()) {
      const MotionGroup group = std::move(work.front());
      work.pop_front();
      if (!visited.insert(group).second) continue;
      const bool alike = group.side != Side::kInside || SameInEachBranch(group.members);
      if (alike && NobodyElseNeeds(group) && MayMove(group)) {
        moved.push_back(group);
        const size_t next = group.side == Side::kReader ? group.first()->users().size()
                                                        : group.first()->operands().size();
        for (size_t k = 0; k < next; ++k) work.push_back(Next(group, k));
      } else {
        staying_[group.first()] = 1;
        rest_.push_back(group);
      }
    }
  }

  static MotionGroup Next(const MotionGroup& group, size_t k) {
    MotionGroup next{group.side, {}};
    for (Instruction* i : group.members)
      next.members.push_back(group.side == Side::kReader ? i->users()[k]
                                                         : i->operand(static_cast<int64_t>(k)));
    return next;
  }

  // Whether all that depend on the group (of readers: that it depends on) move.
  bool NobodyElseNeeds(const MotionGroup& group) {
    const Instruction* i = group.first();
    const auto dependents =
        static_cast<int>(group.side == Side::kReader ? CountWithoutConstants(i->operands())
                                                     : static_cast<int64_t>(i->users().size()));
    if (dependents <= 1) return true;
    const auto [count, fresh] = staying_.try_emplace(i, 1);
    if (fresh) return false;
    const auto at = std::find(rest_.begin(), rest_.end(), group);
    if (at == rest_.end() && group.members.size() > 1) return false;
    if (++count->second != dependents) return false;
    staying_.erase(i);
    if (at != rest_.end()) rest_.erase(at);
    return true;
  }

  bool MayMove(const MotionGroup& group) const {
    const Instruction* i = group.first();
    if (i->IsParameter()) return false;
    for (const Instruction* member : group.members)
      if (HasControlEdges(*member)) return false;
    if (i->opcode() == Opcode::kTuple && i == conditional_->parent()->root()) return false;
    if (group.side != Side::kInside && IsCommunication(i)) return false;
    if (group.side == Side::kOperand) {
      // The operands of a reduction are larger than what it gives.
      if (i->opcode() == Opcode::kReduce || i->opcode() == Opcode::kGetTupleElement) return false;
      if (i->opcode() == Opcode::kTuple && i->sharding() != nullptr) return false;
      if (i->users().size() > 1 || i->HasSideEffect()) return false;
      if (i == conditional_->operand(0)) return false;  // chooses the branch, too
    }
    return WorthMoving(i);
  }

  const Instruction* BranchRoot() const { return conditional_->called(0)->root(); }

  int64_t Benefit(const std::vector<MotionGroup>& moved) const {
    const Side side = moved[0].side;
    if (moved.size() == 1) {
      const Opcode alone = moved[0].first()->opcode();
      if (alone == (side == Side::kReader ? Opcode::kGetTupleElement : Opcode::kTuple)) return -1;
    }
    int64_t before = 0, after = 0, copies = 0;
    for (const MotionGroup& group : moved) {
      const Instruction* i = group.first();
      if (side == Side::kReader) copies += CopiesThatMeet(i);
      if (i == BranchRoot()) continue;
      before += ReuseBefore(i);
      after += side == Side::kOperand ? ReuseOfOperand(i, 0) : ReuseAfter(i);
    }
    if (before == 0 && after == 0 && copies == 0) return -1;
    if (side == Side::kInside) return after - before;
    return side == Side::kReader ? before - after - 1 + copies : (after > 0 ? 1 : 0);
  }

  // With operands that stay where they are, or come out of the conditional.
  int64_t ReuseBefore(const Instruction* i) const {
    int64_t reuse = 0;
    for (const Instruction* operand : i->operands()) {
      if (operand != conditional_ && !staying_.contains(operand)) continue;
      if (i->opcode() != Opcode::kGetTupleElement) {
        reuse += Reuse(operand, i);
        continue;
      }
      if (i->users().empty()) continue;
      const Instruction* value = operand;
      if (operand == conditional_ && BranchRoot()->opcode() == Opcode::kTuple)
        value = BranchRoot()->operand(i->tuple_index());
      reuse += Reuse(value, i->users()[0]);
    }
    return reuse;
  }

  // With the only user, on the other side of the boundary.
  int64_t ReuseAfter(const Instruction* i) const {
    if (i->IsConstant() || i->users().size() != 1) return 0;
    const Instruction* user = i->users()[0];
    if (user != BranchRoot()) return staying_.contains(user) ? Reuse(i, user) : 0;
    const int64_t part =
        std::find(user->operands().begin(), user->operands().end(), i) - user->operands().begin();
    for (const Instruction* reader : conditional_->users()) {
      if (reader->opcode() != Opcode::kGetTupleElement || reader->tuple_index() != part) continue;
      if (!reader->users().empty()) return Reuse(i, reader->users()[0]);
    }
    return 0;
  }

  // Of what only some of the branches read.
  int64_t ReuseOfOperand(const Instruction* i, int64_t part) const {
    if (i->IsConstant()) return 0;
    while (!i->users().empty()) {
      const Instruction* user = i->users()[0];
      if (user->opcode() == Opcode::kConditional)
        return BranchesThatRead(i, part) < static_cast<int64_t>(user->called().size()) ? kReuse : 0;
      if (user->opcode() == Opcode::kTuple)
        part = std::find(user->operands().begin(), user->operands().end(), i) -
               user->operands().begin();
      i = user;
    }
    return 0;
  }

  int64_t BranchesThatRead(const Instruction* operand, int64_t part) const {
    int64_t read = 0;
    for (int64_t b = 0; b + 1 < conditional_->operand_count(); ++b) {
      if (conditional_->operand(b + 1) != operand) continue;
      const Instruction* parameter = conditional_->called(b)->parameter(0);
      const bool whole =
          parameter->IsRoot() || (!parameter->shape().IsTuple() && !parameter->users().empty());
      read += whole || std::any_of(parameter->users().begin(), parameter->users().end(),
                                   [part](const Instruction* user) {
                                     return user->opcode() == Opcode::kGetTupleElement &&
                                            user->tuple_index() == part;
                                   });
    }
    return read;
  }

  // A copy after the conditional undoes one in a branch.
  int64_t CopiesThatMeet(const Instruction* i) const {
    if (i->opcode() != Opcode::kCopy || i->operand(0)->opcode() != Opcode::kGetTupleElement ||
        i->operand(0)->operand(0) != conditional_)
      return 0;
    int64_t gain = 0;
    for (const Computation* branch : conditional_->called()) {
      if (branch->root()->opcode() != Opcode::kTuple) continue;
      const Instruction* part = branch->root()->operand(i->operand(0)->tuple_index());
      if (part->opcode() == Opcode::kCopy && part->operand(0)->shape() == i->shape())
        gain += kReuse;
    }
    return gain;
  }

  Instruction* const conditional_;
  std::deque<MotionGroup> seeds_;
  absl::flat_hash_set<MotionGroup> seen_;
  // Instructions that were met and do not move, with how many of those that need them were met.
  absl::flat_hash_map<const Instruction*, int> staying_;
  std::vector<MotionGroup> rest_;
};

}  // namespace

bool SameInEachBranch(const std::vector<Instruction*>& members) {
  return std::all_of(members.begin(), members.end(),
                     [&](const Instruction* i) { return SameInstruction(members.front(), i); });
}

MotionPlan PlanMotions(Instruction* conditional) { return Planner(conditional).Plan(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
