// Messages of the group: what each process says of itself, what all exchange, and ends. The idea of
// the deadlock check: a process that waits in a collective can only be helped by the processes of
// the collective's other members. If each of these waits elsewhere too, or has ended the run,
// nobody will ever move. FindDeadlock looks at one report of each process; a report counts once it
// has come kSameReports times without a change, so that messages under way are not taken for
// silence.
#include "runtime/collective/process_group.h"

#include <stdio.h>

#include <algorithm>
#include <set>

#include "runtime/collective/message_bytes_internal.h"

namespace hlokit {
namespace {

enum Kind : int64_t { kStatus, kAbort, kDeadlock, kGather, kDeviceMessage };

constexpr auto kReportInterval = std::chrono::milliseconds(500);
constexpr auto kPollInterval = std::chrono::milliseconds(2);
constexpr int kSameReports = 3;

MessageWriter Begin(Kind kind) {
  MessageWriter writer;
  writer.Int(kind);
  return writer;
}

std::vector<char> StatusMessage(const ProcessStatus& status) {
  MessageWriter writer = Begin(kStatus);
  writer.Int(status.run);
  writer.Int(status.in_run ? 1 : 0);
  writer.Int(status.all_wait ? 1 : 0);
  writer.Int(status.steps);
  writer.Int(static_cast<int64_t>(status.collectives.size()));
  for (const ProcessStatus::Collective& collective : status.collectives) {
    writer.Int(collective.instruction);
    writer.Int(collective.first);
    writer.Int(static_cast<int64_t>(collective.ranks.size()));
    for (const int32_t rank : collective.ranks) writer.Int(rank);
  }
  writer.Text(status.text);
  return writer.Take();
}

ProcessStatus ReadStatus(MessageReader& reader) {
  ProcessStatus status;
  status.run = reader.Int();
  status.in_run = reader.Int() != 0;
  status.all_wait = reader.Int() != 0;
  status.steps = reader.Int();
  status.collectives.resize(static_cast<size_t>(reader.Int()));
  for (ProcessStatus::Collective& collective : status.collectives) {
    collective.instruction = reader.Int();
    collective.first = reader.Int();
    collective.ranks.resize(static_cast<size_t>(reader.Int()));
    for (int32_t& rank : collective.ranks) rank = static_cast<int32_t>(reader.Int());
  }
  status.text = reader.Text();
  return status;
}

bool WaitsAt(const ProcessStatus& status, const ProcessStatus::Collective& collective) {
  return std::any_of(status.collectives.begin(), status.collectives.end(), [&](const auto& own) {
    return own.instruction == collective.instruction && own.first == collective.first;
  });
}

// The other processes of the collectives where it waits: " with ranks 0, 2".
std::string PartnersText(const ProcessStatus& status, int own) {
  constexpr size_t kMaxNamed = 16;
  std::set<int32_t> ranks;
  for (const ProcessStatus::Collective& collective : status.collectives)
    ranks.insert(collective.ranks.begin(), collective.ranks.end());
  ranks.erase(own);
  std::string text;
  for (const int32_t rank : ranks) {
    if (ranks.size() > kMaxNamed) return " with " + std::to_string(ranks.size()) + " other ranks";
    text += (text.empty() ? ranks.size() > 1 ? " with ranks " : " with rank " : ", ") +
            std::to_string(rank);
  }
  return text;
}

// Whether the process at `status` will never come to a collective of run `run`.
bool NeverComes(const ProcessStatus& status, int64_t run,
                const ProcessStatus::Collective& collective) {
  if (status.run > run || (status.run == run && !status.in_run)) return true;
  return status.run == run && status.all_wait && !WaitsAt(status, collective);
}

std::string SecondsText(double seconds) {
  char text[32];
  snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

// What a process said of itself.
std::string DoingText(const ProcessStatus& status) {
  if (status.run < 0) return "has run nothing yet";
  if (!status.in_run) return "has ended its run";
  return status.text;
}

}  // namespace

std::string FindDeadlock(const std::vector<ProcessStatus>& by_rank) {
  bool any_waits = false;
  for (const ProcessStatus& status : by_rank) {
    if (status.run < 0 || (status.in_run && !status.all_wait)) return "";
    if (!status.in_run) continue;
    any_waits = true;
    for (const ProcessStatus::Collective& collective : status.collectives)
      if (std::none_of(collective.ranks.begin(), collective.ranks.end(), [&](int32_t rank) {
            return NeverComes(by_rank[static_cast<size_t>(rank)], status.run, collective);
          }))
        return "";
  }
  if (!any_waits) return "";
  std::string text;
  for (size_t rank = 0; rank < by_rank.size(); ++rank)
    text +=
        (rank > 0 ? "; rank " : "rank ") + std::to_string(rank) + ": " + DoingText(by_rank[rank]);
  return text;
}

std::string FindSlow(const std::vector<ProcessStatus>& by_rank, size_t waiting) {
  const ProcessStatus& own = by_rank[waiting];
  std::string text;
  if (!own.in_run || !own.all_wait) return text;
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    const ProcessStatus& other = by_rank[rank];
    const bool is_late =
        std::any_of(own.collectives.begin(), own.collectives.end(), [&](const auto& collective) {
          const auto& ranks = collective.ranks;
          return std::find(ranks.begin(), ranks.end(), static_cast<int32_t>(rank)) != ranks.end() &&
                 (other.run < own.run || (other.run == own.run && !WaitsAt(other, collective)));
        });
    if (!is_late || rank == waiting) continue;
    text += text.empty() ? "rank " + std::to_string(waiting) + " (" + own.text + ") waits for rank "
                         : ", rank ";
    text += std::to_string(rank) + " (" + DoingText(other) + ")";
  }
  return text;
}

ProcessGroup::ProcessGroup(std::unique_ptr<Transport> transport, Options options)
    : transport_(std::move(transport)), options_(std::move(options)) {
  peers_.resize(static_cast<size_t>(transport_->size()));
  for (Peer& peer : peers_) peer.heard = Clock::now();
  if (!thread_.Start([this] { Serve(); })) StopHere("the system starts no thread");
}

ProcessGroup::~ProcessGroup() {
  ending_.store(true, std::memory_order_release);
  thread_.Join();
}

std::string ProcessGroup::reason() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return reason_;
}

std::optional<std::vector<std::string>> ProcessGroup::AllGather(const std::string& own) {
  int64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    number = gathers_++;
    gathered_[{number, rank()}] = own;
  }
  MessageWriter writer = Begin(kGather);
  writer.Int(number);
  writer.Text(own);
  const std::vector<char> message = writer.Take();
  for (int other = 0; other < size(); ++other)
    if (other != rank()) transport_->Post(other, message);
  while (!aborted()) {
    Progress();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto begin = gathered_.lower_bound({number, 0});
      const auto end = gathered_.lower_bound({number + 1, 0});
      if (std::distance(begin, end) == size()) {
        std::vector<std::string> all;
        for (auto it = begin; it != end; ++it) all.push_back(std::move(it->second));
        gathered_.erase(begin, end);
        return all;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return std::nullopt;
}

void ProcessGroup::Abort(const std::string& reason) {
  MessageWriter writer = Begin(kAbort);
  writer.Text(reason);
  const std::vector<char> message = writer.Take();
  for (int other = 0; other < size(); ++other)
    if (other != rank()) transport_->Post(other, message);
  StopHere(reason);
}

void ProcessGroup::StopHere(const std::string& reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (aborted()) return;
  reason_ = reason;
  aborted_.store(true, std::memory_order_release);
  if (client_ != nullptr) client_->Stop(reason);
}

void ProcessGroup::DeadlockHere(int64_t run, const std::string& text) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (client_ != nullptr && run_ == run) client_->DeclareDeadlock(text);
}

int64_t ProcessGroup::Enter(ProcessGroupClient& client) {
  std::lock_guard<std::mutex> lock(mutex_);
  client_ = &client;
  ++run_;
  if (aborted()) client.Stop(reason_);
  DeliverTo(client);
  return run_;
}

void ProcessGroup::Leave() {
  std::lock_guard<std::mutex> lock(mutex_);
  client_ = nullptr;
}

void ProcessGroup::DeliverTo(ProcessGroupClient& client) {
  std::vector<Message> later;
  for (Message& message : undelivered_)
    if (message.run == run_)
      client.Deliver(message.channel, message.target, std::move(message.arrays));
    else if (message.run > run_)
      later.push_back(std::move(message));
  undelivered_ = std::move(later);
}

void ProcessGroup::PostMessage(int rank, int64_t run, int64_t channel, int64_t target,
                               const std::vector<std::vector<char>>& arrays) {
  MessageWriter writer = Begin(kDeviceMessage);
  writer.Int(run);
  writer.Int(channel);
  writer.Int(target);
  writer.Int(static_cast<int64_t>(arrays.size()));
  for (const std::vector<char>& array : arrays) writer.Bytes(array.data(), array.size());
  transport_->Post(rank, writer.Take());
}

void ProcessGroup::Progress() {
  const std::unique_lock<std::mutex> one(progress_, std::try_to_lock);
  if (!one.owns_lock()) return;
  int source = 0;
  std::vector<char> message;
  while (transport_->Poll(source, message)) Dispatch(source, message);
}

void ProcessGroup::Dispatch(int source, const std::vector<char>& bytes) {
  MessageReader reader(bytes);
  const int64_t kind = reader.Int();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    peers_[static_cast<size_t>(source)].heard = Clock::now();
  }
  if (kind == kStatus) return TakeStatus(source, ReadStatus(reader));
  if (kind == kAbort) return StopHere(reader.Text());
  const int64_t number = reader.Int();
  if (kind == kDeadlock) return DeadlockHere(number, reader.Text());
  std::lock_guard<std::mutex> lock(mutex_);
  if (kind == kGather) gathered_[{number, source}] = reader.Text();
  if (kind != kDeviceMessage) return;
  Message message{number, reader.Int(), reader.Int(), {}};
  message.arrays.resize(static_cast<size_t>(reader.Int()));
  for (std::vector<char>& array : message.arrays) array = reader.Bytes();
  undelivered_.push_back(std::move(message));
  if (client_ != nullptr) DeliverTo(*client_);
}

void ProcessGroup::TakeStatus(int source, ProcessStatus status) {
  std::lock_guard<std::mutex> lock(mutex_);
  Peer& peer = peers_[static_cast<size_t>(source)];
  const bool same = status.run == peer.status.run && status.in_run == peer.status.in_run &&
                    status.all_wait == peer.status.all_wait && status.steps == peer.status.steps;
  peer.unchanged = same ? peer.unchanged + 1 : 0;
  peer.status = std::move(status);
}

// Who is silent, what it did last, and what waits for it here.
std::string ProcessGroup::SilenceText(size_t rank) const {
  const auto own = static_cast<size_t>(this->rank());
  std::string text = "rank " + std::to_string(rank) + " has been silent for more than " +
                     SecondsText(options_.timeout_s);
  if (const ProcessStatus& last = peers_[rank].status; last.run >= 0)
    text += "; it said last: " + DoingText(last);
  if (client_ != nullptr)
    text += "; rank " + std::to_string(own) + ": " + DoingText(peers_[own].status);
  return text;
}

// Rank 0 tells the others too, so that they know that it lives, and what it did last.
void ProcessGroup::Report() {
  ProcessStatus status;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (client_ != nullptr) status = client_->Status();
    status.run = run_;
    status.in_run = client_ != nullptr;
  }
  if (options_.on_status)
    options_.on_status("rank " + std::to_string(rank()) + ": " + DoingText(status) +
                       PartnersText(status, rank()));
  const std::vector<char> message = StatusMessage(status);
  TakeStatus(rank(), std::move(status));
  if (rank() != 0) return transport_->Post(0, message);
  for (int other = 1; other < size(); ++other) transport_->Post(other, message);
}

// Whoever has waited for `slow_reports` reports is told of once.
void ProcessGroup::Watch() {
  const int slow_reports =
      1 + static_cast<int>(options_.timeout_s / 2 /
                           std::chrono::duration<double>(kReportInterval).count());
  std::string silent, deadlock, slow;
  int64_t run = -1;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto now = Clock::now();
    peers_[static_cast<size_t>(rank())].heard = now;
    for (size_t other = 0; other < peers_.size(); ++other) {
      const double seconds = std::chrono::duration<double>(now - peers_[other].heard).count();
      if ((rank() == 0 || other == 0) && seconds > options_.timeout_s && silent.empty())
        silent = SilenceText(other);
    }
    const bool settled = std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
      return peer.unchanged >= kSameReports;
    });
    std::vector<ProcessStatus> by_rank;
    for (const Peer& peer : peers_) {
      by_rank.push_back(peer.status);
      if (peer.status.in_run) run = std::max(run, peer.status.run);
    }
    if (rank() == 0 && settled) deadlock = FindDeadlock(by_rank);
    if (rank() == 0 && options_.on_slow && deadlock.empty())
      for (size_t other = 0; other < peers_.size() && slow.empty(); ++other)
        if (peers_[other].unchanged == slow_reports) slow = FindSlow(by_rank, other);
  }
  if (!slow.empty())
    options_.on_slow(slow + ", for more than " + SecondsText(options_.timeout_s / 2));
  if (!silent.empty()) Abort(silent);
  if (deadlock.empty()) return;
  MessageWriter writer = Begin(kDeadlock);
  writer.Int(run);
  writer.Text(deadlock);
  const std::vector<char> message = writer.Take();
  for (int other = 1; other < size(); ++other) transport_->Post(other, message);
  DeadlockHere(run, deadlock);
}

void ProcessGroup::Serve() {
  auto next = Clock::now();
  while (!ending_.load(std::memory_order_acquire)) {
    Progress();
    if (Clock::now() >= next) {
      next = Clock::now() + kReportInterval;
      if (const std::string error = transport_->Error(); !error.empty() && !aborted()) Abort(error);
      Report();
      Watch();
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
