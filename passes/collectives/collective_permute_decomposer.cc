// collective-permute-decomposer: decomposes collective-permutes into send and recv pairs.
// A collective-permute of one array of at least `bytes` (0) in the body of a loop, where no device
// gets back what it has sent, becomes a recv and a send with the same pairs, the send after the
// recv has begun, and what the recv-done gives: zeros on a device that nothing is sent to. One
// without pairs stays. Option `anywhere`: outside of loops and in cycles too. Exact.
//   collective-permute(x)  ->  recv, recv-done, send(x), send-done over the same pairs
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

// The pair that takes the permute's place.
Instruction* MakePair(Instruction* i, Rewriter& r) {
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
  }
  send->AddControlPredecessor(recv);
  Instruction* done =
      named(r.Add(Opcode::kRecvDone, Shape::Tuple({i->shape(), Shape::Token()}), {recv}, channel),
            "recv-done");
  done->AddControlPredecessor(send);  // who waits first would wait for ever
  Instruction* sent = named(r.Add(Opcode::kSendDone, Shape::Token(), {send}, channel), "send-done");
  sent->AddControlPredecessor(done);
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

class Decomposer : public Pass {
 public:
  Decomposer(int64_t bytes, bool anywhere) : bytes_(bytes), anywhere_(anywhere) {}
  absl::string_view name() const override { return "collective-permute-decomposer"; }
  absl::StatusOr<bool> Run(Module& module) override {
    const auto bodies = LoopBodies(module);
    const std::vector<bool> running = RunningComputations(module);
    bool changed = false;
    for (Computation* c : module.Computations()) {
      if (!running[c->id()] || (!anywhere_ && !bodies.contains(c))) continue;
      for (Instruction* i : c->PostOrder()) {
        if (!ShouldDecompose(i, bytes_) ||
            (!anywhere_ && HasCycle(i->attr<CollectivePermuteAttrs>().source_target_pairs)) ||
            !control().Permit(name(), *i, *i))
          continue;
        Rewriter r(*c);
        r.set_subject(i);
        Instruction* made = MakePair(i, r);
        i->ReplaceAllUsesWith(made);
        PassOnControlEdges(i, made, true);
        c->Remove(i);
        changed = true;
      }
    }
    return changed;
  }

 private:
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
