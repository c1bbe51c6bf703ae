// Collectives over arrays in shared memory. Every member computes or copies its share for all, and
// reductions combine the members in the group's order, whoever computes.
#include "runtime/collective/in_process_communicator.h"

#include <string.h>

#include <algorithm>
#include <memory>

#include "runtime/movement/memory.h"

namespace hlokit {
namespace {

constexpr int64_t kBlock = 2048;                         // elements combined at once
constexpr int64_t kNonTemporalBytes = int64_t{4} << 20;  // of an array that no cache holds
constexpr int64_t kCopyBytes = int64_t{64} << 10;        // what one thread copies at once
constexpr int64_t kShareUnit = 64;  // elements: shares start on cache lines of their own

// What all members of a group gave.
struct Group {
  std::span<const HlokitCollectiveArray> arrays;
  std::span<Communicator::Member* const> members;
  size_t place;  // of the device that asks
};

// One array of a collective, as all members have it.
class GroupArray {
 public:
  GroupArray(const Group& group, size_t array)
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

  void Copy(const void* source, void* target, int64_t size) const {
    if (size == 0 || source == target) return;
    if (bytes() < kNonTemporalBytes) {
      memcpy(target, source, static_cast<size_t>(size));
      return;
    }
    for (int64_t at = 0; at < size; at += kCopyBytes)
      hlokit_copy_out(nullptr, static_cast<const char*>(source) + at,
                      static_cast<char*>(target) + at, std::min(kCopyBytes, size - at));
  }

 private:
  const Group& group_;
  const size_t array_;
};

// Combines blocks of elements.
class Reduction {
 public:
  explicit Reduction(const GroupArray& m) : m_(m) {}
  // The n elements from `start` on, combined over the group, for n up to kBlock.
  const char* Run(int64_t start, int64_t n) {
    const int64_t at = start * m_.a.element_bytes;
    for (size_t member = 0; member < m_.members(); ++member)
      m_.a.combine(member == 0 ? HLOKIT_REDUCER_FIRST : HLOKIT_REDUCER_NEXT, accumulators_,
                   const_cast<char*>(m_.from(member)) + at, n);
    m_.a.combine(HLOKIT_REDUCER_LAST, accumulators_, block_, n);
    return block_;
  }

 private:
  const GroupArray& m_;
  alignas(64) char accumulators_[kBlock * HLOKIT_REDUCER_SUM_BYTES];
  alignas(64) char block_[kBlock * HLOKIT_REDUCER_SUM_BYTES];
};

// Each member combines one range of the elements and writes it to all results.
void ReduceForAll(const GroupArray& m) {
  const int64_t width = m.a.element_bytes, count = m.bytes() / width;
  const auto members = static_cast<int64_t>(m.members()), place = static_cast<int64_t>(m.place());
  const int64_t units = (count + kShareUnit - 1) / kShareUnit;
  const int64_t begin = std::min(count, units * place / members * kShareUnit);
  const int64_t end = std::min(count, units * (place + 1) / members * kShareUnit);
  Reduction reduction(m);
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t n = std::min(kBlock, end - start);
    const char* combined = reduction.Run(start, n);
    for (size_t to = 0; to < m.members(); ++to)
      m.Copy(combined, m.to(to) + start * width, n * width);
  }
}

// Each member copies its operand into all results.
void GatherForAll(const GroupArray& m) {
  const int64_t row = m.a.row_bytes;
  const auto members = static_cast<int64_t>(m.members()), place = static_cast<int64_t>(m.place());
  if (row == 0) return;
  for (size_t to = 0; to < m.members(); ++to)
    for (int64_t r = 0; r < m.a.rows; ++r)
      m.Copy(m.from(m.place()) + r * row, m.to(to) + (r * members + place) * row, row);
}

void ReduceOwnPiece(const GroupArray& m) {
  const int64_t width = m.a.element_bytes, whole = m.a.row_bytes / width;
  const auto place = static_cast<int64_t>(m.place());
  const int64_t row = whole / static_cast<int64_t>(m.members());
  Reduction reduction(m);
  for (int64_t r = 0; r < m.a.rows; ++r)
    for (int64_t start = 0; start < row; start += kBlock) {
      const int64_t n = std::min(kBlock, row - start);
      m.Copy(reduction.Run(r * whole + place * row + start, n),
             m.to(m.place()) + (r * row + start) * width, n * width);
    }
}

void TakeOwnPieces(const GroupArray& m) {
  const auto place = static_cast<int64_t>(m.place());
  const int64_t row = m.a.row_bytes, block = row / static_cast<int64_t>(m.members());
  if (block == 0) return;
  for (int64_t r = 0; r < m.a.rows; ++r)
    for (size_t from = 0; from < m.members(); ++from)
      m.Copy(m.from(from) + r * row + place * block,
             m.to(m.place()) + r * row + static_cast<int64_t>(from) * block, block);
}

void TakeFromSource(const GroupArray& m, Communicator::Pairs pairs) {
  int64_t source = -1;
  for (size_t p = 0; p + 1 < pairs.size(); p += 2)
    if (pairs[p + 1] == static_cast<int64_t>(m.place())) source = pairs[p];
  if (source >= 0)
    m.Copy(m.from(static_cast<size_t>(source)), m.to(m.place()), m.bytes());
  else if (m.bytes() > 0)
    memset(m.to(m.place()), 0, static_cast<size_t>(m.bytes()));
}

int64_t ReadInteger(const HlokitCollectiveArray& a, const void* array, int64_t i) {
  uint64_t value = 0;
  memcpy(&value, static_cast<const char*>(array) + i * a.element_bytes,
         static_cast<size_t>(a.element_bytes));
  const int unused = static_cast<int>(64 - 8 * a.element_bytes);
  const auto high = static_cast<int64_t>(value << unused);
  return a.is_signed != 0 ? high >> unused : static_cast<int64_t>(value);
}

// Offsets of outputs are in the receiver's output; a row of input or output is one index of the
// first dimension. The number of the first piece that is out of bounds, or -1.
int64_t TakeRaggedPieces(const Group& group) {
  const GroupArray input(group, 0), output(group, 1);
  const size_t place = group.place;
  char* const result = static_cast<char*>(group.members[place]->results[0]);
  output.Copy(group.members[place]->operands[1], result, output.bytes());
  const int64_t row = input.a.row_bytes;
  const int64_t each = group.arrays[2].rows / static_cast<int64_t>(input.members());
  for (size_t sender = 0; sender < input.members(); ++sender) {
    const auto at = [&](size_t array, int64_t piece) {
      return ReadInteger(group.arrays[array], input.operand(sender, array), piece);
    };
    const int64_t first = static_cast<int64_t>(place) * each;
    for (int64_t piece = first; piece < first + each; ++piece) {
      const int64_t from = at(2, piece), size = at(3, piece), to = at(4, piece);
      if (size < 0 || from < 0 || to < 0 || from > input.a.rows - size || to > output.a.rows - size)
        return piece;
      output.Copy(input.from(sender) + from * row, result + to * row, size * row);
    }
  }
  return -1;
}

}  // namespace

template <typename Work>
Communicator::End InProcessCommunicator::Together(const Part& part, const Work& work) {
  Member own{part.operands, part.results, part.own};
  std::shared_ptr<GroupMeetings::Meeting> meeting;
  const End end = meetings_.Meet(part.waiter, {part.waiter.id, part.group[0]}, part.group.size(),
                                 part.place, own, meeting);
  if (end != End::kNone) return end;
  work(Group{part.arrays, meeting->contributions, part.place}, part.place == meeting->last);
  meetings_.Part(*meeting);
  return End::kNone;
}

template <typename Work>
Communicator::End InProcessCommunicator::ForEachArray(const Part& part, const Work& work) {
  return Together(part, [&](const Group& group, bool) {
    for (size_t array = 0; array < part.arrays.size(); ++array) work(GroupArray(group, array));
  });
}

Communicator::End InProcessCommunicator::AllReduce(const Part& part) {
  return ForEachArray(part, ReduceForAll);
}

Communicator::End InProcessCommunicator::AllGather(const Part& part) {
  return ForEachArray(part, GatherForAll);
}

Communicator::End InProcessCommunicator::ReduceScatter(const Part& part) {
  return ForEachArray(part, ReduceOwnPiece);
}

Communicator::End InProcessCommunicator::AllToAll(const Part& part) {
  return ForEachArray(part, TakeOwnPieces);
}

Communicator::End InProcessCommunicator::AllToAllArrays(const Part& part) {
  return Together(part, [&](const Group& group, bool) {
    for (size_t array = 0; array < part.arrays.size(); ++array) {
      const GroupArray m(group, array);
      m.Copy(m.operand(array, m.place()), m.to(m.place()), m.bytes());
    }
  });
}

Communicator::End InProcessCommunicator::RaggedAllToAll(const Part& part, int64_t& outside) {
  return Together(part, [&](const Group& group, bool) { outside = TakeRaggedPieces(group); });
}

Communicator::End InProcessCommunicator::Permute(const Part& part, Pairs pairs) {
  return ForEachArray(part, [&](const GroupArray& m) { TakeFromSource(m, pairs); });
}

Communicator::End InProcessCommunicator::Broadcast(const Part& part) {
  return ForEachArray(part,
                      [](const GroupArray& m) { m.Copy(m.from(0), m.to(m.place()), m.bytes()); });
}

Communicator::End InProcessCommunicator::Barrier(const Part& part) {
  return Together(part, [](const Group&, bool) {});
}

Communicator::End InProcessCommunicator::Evaluate(const Part& part, const Function& function) {
  return Together(part, [&](const Group& group, bool is_last) {
    if (is_last) function(group.members);
  });
}

void InProcessCommunicator::Send(const Waiter&, int64_t channel, int64_t target,
                                 std::span<const std::span<const char>> arrays) {
  std::vector<std::vector<char>> message;
  for (const std::span<const char> array : arrays) message.emplace_back(array.begin(), array.end());
  mailboxes_.Send(channel, target, std::move(message));
}

Communicator::End InProcessCommunicator::Receive(const Waiter& waiter, int64_t channel,
                                                 int64_t target, const Take& take) {
  std::vector<std::vector<char>> message;
  const End end = mailboxes_.Receive(waiter, channel, target, message);
  if (end != End::kNone) return end;
  take(std::vector<std::span<const char>>(message.begin(), message.end()));
  return End::kNone;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
