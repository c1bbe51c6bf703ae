// The arrays of a collective as all members of its group gave them, and what every transport does
// with them: combine blocks in the group's order, copy, and cut ragged pieces.
#pragma once

#include <stdint.h>

#include <span>
#include <vector>

#include "runtime/collective/communicator.h"

namespace hlokit {

// What all members of a group gave.
struct GroupContributions {
  std::span<const HlokitCollectiveArray> arrays;
  std::span<Communicator::Member* const> members;
  size_t place;  // of the device that asks
};

// One array of a collective, as all members have it.
class GroupArray {
 public:
  GroupArray(const GroupContributions& group, size_t array)
      : a(group.arrays[array]), group_(group), array_(array) {}

  const HlokitCollectiveArray& a;
  int64_t bytes() const { return a.rows * a.row_bytes; }
  size_t members() const { return group_.members.size(); }
  size_t place() const { return group_.place; }
  const char* from(size_t member) const { return operand(member, array_); }
  const char* operand(size_t member, size_t array) const {
    return static_cast<const char*>(group_.members[member]->operands[array]);
  }
  char* to(size_t member) const {
    return static_cast<char*>(group_.members[member]->results[array_]);
  }
  // By non-temporal stores where the arrays are too large for the caches.
  void Copy(const void* source, void* target, int64_t size) const;

 private:
  const GroupContributions& group_;
  const size_t array_;
};

// Combines blocks of elements. Sums have one order, whoever computes them: x0 + x1 + ..., by place
// in the group.
class MemberReduction {
 public:
  static constexpr int64_t kBlock = 2048;  // elements combined at once

  explicit MemberReduction(const HlokitCollectiveArray& array) : array_(array) {}
  // The `n` elements (up to kBlock) at byte `at` of each of `operands`, which are in the group's
  // order; the result lies in the object until the next call.
  const char* Run(std::span<const char* const> operands, int64_t at, int64_t n) {
    RunInto(operands, at, n, block_);
    return block_;
  }
  // The same with the result at `into`, which may be the same place of one of the operands.
  void RunInto(std::span<const char* const> operands, int64_t at, int64_t n, char* into);

 private:
  const HlokitCollectiveArray& array_;
  alignas(64) char accumulators_[kBlock * HLOKIT_REDUCER_SUM_BYTES];
  alignas(64) char block_[kBlock * HLOKIT_REDUCER_SUM_BYTES];
};

// Whether one thread moves the arrays of all members sooner than it wakes others to help.
bool IsShort(const Communicator::Part& part);

// The operands of all members, by place.
std::vector<const char*> OperandsOf(const GroupArray& array);

// The place whose operand a permute moves to `place`; -1 where no pair names that as its target.
int64_t SourceOf(Communicator::Pairs pairs, size_t place);

// What each member of a group whose arrays all lie in this process does for one array.
// All-reduce: combines one range of the elements and writes it to all results.
void ReduceForAll(const GroupArray& array);
// All-gather: copies its operand into all results.
void GatherForAll(const GroupArray& array);
void ReduceOwnPiece(const GroupArray& array);  // reduce-scatter
void TakeOwnPieces(const GroupArray& array);   // all-to-all
void TakeFromSource(const GroupArray& array, Communicator::Pairs pairs);
void TakeFromFirst(const GroupArray& array);  // broadcast
// All-to-all of arrays: array m of member p is array p of member m.
void TakeOwnArrays(const GroupContributions& group);

// The part of a ragged all-to-all that the device at group.place gets. Offsets of outputs are in
// the receiver's output; a row of input or output is one index of the first dimension. The number
// of the first piece that is out of bounds, or -1.
int64_t TakeRaggedPieces(const GroupContributions& group);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
