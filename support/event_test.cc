// Events: ready ones, those of other threads, callbacks, sources that are dropped.
#include "support/event.h"

#include <atomic>
#include <optional>
#include <thread>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

TEST(EventTest, DefaultHasHappened) {
  const Event event;
  EXPECT_TRUE(event.IsReady());
  EXPECT_TRUE(event.Await().ok());
  bool called = false;
  event.OnReady([&](const absl::Status& status) { called = status.ok(); });
  EXPECT_TRUE(called);
  EXPECT_EQ(Event::Done(absl::InternalError("x")).Await(), absl::InternalError("x"));
}

TEST(EventTest, WaitsForAnotherThread) {
  EventSource source;
  const Event event = source.event();
  EXPECT_FALSE(event.IsReady());
  std::atomic<int> calls = 0;
  event.OnReady([&](const absl::Status&) { ++calls; });
  std::thread setter([&source] { source.Set(absl::OkStatus()); });
  EXPECT_TRUE(event.Await().ok());
  setter.join();
  EXPECT_TRUE(event.IsReady());
  EXPECT_EQ(calls, 1);
  event.OnReady([&](const absl::Status&) { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(EventTest, FirstStatusStays) {
  EventSource source;
  source.Set(absl::InternalError("first"));
  source.Set(absl::OkStatus());
  EXPECT_EQ(source.event().Await(), absl::InternalError("first"));
}

TEST(EventTest, DroppedSourceCancels) {
  std::optional<EventSource> source(std::in_place);
  const Event event = source->event();
  source.reset();
  EXPECT_TRUE(absl::IsCancelled(event.Await()));
}

TEST(EventTest, CallbackMayHoldTheLastEvent) {
  auto source = std::make_unique<EventSource>();
  Event event = source->event();
  event.OnReady([kept = event](const absl::Status&) { EXPECT_TRUE(kept.IsReady()); });
  event = Event();
  source->Set(absl::OkStatus());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
