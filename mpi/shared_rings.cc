// A ring for each pair of processes and each direction, in the receiver's inbox. The sender alone
// moves `written`, the receiver alone `read`; both only grow, and their places in the ring are
// their remainders. A message lies in one piece: where too little is left before the ring's end, a
// mark says so and the message begins at the start.
//   | tag 7, 4 bytes | abcd | tag 9, 2 bytes | ef...... | (free) ...
//   ^ read                                              ^ written
// A send costs one copy into the ring, a receive one out of it. What does not fit waits, in order,
// until somebody tests a send to that process; what nobody waits for yet is taken out and kept by
// tag, so that no tag stands in another's way.
#include "mpi/shared_rings.h"

#include <string.h>

#include <algorithm>

namespace hlokit {
namespace {

constexpr uint64_t kRingSize = uint64_t{64} << 10;
constexpr int kToEnd = -1;  // the tag of a mark: the next message is at the ring's start

struct MessageHead {
  int32_t tag, bytes;
};

uint64_t Padded(int64_t bytes) {
  constexpr uint64_t kUnit = sizeof(MessageHead);
  return sizeof(MessageHead) + (static_cast<uint64_t>(bytes) + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

struct SharedRings::Ring {
  // On cache lines of their own, as two cores write them.
  alignas(64) std::atomic<uint64_t> written;
  alignas(64) std::atomic<uint64_t> read;
  alignas(64) char bytes[kRingSize];
};

// Another process: what goes there, and what comes from there.
struct SharedRings::Peer {
  std::mutex sending;
  Ring* out = nullptr;
  uint64_t out_read = 0;  // how far the receiver had read when this last looked
  std::deque<Request*> unsent;

  std::mutex receiving;
  Ring* in = nullptr;
  std::deque<Request*> awaited;                           // in the order in which they were started
  std::map<int, std::deque<std::vector<char>>> unwanted;  // by tag
};

int64_t SharedRings::InboxBytes(int processes) {
  static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(Ring) % 64 == 0);
  return static_cast<int64_t>(sizeof(Ring)) * processes;
}

SharedRings::Ring* SharedRings::RingOf(char* inbox, int sender) {
  return reinterpret_cast<Ring*>(inbox) + sender;
}

SharedRings::SharedRings(int own, const std::vector<char*>& inboxes) {
  for (size_t other = 0; other < inboxes.size(); ++other) {
    peers_.push_back(std::make_unique<Peer>());
    peers_.back()->out = RingOf(inboxes[other], own);
    peers_.back()->in = RingOf(inboxes[static_cast<size_t>(own)], static_cast<int>(other));
    peers_.back()->in->written.store(0);
    peers_.back()->in->read.store(0);
  }
}

SharedRings::~SharedRings() = default;

void SharedRings::Send(Request& request) {
  Peer& peer = *peers_[static_cast<size_t>(request.peer)];
  std::lock_guard<std::mutex> lock(peer.sending);
  peer.unsent.push_back(&request);
  Flush(peer);
}

void SharedRings::Receive(Request& request) {
  Peer& peer = *peers_[static_cast<size_t>(request.peer)];
  std::lock_guard<std::mutex> lock(peer.receiving);
  if (const auto kept = peer.unwanted.find(request.tag); kept != peer.unwanted.end()) {
    Give(request, kept->second.front().data(), static_cast<int64_t>(kept->second.front().size()));
    kept->second.pop_front();
    if (kept->second.empty()) peer.unwanted.erase(kept);
    return;
  }
  peer.awaited.push_back(&request);
}

bool SharedRings::Test(Request& request) {
  if (request.done.load(std::memory_order_acquire)) return true;
  Peer& peer = *peers_[static_cast<size_t>(request.peer)];
  if (request.from != nullptr) {
    std::lock_guard<std::mutex> lock(peer.sending);
    Flush(peer);
  } else {
    if (peer.in->written.load(std::memory_order_acquire) ==
        peer.in->read.load(std::memory_order_relaxed))
      return request.done.load(std::memory_order_acquire);
    std::lock_guard<std::mutex> lock(peer.receiving);
    Drain(peer);
  }
  return request.done.load(std::memory_order_acquire);
}

void SharedRings::Abandon(Request& request) {
  Peer& peer = *peers_[static_cast<size_t>(request.peer)];
  const std::scoped_lock lock(peer.sending, peer.receiving);
  std::erase(peer.unsent, &request);
  std::erase(peer.awaited, &request);
}

// Writes what waits to be sent, as far as there is room.
void SharedRings::Flush(Peer& peer) {
  Ring& ring = *peer.out;
  uint64_t at = ring.written.load(std::memory_order_relaxed);
  while (!peer.unsent.empty()) {
    Request& request = *peer.unsent.front();
    const uint64_t size = Padded(request.bytes), left = kRingSize - at % kRingSize;
    const uint64_t skipped = left < size ? left : 0;
    const uint64_t end = at + skipped + size;
    if (end - peer.out_read > kRingSize) {  // the receiver's cache line, so only where it must be
      peer.out_read = ring.read.load(std::memory_order_acquire);
      if (end - peer.out_read > kRingSize) break;
    }
    if (skipped > 0) {
      const MessageHead mark{kToEnd, 0};
      memcpy(ring.bytes + at % kRingSize, &mark, sizeof mark);
      at += skipped;
    }
    const MessageHead head{request.tag, static_cast<int32_t>(request.bytes)};
    char* const into = ring.bytes + at % kRingSize;
    memcpy(into, &head, sizeof head);
    memcpy(into + sizeof head, request.from, static_cast<size_t>(request.bytes));
    at += size;
    ring.written.store(at, std::memory_order_release);
    peer.unsent.pop_front();
    request.done.store(true, std::memory_order_release);
  }
}

// Hands out what has come.
void SharedRings::Drain(Peer& peer) {
  Ring& ring = *peer.in;
  uint64_t at = ring.read.load(std::memory_order_relaxed);
  const uint64_t end = ring.written.load(std::memory_order_acquire);
  while (at != end) {
    MessageHead head;
    const char* const from = ring.bytes + at % kRingSize;
    memcpy(&head, from, sizeof head);
    if (head.tag == kToEnd) {
      at += kRingSize - at % kRingSize;
      continue;
    }
    Take(peer, head.tag, from + sizeof head, head.bytes);
    at += Padded(head.bytes);
  }
  ring.read.store(at, std::memory_order_release);
}

void SharedRings::Take(Peer& peer, int tag, const char* bytes, int64_t size) {
  const auto it = std::find_if(peer.awaited.begin(), peer.awaited.end(),
                               [&](const Request* request) { return request->tag == tag; });
  if (it == peer.awaited.end()) {
    peer.unwanted[tag].emplace_back(bytes, bytes + size);
    return;
  }
  Request& request = **it;
  peer.awaited.erase(it);
  Give(request, bytes, size);
}

void SharedRings::Give(Request& request, const char* bytes, int64_t size) {
  if (size != request.bytes) mismatched_.store(true);
  memcpy(request.to, bytes, static_cast<size_t>(std::min(size, request.bytes)));
  request.done.store(true, std::memory_order_release);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
