// Devices that meet, send and receive, and what ends those that wait in vain.
#include "support/rendezvous.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

using End = Rendezvous::End;
using IntMeetings = Meetings<int, int64_t>;

// What the last one to come does for all: nothing, each does its share.
const auto kEachItself = [](const IntMeetings::Meeting&) { return false; };

// Calls work(device) on a thread each. (RunTogether would read HLOKIT_TEST_THREADS before the tests
// that set it.)
template <typename Work>
void OnThreads(int64_t count, const Work& work) {
  std::vector<std::thread> threads;
  for (int64_t device = 0; device < count; ++device)
    threads.emplace_back([&work, device] { work(device); });
  for (std::thread& thread : threads) thread.join();
}

// The same, then Leave; `work` says whether the device did well.
template <typename Work>
void OnDevices(int64_t count, Rendezvous& devices, const Work& work) {
  OnThreads(count, [&](int64_t device) { devices.Leave(device, !work(device)); });
}

TEST(RendezvousTest, AllReadWhatEachBroughtUntilAllPart) {
  constexpr int64_t kDevices = 4;
  constexpr int kRounds = 200;
  Rendezvous devices(kDevices);
  IntMeetings meetings(devices);
  std::atomic<int> wrong = 0;
  OnDevices(kDevices, devices, [&](int64_t device) {
    for (int round = 0; round < kRounds; ++round) {
      int64_t own = device + round;
      std::shared_ptr<IntMeetings::Meeting> meeting;
      const End end = meetings.Meet({device, "a sum"}, 0, kDevices, static_cast<size_t>(device),
                                    own, meeting, kEachItself);
      if (end != End::kNone) return false;
      int64_t sum = 0;
      for (const int64_t* contribution : meeting->contributions) sum += *contribution;
      if (sum != 6 + 4 * round || meeting->last >= kDevices) ++wrong;
      meetings.Part(*meeting);
      own = -1;
    }
    return true;
  });
  EXPECT_EQ(wrong, 0);
}

// The last one's work for all is done before anybody goes on, and nobody parts.
TEST(RendezvousTest, TheLastOneWorksForAll) {
  constexpr int64_t kDevices = 4;
  constexpr int kRounds = 200;
  Rendezvous devices(kDevices);
  IntMeetings meetings(devices);
  std::atomic<int> calls = 0, wrong = 0;
  const auto sum_for_all = [&](const IntMeetings::Meeting& meeting) {
    ++calls;
    int64_t sum = 0;
    for (const int64_t* contribution : meeting.contributions) sum += *contribution;
    for (int64_t* contribution : meeting.contributions) *contribution = sum;
    return true;
  };
  OnDevices(kDevices, devices, [&](int64_t device) {
    for (int round = 0; round < kRounds; ++round) {
      int64_t own = device + round;
      std::shared_ptr<IntMeetings::Meeting> meeting;
      if (meetings.Meet({device, "a sum"}, round % 2, kDevices, static_cast<size_t>(device), own,
                        meeting, sum_for_all) != End::kNone)
        return false;
      if (own != 6 + 4 * round || !meeting->is_over) ++wrong;
    }
    return true;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(calls, kRounds);
}

// A run that is cancelled while the last one works for all: members that came do not leave, since
// their arrays are in use.
TEST(RendezvousTest, NobodyLeavesWhileTheLastOneWorks) {
  Rendezvous devices(3);
  IntMeetings meetings(devices);
  std::atomic<bool> works = false;
  std::atomic<int> early = 0, done = 0;
  const auto work_while_stopped = [&](const IntMeetings::Meeting&) {
    works = true;
    devices.Stop("enough");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    works = false;
    return true;
  };
  const auto ask = [](const void*) -> int32_t { return 1; };
  OnThreads(2, [&](int64_t device) {
    int64_t own = 0;
    std::shared_ptr<IntMeetings::Meeting> meeting;
    Rendezvous::Waiter waiter{device, "all-reduce %x"};
    const End end =
        meetings.Meet(waiter, 0, 2, static_cast<size_t>(device), own, meeting, work_while_stopped);
    if (works) ++early;
    if (end == End::kNone) ++done;
    waiter = {device, "all-reduce %y", 1, ask, nullptr};
    EXPECT_EQ(meetings.Meet(waiter, 1, 2, static_cast<size_t>(device), own, meeting, kEachItself),
              End::kStopped);
  });
  EXPECT_EQ(early, 0);
  EXPECT_EQ(done, 2);
}

TEST(RendezvousTest, GroupsMeetApart) {
  Rendezvous devices(4);
  IntMeetings meetings(devices);
  std::atomic<int> right = 0;
  OnDevices(4, devices, [&](int64_t device) {
    int64_t own = device;
    std::shared_ptr<IntMeetings::Meeting> meeting;
    const auto place = static_cast<size_t>(device / 2);
    const int group = static_cast<int>(device % 2);
    if (meetings.Meet({device, "pairs"}, group, 2, place, own, meeting, kEachItself) != End::kNone)
      return false;
    if (*meeting->contributions[1 - place] == (device + 2) % 4) ++right;
    meetings.Part(*meeting);
    return true;
  });
  EXPECT_EQ(right, 4);
}

TEST(RendezvousTest, EveryDeviceHearsOfTheSameDeadlock) {
  Rendezvous devices(3);
  IntMeetings meetings(devices);
  Mailboxes<int> mailboxes(devices);
  std::vector<std::string> texts(3);
  const char* const places[] = {"all-reduce %x", "recv %y", "all-gather %z"};
  OnDevices(3, devices, [&](int64_t device) {
    const auto d = static_cast<size_t>(device);
    const Rendezvous::Waiter waiter{device, places[d], 10 + device};
    int64_t own = 0;
    int message = 0;
    std::shared_ptr<IntMeetings::Meeting> meeting;
    const End end = device == 1 ? mailboxes.Receive(waiter, 7, 1, message)
                                : meetings.Meet(waiter, static_cast<int>(device), 2, 0, own,
                                                meeting, kEachItself);
    texts[d] = devices.Text(end, waiter);
    EXPECT_EQ(end, End::kDeadlock);
    EXPECT_EQ(meeting, nullptr);
    return false;
  });
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(texts[d],
              "devices wait for one another for ever: device 0 at all-reduce %x, device 1 at recv "
              "%y, device 2 at all-gather %z");
    EXPECT_EQ(devices.end(static_cast<int64_t>(d)), End::kDeadlock);
    EXPECT_EQ(devices.ended_at(static_cast<int64_t>(d)), 10 + static_cast<int64_t>(d));
  }
}

TEST(RendezvousTest, WhoHasEndedIsNamed) {
  Rendezvous devices(2);
  Mailboxes<int> mailboxes(devices);
  devices.Leave(0, false);
  int message = 0;
  const Rendezvous::Waiter waiter{1, "recv %x"};
  const End end = mailboxes.Receive(waiter, 0, 1, message);
  EXPECT_EQ(devices.Text(end, waiter),
            "devices wait for one another for ever: device 0 has ended, device 1 at recv %x");
}

TEST(RendezvousTest, OfManyDevicesSixteenAreNamed) {
  Rendezvous devices(20);
  Mailboxes<int> mailboxes(devices);
  for (int64_t device = 0; device < 19; ++device) devices.Leave(device, false);
  int message = 0;
  const Rendezvous::Waiter waiter{19, "recv %x"};
  const std::string text = devices.Text(mailboxes.Receive(waiter, 0, 19, message), waiter);
  EXPECT_NE(text.find("device 15 has ended, ..."), std::string::npos) << text;
}

TEST(RendezvousTest, AFailureStopsThoseWhoWaitAndWhoCome) {
  Rendezvous devices(3);
  IntMeetings meetings(devices);
  std::atomic<int> stopped = 0;
  OnDevices(3, devices, [&](int64_t device) {
    if (device == 0) return false;
    int64_t own = 0;
    std::shared_ptr<IntMeetings::Meeting> meeting;
    const Rendezvous::Waiter waiter{device, "all-reduce %x"};
    const End end =
        meetings.Meet(waiter, 0, 3, static_cast<size_t>(device), own, meeting, kEachItself);
    if (devices.Text(end, waiter) == "stopped with the other devices at all-reduce %x") ++stopped;
    return end == End::kNone;
  });
  EXPECT_EQ(stopped, 2);
}

TEST(RendezvousTest, WhoeverIsCancelledEndsTheOthersWaits) {
  Rendezvous devices(3);  // the third never comes
  IntMeetings meetings(devices);
  std::atomic<int> stopped = 0;
  const std::atomic<int32_t> cancelled = 1;
  const auto ask = [](const void* context) {
    return static_cast<const std::atomic<int32_t>*>(context)->load();
  };
  OnThreads(2, [&](int64_t device) {
    int64_t own = 0;
    std::shared_ptr<IntMeetings::Meeting> meeting;
    Rendezvous::Waiter waiter{device, "all-reduce %x"};
    if (device == 0) waiter = {device, "all-reduce %x", 0, ask, &cancelled};
    if (meetings.Meet(waiter, 0, 3, static_cast<size_t>(device), own, meeting, kEachItself) ==
        End::kStopped)
      ++stopped;
  });
  EXPECT_EQ(stopped, 2);
}

TEST(RendezvousTest, MessagesComeInOrder) {
  Rendezvous devices(2);
  Mailboxes<std::string> mailboxes(devices);
  std::vector<std::string> received;
  OnDevices(2, devices, [&](int64_t device) {
    for (int i = 0; i < 100; ++i) {
      std::string message = std::to_string(i);
      if (device == 0)
        mailboxes.Send(3, 1, std::move(message));
      else if (mailboxes.Receive({1, "recv %x"}, 3, 1, message) == End::kNone)
        received.push_back(message);
    }
    return true;
  });
  ASSERT_EQ(received.size(), 100);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(received[static_cast<size_t>(i)], std::to_string(i));
}

// Which of the two waits is chance: the other is refused, and ends it.
TEST(RendezvousTest, OneReceiverWaitsForAMessage) {
  Rendezvous devices(3);  // the third sends nothing
  Mailboxes<int> mailboxes(devices);
  std::atomic<int> taken = 0, stopped = 0;
  OnThreads(2, [&](int64_t device) {
    int message = 0;
    const Rendezvous::Waiter waiter{device, "recv %x", 5};
    const End end = mailboxes.Receive(waiter, 0, -1, message);
    if (devices.Text(end, waiter) == "two devices wait for one message at recv %x") ++taken;
    if (end == End::kStopped) ++stopped;
    devices.Leave(device, true);
  });
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(stopped, 1);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
