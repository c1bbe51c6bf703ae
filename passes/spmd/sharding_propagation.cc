// sharding-propagation: stated shardings spread to the instructions that have none.
//   p, sharding={devices=[2,1]<=[2]};  n = negate(p);  d = dot(n, w)
//   ->  n, d = {devices=[2,1]<=[2]}; w = {replicated}
// Passes over each computation, forward from operands and backward from users, repeat until nothing
// gets better; four rounds of them, each through more operations than the one before
// (PassesThrough). What states a sharding keeps it. Sharding calls become copies; those with
// unspecified dimensions take these from their neighbours. Loops, conditionals and calls have the
// sharding of their bodies' roots and parameters. Members of a shard_as or shard_like group share
// what is found for one. Entry parameters and the result change only where the module's header
// allows it (allow_spmd_sharding_propagation_to_parameters, ..._to_output), and only where every
// dimension divides evenly. Where shardings came from (metadata) is dropped.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "ops/collective/device_groups.h"
#include "ops/collective/shards.h"
#include "passes/spmd/sharding_passes.h"
#include "passes/spmd/spread_rules.h"
#include "support/status.h"

namespace hlokit {

namespace {

constexpr absl::string_view kCseMark = "_sharding_propagation_cse_prevention";

bool DropMetadata(Sharding& sharding) {
  bool changed = !sharding.metadata.empty();
  sharding.metadata.clear();
  for (Sharding& element : sharding.elements) changed |= DropMetadata(element);
  return changed;
}

// Drops where shardings came from, and those that only keep cse from joining what has them.
bool CleanShardings(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    c->ForEach([&](Instruction* i) {
      if (i->sharding() == nullptr) return;
      auto& own = i->mutable_extras().sharding;
      if (own->metadata.size() == 1 && own->metadata[0].op_name == kCseMark) {
        own.reset();
        changed = true;
      } else {
        changed |= DropMetadata(*own);
      }
    });
  return changed;
}

class Propagation {
 public:
  Propagation(Module& module, bool by_shardy) : module_(module) { known_.by_shardy = by_shardy; }

  absl::StatusOr<bool> Run() {
    bool changed = CleanShardings(module_);
    changed |= ReplaceShardingCalls();
    known_.of.resize(module_.id_bound());
    better_.resize(module_.id_bound(), false);
    for (const Computation* c : module_.Computations())
      c->ForEach([this](const Instruction* i) {
        known_[i] = SpreadsOf(i->sharding(), i->shape());
        if (i->sharding() != nullptr && i->sharding()->kind == Sharding::Kind::kUnknown)
          known_[i].clear();
      });
    for (auto& [operand, copy] : marked_)
      if (known_[operand].empty() && !known_[copy].empty()) Set(operand, known_[copy]);
    RETURN_IF_ERROR(RelateCalls());
    NoteProvided();
    for (int aggressiveness = 0; aggressiveness <= kMaxAggressiveness; ++aggressiveness) {
      ToFixPoint(aggressiveness);
      while (ShareInGroups()) ToFixPoint(aggressiveness);
    }
    KeepEntry();
    return WriteBack() || changed;
  }

 private:
  struct Group {
    bool like = false;
    std::vector<Instruction*> members;
  };

  bool ReplaceShardingCalls() {
    bool changed = false;
    for (Computation* c : module_.Computations()) {
      std::vector<Instruction*> order = c->PostOrder();
      std::reverse(order.begin(), order.end());
      for (Instruction* i : order) {
        if (CallTarget(*i) != "Sharding" || i->sharding() == nullptr || i->operand_count() != 1 ||
            !SameIgnoringLayout(i->shape(), i->operand(0)->shape()))
          continue;
        Instruction* x = i->operand(0);
        Instruction* copy = c->Add(Opcode::kCopy, i->shape(), {x}, "copy");
        copy->CopyExtrasFrom(*i);
        const Sharding& own = *i->sharding();
        if (!own.shard_group.empty()) {
          Group& group = groups_[own.shard_group];
          group.like = own.shard_group.rfind("shard_like", 0) == 0;
          group.members.push_back(copy);
        }
        const DimVector open = UnspecifiedDims(*i);
        if (!open.empty()) open_dims_[copy] = open;
        if (open.empty() && own.kind != Sharding::Kind::kUnknown) marked_.push_back({x, copy});
        if (own.kind == Sharding::Kind::kUnknown) copy->mutable_extras().sharding.reset();
        const std::vector<Instruction*> before(i->control_predecessors().begin(),
                                               i->control_predecessors().end());
        const std::vector<Instruction*> after(i->control_successors().begin(),
                                              i->control_successors().end());
        i->DropControlEdges();
        for (Instruction* b : before) copy->AddControlPredecessor(b);
        for (Instruction* a : after) a->AddControlPredecessor(copy);
        i->ReplaceAllUsesWith(copy);
        c->Remove(i);
        changed = true;
      }
    }
    return changed;
  }

  void Set(Instruction* i, Spreads spreads) {
    known_[i] = std::move(spreads);
    better_[i->id()] = true;
  }

  // What has one sharding because a computation is called: the call, roots and parameters.
  std::vector<Instruction*> Related(Instruction* call) const {
    std::vector<Instruction*> all = {call};
    for (size_t k = 0; k < call->called().size(); ++k) {
      const Computation* c = call->called(k);
      const bool loop = call->opcode() == Opcode::kWhile;
      if (!loop || k == 1) all.push_back(c->root());
      if (loop) all.push_back(c->parameter(0));
    }
    return all;
  }

  absl::Status RelateCalls() {
    for (const Computation* c : module_.Computations())
      for (Instruction* i : c->PostOrder()) {
        if (i->opcode() == Opcode::kWhile) RETURN_IF_ERROR(KeepOnDevice(*i));
        if (i->opcode() != Opcode::kWhile && i->opcode() != Opcode::kConditional &&
            i->opcode() != Opcode::kCall)
          continue;
        for (const Computation* callee : i->called())
          if (i->opcode() != Opcode::kWhile || callee == i->called(1)) caller_[callee] = i;
        const std::vector<Instruction*> all = Related(i);
        for (const Instruction* first : all) {
          if (known_[first].empty()) continue;
          const Spreads spreads = known_[first];
          for (Instruction* other : all)
            if (known_[other] != spreads) Set(other, spreads);
          break;
        }
      }
    return absl::OkStatus();
  }

  std::optional<int64_t> DeviceOf(const Instruction* i) const {
    const Spreads& own = known_[i];
    std::optional<int64_t> device;
    for (const Spread& s : own) {
      if (s.kind != Spread::Kind::kMaximal || (device && *device != s.device)) return std::nullopt;
      device = s.device;
    }
    return device;
  }

  // A loop whose body sends or receives on one device runs there as a whole.
  absl::Status KeepOnDevice(const Instruction& loop) {
    const Instruction* channel = nullptr;
    const std::vector<Instruction*> body = loop.called(1)->Instructions();
    for (const Instruction* i : body)
      if (channel == nullptr && UsesChannel(*i) && DeviceOf(i)) channel = i;
    if (channel == nullptr) return absl::OkStatus();
    const int64_t device = *DeviceOf(channel);
    for (const Instruction* i : body)
      if (DeviceOf(i).value_or(device) != device)
        return absl::FailedPreconditionError(absl::StrCat(i->name(), " is on device ", *DeviceOf(i),
                                                          ", the transfer ", channel->name(),
                                                          " in its loop on ", device));
    if (DeviceOf(&loop).value_or(device) != device)
      return absl::FailedPreconditionError(
          absl::StrCat(loop.name(), " and its body are on two devices"));
    Instruction* root = loop.called(1)->root();
    if (known_[root].empty()) {
      Spread s;
      s.kind = Spread::Kind::kMaximal;
      s.device = device;
      Set(root, Spreads(LeafCount(root->shape()), s));
    }
    return absl::OkStatus();
  }

  // Whether the header lets leaf `leaf` of a parameter or of the result change.
  static bool Allowed(const std::vector<bool>& flags, int64_t leaf) {
    if (flags.size() == 1) return flags[0];
    return leaf < static_cast<int64_t>(flags.size()) && flags[leaf];
  }
  // A lone tuple parameter has a flag for each leaf, others one each.
  bool AllowedParameter(const Instruction& p, int64_t leaf) const {
    const auto& flags = module_.header().propagate_sharding_to_parameters;
    const bool lone = module_.entry()->parameter_count() == 1 && p.shape().IsTuple();
    return Allowed(flags, lone ? leaf : p.parameter_number());
  }
  bool AnyAllowed(const Instruction& p) const {
    bool any = false;
    for (int64_t k = 0; k < LeafCount(p.shape()); ++k) any |= AllowedParameter(p, k);
    return any;
  }
  bool OutputAllowed() const {
    const auto& flags = module_.header().propagate_sharding_to_output;
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  }

  void NoteProvided() {
    for (const Computation* c : module_.Computations())
      c->ForEach([this](const Instruction* i) {
        if (!known_[i].empty()) provided_.insert(i);
      });
    const Instruction* root = module_.entry()->root();
    if (OutputAllowed() && !root->IsParameter()) {
      provided_.erase(root);
    } else {
      provided_.insert(root);
    }
    stated_root_ = known_[root];
    for (const Instruction* p : module_.entry()->parameters()) {
      stated_parameters_.push_back(known_[p]);
      if (AnyAllowed(*p)) provided_.erase(p);
    }
  }

  bool Supports(const Instruction& i) const {
    const bool entry_root = &i == module_.entry()->root();
    if (i.IsRoot() && caller_.count(i.parent()) == 0 && !(entry_root && OutputAllowed()))
      return false;
    if (HasTrait(i.opcode(), kElementwise)) return true;
    switch (i.opcode()) {
      case Opcode::kBroadcast:
      case Opcode::kCall:
      case Opcode::kConcatenate:
      case Opcode::kConditional:
      case Opcode::kConstant:
      case Opcode::kConvolution:
      case Opcode::kDot:
      case Opcode::kDynamicSlice:
      case Opcode::kDynamicUpdateSlice:
      case Opcode::kGather:
      case Opcode::kGetTupleElement:
      case Opcode::kInfeed:
      case Opcode::kIota:
      case Opcode::kMap:
      case Opcode::kOptimizationBarrier:
      case Opcode::kPad:
      case Opcode::kRaggedDot:
      case Opcode::kReduce:
      case Opcode::kReduceWindow:
      case Opcode::kReshape:
      case Opcode::kReverse:
      case Opcode::kRng:
      case Opcode::kRngBitGenerator:
      case Opcode::kScan:
      case Opcode::kScatter:
      case Opcode::kSelectAndScatter:
      case Opcode::kSlice:
      case Opcode::kSort:
      case Opcode::kTranspose:
      case Opcode::kTuple:
      case Opcode::kWhile:
        return true;
      case Opcode::kAllReduce:
      case Opcode::kReduceScatter:
        return !CollectiveGroupsOf(i)->channel_id.has_value();
      case Opcode::kParameter:
        return caller_.count(i.parent()) != 0 || (i.parent()->IsEntry() && AnyAllowed(i));
      case Opcode::kCustomCall:
        return IsPassedThrough(i);
      default:
        return false;
    }
  }

  static bool AllManual(const Spreads& s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](const Spread& x) { return x.IsManual(); });
  }

  // Takes `made` where it is better; one that would move what is already cut only if `moves`.
  bool Improve(Instruction* i, Spreads made, bool combine, bool moves) {
    if (made.size() != static_cast<size_t>(LeafCount(i->shape()))) return false;
    bool propagates = false;
    for (const Spread& s : made) propagates |= s.IsTiled() || s.IsReplicated() || s.IsManual();
    for (const Spread& s : made)
      if (s.kind == Spread::Kind::kOther) propagates = false;
    if (!propagates) return false;
    const Spreads& old = known_[i];
    if (old.empty()) {
      Set(i, std::move(made));
      return true;
    }
    const int64_t tiles = TileCount(made[0]);
    if (!Merge(old, made, combine)) return false;
    if (!moves && i->shape().IsArray() && old[0].IsTiled() && made[0].IsTiled() &&
        TileCount(made[0]) == tiles) {
      DimVector finer;
      for (size_t d = 0; d < old[0].tiles.size(); ++d) {
        if (old[0].tiles[d] == made[0].tiles[d]) continue;
        if (old[0].tiles[d] != 1) return false;
        finer.push_back(d);
      }
      if (ReplicatedOn(made[0], finer) != old[0]) return false;
    }
    if (made == old) return false;
    Set(i, std::move(made));
    return true;
  }

  bool InferForward(Instruction* i, int aggressiveness) {
    if (!PassesThrough(*i, aggressiveness) || AllManual(known_[i])) return false;
    if (known_[i].empty() && CallTarget(*i) != "SPMDShardToFullShape" &&
        TakeManual(i, aggressiveness))
      return true;
    const bool combine = aggressiveness > 0;
    if (!Supports(*i)) return CopyReplicated(i, combine);
    if (i->IsParameter()) return FromCaller(i, combine);
    bool changed = false;
    for (Candidate& c : FromOperands(*i, known_, aggressiveness)) {
      if (i->opcode() == Opcode::kTuple) {
        if (c.spreads == known_[i]) continue;
        Set(i, std::move(c.spreads));
        changed = true;
        continue;
      }
      if (i->opcode() == Opcode::kGetTupleElement && AllManual(c.spreads)) {
        Set(i, std::move(c.spreads));
        return true;
      }
      changed |= Improve(i, std::move(c.spreads), combine, c.moves);
    }
    return changed;
  }

  // What is computed of something manual is manual.
  bool TakeManual(Instruction* i, int aggressiveness) {
    if (!i->shape().IsArray() && i->opcode() != Opcode::kReduce && i->opcode() != Opcode::kSort &&
        i->opcode() != Opcode::kReduceWindow && i->opcode() != Opcode::kScan)
      return false;
    for (const Instruction* x : i->operands()) {
      if (!x->shape().IsArray() || !AllManual(known_[x])) continue;
      if (aggressiveness == 0 &&
          (i->opcode() == Opcode::kConcatenate || i->opcode() == Opcode::kDynamicSlice))
        return false;
      Set(i, Spreads(LeafCount(i->shape()), known_[x][0]));
      return true;
    }
    return false;
  }

  // What cannot be cut is whole everywhere where an operand is.
  bool CopyReplicated(Instruction* i, bool combine) {
    if (i->shape().IsTuple() || i->operand_count() == 0 || i->IsRoot() || i->HasSideEffect())
      return false;
    for (const Instruction* x : i->operands())
      if (known_[x].size() == 1 && known_[x][0].IsReplicated())
        return Improve(i, known_[x], combine, false);
    return false;
  }

  bool FromCaller(Instruction* i, bool combine) {
    const auto found = caller_.find(i->parent());
    if (found == caller_.end() || found->second->opcode() == Opcode::kWhile) return false;
    const Instruction* call = found->second;
    const Instruction* x = nullptr;
    if (call->opcode() == Opcode::kCall) {
      x = call->operand(i->parameter_number());
    } else {
      for (size_t k = 0; k < call->called().size(); ++k)
        if (call->called(k) == i->parent()) x = call->operand(k + 1);
    }
    return x != nullptr && !known_[x].empty() && Improve(i, known_[x], combine, false);
  }

  // What a computation does with its parameter, seen from the operand of the call.
  Spreads FromCallee(const Instruction& i, const Instruction& call) const {
    for (int64_t k = 0; k < call.operand_count(); ++k) {
      if (call.operand(k) != &i) continue;
      const bool conditional = call.opcode() == Opcode::kConditional;
      if (conditional && k == 0) continue;
      const Instruction* p =
          conditional ? call.called(k - 1)->parameter(0) : call.called(0)->parameter(k);
      if (!known_[p].empty()) return known_[p];
    }
    return {};
  }

  Spreads Backward(const Instruction& i, const Instruction& user, int aggressiveness) const {
    if (user.opcode() == Opcode::kCall || user.opcode() == Opcode::kConditional)
      return aggressiveness > 0 ? FromCallee(i, user) : Spreads();
    if (CallTarget(user) == "SPMDFullToShardShape" || CallTarget(user) == "SPMDShardToFullShape")
      return {};
    return FromUser(i, user, known_, aggressiveness);
  }

  bool InferBackward(Instruction* i, int aggressiveness) {
    if (aggressiveness < 2 && i->opcode() == Opcode::kBroadcast) return false;
    if (AllManual(known_[i])) return false;
    if (known_[i].empty())
      for (const Instruction* user : i->users()) {
        if (!AllManual(known_[user]) || CallTarget(*user) == "SPMDFullToShardShape") continue;
        Spreads made =
            i->shape().IsArray() ? Spreads{known_[user][0]} : Backward(*i, *user, aggressiveness);
        if (made.empty() || i->IsParameter()) continue;
        Set(i, std::move(made));
        return true;
      }
    if (!Supports(*i)) return false;
    bool changed = false;
    for (const Instruction* user : i->users()) {
      Spreads made = Backward(*i, *user, aggressiveness);
      if (!made.empty()) changed |= Improve(i, std::move(made), aggressiveness > 0, false);
    }
    return changed;
  }

  // A stated sharding whose other dimensions are open takes these from its neighbours.
  bool Refine(Instruction* i, int aggressiveness, bool forward) {
    const auto open = open_dims_.find(i);
    if (open == open_dims_.end() || aggressiveness == 0) return false;
    std::vector<Spread> others;
    if (forward && !known_[i->operand(0)].empty()) others.push_back(known_[i->operand(0)][0]);
    for (const Instruction* user : i->users()) {
      const Spreads theirs = forward ? Spreads() : Backward(*i, *user, aggressiveness);
      if (theirs.size() == 1) others.push_back(theirs[0]);
    }
    bool changed = false;
    for (const Spread& other : others) {
      if (!other.IsTiled() || !(known_[i][0].IsTiled() || known_[i][0].IsReplicated())) continue;
      Spread own = known_[i][0];
      if (!MergeIfCompatible(ReplicatedExcept(other, open->second), TileCount(own) + 1, own))
        continue;
      Set(i, {own});
      changed = true;
    }
    return changed;
  }

  // The other instructions that have the sharding of `i` by a call.
  void PassOn(Instruction* i) {
    std::vector<Instruction*> calls;
    if (i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
        i->opcode() == Opcode::kCall)
      calls.push_back(i);
    const auto caller = caller_.find(i->parent());
    if (caller != caller_.end() && (i->IsRoot() || i->IsParameter()))
      calls.push_back(caller->second);
    for (Instruction* call : calls) {
      const std::vector<Instruction*> all = Related(call);
      if (std::find(all.begin(), all.end(), i) == all.end()) continue;
      for (Instruction* other : all) {
        if (known_[other] == known_[i]) continue;
        Set(other, known_[i]);
        PassOn(other);
      }
    }
  }

  void ToFixPoint(int aggressiveness) {
    constexpr int kMaxRounds = 200;  // each makes something better; far fewer are seen
    bool more = true;
    for (int round = 0; round < kMaxRounds && more; ++round) {
      more = false;
      for (Computation* c : module_.ComputationsPostOrder()) {
        std::vector<Instruction*> order = c->PostOrder();
        for (const bool forward : {true, false}) {
          for (Instruction* i : order) {
            const bool changed = provided_.count(i) != 0 ? Refine(i, aggressiveness, forward)
                                 : forward               ? InferForward(i, aggressiveness)
                                                         : InferBackward(i, aggressiveness);
            if (!changed) continue;
            PassOn(i);
            more = true;
          }
          std::reverse(order.begin(), order.end());
        }
      }
    }
  }

  bool ShareInGroups() {
    bool changed = false;
    for (auto& [name, group] : groups_) {
      Spread best;
      for (const Instruction* i : group.members)
        if (known_[i].size() == 1 && known_[i][0].IsTiled() &&
            !MergeIfCompatible(known_[i][0], TileCount(best) + 1, best) &&
            IsMoreSpecific(known_[i][0], best))
          best = known_[i][0];
      for (Instruction* i : group.members)
        if (best.IsTiled() && provided_.count(i) == 0 &&
            best.tiles.size() == static_cast<size_t>(i->shape().rank()))
          changed |= Improve(i, {best}, true, !group.like);
    }
    return changed;
  }

  // Leaves of parameters and of the result that may not change, or do not divide evenly, are as
  // they were.
  void KeepEntry() {
    Instruction* root = module_.entry()->root();
    const auto& flags = module_.header().propagate_sharding_to_output;
    Keep(root, stated_root_, [&](int64_t leaf) { return Allowed(flags, leaf); });
    for (Instruction* p : module_.entry()->parameters())
      Keep(p, stated_parameters_[p->parameter_number()],
           [&](int64_t leaf) { return AllowedParameter(*p, leaf); });
  }

  template <typename F>
  void Keep(Instruction* i, const Spreads& stated, F allowed) {
    if (!better_[i->id()] || provided_.count(i) != 0) return;
    Spreads kept = known_[i];
    const auto leaves = Leaves(i->shape());
    if (leaves.size() != kept.size()) return;
    bool any = false;
    for (size_t k = 0; k < kept.size(); ++k) {
      bool even = true;
      for (size_t d = 0; kept[k].IsTiled() && d < kept[k].tiles.size(); ++d)
        even &= leaves[k].shape->dims[d] % kept[k].tiles[d] == 0;
      if (!allowed(k) || !even) kept[k] = stated.empty() ? Spread() : stated[k];
      any |= kept[k].kind != Spread::Kind::kUnknown && !kept[k].IsReplicated();
    }
    if (!any && stated.empty()) kept.clear();
    known_[i] = std::move(kept);
  }

  bool WriteBack() {
    bool changed = false;
    for (Computation* c : module_.Computations())
      c->ForEach([&](Instruction* i) {
        if (!better_[i->id()] || known_[i].empty()) return;
        if (SpreadsOf(i->sharding(), i->shape()) == known_[i]) return;
        i->mutable_extras().sharding =
            std::make_unique<Sharding>(ShardingOf(known_[i], i->shape()));
        changed = true;
      });
    return changed;
  }

  Module& module_;
  KnownSpreads known_;
  std::vector<bool> better_;  // by id: found here
  std::set<const Instruction*> provided_;
  std::map<const Computation*, Instruction*> caller_;
  std::map<const Instruction*, DimVector> open_dims_;
  std::map<std::string, Group> groups_;
  std::vector<std::pair<Instruction*, Instruction*>> marked_;  // what a Sharding call marked, copy
  Spreads stated_root_;
  std::vector<Spreads> stated_parameters_;
};

absl::StatusOr<bool> Propagate(Module& module) { return Propagation(module, false).Run(); }

}  // namespace

absl::StatusOr<bool> PropagateByShardy(Module& module) { return Propagation(module, true).Run(); }

std::unique_ptr<Pass> CreateShardingPropagation() {
  return MakeModulePass("sharding-propagation", Propagate);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
