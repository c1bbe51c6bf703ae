// collective-permute-decomposer: decomposes collective-permutes into send and recv pairs.
// The first collective-permute of one array of at least `bytes` (0) in the body of a loop, where no
// device gets back what it has sent, and one of the same array that closes a cycle with it become a
// recv and a send with the same pairs, the send after the recv has begun, and what the recv-done
// gives: zeros on a device that nothing is sent to. Other collectives of which two members are
// among those of its pairs run after it, and on the queue of messages between two devices; it then
// sends after it has received. One without pairs stays. Option `anywhere`: all of them, outside of
// loops and in cycles too. Exact.
//   collective-permute(x)  ->  recv, recv-done, send(x), send-done over the same pairs
#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

// {{0,1},{1,2}}
std::string PairsText(const IntPairs& pairs) {
  return absl::StrCat("{",
                      absl::StrJoin(pairs, ",",
                                    [](std::string* out, const auto& pair) {
                                      absl::StrAppend(out, "{", pair.first, ",", pair.second, "}");
                                    }),
                      "}");
}

// A transfer names devices. A permute with a channel names partitions, which each replica has; one
// without names replicas, which each partition has.
IntPairs DevicePairs(const ModuleHeader& header, const CollectivePermuteAttrs& attrs) {
  IntPairs devices;
  const int64_t partitions = header.num_partitions;
  if (!attrs.channel_id) {
    for (int64_t partition = 0; partition < partitions; ++partition)
      for (const auto& [source, target] : attrs.source_target_pairs)
        devices.push_back({source * partitions + partition, target * partitions + partition});
    return devices;
  }
  for (int64_t replica = 0; replica < header.replica_count; ++replica)
    for (const auto& [source, target] : attrs.source_target_pairs)
      devices.push_back({replica * partitions + source, replica * partitions + target});
  return devices;
}

// Whether a device gets, over several of the pairs, what it has sent: then all may wait for each
// other.
bool HasCycle(const IntPairs& pairs) {
  std::map<int64_t, int64_t> target(pairs.begin(), pairs.end());
  for (const auto& [start, first] : pairs) {
    int64_t at = first;
    for (size_t k = 0; k < pairs.size() && at != start; ++k) {
      const auto next = target.find(at);
      if (next == target.end()) break;
      at = next->second;
    }
    if (at == start) return true;
  }
  return false;
}

bool ShouldDecompose(const Instruction* i, int64_t bytes) {
  return i->opcode() == Opcode::kCollectivePermute && i->shape().IsArray() &&
         i->operand_count() == 1 && i->shape().ByteSize() >= bytes &&
         !i->attr<CollectivePermuteAttrs>().source_target_pairs.empty();
}

using Cliques = std::vector<std::vector<int64_t>>;

// Who waits for whom in a permute: the devices that its pairs link, each set sorted.
Cliques LinkedDevices(const IntPairs& pairs) {
  std::map<int64_t, int64_t> leader;
  const auto find = [&](int64_t device) {
    leader.try_emplace(device, device);
    while (leader[device] != device) device = leader[device];
    return device;
  };
  for (const auto& [source, target] : pairs) leader[find(source)] = find(target);
  std::map<int64_t, std::vector<int64_t>> sets;
  for (const auto& [device, unused] : leader) sets[find(device)].push_back(device);
  Cliques cliques;
  for (auto& [first, set] : sets) cliques.push_back(std::move(set));
  return cliques;
}

Cliques CliquesOf(const Instruction& collective) {
  if (collective.opcode() == Opcode::kCollectivePermute)
    return LinkedDevices(collective.attr<CollectivePermuteAttrs>().source_target_pairs);
  Cliques cliques = GroupsOf(collective);
  for (auto& clique : cliques) std::sort(clique.begin(), clique.end());
  return cliques;
}

// Whether two devices meet in a set of `a` and in one of `b`: they might then wait for each other.
bool Conflict(const Cliques& a, const Cliques& b) {
  for (const auto& x : a)
    for (const auto& y : b) {
      std::vector<int64_t> both;
      std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
      if (both.size() > 1) return true;
    }
  return false;
}

// What `i` is computed from or waits for, itself included.
absl::flat_hash_set<const Instruction*> NeededBy(const Instruction* i) {
  absl::flat_hash_set<const Instruction*> needed = {i};
  std::vector<const Instruction*> open = {i};
  while (!open.empty()) {
    const Instruction* next = open.back();
    open.pop_back();
    for (const auto list : {next->operands(), next->control_predecessors()})
      for (const Instruction* before : list)
        if (needed.insert(before).second) open.push_back(before);
  }
  return needed;
}

// The collectives of its computation that conflict with the permute, those that it needs left out.
std::vector<Instruction*> ConflictingWith(const Instruction* permute) {
  const Cliques own = CliquesOf(*permute);
  const auto needed = NeededBy(permute);
  std::vector<Instruction*> conflicting;
  for (Instruction* i : permute->parent()->PostOrder())
    if (HasTrait(i->opcode(), kCollective) && !HasTrait(i->opcode(), kAsyncDone) &&
        !needed.contains(i) && Conflict(own, CliquesOf(*i)))
      conflicting.push_back(i);
  return conflicting;
}

void RunWithMessages(Instruction& i) {
  auto& attributes = i.mutable_extras().frontend_attributes;
  const std::string key = "_xla_gpu_collective_stream";
  std::erase_if(attributes, [&](const auto& attribute) { return attribute.first == key; });
  attributes.emplace_back(key, "p2p");
}

// The pair that takes the permute's place; `after`: collectives that wait for it.
Instruction* MakePair(Instruction* i, absl::Span<Instruction* const> after, Rewriter& r) {
  const auto& attrs = i->attr<CollectivePermuteAttrs>();
  const SendRecvAttrs channel{attrs.channel_id ? *attrs.channel_id
                                               : LargestChannel(*i->module()) + 1};
  const auto named = [&](Instruction* made, absl::string_view suffix) {
    made->set_name(i->module()->UniqueName(absl::StrCat(i->name(), "-", suffix)));
    return made;
  };
  HloWriter w(r);
  Instruction* token = named(r.Add(Opcode::kAfterAll, Shape::Token(), {}), "after-all");
  const Shape in_flight =
      Shape::Tuple({i->shape(), RowMajor(ElementType::kU32, {}), Shape::Token()});
  Instruction* recv = named(r.Add(Opcode::kRecv, in_flight, {token}, channel), "recv");
  Instruction* send =
      named(r.Add(Opcode::kSend, in_flight, {i->operand(0), token}, channel), "send");
  for (Instruction* half : {recv, send}) {
    auto& attributes = half->mutable_extras().frontend_attributes;
    attributes = i->extras().frontend_attributes;
    attributes.emplace_back("_xla_send_recv_source_target_pairs",
                            PairsText(DevicePairs(i->module()->header(), attrs)));
    if (!after.empty()) RunWithMessages(*half);
  }
  Instruction* done =
      named(r.Add(Opcode::kRecvDone, Shape::Tuple({i->shape(), Shape::Token()}), {recv}, channel),
            "recv-done");
  Instruction* sent = named(r.Add(Opcode::kSendDone, Shape::Token(), {send}, channel), "send-done");
  if (after.empty()) {
    send->AddControlPredecessor(recv);
    done->AddControlPredecessor(send);  // who waits first would wait for ever
    sent->AddControlPredecessor(done);
  } else {
    send->AddControlPredecessor(done);
  }
  for (Instruction* collective : after) {
    collective->AddControlPredecessor(sent);
    RunWithMessages(*collective);
  }
  return w.Part(done, 0);
}

// The bodies of loops that nothing else calls.
absl::flat_hash_set<const Computation*> LoopBodies(const Module& module) {
  const std::vector<int> callers = CountCallers(module);
  absl::flat_hash_set<const Computation*> bodies;
  for (const Computation* c : module.Computations())
    c->ForEach([&](Instruction* i) {
      if (i->opcode() == Opcode::kWhile && callers[i->called(1)->id()] == 1)
        bodies.insert(i->called(1));
    });
  return bodies;
}

const IntPairs& PairsOf(const Instruction* permute) {
  return permute->attr<CollectivePermuteAttrs>().source_target_pairs;
}

// Whether two send the same array, and one back what the other sends on.
bool CloseCycle(const Instruction* a, const Instruction* b) {
  if (a->operand(0) != b->operand(0)) return false;
  IntPairs both = PairsOf(a);
  both.insert(both.end(), PairsOf(b).begin(), PairsOf(b).end());
  return HasCycle(both);
}

class Decomposer : public Pass {
 public:
  Decomposer(int64_t bytes, bool anywhere) : bytes_(bytes), anywhere_(anywhere) {}
  absl::string_view name() const override { return "collective-permute-decomposer"; }
  absl::StatusOr<bool> Run(Module& module) override {
    const auto bodies = LoopBodies(module);
    const std::vector<bool> running = RunningComputations(module);
    bool changed = false;
    for (Computation* c : module.Computations())
      if (running[c->id()] && (anywhere_ || bodies.contains(c))) changed |= RunOn(*c);
    return changed;
  }

 private:
  bool RunOn(Computation& c) {
    const std::vector<Instruction*> permutes = PermutesOf(c);
    bool changed = false;
    for (Instruction* i : permutes) {
      if (!control().Permit(name(), *i, *i)) continue;
      Rewriter r(c);
      r.set_subject(i);
      const std::vector<Instruction*> after =
          anywhere_ || permutes.size() > 1 ? std::vector<Instruction*>() : ConflictingWith(i);
      Instruction* made = MakePair(i, after, r);
      i->ReplaceAllUsesWith(made);
      PassOnControlEdges(i, made, true);
      c.Remove(i);
      changed = true;
    }
    return changed;
  }

  std::vector<Instruction*> PermutesOf(const Computation& c) const {
    std::vector<Instruction*> permutes;
    for (Instruction* i : c.PostOrder())
      if (ShouldDecompose(i, bytes_) &&
          (anywhere_ ||
           (!HasCycle(PairsOf(i)) &&
            (permutes.empty() || (permutes.size() == 1 && CloseCycle(permutes[0], i))))))
        permutes.push_back(i);
    return permutes;
  }

  int64_t bytes_;
  bool anywhere_;
};

}  // namespace

std::unique_ptr<Pass> CreateCollectivePermuteDecomposer(PassArguments& arguments) {
  const int64_t bytes = arguments.Int("bytes", 0, "smaller arrays stay");
  const bool anywhere = arguments.Flag("anywhere", "outside of loops and in cycles too");
  return std::make_unique<Decomposer>(bytes, anywhere);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
