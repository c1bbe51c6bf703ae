// The orders that the semantics pages allow and the two deadlocks that they draw.
#include "verifier/channel_order.h"

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

// "Recv0 Send1 SendDone1" as instructions of a computation.
std::string Body(absl::string_view name, absl::string_view steps) {
  std::string text = absl::StrCat(name, " {\n x = f32[4] parameter(0)\n t = token[] after-all()\n");
  for (absl::string_view step : absl::StrSplit(steps, ' ')) {
    const char channel = step.back();
    step.remove_suffix(1);
    const char* shape = step == "SendDone"   ? "token[]"
                        : step == "RecvDone" ? "(f32[4], token[])"
                                             : "(f32[4], u32[], token[])";
    const char* op = step == "Send" ? "send(x, t)" : step == "Recv" ? "recv(t)" : nullptr;
    const std::string done = absl::StrCat(step == "SendDone" ? "send-done(Send" : "recv-done(Recv",
                                          std::string(1, channel), ")");
    absl::StrAppend(&text, " ", step, std::string(1, channel), " = ", shape, " ",
                    op != nullptr ? op : done, ", channel_id=", std::string(1, channel + 1), "\n");
  }
  return text + " ROOT r = f32[4] negate(x)\n}\n";
}

int ErrorsOf(absl::string_view first, absl::string_view second) {
  const auto file = std::make_shared<SourceFile>(
      "test", absl::StrCat("HloModule m\n", Body("a", first), Body("ENTRY b", second)));
  Diagnostics parse, out;
  const auto module = ParseModule(file, {}, parse);
  EXPECT_TRUE(module.ok()) << parse.Render(*file);
  if (!module.ok()) return -1;
  std::vector<const Computation*> computations;
  for (const Computation* computation : (*module)->Computations())
    computations.push_back(computation);
  CheckChannelOrder(computations, out);
  for (const Diagnostic& item : out.items()) EXPECT_EQ(item.label, "channel-c2") << item.message;
  return out.error_count();
}

TEST(ChannelOrderTest, ReceivesFirstIsSound) {
  EXPECT_EQ(ErrorsOf("Recv0 Send1 RecvDone0 SendDone1", "Recv1 Send0 RecvDone1 SendDone0"), 0);
  EXPECT_EQ(ErrorsOf("Send0 SendDone0", "Recv0 RecvDone0"), 0);
}

TEST(ChannelOrderTest, WaitingBeforeSendingIsCircular) {
  EXPECT_EQ(ErrorsOf("Recv0 RecvDone0 Send1 SendDone1", "Recv1 RecvDone1 Send0 SendDone0"), 2);
}

TEST(ChannelOrderTest, SendingBeforeReceivingIsCircular) {
  EXPECT_EQ(ErrorsOf("Send1 Recv0 RecvDone0 SendDone1", "Send0 Recv1 RecvDone1 SendDone0"), 2);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
