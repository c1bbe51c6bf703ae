// Prefixes of several loggers, and what only looks like one.
#include "support/log_prefix.h"

#include <gtest/gtest.h>

namespace hlokit {
namespace {

TEST(LogPrefixTest, EndsBehindTheBracket) {
  for (const char* prefix :
       {"I0521 12:04:45.883210   123 service.cc:186] ", "W20260521 12:04:45.8 7 a/b.cc:1] ",
        "W0000 00:00:1795299835.786764   23738 hlo_module.cc:767] "}) {
    const absl::string_view text(prefix);
    EXPECT_EQ(LogPrefixLength(std::string(prefix) + "HloModule m, x={[1] 2}"), text.size());
    EXPECT_EQ(LogPrefixLength(std::string(prefix) + "\n"), text.size());
    EXPECT_EQ(LogPrefixLength(text.substr(0, text.size() - 1)), text.size() - 1);  // blank cut off
  }
}

TEST(LogPrefixTest, LeavesOtherLines) {
  for (const char* text : {"", "I", "I0521 is a name", "Iota = f32[2] iota()",
                           "I0521 12:04:45.8 no bracket", "I052 12:04:45.8 1 a.cc:1] x",
                           "I0521 12:04:45.8 1 a.cc] x", "I05211 12:04:45.8 1 a.cc:1] x",
                           "I0521 12:04:45.8 1 a\n.cc:1] x", "%I0521 12:04:45.8 1 a.cc:1] x"})
    EXPECT_EQ(LogPrefixLength(text), 0u) << text;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
