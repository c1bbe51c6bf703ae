// Collectives between processes. A member's place in its group decides what it sends and where what
// it gets lies, so both sides know every message by themselves: from whom, how long, and in which
// order. One tag serves one group of one instruction.
#include "runtime/collective/process_communicator.h"

#include <string.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>

namespace hlokit {
namespace {

constexpr int64_t kMaxMessageBytes = int64_t{64} << 20;  // longer ones are sent in several

constexpr int64_t kBusyRounds =
    500;  // some 50 us of polls, which meet a message that is on its way

int64_t Bytes(const HlokitCollectiveArray& array) { return array.rows * array.row_bytes; }

// Sleeps for as short as the system can. One who sleeps is woken before those that compute, which
// one who polls all the time is not: on a full machine that is a hundred times as fast.
void Doze() {
  thread_local const bool is_exact = prctl(PR_SET_TIMERSLACK, 1000) == 0;  // ns
  std::this_thread::sleep_for(std::chrono::microseconds(is_exact ? 10 : 1));
}

}  // namespace

// The local member that speaks for its process in one collective. Every function returns how its
// waits ended.
class ProcessCommunicator::Leader {
 public:
  Leader(ProcessCommunicator& owner, const Part& part, std::span<Contribution* const> local)
      : owner_(owner), part_(part), members_(part.group.size()), ranks_(part.group.size()) {
    for (Contribution* c : local) {
      members_[c->place] = &c->member;
      places_.push_back(c->place);
    }
    std::sort(places_.begin(), places_.end());
    for (size_t place = 0; place < ranks_.size(); ++place)
      ranks_[place] = owner.rank_of_[static_cast<size_t>(part.group[place])];
    others_.assign(ranks_.begin(), ranks_.end());
    std::sort(others_.begin(), others_.end());
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
    std::erase(others_, owner.group_.rank());
    const auto wide = static_cast<uint64_t>(part.waiter.id) * owner.rank_of_.size() +
                      static_cast<uint64_t>(part.group[0]);
    tag_ = static_cast<int>(wide & Transport::kMaxTag);
  }
  ~Leader() {
    for (const Transport::Request request : requests_) transport().Abandon(request);
  }
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  const Part& part() const { return part_; }
  size_t members() const { return members_.size(); }
  // Local members by place; null elsewhere.
  Member* member(size_t place) const { return members_[place]; }
  bool IsLocal(size_t place) const { return members_[place] != nullptr; }
  // Places of local members, ascending, and the ranks of all members' processes but this one.
  const std::vector<size_t>& local() const { return places_; }
  const std::vector<int>& others() const { return others_; }
  int rank_of(size_t place) const { return ranks_[place]; }
  const char* operand(size_t place, size_t array) const {
    return static_cast<const char*>(members_[place]->operands[array]);
  }
  char* result(size_t place, size_t array) const {
    return static_cast<char*>(members_[place]->results[array]);
  }

  void Send(int rank, const void* data, int64_t bytes) {
    ForEachMessage(bytes, [&](int64_t at, int64_t size) {
      requests_.push_back(
          transport().StartSend(rank, tag_, static_cast<const char*>(data) + at, size));
    });
  }
  void Receive(int rank, void* data, int64_t bytes) {
    ForEachMessage(bytes, [&](int64_t at, int64_t size) {
      requests_.push_back(
          transport().StartReceive(rank, tag_, static_cast<char*>(data) + at, size));
    });
  }
  // Until all that was started is done.
  End Finish() {
    const auto is_done = [&] {
      std::erase_if(requests_, [&](Transport::Request r) { return transport().Test(r); });
      return requests_.empty();
    };
    if (is_done()) return End::kNone;
    SetWaiting(true);
    int64_t rounds = 0;
    const auto poll = [&] {
      if (is_done()) return true;
      if (++rounds > kBusyRounds) Doze();
      return false;
    };
    const End end = owner_.waits_.WaitOutside(part_.waiter, places_.size(), poll);
    SetWaiting(false);
    return end;
  }

  // The operands of all members, those of other processes copied. In order of places.
  End GatherOperands(std::vector<Member>& all) {
    all.assign(members(), Member());
    const size_t arrays = part_.arrays.size();
    pointers_.resize(members() * arrays);
    for (const int rank : others_)
      for (const size_t place : places_)
        for (size_t array = 0; array < arrays; ++array)
          Send(rank, operand(place, array), Bytes(part_.arrays[array]));
    for (size_t place = 0; place < members(); ++place) {
      if (IsLocal(place)) {
        all[place] = *member(place);
        continue;
      }
      all[place].operands = &pointers_[place * arrays];
      for (size_t array = 0; array < arrays; ++array) {
        char* const copy = Scratch(Bytes(part_.arrays[array]));
        pointers_[place * arrays + array] = copy;
        Receive(rank_of(place), copy, Bytes(part_.arrays[array]));
      }
    }
    return Finish();
  }

  // Memory that lives as long as this object.
  char* Scratch(int64_t bytes) {
    scratch_.push_back(std::unique_ptr<char[]>(new char[static_cast<size_t>(bytes) + 1]));
    return scratch_.back().get();
  }
  // The first local member's result, copied to the other local members.
  void ShareResult(size_t array, int64_t bytes) const {
    for (size_t k = 1; k < places_.size(); ++k)
      if (bytes > 0)
        memcpy(result(places_[k], array), result(places_[0], array), static_cast<size_t>(bytes));
  }

 private:
  Transport& transport() const { return owner_.group_.transport(); }
  template <typename Each>
  static void ForEachMessage(int64_t bytes, const Each& each) {
    for (int64_t at = 0; at < bytes; at += kMaxMessageBytes)
      each(at, std::min(kMaxMessageBytes, bytes - at));
  }
  void SetWaiting(bool waits) {
    const Key key{part_.waiter.id, part_.group[0]};
    std::lock_guard<std::mutex> lock(owner_.waiting_mutex_);
    if (waits)
      owner_.waiting_[key].assign(others_.begin(), others_.end());
    else
      owner_.waiting_.erase(key);
  }

  ProcessCommunicator& owner_;
  const Part& part_;
  std::vector<Member*> members_;
  std::vector<int> ranks_;
  std::vector<size_t> places_;
  std::vector<int> others_;
  int tag_ = 0;
  std::vector<const void*> pointers_;
  std::vector<std::unique_ptr<char[]>> scratch_;
  std::vector<Transport::Request> requests_;  // given up before the memory above goes
};

namespace {

using End = Communicator::End;

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
    const char* const combined = reduction.Run(operands, start * array.element_bytes, block);
    memcpy(result + start * array.element_bytes, combined,
           static_cast<size_t>(block * array.element_bytes));
  }
}

template <typename Leader>
End ReduceSmall(Leader& leader, size_t array) {
  const HlokitCollectiveArray& a = leader.part().arrays[array];
  std::vector<const char*> operands(leader.members());
  for (size_t place = 0; place < operands.size(); ++place) {
    if (leader.IsLocal(place)) {
      operands[place] = leader.operand(place, array);
      for (const int rank : leader.others()) leader.Send(rank, operands[place], Bytes(a));
    } else {
      char* const copy = leader.Scratch(Bytes(a));
      operands[place] = copy;
      leader.Receive(leader.rank_of(place), copy, Bytes(a));
    }
  }
  if (const End end = leader.Finish(); end != End::kNone) return end;
  Combine(a, operands, Bytes(a) / a.element_bytes, leader.result(leader.local()[0], array));
  leader.ShareResult(array, Bytes(a));
  return End::kNone;
}

// Ranges go by process: the k-th of the group's processes combines range k.
template <typename Leader>
End ReduceByRanges(Leader& leader, int own_rank, size_t array) {
  const HlokitCollectiveArray& a = leader.part().arrays[array];
  const int64_t width = a.element_bytes, count = Bytes(a) / width;
  std::vector<int> ranks = leader.others();
  ranks.insert(std::lower_bound(ranks.begin(), ranks.end(), own_rank), own_rank);
  const auto range_of = [&](int rank) {
    return Range(count, std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin(),
                 ranks.size());
  };
  const Range own = range_of(own_rank);
  std::vector<const char*> operands(leader.members());
  for (size_t place = 0; place < operands.size(); ++place) {
    if (leader.IsLocal(place)) {
      operands[place] = leader.operand(place, array) + own.begin * width;
      continue;
    }
    char* const copy = leader.Scratch(own.size() * width);
    operands[place] = copy;
    leader.Receive(leader.rank_of(place), copy, own.size() * width);
  }
  for (const int rank : leader.others())
    for (const size_t place : leader.local())
      leader.Send(rank, leader.operand(place, array) + range_of(rank).begin * width,
                  range_of(rank).size() * width);
  if (const End end = leader.Finish(); end != End::kNone) return end;
  char* const result = leader.result(leader.local()[0], array);
  Combine(a, operands, own.size(), result + own.begin * width);
  for (const int rank : leader.others()) {
    leader.Receive(rank, result + range_of(rank).begin * width, range_of(rank).size() * width);
    leader.Send(rank, result + own.begin * width, own.size() * width);
  }
  if (const End end = leader.Finish(); end != End::kNone) return end;
  leader.ShareResult(array, Bytes(a));
  return End::kNone;
}

// What each member has for every member of another process, piece by piece; what comes in lies in
// piece(from, to). A piece is `rows` parts of `bytes`, `stride` apart in the operand.
struct Pieces {
  int64_t rows, bytes, stride;
};
template <typename Leader>
End ExchangePieces(Leader& leader, const Pieces& p, size_t array,
                   std::vector<const char*>& incoming) {
  const auto pack = [&](size_t from, size_t to) -> const char* {
    const char* const begin = leader.operand(from, array) + static_cast<int64_t>(to) * p.bytes;
    if (p.rows == 1) return begin;
    char* const packed = leader.Scratch(p.rows * p.bytes);
    for (int64_t r = 0; r < p.rows; ++r)
      if (p.bytes > 0)
        memcpy(packed + r * p.bytes, begin + r * p.stride, static_cast<size_t>(p.bytes));
    return packed;
  };
  incoming.assign(leader.members() * leader.members(), nullptr);
  for (size_t from = 0; from < leader.members(); ++from)
    for (size_t to = 0; to < leader.members(); ++to) {
      if (leader.IsLocal(from) && !leader.IsLocal(to)) {
        leader.Send(leader.rank_of(to), pack(from, to), p.rows * p.bytes);
      } else if (!leader.IsLocal(from) && leader.IsLocal(to)) {
        char* const piece = leader.Scratch(p.rows * p.bytes);
        incoming[from * leader.members() + to] = piece;
        leader.Receive(leader.rank_of(from), piece, p.rows * p.bytes);
      }
    }
  return leader.Finish();
}

Pieces PiecesOf(const HlokitCollectiveArray& a, size_t members) {
  return {a.rows, a.row_bytes / static_cast<int64_t>(members), a.row_bytes};
}

// Row `r` of the piece that member `from` has for the local member `to`.
template <typename Leader>
const char* PieceRow(const Leader& leader, const Pieces& p, size_t array,
                     const std::vector<const char*>& incoming, size_t from, size_t to, int64_t r) {
  return leader.IsLocal(from)
             ? leader.operand(from, array) + r * p.stride + static_cast<int64_t>(to) * p.bytes
             : incoming[from * leader.members() + to] + r * p.bytes;
}

template <typename Leader>
End ScatterReduced(Leader& leader, size_t array) {
  const HlokitCollectiveArray& a = leader.part().arrays[array];
  const Pieces p = PiecesOf(a, leader.members());
  std::vector<const char*> incoming, operands(leader.members());
  if (const End end = ExchangePieces(leader, p, array, incoming); end != End::kNone) return end;
  for (const size_t to : leader.local())
    for (int64_t r = 0; r < p.rows; ++r) {
      for (size_t from = 0; from < leader.members(); ++from)
        operands[from] = PieceRow(leader, p, array, incoming, from, to, r);
      Combine(a, operands, p.bytes / a.element_bytes, leader.result(to, array) + r * p.bytes);
    }
  return End::kNone;
}

template <typename Leader>
End ExchangeAll(Leader& leader, size_t array) {
  const HlokitCollectiveArray& a = leader.part().arrays[array];
  const Pieces p = PiecesOf(a, leader.members());
  std::vector<const char*> incoming;
  if (const End end = ExchangePieces(leader, p, array, incoming); end != End::kNone) return end;
  for (const size_t to : leader.local())
    for (size_t from = 0; from < leader.members(); ++from)
      for (int64_t r = 0; r < p.rows; ++r) {
        const char* const source = PieceRow(leader, p, array, incoming, from, to, r);
        char* const target =
            leader.result(to, array) + r * p.stride + static_cast<int64_t>(from) * p.bytes;
        if (p.bytes > 0) memcpy(target, source, static_cast<size_t>(p.bytes));
      }
  return End::kNone;
}

// One row goes straight to its place in the first local result.
template <typename Leader>
End GatherAll(Leader& leader, size_t array) {
  const HlokitCollectiveArray& a = leader.part().arrays[array];
  const auto members = static_cast<int64_t>(leader.members());
  char* const result = leader.result(leader.local()[0], array);
  std::vector<const char*> operands(leader.members());
  for (size_t place = 0; place < leader.members(); ++place) {
    if (leader.IsLocal(place)) {
      operands[place] = leader.operand(place, array);
      for (const int rank : leader.others()) leader.Send(rank, operands[place], Bytes(a));
      continue;
    }
    char* const into =
        a.rows == 1 ? result + static_cast<int64_t>(place) * a.row_bytes : leader.Scratch(Bytes(a));
    operands[place] = into;
    leader.Receive(leader.rank_of(place), into, Bytes(a));
  }
  if (const End end = leader.Finish(); end != End::kNone) return end;
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t place = 0; place < members; ++place) {
      char* const into = result + (r * members + place) * a.row_bytes;
      const char* const from = operands[static_cast<size_t>(place)] + r * a.row_bytes;
      if (into != from && a.row_bytes > 0) memcpy(into, from, static_cast<size_t>(a.row_bytes));
    }
  leader.ShareResult(array, Bytes(a) * members);
  return End::kNone;
}

// Moves the operand of `source` to `target`, places in the group; nothing where neither is local.
template <typename Leader>
void Move(Leader& leader, size_t source, size_t target, const void* from, void* to, int64_t bytes) {
  if (leader.IsLocal(source) && leader.IsLocal(target)) {
    if (bytes > 0 && from != to) memmove(to, from, static_cast<size_t>(bytes));
  } else if (leader.IsLocal(source)) {
    leader.Send(leader.rank_of(target), from, bytes);
  } else if (leader.IsLocal(target)) {
    leader.Receive(leader.rank_of(source), to, bytes);
  }
}

template <typename Leader>
End PermuteAll(Leader& leader, size_t array, Communicator::Pairs pairs) {
  const int64_t bytes = Bytes(leader.part().arrays[array]);
  for (size_t target = 0; target < leader.members(); ++target) {
    const int64_t source = SourceOf(pairs, target);
    if (source < 0) {
      if (leader.IsLocal(target) && bytes > 0)
        memset(leader.result(target, array), 0, static_cast<size_t>(bytes));
      continue;
    }
    const auto from = static_cast<size_t>(source);
    Move(leader, from, target, leader.IsLocal(from) ? leader.operand(from, array) : nullptr,
         leader.IsLocal(target) ? leader.result(target, array) : nullptr, bytes);
  }
  return leader.Finish();
}

template <typename Leader>
End BroadcastFirst(Leader& leader, size_t array) {
  const int64_t bytes = Bytes(leader.part().arrays[array]);
  char* const result = leader.result(leader.local()[0], array);
  if (leader.IsLocal(0)) {
    for (const int rank : leader.others()) leader.Send(rank, leader.operand(0, array), bytes);
    if (bytes > 0) memmove(result, leader.operand(0, array), static_cast<size_t>(bytes));
  } else {
    leader.Receive(leader.rank_of(0), result, bytes);
  }
  const End end = leader.Finish();
  if (end == End::kNone) leader.ShareResult(array, bytes);
  return end;
}

template <typename Leader>
End MoveArrays(Leader& leader) {
  for (size_t from = 0; from < leader.members(); ++from)
    for (size_t to = 0; to < leader.members(); ++to)
      Move(leader, from, to, leader.IsLocal(from) ? leader.operand(from, to) : nullptr,
           leader.IsLocal(to) ? leader.result(to, from) : nullptr,
           Bytes(leader.part().arrays[from]));
  return leader.Finish();
}

// A byte to each process and back.
template <typename Leader>
End MeetAll(Leader& leader) {
  char* const bytes = leader.Scratch(static_cast<int64_t>(leader.others().size()) + 1);
  bytes[0] = 0;
  for (size_t k = 0; k < leader.others().size(); ++k) {
    leader.Receive(leader.others()[k], bytes + k + 1, 1);
    leader.Send(leader.others()[k], bytes, 1);
  }
  return leader.Finish();
}

}  // namespace

ProcessCommunicator::ProcessCommunicator(ProcessGroup& group, std::vector<int> rank_of)
    : group_(group),
      rank_of_(std::move(rank_of)),
      waits_(static_cast<int64_t>(rank_of_.size()), /*all_here=*/false),
      meetings_(waits_),
      mailboxes_(waits_) {
  for (int64_t device = 0; device < device_count(); ++device)
    if (!IsLocal(device)) waits_.SetElsewhere(device);
  run_ = group_.Enter(*this);
}

ProcessCommunicator::~ProcessCommunicator() { group_.Leave(); }

template <typename Local, typename Remote>
Communicator::End ProcessCommunicator::Together(const Part& part, const Local& local,
                                                const Remote& remote) {
  size_t here = 0, own_place = 0;
  for (size_t place = 0; place < part.group.size(); ++place) {
    if (place == part.place) own_place = here;
    if (IsLocal(part.group[place])) ++here;
  }
  Contribution own{{part.operands, part.results, part.own}, part.place};
  std::shared_ptr<GroupMeetings::Meeting> meeting;
  if (const End end = meetings_.Meet(part.waiter, {part.waiter.id, part.group[0]}, here, own_place,
                                     own, meeting);
      end != End::kNone)
    return end;
  const bool is_last = own_place == meeting->last;
  if (here == part.group.size()) {
    std::vector<Member*> members;
    for (Contribution* c : meeting->contributions) members.push_back(&c->member);
    local(GroupContributions{part.arrays, members, part.place}, is_last);
  } else if (is_last) {
    End end = End::kStopped;
    try {
      Leader leader(*this, part, meeting->contributions);
      end = remote(leader);
    } catch (const std::exception&) {  // the others wait for this one
      group_.Abort(std::string("not enough memory for an exchange at ") + part.waiter.at);
    }
    for (Contribution* c : meeting->contributions) c->end = end;
  }
  meetings_.Part(*meeting);
  return own.end;
}

template <typename Local, typename Remote>
Communicator::End ProcessCommunicator::ForEachArray(const Part& part, const Local& local,
                                                    const Remote& remote) {
  return Together(
      part,
      [&](const GroupContributions& group, bool) {
        for (size_t array = 0; array < part.arrays.size(); ++array) local(GroupArray(group, array));
      },
      [&](Leader& leader) {
        End end = End::kNone;
        for (size_t array = 0; array < part.arrays.size() && end == End::kNone; ++array)
          end = remote(leader, array);
        return end;
      });
}

Communicator::End ProcessCommunicator::AllReduce(const Part& part) {
  return ForEachArray(part, ReduceForAll, [&](Leader& leader, size_t array) {
    return Bytes(part.arrays[array]) <= kSmallBytes ? ReduceSmall(leader, array)
                                                    : ReduceByRanges(leader, group_.rank(), array);
  });
}

Communicator::End ProcessCommunicator::AllGather(const Part& part) {
  return ForEachArray(part, GatherForAll,
                      [](Leader& leader, size_t array) { return GatherAll(leader, array); });
}

Communicator::End ProcessCommunicator::ReduceScatter(const Part& part) {
  return ForEachArray(part, ReduceOwnPiece,
                      [](Leader& leader, size_t array) { return ScatterReduced(leader, array); });
}

Communicator::End ProcessCommunicator::AllToAll(const Part& part) {
  return ForEachArray(part, TakeOwnPieces,
                      [](Leader& leader, size_t array) { return ExchangeAll(leader, array); });
}

Communicator::End ProcessCommunicator::AllToAllArrays(const Part& part) {
  return Together(
      part, [](const GroupContributions& group, bool) { TakeOwnArrays(group); },
      [](Leader& leader) { return MoveArrays(leader); });
}

Communicator::End ProcessCommunicator::RaggedAllToAll(const Part& part, int64_t& outside) {
  int64_t found = -1;  // of all local members, by the one who looks
  const End end = Together(
      part, [&](const GroupContributions& group, bool) { found = TakeRaggedPieces(group); },
      [&](Leader& leader) {
        std::vector<Member> all;
        const End ended = leader.GatherOperands(all);
        if (ended != End::kNone) return ended;
        std::vector<Member*> members;
        for (Member& member : all) members.push_back(&member);
        for (const size_t place : leader.local())
          found = std::max(found, TakeRaggedPieces({part.arrays, members, place}));
        return End::kNone;
      });
  outside = found;
  return end;
}

Communicator::End ProcessCommunicator::Permute(const Part& part, Pairs pairs) {
  return ForEachArray(
      part, [&](const GroupArray& array) { TakeFromSource(array, pairs); },
      [&](Leader& leader, size_t array) { return PermuteAll(leader, array, pairs); });
}

Communicator::End ProcessCommunicator::Broadcast(const Part& part) {
  return ForEachArray(part, TakeFromFirst,
                      [](Leader& leader, size_t array) { return BroadcastFirst(leader, array); });
}

Communicator::End ProcessCommunicator::Barrier(const Part& part) {
  return Together(
      part, [](const GroupContributions&, bool) {}, [](Leader& leader) { return MeetAll(leader); });
}

Communicator::End ProcessCommunicator::Evaluate(const Part& part, const Function& function) {
  return Together(
      part,
      [&](const GroupContributions& group, bool is_last) {
        if (is_last) function(group.members);
      },
      [&](Leader& leader) {
        std::vector<Member> all;
        const End end = leader.GatherOperands(all);
        if (end != End::kNone) return end;
        std::vector<Member*> members;
        for (Member& member : all) members.push_back(&member);
        function(members);
        return End::kNone;
      });
}

void ProcessCommunicator::Send(const Waiter&, int64_t channel, int64_t target,
                               std::span<const std::span<const char>> arrays) {
  std::vector<std::vector<char>> message;
  for (const std::span<const char> array : arrays) message.emplace_back(array.begin(), array.end());
  if (target < 0 || target >= device_count() || IsLocal(target))
    mailboxes_.Send(channel, target, std::move(message));
  else
    group_.PostMessage(rank_of_[static_cast<size_t>(target)], run_, channel, target, message);
}

Communicator::End ProcessCommunicator::Receive(const Waiter& waiter, int64_t channel,
                                               int64_t target, const Take& take) {
  group_.Progress();
  std::vector<std::vector<char>> message;
  const End end = mailboxes_.Receive(waiter, channel, target, message);
  if (end != End::kNone) return end;
  take(std::vector<std::span<const char>>(message.begin(), message.end()));
  return End::kNone;
}

void ProcessCommunicator::Leave(int64_t device, bool failed) {
  waits_.Leave(device, failed);
  if (failed) group_.Abort("device " + std::to_string(device) + " failed");
}

ProcessStatus ProcessCommunicator::Status() {
  const Rendezvous::Moment now = waits_.Now();
  ProcessStatus status;
  status.all_wait = now.all_wait;
  status.steps = now.steps;
  status.text = now.text;
  std::lock_guard<std::mutex> lock(waiting_mutex_);
  for (const auto& [key, ranks] : waiting_)
    status.collectives.push_back({key.first, key.second, ranks});
  return status;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
