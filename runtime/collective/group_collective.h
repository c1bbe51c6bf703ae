// One collective of a group with members in several processes, as one process takes part in it.
#pragma once

#include <stdint.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/collective/group_arrays.h"
#include "runtime/collective/process_group.h"

namespace hlokit {

// A collective: its instruction, and the first device of the group.
using CollectiveKey = std::pair<int64_t, int64_t>;

// The collectives in which this process waits for others. From any thread.
class WaitingCollectives {
 public:
  void Add(const CollectiveKey& key, const std::vector<int>& ranks);
  void Remove(const CollectiveKey& key);
  std::vector<ProcessStatus::Collective> List();

 private:
  std::mutex mutex_;
  std::map<CollectiveKey, std::vector<int32_t>> waiting_;
};

// What a local member gives, and how its waits for other processes ended.
struct LocalMember {
  Communicator::Member member;
  size_t place;
  Communicator::End end = Communicator::End::kNone;
};

// One collective between processes, run by the local member that speaks for its process. Every
// function returns how its waits ended.
class GroupCollective {
 public:
  using End = Communicator::End;
  using Member = Communicator::Member;
  // Of the process: how it reaches others, where each device is, how its devices wait.
  struct Context {
    ProcessGroup& group;
    const std::vector<int>& rank_of;
    Rendezvous& waits;
    WaitingCollectives& waiting;
  };

  GroupCollective(const Context& context, const Communicator::Part& part,
                  std::span<LocalMember* const> local);
  ~GroupCollective();
  GroupCollective(const GroupCollective&) = delete;
  GroupCollective& operator=(const GroupCollective&) = delete;

  // The collectives, of one array (but for AllToAllArrays): see communicator.h.
  End AllReduce(size_t array);
  End AllGather(size_t array);
  End ReduceScatter(size_t array);
  End AllToAll(size_t array);
  End Permute(size_t array, Communicator::Pairs pairs);
  End Broadcast(size_t array);
  End AllToAllArrays();
  End Barrier();
  // The operands of all members, those of other processes copied. In order of places.
  End GatherOperands(std::vector<Member>& all);

  // Places of local members, ascending.
  const std::vector<size_t>& local() const { return places_; }

 private:
  // What each member has for every other one: `rows` parts of `bytes`, `stride` apart in the
  // operand.
  struct Pieces {
    int64_t rows, bytes, stride;
  };

  size_t members() const { return members_.size(); }
  bool IsLocal(size_t place) const { return members_[place] != nullptr; }
  const char* operand(size_t place, size_t array) const {
    return static_cast<const char*>(members_[place]->operands[array]);
  }
  char* result(size_t place, size_t array) const {
    return static_cast<char*>(members_[place]->results[array]);
  }
  Transport& transport() const { return context_.group.transport(); }

  void Send(int rank, const void* data, int64_t bytes);
  void Receive(int rank, void* data, int64_t bytes);
  // Moves `bytes` from place `source` to place `target`; nothing where neither is local.
  void Move(size_t source, size_t target, const void* from, void* to, int64_t bytes);
  // Waits until all that was started is done.
  End Finish();
  // Memory that lives as long as this object.
  char* Scratch(int64_t bytes);
  // A part of an array.
  struct ByteRange {
    int64_t begin = 0, size = 0;
  };
  // Copies a part of the first local member's result to the other local members.
  void ShareResult(size_t array, const ByteRange& bytes) const;
  End ReduceSmall(size_t array);
  End ReduceByRanges(size_t array);
  // Starts what a round moves: operands, those of other processes into `copies` (by place), and
  // combined blocks. `block_of(rank, back)`: the block of a process's range, or the one before it.
  template <typename BlockOf>
  void ExchangeBlocks(size_t array, const std::vector<char*>& copies, const BlockOf& block_of);
  Pieces PiecesOf(size_t array) const;
  const char* Packed(const Pieces& p, size_t array, size_t from, size_t to);
  End ExchangePieces(const Pieces& p, size_t array, std::vector<char*>& incoming);
  const char* PieceRow(const Pieces& p, size_t array, const std::vector<char*>& incoming,
                       size_t from, size_t to, int64_t r) const;

  const Context context_;
  const Communicator::Part& part_;
  std::vector<Member*> members_;  // by place; null where they are not local
  std::vector<int> ranks_;        // by place
  std::vector<size_t> places_;
  std::vector<int> others_;  // ranks of the members' processes but this one, ascending
  int tag_ = 0;
  std::vector<const void*> pointers_;
  int64_t kept_used_ = 0;  // bytes of the thread's scratch memory
  std::vector<std::unique_ptr<char[]>> scratch_;
  std::vector<Transport::Request> requests_;  // given up before the memory above goes
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
