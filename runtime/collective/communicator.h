// What the devices of a run say to each other: collectives of groups, and messages from one to
// another. Compiled code, the interpreter and programs compiled ahead of time all call this
// interface; a transport implements it (in_process_communicator.h: the threads of one process).
#pragma once

#include <stdint.h>

#include <functional>
#include <span>
#include <string>

#include "runtime/collective/collective.h"
#include "support/rendezvous.h"

namespace hlokit {

// Shared by the threads of all local devices of one run. Devices are logical ones, replica *
// partitions + partition; some may be in other processes. Calls of one group match by the number of
// their instruction (`waiter.id`), which is the same in all processes, and by the group's first
// device; each device reaches its calls of one instruction in the same order. A call returns once
// the device's own results are written and nobody reads its operands any more.
//
// Sums have one order, whatever the transport (docs/numerics.md): x0 + x1 + x2 + ..., by member of
// the group, in the accumulator type of the reducer.
class Communicator {
 public:
  using End = Rendezvous::End;
  using Waiter = Rendezvous::Waiter;

  // One device's part in a collective. The members give arrays of the same sizes.
  struct Part {
    Waiter waiter;                   // who calls, and where
    std::span<const int64_t> group;  // the members, in their order
    size_t place = 0;                // which of them this device is
    std::span<const HlokitCollectiveArray> arrays;
    const void* const* operands = nullptr;  // by array
    void* const* results = nullptr;         // by array
    void* own = nullptr;                    // the caller's, for Evaluate
  };
  // Places in the group: a source, its target, another source, ...
  using Pairs = std::span<const int64_t>;

  virtual ~Communicator() = default;

  // In all processes.
  virtual int64_t device_count() const = 0;

  // Each result is the members' operands combined element by element.
  virtual End AllReduce(const Part& part) = 0;
  // Rows of result: row r of member 0, of member 1, ...
  virtual End AllGather(const Part& part) = 0;
  // Each row is combined as AllReduce does and cut into a piece for each member.
  virtual End ReduceScatter(const Part& part) = 0;
  // Each row is cut into a piece for each member, who puts those that it gets in the senders'
  // order.
  virtual End AllToAll(const Part& part) = 0;
  // Array m goes to member m; result m comes from member m.
  virtual End AllToAllArrays(const Part& part) = 0;
  // As the instruction ragged-all-to-all: input, output, input offsets, send sizes, output offsets,
  // receive sizes. `outside` is the first piece that is out of bounds, or -1.
  virtual End RaggedAllToAll(const Part& part, int64_t& outside) = 0;
  // The operand of the member that a pair names as source; zeros where none does.
  virtual End Permute(const Part& part, Pairs pairs) = 0;
  // The first member's operand.
  virtual End Broadcast(const Part& part) = 0;
  // Until all members have come.
  virtual End Barrier(const Part& part) = 0;

  // What a member gave. `own` is null for a member of another process.
  struct Member {
    const void* const* operands = nullptr;
    void* const* results = nullptr;
    void* own = nullptr;
  };
  // A collective that is none of these: `function` is called once in each process that has members
  // of the group, on the thread of one of them, with what all have given, by place. It writes what
  // the members of its own process get, and must not throw.
  using Function = std::function<void(std::span<Member* const> members)>;
  virtual End Evaluate(const Part& part, const Function& function) = 0;

  // A message to one device, or (-1) to whoever comes first. Never waits: the arrays are copied.
  virtual void Send(const Waiter& waiter, int64_t channel, int64_t target,
                    std::span<const std::span<const char>> arrays) = 0;
  // Waits for the next message to `target`, this device or -1; `take` reads it, once.
  using Take = std::function<void(std::span<const std::span<const char>> arrays)>;
  virtual End Receive(const Waiter& waiter, int64_t channel, int64_t target, const Take& take) = 0;

  // A local device has ended. Where it failed, those that wait for others are stopped.
  virtual void Leave(int64_t device, bool failed) = 0;
  // Stops all devices, in all processes, soon.
  virtual void Abort(const std::string& reason) = 0;

  // How a local device's waits ended for good, and the number of the instruction; kNone where they
  // did not.
  virtual End end(int64_t device) const = 0;
  virtual int64_t ended_at(int64_t device) const = 0;
  // The same as a message for users.
  virtual std::string Text(End end, const Waiter& waiter) const = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
