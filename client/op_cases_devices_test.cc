// Collectives and communication, for one device: one row an entry.
#include "client/op_cases_internal.h"

namespace hlokit {
namespace {

#define HLOKIT_CASE(name, ...)               \
  OpCase {                                   \
    name, [](XlaBuilder& b) { __VA_ARGS__; } \
  }

CollectiveOptions Alone() {
  CollectiveOptions options;
  options.replica_groups = MakeReplicaGroups({{0}});
  return options;
}

// A message of a device to itself. Nothing orders the two ends; the root takes what arrives.
void SendAndReceive(XlaBuilder& b) {
  Send(P(b, 0, F32({4})), {1});
  Recv(&b, F32({4}), {1});
}

std::vector<OpCase> TransferCases() {
  return {
      {"Infeed", [](XlaBuilder& b) { Infeed(&b, F32({3}), "config"); }, HostSide::kFeeds},
      {"Infeed", [](XlaBuilder& b) { InfeedWithToken(CreateToken(&b), F32({3}), "config"); },
       HostSide::kFeeds},
      {"Outfeed", [](XlaBuilder& b) { Outfeed(P(b, 0, F32({3})), F32({3}), "config"); },
       HostSide::kIsFed},
      HLOKIT_CASE("Send", SendAndReceive(b)),
      HLOKIT_CASE("SendDone", SendAndReceive(b)),
      HLOKIT_CASE("Recv", SendAndReceive(b)),
      HLOKIT_CASE("RecvDone", SendAndReceive(b)),
      {"SendWithTokens / SendToHost",
       [](XlaBuilder& b) { SendToHost(P(b, 0, F32({4})), CreateToken(&b), F32({4}), {2}); },
       HostSide::kIsFed},
      {"RecvWithTokens / RecvToHost",
       [](XlaBuilder& b) { RecvFromHost(CreateToken(&b), F32({3}), {3}); }, HostSide::kFeeds},
  };
}

}  // namespace

std::vector<OpCase> DeviceCases() {
  std::vector<OpCase> all = {
      HLOKIT_CASE("AllGather", AllGather(P(b, 0, F32({2})), 0, 1, Alone())),
      HLOKIT_CASE("AllGatherStart",
                  AllGatherDone(AllGatherStart(P(b, 0, F32({2})), 0, 1, Alone()))),
      HLOKIT_CASE("AllGatherDone", AllGatherDone(AllGatherStart(P(b, 0, F32({2})), 0, 1, Alone()))),
      HLOKIT_CASE("AllReduce", AllReduce(P(b, 0, F32({2})), AddF32(), Alone())),
      HLOKIT_CASE("AllReduce", AllReduceTuple({P(b, 0, F32({2})), P(b, 1, F32({3}))}, AddF32())),
      HLOKIT_CASE("AllReduceStart", AllReduceDone(AllReduceStart(P(b, 0, F32({2})), AddF32()))),
      HLOKIT_CASE("AllReduceDone", AllReduceDone(AllReduceStart(P(b, 0, F32({2})), AddF32()))),
      HLOKIT_CASE("CrossReplicaSum", CrossReplicaSum(P(b, 0, F32({2})))),
      HLOKIT_CASE("AllToAll", AllToAll(P(b, 0, F32({4, 16})), 1, 1, 1, Alone())),
      HLOKIT_CASE("AllToAll", AllToAll(P(b, 0, F32({4, 16})), 1, 0, 1, Alone())),
      HLOKIT_CASE("AllToAll", AllToAllTuple({P(b, 0, F32({2, 2}))}, Alone())),
      HLOKIT_CASE("RaggedAllToAll", RaggedAllToAll(P(b, 0, S32({3})), ConstantR1<int32_t>(&b, {0}),
                                                   ConstantR1<int32_t>(&b, {2}), P(b, 1, S32({4})),
                                                   ConstantR1<int32_t>(&b, {1}),
                                                   ConstantR1<int32_t>(&b, {2}), Alone())),
      HLOKIT_CASE("ReduceScatter", ReduceScatter(P(b, 0, F32({2})), AddF32(), 0, 1, Alone())),
      HLOKIT_CASE("CollectiveBroadcast", CollectiveBroadcast(P(b, 0, F32({2})), Alone())),
      HLOKIT_CASE("CollectivePermute", CollectivePermute(P(b, 0, F32({4})), {{0, 0}})),
      HLOKIT_CASE("CollectivePermuteStart",
                  CollectivePermuteDone(CollectivePermuteStart(P(b, 0, F32({4})), {{0, 0}}))),
      HLOKIT_CASE("CollectivePermuteDone",
                  CollectivePermuteDone(CollectivePermuteStart(P(b, 0, F32({4})), {{0, 0}}))),
      HLOKIT_CASE("ReplicaId", ReplicaId(&b)),
      HLOKIT_CASE("PartitionID", PartitionId(&b)),
  };
  for (OpCase& more : TransferCases()) all.push_back(more);
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
