// Folds and copies between the arrays of a group. Members are folded in the group's order.
#include "runtime/collective.h"

#include <string.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "runtime/context.h"
#include "runtime/devices.h"
#include "runtime/memory.h"

namespace hlokit {
namespace {

constexpr int64_t kBlock = 2048;                   // elements folded at once
constexpr int64_t kPastCaches = int64_t{4} << 20;  // bytes of an array that no cache holds
constexpr int64_t kCopied = int64_t{64} << 10;
constexpr int64_t kShareUnit = 64;  // elements: shares start on lines of their own

using Meeting = decltype(Devices::meetings)::Meeting;

// One array of an exchange, as all members of the group have it.
class Member {
 public:
  Member(const HlokitCollective& e, const Meeting& meeting, size_t place, int64_t array)
      : a(e.arrays[array]), e_(e), meeting_(meeting), place_(place), array_(array) {}

  const HlokitCollectiveArray& a;
  int64_t bytes() const { return a.rows * a.row_bytes; }
  size_t members() const { return meeting_.contributions.size(); }
  size_t place() const { return place_; }
  const char* from(size_t member) const { return operand(member, array_); }
  const char* operand(size_t member, int64_t array) const {
    return static_cast<const char*>(ContributionOf(member).operands[array]);
  }
  char* to(size_t member) const {
    return static_cast<char*>(ContributionOf(member).results[array_]);
  }
  // The places in the group of sources and targets.
  const int64_t* pairs() const { return e_.pairs; }
  int64_t pair_count() const { return e_.pair_count; }

  void Copy(const void* source, void* target, int64_t size) const {
    if (size == 0 || source == target) return;
    if (bytes() < kPastCaches) {
      memcpy(target, source, static_cast<size_t>(size));
      return;
    }
    for (int64_t at = 0; at < size; at += kCopied)  // pieces that one thread copies
      hlokit_copy_out(nullptr, static_cast<const char*>(source) + at,
                      static_cast<char*>(target) + at, std::min(kCopied, size - at));
  }

 private:
  const Devices::Contribution& ContributionOf(size_t member) const {
    return *meeting_.contributions[member];
  }
  const HlokitCollective& e_;
  const Meeting& meeting_;
  const size_t place_;
  const int64_t array_;
};

class Folder {
 public:
  explicit Folder(const Member& m) : m_(m) {}
  // The fold of n elements from `start` on, for n up to kBlock.
  const char* Run(int64_t start, int64_t n) {
    const int64_t at = start * m_.a.element_bytes;
    for (size_t member = 0; member < m_.members(); ++member)
      m_.a.fold(member == 0 ? HLOKIT_REDUCER_FIRST : HLOKIT_REDUCER_NEXT, sums_,
                const_cast<char*>(m_.from(member)) + at, n);
    m_.a.fold(HLOKIT_REDUCER_LAST, sums_, block_, n);
    return block_;
  }

 private:
  const Member& m_;
  alignas(64) char sums_[kBlock * HLOKIT_REDUCER_SUM_BYTES];
  alignas(64) char block_[kBlock * HLOKIT_REDUCER_SUM_BYTES];
};

// Each makes the elements of one range for all.
void AllReduce(const Member& m) {
  const int64_t width = m.a.element_bytes, count = m.bytes() / width;
  const auto members = static_cast<int64_t>(m.members()), place = static_cast<int64_t>(m.place());
  const int64_t units = (count + kShareUnit - 1) / kShareUnit;
  const int64_t begin = std::min(count, units * place / members * kShareUnit);
  const int64_t end = std::min(count, units * (place + 1) / members * kShareUnit);
  Folder folder(m);
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t n = std::min(kBlock, end - start);
    const char* folded = folder.Run(start, n);
    for (size_t to = 0; to < m.members(); ++to) m.Copy(folded, m.to(to) + start * width, n * width);
  }
}

// Each puts its own part into all results.
void AllGather(const Member& m) {
  const int64_t row = m.a.row_bytes;
  const auto members = static_cast<int64_t>(m.members()), place = static_cast<int64_t>(m.place());
  if (row == 0) return;
  for (size_t to = 0; to < m.members(); ++to)
    for (int64_t r = 0; r < m.a.rows; ++r)
      m.Copy(m.from(m.place()) + r * row, m.to(to) + (r * members + place) * row, row);
}

void ReduceScatter(const Member& m) {
  const int64_t width = m.a.element_bytes, whole = m.a.row_bytes / width;
  const auto place = static_cast<int64_t>(m.place());
  const int64_t row = whole / static_cast<int64_t>(m.members());
  Folder folder(m);
  for (int64_t r = 0; r < m.a.rows; ++r)
    for (int64_t start = 0; start < row; start += kBlock) {
      const int64_t n = std::min(kBlock, row - start);
      m.Copy(folder.Run(r * whole + place * row + start, n),
             m.to(m.place()) + (r * row + start) * width, n * width);
    }
}

void AllToAll(const Member& m) {
  const auto place = static_cast<int64_t>(m.place());
  const int64_t row = m.a.row_bytes, block = row / static_cast<int64_t>(m.members());
  if (block == 0) return;
  for (int64_t r = 0; r < m.a.rows; ++r)
    for (size_t from = 0; from < m.members(); ++from)
      m.Copy(m.from(from) + r * row + place * block,
             m.to(m.place()) + r * row + static_cast<int64_t>(from) * block, block);
}

// Called for each array: result m comes from member m.
void AllToAllTuple(const Member& m, int64_t array) {
  m.Copy(m.operand(static_cast<size_t>(array), static_cast<int64_t>(m.place())), m.to(m.place()),
         m.bytes());
}

void Permute(const Member& m) {
  int64_t source = -1;
  for (int64_t p = 0; p < m.pair_count(); ++p)
    if (m.pairs()[2 * p + 1] == static_cast<int64_t>(m.place())) source = m.pairs()[2 * p];
  if (source >= 0)
    m.Copy(m.from(static_cast<size_t>(source)), m.to(m.place()), m.bytes());
  else if (m.bytes() > 0)
    memset(m.to(m.place()), 0, static_cast<size_t>(m.bytes()));
}

void Broadcast(const Member& m) { m.Copy(m.from(0), m.to(m.place()), m.bytes()); }

int64_t ReadInteger(const void* array, int64_t bytes, bool is_signed, int64_t i) {
  uint64_t value = 0;
  memcpy(&value, static_cast<const char*>(array) + i * bytes, static_cast<size_t>(bytes));
  const int unused = static_cast<int>(64 - 8 * bytes);
  const auto high = static_cast<int64_t>(value << unused);
  return is_signed ? high >> unused : static_cast<int64_t>(value);
}

// Arrays: input, output, input offsets, send sizes, output offsets (in the receiver's output),
// receive sizes; a row of the first two is one of their first dimension. The number of the first
// piece that is out of bounds, or -1.
int64_t RaggedAllToAll(const HlokitCollective& e, const Meeting& meeting, size_t place) {
  const Member input(e, meeting, place, 0), output(e, meeting, place, 1);
  const Devices::Contribution* own = meeting.contributions[place];
  auto* const result = static_cast<char*>(own->results[0]);
  output.Copy(own->operands[1], result, output.bytes());
  const int64_t row = input.a.row_bytes;
  const int64_t each = e.arrays[2].rows / static_cast<int64_t>(input.members());
  for (size_t sender = 0; sender < input.members(); ++sender) {
    const auto at = [&](int64_t array, int64_t piece) {
      return ReadInteger(input.operand(sender, array), e.arrays[array].element_bytes,
                         e.arrays[array].is_signed != 0, piece);
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

void Move(const HlokitCollective& e, const Meeting& meeting, size_t place) {
  for (int64_t array = 0; array < e.array_count; ++array) {
    const Member m(e, meeting, place, array);
    switch (e.kind) {
      case HLOKIT_ALL_REDUCE:
        AllReduce(m);
        break;
      case HLOKIT_ALL_GATHER:
        AllGather(m);
        break;
      case HLOKIT_REDUCE_SCATTER:
        ReduceScatter(m);
        break;
      case HLOKIT_ALL_TO_ALL:
        AllToAll(m);
        break;
      case HLOKIT_ALL_TO_ALL_TUPLE:
        AllToAllTuple(m, array);
        break;
      case HLOKIT_PERMUTE:
        Permute(m);
        break;
      default:
        Broadcast(m);
    }
  }
}

void ZeroResults(const HlokitCollective& e, void* const* results) {
  for (int64_t array = 0; array < e.array_count; ++array)
    if (const int64_t bytes = e.arrays[array].rows * e.arrays[array].row_bytes; bytes > 0)
      memset(results[array], 0, static_cast<size_t>(bytes));
}

Rendezvous::Waiter WaiterAt(const HlokitRunContext& ctx, const HlokitCollective& e) {
  return {ctx.device_ordinal, e.name, e.id, hlokit_cancelled, &ctx};
}

// False, with an error in the context, where a wait has ended in vain.
bool HasCome(const Devices& devices, HlokitRunContext& ctx, const HlokitCollective& e,
             Rendezvous::End end) {
  if (end == Rendezvous::End::kNone) return true;
  SetKernelError(&ctx, "%s", devices.waits.Text(end, WaiterAt(ctx, e)).c_str());
  return false;
}

void Send(Devices& devices, int64_t device, const HlokitCollective& e,
          const void* const* operands) {
  Devices::Message message;
  for (int64_t array = 0; array < e.array_count; ++array) {
    const auto* from = static_cast<const char*>(operands[array]);
    message.emplace_back(from, from + e.arrays[array].rows * e.arrays[array].row_bytes);
  }
  if (e.pair_count == 0) devices.mailboxes.Send(e.channel, -1, message);
  for (int64_t p = 0; p < e.pair_count; ++p)
    if (e.pairs[2 * p] == device) devices.mailboxes.Send(e.channel, e.pairs[2 * p + 1], message);
}

void Receive(Devices& devices, HlokitRunContext& ctx, const HlokitCollective& e,
             void* const* results) {
  bool expected = e.pair_count == 0;
  for (int64_t p = 0; p < e.pair_count; ++p) expected |= e.pairs[2 * p + 1] == ctx.device_ordinal;
  if (!expected) return ZeroResults(e, results);
  Devices::Message message;
  const int64_t target = e.pair_count == 0 ? -1 : ctx.device_ordinal;
  const auto end = devices.mailboxes.Receive(WaiterAt(ctx, e), e.channel, target, message);
  if (!HasCome(devices, ctx, e, end)) return;
  for (int64_t array = 0; array < e.array_count; ++array) {
    const int64_t bytes = e.arrays[array].rows * e.arrays[array].row_bytes;
    if (array >= static_cast<int64_t>(message.size()) ||
        static_cast<int64_t>(message[static_cast<size_t>(array)].size()) != bytes)
      return SetKernelError(&ctx, "%s: the message is of another size", e.name);
    if (bytes > 0)
      memcpy(results[array], message[static_cast<size_t>(array)].data(),
             static_cast<size_t>(bytes));
  }
}

void Collective(Devices& devices, HlokitRunContext& ctx, const HlokitCollective& e,
                const void* const* operands, void* const* results) {
  const int64_t begin = e.groups[ctx.device_ordinal];
  if (begin == 0 && e.kind == HLOKIT_BROADCAST) return ZeroResults(e, results);
  if (begin == 0)
    return SetKernelError(&ctx, "%s: device %d is in no replica group", e.name, ctx.device_ordinal);
  const int64_t* group = e.groups + begin;
  const size_t place = static_cast<size_t>(
      std::find(group + 1, group + 1 + group[0], ctx.device_ordinal) - group - 1);
  Devices::Contribution own{operands, results};
  std::shared_ptr<Meeting> meeting;
  const auto end = devices.meetings.Meet(WaiterAt(ctx, e), group, static_cast<size_t>(group[0]),
                                         place, own, meeting);
  if (!HasCome(devices, ctx, e, end)) return;
  int64_t outside = -1;
  if (e.kind == HLOKIT_RAGGED_ALL_TO_ALL)
    outside = RaggedAllToAll(e, *meeting, place);
  else
    Move(e, *meeting, place);
  devices.meetings.Part(*meeting);
  if (outside >= 0)
    SetKernelError(&ctx, "%s: piece %lld is out of bounds", e.name,
                   static_cast<long long>(outside));
}

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_collective(void* ctx, const HlokitCollective* exchange,
                                  const void* const* operands, void* const* results) {
  auto* run = static_cast<HlokitRunContext*>(ctx);
  if (hlokit_cancelled(run)) return;
  auto* devices = static_cast<hlokit::Devices*>(run->devices);
  if (devices == nullptr)
    return hlokit_set_error(run, "the program exchanges arrays, but the run has no devices");
  try {
    if (exchange->kind == HLOKIT_SEND)
      hlokit::Send(*devices, run->device_ordinal, *exchange, operands);
    else if (exchange->kind == HLOKIT_RECEIVE)
      hlokit::Receive(*devices, *run, *exchange, results);
    else
      hlokit::Collective(*devices, *run, *exchange, operands, results);
  } catch (const std::exception&) {
    hlokit_set_error(run, "there is not enough memory for an exchange");
  }
}
// SPDX-License-Identifier: Apache-2.0
