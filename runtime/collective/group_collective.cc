// Collectives between processes. A member's place in its group decides what it sends and where what
// it gets lies, so both sides know every message by themselves: from whom, how long, and in which
// order. One tag serves one group of one instruction.
//
// The local member that comes last speaks for its process. It starts all sends and receives of a
// round and then waits for all of them at once (Finish), polling for 30 us, which most short
// messages need less of, before it counts as waiting, and dozing soon after that; a wait also ends
// when the run is cancelled or another process fails.
//   all-reduce, small    each operand goes whole to every process; each combines all: one round
//   all-reduce, large    process k combines range k of the elements, block by block, and sends each
//                        to all others: every element crosses twice, whatever the number of
//                        processes
//   all-gather           each operand goes to every process, straight to its place if it is one row
//   reduce-scatter, all-to-all   a piece for each member of another process, packed where it lies
//   in
//                        rows
// Operands of several local members cross one by one, never combined before, so that sums keep the
// order of the members.
#include "runtime/collective/group_collective.h"

#include <string.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace hlokit {
namespace {

constexpr int64_t kMaxMessageBytes = int64_t{64} << 20;  // longer ones are sent in several

// Polls that meet a message on its way: first nobody is told of the wait, then some are.
constexpr auto kBusyTime = std::chrono::microseconds(30);
constexpr int64_t kBusyRounds = 200;

// Of an array that is reduced by ranges, from each member at a time.
constexpr int64_t kReduceBlockBytes = int64_t{512} << 10;

// Scratch memory that a thread keeps.
constexpr int64_t kKeptBytes = int64_t{64} << 10;

// An array of up to so many bytes is reduced in one round.
constexpr int64_t kSmallBytes = int64_t{16} << 10;

int64_t Bytes(const HlokitCollectiveArray& array) { return array.rows * array.row_bytes; }

// Sleeps for as short as the system can. One who sleeps is woken before those that compute, which
// one who polls all the time is not: on a full machine that is a hundred times as fast.
void Doze() {
  thread_local const bool is_exact = prctl(PR_SET_TIMERSLACK, 1000) == 0;  // ns
  std::this_thread::sleep_for(std::chrono::microseconds(is_exact ? 10 : 1));
}

// Which of `count` elements the k-th of `parts` combines.
struct Range {
  int64_t begin, end;
  Range(int64_t count, size_t k, size_t parts)
      : begin(count * static_cast<int64_t>(k) / static_cast<int64_t>(parts)),
        end(count * static_cast<int64_t>(k + 1) / static_cast<int64_t>(parts)) {}
  int64_t size() const { return end - begin; }
};

// `operands` hold `n` elements each, in the group's order.
void Combine(const HlokitCollectiveArray& array, std::span<const char* const> operands, int64_t n,
             char* result) {
  MemberReduction reduction(array);
  for (int64_t start = 0; start < n; start += MemberReduction::kBlock) {
    const int64_t block = std::min(MemberReduction::kBlock, n - start);
    const int64_t at = start * array.element_bytes;
    reduction.RunInto(operands, at, block, result + at);
  }
}

}  // namespace

void WaitingCollectives::Add(const CollectiveKey& key, const std::vector<int>& ranks) {
  std::lock_guard<std::mutex> lock(mutex_);
  waiting_[key].assign(ranks.begin(), ranks.end());
}

void WaitingCollectives::Remove(const CollectiveKey& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  waiting_.erase(key);
}

std::vector<ProcessStatus::Collective> WaitingCollectives::List() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<ProcessStatus::Collective> all;
  for (const auto& [key, ranks] : waiting_) all.push_back({key.first, key.second, ranks});
  return all;
}

GroupCollective::GroupCollective(const Context& context, const Communicator::Part& part,
                                 std::span<LocalMember* const> local)
    : context_(context), part_(part), members_(part.group.size()), ranks_(part.group.size()) {
  for (LocalMember* own : local) {
    members_[own->place] = &own->member;
    places_.push_back(own->place);
  }
  std::sort(places_.begin(), places_.end());
  for (size_t place = 0; place < ranks_.size(); ++place)
    ranks_[place] = context.rank_of[static_cast<size_t>(part.group[place])];
  others_.assign(ranks_.begin(), ranks_.end());
  std::sort(others_.begin(), others_.end());
  others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
  std::erase(others_, context.group.rank());
  const auto wide = static_cast<uint64_t>(part.waiter.id) * context.rank_of.size() +
                    static_cast<uint64_t>(part.group[0]);
  tag_ = static_cast<int>(wide & Transport::kMaxTag);
}

GroupCollective::~GroupCollective() {
  for (const Transport::Request request : requests_) transport().Abandon(request);
}

void GroupCollective::Send(int rank, const void* data, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kMaxMessageBytes)
    requests_.push_back(transport().StartSend(rank, tag_, static_cast<const char*>(data) + at,
                                              std::min(kMaxMessageBytes, bytes - at)));
}

void GroupCollective::Receive(int rank, void* data, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kMaxMessageBytes)
    requests_.push_back(transport().StartReceive(rank, tag_, static_cast<char*>(data) + at,
                                                 std::min(kMaxMessageBytes, bytes - at)));
}

GroupCollective::End GroupCollective::Finish() {
  const auto is_done = [&] {
    std::erase_if(requests_, [&](Transport::Request r) { return transport().Test(r); });
    return requests_.empty();
  };
  const auto some_polls = [&] {
    for (int round = 0; round < 16; ++round)
      if (is_done()) return true;
    return false;
  };
  if (some_polls()) return End::kNone;  // before the clock is read: that takes as long
  const auto begin = std::chrono::steady_clock::now();
  do {
    if (some_polls()) return End::kNone;
  } while (std::chrono::steady_clock::now() - begin < kBusyTime);
  const CollectiveKey key{part_.waiter.id, part_.group[0]};
  context_.waiting.Add(key, others_);
  int64_t rounds = 0;
  const auto poll = [&] {
    if (is_done()) return true;
    if (++rounds > kBusyRounds) Doze();
    return false;
  };
  const End end = context_.waits.WaitOutside(part_.waiter, places_.size(), poll);
  context_.waiting.Remove(key);
  return end;
}

// From the thread's own memory while that lasts: a thread is in one collective at a time, and
// malloc takes a tenth of the time of a short one.
char* GroupCollective::Scratch(int64_t bytes) {
  thread_local const std::unique_ptr<char[]> kept(new char[kKeptBytes]);
  if (bytes <= kKeptBytes - kept_used_) {
    char* const place = kept.get() + kept_used_;
    kept_used_ += (bytes + 63) / 64 * 64;
    return place;
  }
  scratch_.push_back(std::unique_ptr<char[]>(new char[static_cast<size_t>(bytes) + 1]));
  return scratch_.back().get();
}

void GroupCollective::ShareResult(size_t array, const ByteRange& bytes) const {
  for (size_t k = 1; k < places_.size(); ++k)
    if (bytes.size > 0)
      memcpy(result(places_[k], array) + bytes.begin, result(places_[0], array) + bytes.begin,
             static_cast<size_t>(bytes.size));
}

GroupCollective::End GroupCollective::GatherOperands(std::vector<Member>& all) {
  all.assign(members(), Member());
  const size_t arrays = part_.arrays.size();
  pointers_.resize(members() * arrays);
  for (const int rank : others_)
    for (const size_t place : places_)
      for (size_t array = 0; array < arrays; ++array)
        Send(rank, operand(place, array), Bytes(part_.arrays[array]));
  for (size_t place = 0; place < members(); ++place) {
    if (IsLocal(place)) {
      all[place] = *members_[place];
      continue;
    }
    all[place].operands = &pointers_[place * arrays];
    for (size_t array = 0; array < arrays; ++array) {
      char* const copy = Scratch(Bytes(part_.arrays[array]));
      pointers_[place * arrays + array] = copy;
      Receive(ranks_[place], copy, Bytes(part_.arrays[array]));
    }
  }
  return Finish();
}

GroupCollective::End GroupCollective::AllReduce(size_t array) {
  return Bytes(part_.arrays[array]) <= kSmallBytes ? ReduceSmall(array) : ReduceByRanges(array);
}

GroupCollective::End GroupCollective::ReduceSmall(size_t array) {
  const HlokitCollectiveArray& a = part_.arrays[array];
  std::vector<const char*> operands(members());
  for (size_t place = 0; place < operands.size(); ++place) {
    if (IsLocal(place)) {
      operands[place] = operand(place, array);
      for (const int rank : others_) Send(rank, operands[place], Bytes(a));
    } else {
      char* const copy = Scratch(Bytes(a));
      operands[place] = copy;
      Receive(ranks_[place], copy, Bytes(a));
    }
  }
  if (const End end = Finish(); end != End::kNone) return end;
  Combine(a, operands, Bytes(a) / a.element_bytes, result(places_[0], array));
  ShareResult(array, {0, Bytes(a)});
  return End::kNone;
}

// Ranges go by process: the k-th of the group's processes combines range k, block by block, all
// processes at the same block. Round b moves operands of block b and what was combined of block b -
// 1, so that what comes in is still in a cache when it is combined and copied, and scratch memory
// is a block (of whole ranges, its pages alone cost a fifth of the time).
GroupCollective::End GroupCollective::ReduceByRanges(size_t array) {
  const HlokitCollectiveArray& a = part_.arrays[array];
  const int64_t width = a.element_bytes, count = Bytes(a) / width;
  std::vector<int> ranks = others_;
  const auto place_of = [&](int rank) {
    return std::lower_bound(ranks.begin(), ranks.end(), rank);
  };
  ranks.insert(place_of(context_.group.rank()), context_.group.rank());
  const int64_t block = std::max<int64_t>(1, kReduceBlockBytes / width);
  // Bytes of block `b` of a rank's range, which may be empty at the end.
  const auto block_of = [&](int rank, int64_t b) {
    const Range whole(count, place_of(rank) - ranks.begin(), ranks.size());
    const int64_t begin = std::min(whole.end, whole.begin + b * block);
    return ByteRange{begin * width, (std::min(whole.end, begin + block) - begin) * width};
  };
  const int64_t longest =
      (count + static_cast<int64_t>(ranks.size()) - 1) / static_cast<int64_t>(ranks.size());
  const int64_t rounds = (longest + block - 1) / block;
  std::vector<char*> copies(members());
  for (size_t place = 0; place < members(); ++place)
    if (!IsLocal(place)) copies[place] = Scratch(std::min(block, longest) * width);
  for (int64_t b = 0; b <= rounds; ++b) {
    ExchangeBlocks(array, copies, [&](int rank, int64_t back) {
      return b - back < 0 || b - back >= rounds ? ByteRange{0, 0} : block_of(rank, b - back);
    });
    if (const End end = Finish(); end != End::kNone) return end;
    if (b > 0)
      for (const int rank : others_) ShareResult(array, block_of(rank, b - 1));
    if (b == rounds) break;
    const ByteRange own = block_of(context_.group.rank(), b);
    std::vector<const char*> operands(members());
    for (size_t place = 0; place < members(); ++place)
      operands[place] = IsLocal(place) ? operand(place, array) + own.begin : copies[place];
    Combine(a, operands, own.size / width, result(places_[0], array) + own.begin);
    ShareResult(array, own);
  }
  return End::kNone;
}

template <typename BlockOf>
void GroupCollective::ExchangeBlocks(size_t array, const std::vector<char*>& copies,
                                     const BlockOf& block_of) {
  const int own = context_.group.rank();
  char* const whole = result(places_[0], array);
  for (size_t place = 0; place < members(); ++place)
    if (!IsLocal(place)) Receive(ranks_[place], copies[place], block_of(own, 0).size);
  for (const int rank : others_) {
    const ByteRange theirs = block_of(rank, 0), made = block_of(own, 1), came = block_of(rank, 1);
    for (const size_t place : places_)
      Send(rank, operand(place, array) + theirs.begin, theirs.size);
    Receive(rank, whole + came.begin, came.size);
    Send(rank, whole + made.begin, made.size);
  }
}

GroupCollective::Pieces GroupCollective::PiecesOf(size_t array) const {
  const HlokitCollectiveArray& a = part_.arrays[array];
  return {a.rows, a.row_bytes / static_cast<int64_t>(members()), a.row_bytes};
}

// The piece that the local member `from` has for `to`, contiguous.
const char* GroupCollective::Packed(const Pieces& p, size_t array, size_t from, size_t to) {
  const char* const begin = operand(from, array) + static_cast<int64_t>(to) * p.bytes;
  if (p.rows == 1) return begin;
  char* const packed = Scratch(p.rows * p.bytes);
  for (int64_t r = 0; r < p.rows; ++r)
    if (p.bytes > 0)
      memcpy(packed + r * p.bytes, begin + r * p.stride, static_cast<size_t>(p.bytes));
  return packed;
}

// Sends each local member's pieces to members of other processes; those that come in, contiguous,
// are incoming[from * members + to], in scratch memory where that is null before.
GroupCollective::End GroupCollective::ExchangePieces(const Pieces& p, size_t array,
                                                     std::vector<char*>& incoming) {
  incoming.resize(members() * members(), nullptr);
  for (size_t from = 0; from < members(); ++from)
    for (size_t to = 0; to < members(); ++to) {
      if (IsLocal(from) && !IsLocal(to)) {
        Send(ranks_[to], Packed(p, array, from, to), p.rows * p.bytes);
      } else if (!IsLocal(from) && IsLocal(to)) {
        char*& piece = incoming[from * members() + to];
        if (piece == nullptr) piece = Scratch(p.rows * p.bytes);
        Receive(ranks_[from], piece, p.rows * p.bytes);
      }
    }
  return Finish();
}

// Row `r` of the piece that member `from` has for the local member `to`.
const char* GroupCollective::PieceRow(const Pieces& p, size_t array,
                                      const std::vector<char*>& incoming, size_t from, size_t to,
                                      int64_t r) const {
  return IsLocal(from) ? operand(from, array) + r * p.stride + static_cast<int64_t>(to) * p.bytes
                       : incoming[from * members() + to] + r * p.bytes;
}

GroupCollective::End GroupCollective::ReduceScatter(size_t array) {
  const HlokitCollectiveArray& a = part_.arrays[array];
  const Pieces p = PiecesOf(array);
  std::vector<char*> incoming;
  std::vector<const char*> operands(members());
  if (const End end = ExchangePieces(p, array, incoming); end != End::kNone) return end;
  for (const size_t to : places_)
    for (int64_t r = 0; r < p.rows; ++r) {
      for (size_t from = 0; from < members(); ++from)
        operands[from] = PieceRow(p, array, incoming, from, to, r);
      Combine(a, operands, p.bytes / a.element_bytes, result(to, array) + r * p.bytes);
    }
  return End::kNone;
}

GroupCollective::End GroupCollective::AllToAll(size_t array) {
  const Pieces p = PiecesOf(array);
  const auto target = [&](size_t from, size_t to, int64_t r) {
    return result(to, array) + r * p.stride + static_cast<int64_t>(from) * p.bytes;
  };
  std::vector<char*> incoming(members() * members());
  for (const size_t to : places_)
    for (size_t from = 0; p.rows == 1 && from < members(); ++from)  // straight to its place
      incoming[from * members() + to] = target(from, to, 0);
  if (const End end = ExchangePieces(p, array, incoming); end != End::kNone) return end;
  for (const size_t to : places_)
    for (size_t from = 0; from < members(); ++from)
      for (int64_t r = 0; r < p.rows; ++r) {
        const char* const source = PieceRow(p, array, incoming, from, to, r);
        if (p.bytes > 0 && source != target(from, to, r))
          memcpy(target(from, to, r), source, static_cast<size_t>(p.bytes));
      }
  return End::kNone;
}

// One row goes straight to its place in the first local result.
GroupCollective::End GroupCollective::AllGather(size_t array) {
  const HlokitCollectiveArray& a = part_.arrays[array];
  const auto count = static_cast<int64_t>(members());
  char* const whole = result(places_[0], array);
  std::vector<const char*> operands(members());
  for (size_t place = 0; place < members(); ++place) {
    if (IsLocal(place)) {
      operands[place] = operand(place, array);
      for (const int rank : others_) Send(rank, operands[place], Bytes(a));
      continue;
    }
    char* const into =
        a.rows == 1 ? whole + static_cast<int64_t>(place) * a.row_bytes : Scratch(Bytes(a));
    operands[place] = into;
    Receive(ranks_[place], into, Bytes(a));
  }
  if (const End end = Finish(); end != End::kNone) return end;
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t place = 0; place < count; ++place) {
      char* const into = whole + (r * count + place) * a.row_bytes;
      const char* const from = operands[static_cast<size_t>(place)] + r * a.row_bytes;
      if (into != from && a.row_bytes > 0) memcpy(into, from, static_cast<size_t>(a.row_bytes));
    }
  ShareResult(array, {0, Bytes(a) * count});
  return End::kNone;
}

// Moves the operand of `source` to `target`, places in the group; nothing where neither is local.
void GroupCollective::Move(size_t source, size_t target, const void* from, void* to,
                           int64_t bytes) {
  if (IsLocal(source) && IsLocal(target)) {
    if (bytes > 0 && from != to) memmove(to, from, static_cast<size_t>(bytes));
  } else if (IsLocal(source)) {
    Send(ranks_[target], from, bytes);
  } else if (IsLocal(target)) {
    Receive(ranks_[source], to, bytes);
  }
}

GroupCollective::End GroupCollective::Permute(size_t array, Communicator::Pairs pairs) {
  const int64_t bytes = Bytes(part_.arrays[array]);
  for (size_t target = 0; target < members(); ++target) {
    const int64_t source = SourceOf(pairs, target);
    if (source < 0) {
      if (IsLocal(target) && bytes > 0)
        memset(result(target, array), 0, static_cast<size_t>(bytes));
      continue;
    }
    const auto from = static_cast<size_t>(source);
    Move(from, target, IsLocal(from) ? operand(from, array) : nullptr,
         IsLocal(target) ? result(target, array) : nullptr, bytes);
  }
  return Finish();
}

GroupCollective::End GroupCollective::Broadcast(size_t array) {
  const int64_t bytes = Bytes(part_.arrays[array]);
  char* const whole = result(places_[0], array);
  if (IsLocal(0)) {
    for (const int rank : others_) Send(rank, operand(0, array), bytes);
    if (bytes > 0) memmove(whole, operand(0, array), static_cast<size_t>(bytes));
  } else {
    Receive(ranks_[0], whole, bytes);
  }
  const End end = Finish();
  if (end == End::kNone) ShareResult(array, {0, bytes});
  return end;
}

GroupCollective::End GroupCollective::AllToAllArrays() {
  for (size_t from = 0; from < members(); ++from)
    for (size_t to = 0; to < members(); ++to)
      Move(from, to, IsLocal(from) ? operand(from, to) : nullptr,
           IsLocal(to) ? result(to, from) : nullptr, Bytes(part_.arrays[from]));
  return Finish();
}

// A byte to each process and back.
GroupCollective::End GroupCollective::Barrier() {
  char* const bytes = Scratch(static_cast<int64_t>(others_.size()) + 1);
  bytes[0] = 0;
  for (size_t k = 0; k < others_.size(); ++k) {
    Receive(others_[k], bytes + k + 1, 1);
    Send(others_[k], bytes, 1);
  }
  return Finish();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
