// Short messages between processes of one machine, through memory that both have mapped: a third of
// the time that an MPI library takes for them.
#pragma once

#include <stdint.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace hlokit {

// Streams of messages by tag, as Transport's: what is sent with one tag to one process is received
// in that order, and both sides know its size. From any thread; nothing blocks.
class SharedRings {
 public:
  // Longer messages go another way.
  static constexpr int64_t kMaxBytes = int64_t{16} << 10;

  // A send or a receive under way; it stays where it is until Test has said that it is done, or it
  // was abandoned.
  struct Request {
    int peer = 0, tag = 0;
    const void* from = nullptr;  // of a send
    void* to = nullptr;          // of a receive
    int64_t bytes = 0;
    std::atomic<bool> done{false};
  };

  // What each of `processes` has mapped for messages to it.
  static int64_t InboxBytes(int processes);
  // `inboxes`: by process of this machine, of which this is number `own`. Nobody sends before all
  // processes have come so far.
  SharedRings(int own, const std::vector<char*>& inboxes);
  ~SharedRings();
  SharedRings(const SharedRings&) = delete;
  SharedRings& operator=(const SharedRings&) = delete;

  void Send(Request& request);
  void Receive(Request& request);
  bool Test(Request& request);
  void Abandon(Request& request);

  // Whether a message came that was not of its receiver's size.
  bool mismatched() const { return mismatched_.load(); }

 private:
  struct Ring;
  struct Peer;

  static Ring* RingOf(char* inbox, int sender);
  void Flush(Peer& peer);
  void Drain(Peer& peer);
  void Take(Peer& peer, int tag, const char* bytes, int64_t size);
  void Give(Request& request, const char* bytes, int64_t size);

  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<bool> mismatched_{false};
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
