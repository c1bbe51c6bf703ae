// Devices that are threads of one process: they read and write each other's arrays where they lie.
#pragma once

#include <utility>

#include "runtime/collective/local_communicator.h"

namespace hlokit {

class InProcessCommunicator final : public LocalCommunicator {
 public:
  explicit InProcessCommunicator(int64_t devices)
      : LocalCommunicator(devices, /*all_here=*/true), meetings_(waits()) {}

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

 private:
  using Key = std::pair<int64_t, int64_t>;  // instruction, first device of the group
  using GroupMeetings = Meetings<Key, Member>;

  // Waits for the group, calls `work` with what all gave and whether this device came last, and
  // waits until all have done theirs. `is_short`: the last one calls it for every member.
  template <typename Work>
  End Together(const Part& part, bool is_short, const Work& work);
  // The same for each array of a collective that treats its arrays alike.
  template <typename Work>
  End ForEachArray(const Part& part, const Work& work);

  GroupMeetings meetings_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
