// Devices of several processes: those of one process meet in its memory, and one of them, the last
// to come, exchanges arrays with the other processes for all.
#pragma once

#include <utility>
#include <vector>

#include "runtime/collective/group_collective.h"
#include "runtime/collective/local_communicator.h"
#include "runtime/collective/process_group.h"

namespace hlokit {

class ProcessCommunicator final : public LocalCommunicator, public ProcessGroupClient {
 public:
  // `rank_of`: by logical device, the process that runs it. The group outlives the communicator;
  // one communicator at a time serves it. Every process makes as many as the others.
  ProcessCommunicator(ProcessGroup& group, std::vector<int> rank_of);
  ~ProcessCommunicator() override;

  End AllReduce(const Part& part) override;
  End AllGather(const Part& part) override;
  End ReduceScatter(const Part& part) override;
  End AllToAll(const Part& part) override;
  End AllToAllArrays(const Part& part) override;
  End RaggedAllToAll(const Part& part, int64_t& outside) override;
  End Permute(const Part& part, Pairs pairs) override;
  End Broadcast(const Part& part) override;
  End Barrier(const Part& part) override;
  End Evaluate(const Part& part, const Function& function) override;
  // To -1: whoever comes first in this process.
  void Send(const Waiter& waiter, int64_t channel, int64_t target,
            std::span<const std::span<const char>> arrays) override;
  End Receive(const Waiter& waiter, int64_t channel, int64_t target, const Take& take) override;
  void Leave(int64_t device, bool failed) override;
  void Abort(const std::string& reason) override { group_.Abort(reason); }

  ProcessStatus Status() override;
  void Stop(const std::string& reason) override { waits().Stop(reason); }
  void DeclareDeadlock(const std::string& text) override { waits().DeclareDeadlock(text); }
  void Deliver(int64_t channel, int64_t target, std::vector<std::vector<char>> arrays) override {
    LocalCommunicator::Deliver(channel, target, std::move(arrays));
  }

 private:
  using Key = CollectiveKey;
  using GroupMeetings = Meetings<Key, LocalMember>;

  // Where all members are local each calls `local`, or (`is_short`) the last to come does for every
  // one; else the last to come calls `remote` for all, which gives how its waits ended. The others
  // sleep meanwhile.
  template <typename Local, typename Remote>
  End Together(const Part& part, bool is_short, const Local& local, const Remote& remote);
  template <typename Local>
  void LocalShare(const Part& part, const GroupMeetings::Meeting& meeting, size_t place,
                  const Local& local);
  template <typename Remote>
  void Exchange(const Part& part, std::span<LocalMember* const> members, const Remote& remote);
  // Together, for each array of a collective that treats its arrays alike.
  template <typename Local, typename Remote>
  End ForEachArray(const Part& part, const Local& local, const Remote& remote);

  bool IsLocal(int64_t device) const {
    return rank_of_[static_cast<size_t>(device)] == group_.rank();
  }

  ProcessGroup& group_;
  const std::vector<int> rank_of_;
  GroupMeetings meetings_;
  int64_t run_ = 0;
  WaitingCollectives waiting_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
