// collective-permute-decomposer: decomposes collective-permutes into send and recv pairs.
// A collective-permute of one array of at least `bytes` (0) over a channel becomes a recv and a
// send with the same pairs, the send after the recv has begun, and what the recv-done gives: zeros
// on a device that nothing is sent to. One without pairs stays. Exact.
//   collective-permute(x)  ->  recv, recv-done, send(x), send-done over the same pairs
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

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

// A permute with a channel names partitions, which each replica has; a transfer names devices.
IntPairs DevicePairs(const ModuleHeader& header, const IntPairs& pairs) {
  IntPairs devices;
  for (int64_t replica = 0; replica < header.replica_count; ++replica)
    for (const auto& [source, target] : pairs)
      devices.push_back(
          {replica * header.num_partitions + source, replica * header.num_partitions + target});
  return devices;
}

absl::StatusOr<Instruction*> Decompose(Instruction* i, Rewriter& r, int64_t bytes) {
  if (i->opcode() != Opcode::kCollectivePermute || !i->shape().IsArray() ||
      i->operand_count() != 1 || i->shape().ByteSize() < bytes)
    return nullptr;
  const auto& attrs = i->attr<CollectivePermuteAttrs>();
  if (!attrs.channel_id || attrs.source_target_pairs.empty()) return nullptr;
  const SendRecvAttrs channel{attrs.channel_id};
  HloWriter w(r);
  Instruction* token = r.Add(Opcode::kAfterAll, Shape::Token(), {});
  const Shape in_flight =
      Shape::Tuple({i->shape(), RowMajor(ElementType::kU32, {}), Shape::Token()});
  Instruction* recv = r.Add(Opcode::kRecv, in_flight, {token}, channel);
  Instruction* send = r.Add(Opcode::kSend, in_flight, {i->operand(0), token}, channel);
  for (Instruction* half : {recv, send})
    half->mutable_extras().frontend_attributes.emplace_back(
        "_xla_send_recv_source_target_pairs",
        PairsText(DevicePairs(i->module()->header(), attrs.source_target_pairs)));
  send->AddControlPredecessor(recv);
  Instruction* done =
      r.Add(Opcode::kRecvDone, Shape::Tuple({i->shape(), Shape::Token()}), {recv}, channel);
  done->AddControlPredecessor(send);  // who waits first would wait for ever
  Instruction* sent = r.Add(Opcode::kSendDone, Shape::Token(), {send}, channel);
  sent->AddControlPredecessor(done);
  return w.Part(done, 0);
}

}  // namespace

std::unique_ptr<Pass> CreateCollectivePermuteDecomposer(PassArguments& arguments) {
  const int64_t bytes = arguments.Int("bytes", 0, "smaller arrays stay");
  return MakeExpander("collective-permute-decomposer",
                      [bytes](Instruction* i, Rewriter& r) { return Decompose(i, r, bytes); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
