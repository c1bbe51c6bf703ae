// Devices of several processes: those of one process meet in its memory, and one of them, the last
// to come, exchanges arrays with the other processes for all.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/collective/communicator.h"
#include "runtime/collective/group_arrays.h"
#include "runtime/collective/process_group.h"

namespace hlokit {

class ProcessCommunicator final : public Communicator, public ProcessGroupClient {
 public:
  // `rank_of`: by logical device, the process that runs it. The group outlives the communicator;
  // one communicator at a time serves it. Every process makes as many as the others.
  ProcessCommunicator(ProcessGroup& group, std::vector<int> rank_of);
  ~ProcessCommunicator() override;

  int64_t device_count() const override { return static_cast<int64_t>(rank_of_.size()); }
  // An array of up to kSmallBytes is sent whole to every process, which combines it by itself: one
  // round. Of longer ones each process combines a range of elements and sends it to the others:
  // each element crosses twice, whatever the number of processes, but for operands of several local
  // members, which cross one by one so that sums keep their order.
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
  End end(int64_t device) const override { return waits_.end(device); }
  int64_t ended_at(int64_t device) const override { return waits_.ended_at(device); }
  std::string Text(End end, const Waiter& waiter) const override {
    return waits_.Text(end, waiter);
  }

  ProcessStatus Status() override;
  void Stop(const std::string& reason) override { waits_.Stop(reason); }
  void DeclareDeadlock(const std::string& text) override { waits_.DeclareDeadlock(text); }
  void Deliver(int64_t channel, int64_t target, std::vector<std::vector<char>> arrays) override {
    mailboxes_.Send(channel, target, std::move(arrays));
  }

  static constexpr int64_t kSmallBytes = int64_t{16} << 10;

 private:
  class Leader;
  using Key = std::pair<int64_t, int64_t>;  // instruction, first device of the group
  // What a local member gives, and how the exchange with other processes ended.
  struct Contribution {
    Member member;
    size_t place;
    End end = End::kNone;
  };
  using GroupMeetings = Meetings<Key, Contribution>;

  // Where all members are local each calls `local`; else the last to come calls `remote` for all,
  // which gives the end of the exchange.
  template <typename Local, typename Remote>
  End Together(const Part& part, const Local& local, const Remote& remote);
  // The same, for each array of a collective that treats its arrays alike.
  template <typename Local, typename Remote>
  End ForEachArray(const Part& part, const Local& local, const Remote& remote);

  bool IsLocal(int64_t device) const {
    return rank_of_[static_cast<size_t>(device)] == group_.rank();
  }

  ProcessGroup& group_;
  const std::vector<int> rank_of_;
  Rendezvous waits_;
  GroupMeetings meetings_;
  Mailboxes<std::vector<std::vector<char>>> mailboxes_;  // a message by array
  int64_t run_ = 0;
  std::mutex waiting_mutex_;
  std::map<Key, std::vector<int32_t>> waiting_;  // collectives that wait for other processes
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
