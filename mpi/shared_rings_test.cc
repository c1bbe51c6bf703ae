// Rings between threads that stand for processes: every message once, whole and in its tag's order,
// whatever waits, wraps or overflows.
#include "mpi/shared_rings.h"

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <thread>

namespace hlokit {
namespace {

// The inboxes of some processes, and the rings of each.
struct Machine {
  explicit Machine(int processes) {
    const auto bytes = static_cast<size_t>(SharedRings::InboxBytes(processes));
    for (int k = 0; k < processes; ++k)
      inboxes.push_back(static_cast<char*>(std::aligned_alloc(64, bytes)));
    for (int k = 0; k < processes; ++k) rings.push_back(std::make_unique<SharedRings>(k, inboxes));
  }
  ~Machine() {
    for (char* inbox : inboxes) std::free(inbox);
  }
  std::vector<char*> inboxes;
  std::vector<std::unique_ptr<SharedRings>> rings;
};

struct Sent {
  Sent(SharedRings& rings, int target, int tag, const std::vector<char>& bytes) {
    request.peer = target;
    request.tag = tag;
    request.from = bytes.data();
    request.bytes = static_cast<int64_t>(bytes.size());
    rings.Send(request);
  }
  SharedRings::Request request;
};

struct Received {
  Received(SharedRings& rings, int source, int tag, size_t size) : bytes(size) {
    request.peer = source;
    request.tag = tag;
    request.to = bytes.data();
    request.bytes = static_cast<int64_t>(size);
    rings.Receive(request);
  }
  std::vector<char> bytes;
  SharedRings::Request request;
};

std::vector<char> Message(int number, size_t size) {
  std::vector<char> bytes(size);
  for (size_t k = 0; k < size; ++k) bytes[k] = static_cast<char>(31 * number + static_cast<int>(k));
  return bytes;
}

TEST(SharedRings, TagsDoNotStandInEachOthersWay) {
  Machine machine(2);
  SharedRings &a = *machine.rings[0], &b = *machine.rings[1];
  const std::vector<char> first = Message(1, 5), second = Message(2, 8), third = Message(3, 1);
  Sent one(a, 1, 7, first), two(a, 1, 9, second), three(a, 1, 7, third);
  for (Sent* sent : {&one, &two, &three}) EXPECT_TRUE(a.Test(sent->request));
  Received of_nine(b, 0, 9, 8);
  EXPECT_TRUE(b.Test(of_nine.request));
  EXPECT_EQ(of_nine.bytes, second);
  Received of_seven(b, 0, 7, 5), next_of_seven(b, 0, 7, 1);
  EXPECT_TRUE(b.Test(next_of_seven.request));
  EXPECT_TRUE(b.Test(of_seven.request));
  EXPECT_EQ(of_seven.bytes, first);
  EXPECT_EQ(next_of_seven.bytes, third);
  EXPECT_FALSE(b.mismatched());
}

// Sends that find no room are done once somebody has received, in their order.
TEST(SharedRings, AFullRingKeepsTheOrder) {
  Machine machine(2);
  SharedRings &a = *machine.rings[0], &b = *machine.rings[1];
  constexpr int kMessages = 40;
  std::vector<std::vector<char>> messages;
  std::vector<std::unique_ptr<Sent>> sends;
  for (int k = 0; k < kMessages; ++k)
    messages.push_back(
        Message(k, static_cast<size_t>(k % 3 == 0 ? SharedRings::kMaxBytes : 4000 + k)));
  for (const auto& message : messages) sends.push_back(std::make_unique<Sent>(a, 1, 0, message));
  EXPECT_FALSE(a.Test(sends.back()->request));
  for (const auto& message : messages) {
    Received received(b, 0, 0, message.size());
    while (!b.Test(received.request)) a.Test(sends.back()->request);
    EXPECT_EQ(received.bytes, message);
  }
  EXPECT_TRUE(a.Test(sends.back()->request));
}

TEST(SharedRings, WhatIsAbandonedIsNeitherSentNorAwaited) {
  Machine machine(2);
  SharedRings &a = *machine.rings[0], &b = *machine.rings[1];
  Received given_up(b, 0, 3, 4);
  b.Abandon(given_up.request);
  const std::vector<char> message = Message(1, 4);
  Sent sent(a, 1, 3, message);
  Received received(b, 0, 3, 4);
  EXPECT_TRUE(b.Test(received.request));
  EXPECT_EQ(received.bytes, message);
  EXPECT_EQ(given_up.bytes, std::vector<char>(4));
}

TEST(SharedRings, OtherSizesAreNoticed) {
  Machine machine(2);
  const std::vector<char> message = Message(1, 12);
  Sent sent(*machine.rings[1], 0, 3, message);
  Received received(*machine.rings[0], 1, 3, 8);
  EXPECT_TRUE(machine.rings[0]->Test(received.request));
  EXPECT_TRUE(machine.rings[0]->mismatched());
  EXPECT_TRUE(std::equal(received.bytes.begin(), received.bytes.end(), message.begin()));
}

// Three processes of two threads each; every thread sends to all others with a tag of its own.
TEST(SharedRings, ManyThreadsAtOnce) {
  constexpr int kProcesses = 3, kThreads = 2, kRounds = 300;
  Machine machine(kProcesses);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int process = 0; process < kProcesses; ++process)
    for (int tag = 0; tag < kThreads; ++tag)
      threads.emplace_back([&machine, &wrong, process, tag] {
        SharedRings& rings = *machine.rings[static_cast<size_t>(process)];
        std::mt19937 random(static_cast<unsigned>(tag));  // the same sizes in all processes
        for (int round = 0; round < kRounds; ++round) {
          const size_t size = random() % (SharedRings::kMaxBytes + 1);
          const std::vector<char> own = Message(process + round, size);
          std::vector<std::unique_ptr<Sent>> sent;
          std::vector<std::unique_ptr<Received>> received;
          for (int other = 0; other < kProcesses; ++other) {
            if (other == process) continue;
            received.push_back(std::make_unique<Received>(rings, other, tag, size));
            sent.push_back(std::make_unique<Sent>(rings, other, tag, own));
          }
          for (const auto& r : received) {
            while (!rings.Test(r->request)) std::this_thread::yield();
            if (r->bytes != Message(r->request.peer + round, size)) ++wrong;
          }
          for (const auto& s : sent)
            while (!rings.Test(s->request)) std::this_thread::yield();
        }
      });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
