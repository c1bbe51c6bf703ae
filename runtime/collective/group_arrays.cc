// Blocks of arrays, combined and copied.
//
// All members of a group have each other's arrays before them; these functions do one member's
// share of the work. Of an all-reduce of N elements by M members, member m combines elements m N /
// M to (m + 1) N / M of all operands and writes them into all M results, so every element is read M
// times and combined once. Shares begin on cache lines of their own (kShareUnit).
// Sums run member by member, x0 + x1 + x2 + ..., whoever computes them, so that results do not
// depend on timing. Blocks of MemberReduction::kBlock elements keep the accumulators in the
// first-level cache.
// Copies of arrays that no cache holds are written non-temporally.
#include "runtime/collective/group_arrays.h"

#include <string.h>

#include <algorithm>

#include "runtime/movement/memory.h"

namespace hlokit {
namespace {

constexpr int64_t kNonTemporalBytes = int64_t{4} << 20;  // of an array that no cache holds
constexpr int64_t kCopyBytes = int64_t{64} << 10;        // what one thread copies at once
constexpr int64_t kShortBytes = int64_t{64} << 10;       // of all members' arrays
constexpr int64_t kShareUnit = 64;  // elements: shares start on cache lines of their own

int64_t ReadInteger(const HlokitCollectiveArray& a, const void* array, int64_t i) {
  uint64_t value = 0;
  memcpy(&value, static_cast<const char*>(array) + i * a.element_bytes,
         static_cast<size_t>(a.element_bytes));
  const int unused = static_cast<int>(64 - 8 * a.element_bytes);
  const auto high = static_cast<int64_t>(value << unused);
  return a.is_signed != 0 ? high >> unused : static_cast<int64_t>(value);
}

}  // namespace

void GroupArray::Copy(const void* source, void* target, int64_t size) const {
  if (size == 0 || source == target) return;
  if (bytes() < kNonTemporalBytes) {
    memcpy(target, source, static_cast<size_t>(size));
    return;
  }
  for (int64_t at = 0; at < size; at += kCopyBytes)
    hlokit_copy_out(nullptr, static_cast<const char*>(source) + at, static_cast<char*>(target) + at,
                    std::min(kCopyBytes, size - at));
}

void MemberReduction::RunInto(std::span<const char* const> operands, int64_t at, int64_t n,
                              char* into) {
  for (size_t member = 0; member < operands.size(); ++member)
    array_.combine(member == 0 ? HLOKIT_REDUCER_FIRST : HLOKIT_REDUCER_NEXT, accumulators_,
                   const_cast<char*>(operands[member]) + at, n);
  array_.combine(HLOKIT_REDUCER_LAST, accumulators_, into, n);
}

bool IsShort(const Communicator::Part& part) {
  int64_t bytes = 0;
  for (const HlokitCollectiveArray& array : part.arrays) bytes += array.rows * array.row_bytes;
  return bytes <= kShortBytes / static_cast<int64_t>(part.group.size());
}

std::vector<const char*> OperandsOf(const GroupArray& array) {
  std::vector<const char*> operands(array.members());
  for (size_t member = 0; member < operands.size(); ++member) operands[member] = array.from(member);
  return operands;
}

int64_t SourceOf(Communicator::Pairs pairs, size_t place) {
  int64_t source = -1;
  for (size_t p = 0; p + 1 < pairs.size(); p += 2)
    if (pairs[p + 1] == static_cast<int64_t>(place)) source = pairs[p];
  return source;
}

void ReduceForAll(const GroupArray& m) {
  const int64_t width = m.a.element_bytes, count = m.bytes() / width;
  const auto members = static_cast<int64_t>(m.members()), place = static_cast<int64_t>(m.place());
  const int64_t units = (count + kShareUnit - 1) / kShareUnit;
  const int64_t begin = std::min(count, units * place / members * kShareUnit);
  const int64_t end = std::min(count, units * (place + 1) / members * kShareUnit);
  const std::vector<const char*> operands = OperandsOf(m);
  MemberReduction reduction(m.a);
  for (int64_t start = begin; start < end; start += MemberReduction::kBlock) {
    const int64_t n = std::min(MemberReduction::kBlock, end - start);
    const char* combined = reduction.Run(operands, start * width, n);
    for (size_t to = 0; to < m.members(); ++to)
      m.Copy(combined, m.to(to) + start * width, n * width);
  }
}

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
  const std::vector<const char*> operands = OperandsOf(m);
  MemberReduction reduction(m.a);
  for (int64_t r = 0; r < m.a.rows; ++r)
    for (int64_t start = 0; start < row; start += MemberReduction::kBlock) {
      const int64_t n = std::min(MemberReduction::kBlock, row - start);
      m.Copy(reduction.Run(operands, (r * whole + place * row + start) * width, n),
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
  const int64_t source = SourceOf(pairs, m.place());
  if (source >= 0)
    m.Copy(m.from(static_cast<size_t>(source)), m.to(m.place()), m.bytes());
  else if (m.bytes() > 0)
    memset(m.to(m.place()), 0, static_cast<size_t>(m.bytes()));
}

void TakeFromFirst(const GroupArray& m) { m.Copy(m.from(0), m.to(m.place()), m.bytes()); }

void TakeOwnArrays(const GroupContributions& group) {
  for (size_t array = 0; array < group.arrays.size(); ++array) {
    const GroupArray m(group, array);
    m.Copy(m.operand(array, m.place()), m.to(m.place()), m.bytes());
  }
}

int64_t TakeRaggedPieces(const GroupContributions& group) {
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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
