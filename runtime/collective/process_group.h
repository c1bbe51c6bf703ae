// The processes of a job, as one of them sees the others: who is alive, what all have agreed on,
// and why all must stop.
//
// Every process has a thread that looks for messages and tells rank 0 twice a second what its
// devices wait for. Rank 0 ends the job where a process is silent for too long, and declares a
// deadlock where every device waits in a collective to which some member's process will never come.
// So a wait ends within seconds, with the reason, whatever became of the others. A process that is
// slow but alive is waited for, and named.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/collective/transport.h"
#include "support/threads.h"

namespace hlokit {

// What a process tells rank 0 about its devices.
struct ProcessStatus {
  int64_t run = -1;  // the run that its communicator serves, or served last; -1: none yet
  bool in_run = false;
  bool all_wait = false;
  int64_t steps = 0;  // grows with each wait that has ended
  // Collectives in which devices wait for other processes: instruction, first device of the group,
  // and the ranks that take part.
  struct Collective {
    int64_t instruction = 0, first = 0;
    std::vector<int32_t> ranks;
  };
  std::vector<Collective> collectives;
  std::string text;
};

// A communicator, as its group sees it. Called from any thread.
class ProcessGroupClient {
 public:
  virtual ~ProcessGroupClient() = default;
  virtual ProcessStatus Status() = 0;
  virtual void Stop(const std::string& reason) = 0;
  virtual void DeclareDeadlock(const std::string& text) = 0;
  // A message of another process's device.
  virtual void Deliver(int64_t channel, int64_t target, std::vector<std::vector<char>> arrays) = 0;
};

class ProcessGroup {
 public:
  struct Options {
    double timeout_s = 60;  // how long a process may be silent
    // Called by the thread: a line about processes that others have waited for longer than half the
    // timeout, on rank 0; what this process does, twice a second. May be empty.
    std::function<void(const std::string&)> on_slow, on_status;
  };

  // Starts the thread.
  ProcessGroup(std::unique_ptr<Transport> transport, Options options);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  Transport& transport() { return *transport_; }

  // Gives `own` to all processes and waits for theirs, by rank. All must call it equally often.
  // Nothing where the job was stopped.
  std::optional<std::vector<std::string>> AllGather(const std::string& own);

  // Stops all processes, soon: waits end with `reason`. The first reason counts.
  void Abort(const std::string& reason);
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }
  std::string reason() const;

  // A communicator begins and ends its run; returns the run's number, the same in all processes.
  int64_t Enter(ProcessGroupClient& client);
  void Leave();
  // A message to a device of another process.
  void PostMessage(int rank, int64_t run, int64_t channel, int64_t target,
                   const std::vector<std::vector<char>>& arrays);
  // Reads the messages that have come. The thread does so too, but less often than one who waits.
  void Progress();

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    Clock::time_point heard;
    ProcessStatus status;
    int unchanged = 0;  // reports in a row that say the same
  };
  struct Message {
    int64_t run, channel, target;
    std::vector<std::vector<char>> arrays;
  };

  void Serve();
  void Dispatch(int source, const std::vector<char>& message);
  void DeliverTo(ProcessGroupClient& client);
  void Report();
  void Watch();
  void TakeStatus(int source, ProcessStatus status);
  std::string SilenceText(size_t rank) const;
  void StopHere(const std::string& reason);
  void DeadlockHere(int64_t run, const std::string& text);

  const std::unique_ptr<Transport> transport_;
  const Options options_;
  std::mutex progress_;       // one thread reads messages at a time
  mutable std::mutex mutex_;  // all that follows
  ProcessGroupClient* client_ = nullptr;
  int64_t run_ = -1;
  std::vector<Message> undelivered_;                         // of runs that have not begun here
  std::map<std::pair<int64_t, int>, std::string> gathered_;  // by number of the call and rank
  int64_t gathers_ = 0;
  std::vector<Peer> peers_;  // by rank; of rank 0 alone, others know rank 0
  std::string reason_;
  std::atomic<bool> aborted_{false}, ending_{false};
  ThreadTeam thread_;
};

// Where every device of all processes waits and none can go on: who waits where. Empty where some
// may go on. `by_rank`: what each process said last.
std::string FindDeadlock(const std::vector<ProcessStatus>& by_rank);
// Which processes `waiting`, all of whose devices wait, waits for because they have not come to its
// collectives; empty where all have come, or none is waited for.
std::string FindSlow(const std::vector<ProcessStatus>& by_rank, size_t waiting);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
