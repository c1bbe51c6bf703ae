// Devices of several processes. The local members of a group meet in this process's memory; where
// all members are local, each does its share there (group_arrays.cc), else the last one to come
// exchanges arrays with the other processes for all of them (group_collective.cc), while the others
// wait.
//   group {0, 1, 2, 3}, devices 0 and 1 here: 0 and 1 meet, 1 came last: it sends both operands and
//   receives those of 2 and 3
#include "runtime/collective/process_communicator.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <string>

namespace hlokit {

ProcessCommunicator::ProcessCommunicator(ProcessGroup& group, std::vector<int> rank_of)
    : LocalCommunicator(static_cast<int64_t>(rank_of.size()), /*all_here=*/false),
      group_(group),
      rank_of_(std::move(rank_of)),
      meetings_(waits()) {
  for (int64_t device = 0; device < device_count(); ++device)
    if (!IsLocal(device)) waits().SetElsewhere(device);
  run_ = group_.Enter(*this);
}

ProcessCommunicator::~ProcessCommunicator() { group_.Leave(); }

template <typename Local, typename Remote>
Communicator::End ProcessCommunicator::Together(const Part& part, bool is_short, const Local& local,
                                                const Remote& remote) {
  size_t here = 0, own_place = 0;
  for (size_t place = 0; place < part.group.size(); ++place) {
    if (place == part.place) own_place = here;
    if (IsLocal(part.group[place])) ++here;
  }
  LocalMember own{{part.operands, part.results, part.own}, part.place};
  std::shared_ptr<GroupMeetings::Meeting> meeting;
  const bool all_here = here == part.group.size();
  if (here == 1 && !all_here) {  // nobody to meet in this process
    {
      const Rendezvous::Lock lock = waits().TakeLock();
      if (const End end = waits().Ended(part.waiter); end != End::kNone) return end;
    }
    LocalMember* const alone = &own;
    Exchange(part, {&alone, 1}, remote);
    return own.end;
  }
  const auto work_for_all = [&](GroupMeetings::Meeting& all) {
    if (all_here && !is_short) return false;
    if (all_here)
      for (size_t place = 0; place < here; ++place) LocalShare(part, all, place, local);
    else
      Exchange(part, all.contributions, remote);
    return true;
  };
  if (const End end = meetings_.Meet(part.waiter, {part.waiter.id, part.group[0]}, here, own_place,
                                     own, meeting, work_for_all);
      end != End::kNone)
    return end;
  if (meeting->is_over) return own.end;
  LocalShare(part, *meeting, part.place, local);
  meetings_.Part(*meeting);
  return own.end;
}

template <typename Local>
void ProcessCommunicator::LocalShare(const Part& part, const GroupMeetings::Meeting& meeting,
                                     size_t place, const Local& local) {
  std::vector<Member*> members;
  for (LocalMember* c : meeting.contributions) members.push_back(&c->member);
  local(GroupContributions{part.arrays, members, place}, place == meeting.last);
}

template <typename Remote>
void ProcessCommunicator::Exchange(const Part& part, std::span<LocalMember* const> members,
                                   const Remote& remote) {
  End end = End::kStopped;
  try {
    GroupCollective collective({group_, rank_of_, waits(), waiting_}, part, members);
    end = remote(collective);
  } catch (const std::exception&) {  // the others wait for this one
    group_.Abort(std::string("not enough memory for a collective at ") + part.waiter.at);
  }
  for (LocalMember* member : members) member->end = end;
}

template <typename Local, typename Remote>
Communicator::End ProcessCommunicator::ForEachArray(const Part& part, const Local& local,
                                                    const Remote& remote) {
  return Together(
      part, IsShort(part),
      [&](const GroupContributions& group, bool) {
        for (size_t array = 0; array < part.arrays.size(); ++array) local(GroupArray(group, array));
      },
      [&](GroupCollective& collective) {
        End end = End::kNone;
        for (size_t array = 0; array < part.arrays.size() && end == End::kNone; ++array)
          end = remote(collective, array);
        return end;
      });
}

Communicator::End ProcessCommunicator::AllReduce(const Part& part) {
  return ForEachArray(part, ReduceForAll, std::mem_fn(&GroupCollective::AllReduce));
}

Communicator::End ProcessCommunicator::AllGather(const Part& part) {
  return ForEachArray(part, GatherForAll, std::mem_fn(&GroupCollective::AllGather));
}

Communicator::End ProcessCommunicator::ReduceScatter(const Part& part) {
  return ForEachArray(part, ReduceOwnPiece, std::mem_fn(&GroupCollective::ReduceScatter));
}

Communicator::End ProcessCommunicator::AllToAll(const Part& part) {
  return ForEachArray(part, TakeOwnPieces, std::mem_fn(&GroupCollective::AllToAll));
}

Communicator::End ProcessCommunicator::AllToAllArrays(const Part& part) {
  return Together(
      part, IsShort(part), [](const GroupContributions& group, bool) { TakeOwnArrays(group); },
      std::mem_fn(&GroupCollective::AllToAllArrays));
}

Communicator::End ProcessCommunicator::RaggedAllToAll(const Part& part, int64_t& outside) {
  int64_t found = -1;  // of all local members, by the one who looks
  const End end = Together(
      part, /*is_short=*/false,
      [&](const GroupContributions& group, bool) { found = TakeRaggedPieces(group); },
      [&](GroupCollective& collective) {
        std::vector<Member> all;
        const End ended = collective.GatherOperands(all);
        if (ended != End::kNone) return ended;
        std::vector<Member*> members;
        for (Member& member : all) members.push_back(&member);
        for (const size_t place : collective.local())
          found = std::max(found, TakeRaggedPieces({part.arrays, members, place}));
        return End::kNone;
      });
  outside = found;
  return end;
}

Communicator::End ProcessCommunicator::Permute(const Part& part, Pairs pairs) {
  return ForEachArray(
      part, [&](const GroupArray& array) { TakeFromSource(array, pairs); },
      [&](GroupCollective& collective, size_t array) { return collective.Permute(array, pairs); });
}

Communicator::End ProcessCommunicator::Broadcast(const Part& part) {
  return ForEachArray(part, TakeFromFirst, std::mem_fn(&GroupCollective::Broadcast));
}

Communicator::End ProcessCommunicator::Barrier(const Part& part) {
  return Together(
      part, /*is_short=*/true, [](const GroupContributions&, bool) {},
      std::mem_fn(&GroupCollective::Barrier));
}

Communicator::End ProcessCommunicator::Evaluate(const Part& part, const Function& function) {
  return Together(
      part, /*is_short=*/true,
      [&](const GroupContributions& group, bool is_last) {
        if (is_last) function(group.members);
      },
      [&](GroupCollective& collective) {
        std::vector<Member> all;
        const End end = collective.GatherOperands(all);
        if (end != End::kNone) return end;
        std::vector<Member*> members;
        for (Member& member : all) members.push_back(&member);
        function(members);
        return End::kNone;
      });
}

void ProcessCommunicator::Send(const Waiter& waiter, int64_t channel, int64_t target,
                               std::span<const std::span<const char>> arrays) {
  if (target < 0 || target >= device_count() || IsLocal(target))
    LocalCommunicator::Send(waiter, channel, target, arrays);
  else
    group_.PostMessage(rank_of_[static_cast<size_t>(target)], run_, channel, target,
                       Copied(arrays));
}

Communicator::End ProcessCommunicator::Receive(const Waiter& waiter, int64_t channel,
                                               int64_t target, const Take& take) {
  group_.Progress();
  return LocalCommunicator::Receive(waiter, channel, target, take);
}

void ProcessCommunicator::Leave(int64_t device, bool failed) {
  LocalCommunicator::Leave(device, failed);
  if (failed) group_.Abort("device " + std::to_string(device) + " failed");
}

ProcessStatus ProcessCommunicator::Status() {
  const Rendezvous::Moment now = waits().Now();
  ProcessStatus status;
  status.all_wait = now.all_wait;
  status.steps = now.steps;
  status.text = now.text;
  if (status.text.empty()) {  // none waits, none has ended
    constexpr int64_t kMaxNamed = 16;
    int64_t named = 0;
    for (int64_t device = 0; device < device_count() && named <= kMaxNamed; ++device)
      if (IsLocal(device))
        status.text += ++named > kMaxNamed
                           ? ", ..."
                           : (named > 1 ? ", " : "computing on device ") + std::to_string(device);
  }
  status.collectives = waiting_.List();
  return status;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
