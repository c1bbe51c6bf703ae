// Texts made to hurt: each is refused with a message, or read, verified and printed, within a
// second.
#include <ctime>
#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

std::string Times(int count, const std::function<std::string(int)>& part) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part(i);
  return text;
}
std::string Times(int count, absl::string_view part) {
  return Times(count, [part](int) { return std::string(part); });
}
std::string Entry(const std::string& body) {
  return absl::StrCat("HloModule m\n\nENTRY e {\n", body, "}\n");
}
std::string WithParameter(const std::string& body) {
  return Entry(absl::StrCat("  p = f32[] parameter(0)\n", body));
}

// Computations that each call the one before `calls` times.
std::string Laughs(int depth, int calls) {
  std::string text =
      "HloModule m\n\nbody0 {\n  p = f32[] parameter(0)\n  ROOT r = f32[] add(p, p)\n}\n";
  for (int i = 1; i < depth; ++i)
    absl::StrAppend(&text, "body", i, " {\n  p0 = f32[] parameter(0)\n",
                    Times(calls,
                          [i](int n) {
                            return absl::StrCat("  p", n + 1, " = f32[] call(p", n,
                                                "), to_apply=body", i - 1, "\n");
                          }),
                    "  ROOT r = f32[] negate(p", calls, ")\n}\n");
  return absl::StrCat(
      text, "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=body",
      depth - 1, "\n}\n");
}

struct Text {
  const char* name;
  std::function<std::string()> make;
  const char* message;  // of the refusal; null: it is a good text
};

const Text kTexts[] = {
    {"braces of a literal",
     [] { return Entry("  c = f32[2] constant(" + Times(100'000, "{") + ")\n"); },
     "expected an element"},
    {"tuple shapes",
     [] { return Entry("  p = " + Times(1'000'000, "(") + "f32[] parameter(0)\n"); },
     "nested more than 200 levels deep"},
    {"operands in place",
     [] { return WithParameter("  c = f32[] " + Times(50'000, "negate(f32[] ") + "\n"); },
     "nested more than 200 levels deep"},
    {"bodies in place",
     [] {
       return WithParameter(
           "  c = f32[] " +
           Times(20'000, "call(p), to_apply={ p = f32[] parameter(0)\n c = f32[] "));
     },
     "nested more than 200 levels deep"},
    {"shardings",
     [] { return Entry("  p = f32[] parameter(0), sharding=" + Times(100'000, "{") + "\n"); },
     "expected"},
    {"physical shapes",
     [] { return Entry("  p = f32[2]{0:P(" + Times(50'000, "f32[2]{0:P(") + "\n"); },
     "nested more than 200 levels deep"},
    {"brackets of a configuration",
     [] {
       return Entry("  p = f32[] parameter(0), backend_config=" + Times(500'000, "{\"a\":") + "\n");
     },
     "the bracket is never closed"},
    {"buffers", [] { return Entry("  p = " + Times(100'000, "b(") + "\n"); },
     "nested more than 200 levels deep"},
    {"dimensions", [] { return Entry("  p = f32[" + Times(100'000, "1,") + "1] parameter(0)\n"); },
     "at most 64 dimensions"},
    {"2^63 elements", [] { return Entry("  p = pred[9223372036854775808] parameter(0)\n"); },
     "does not fit in 64 bits"},
    {"a product above 2^63",
     [] { return Entry("  p = f32[4611686018427387904,4] parameter(0)\n"); },
     "more bytes than 64 bits can count"},
    {"a product hidden by a zero",
     [] { return Entry("  p = f32[0,4611686018427387904,4611686018427387904] parameter(0)\n"); },
     "more bytes than 64 bits can count"},
    {"a huge constant", [] { return Entry("  p = f32[1099511627776] constant(1)\n"); },
     "take more than 512 MiB"},
    {"a huge constant that is elided",
     [] { return Entry("  p = f32[1099511627776] constant({...})\n"); }, nullptr},
    {"many large constants that are elided",
     [] {
       return Entry(Times(20'000, [](int i) {
         return absl::StrCat("  k", i, " = f64[700000] constant({...})\n");
       }));
     },
     nullptr},
    {"digits", [] { return Entry("  p = f32[] constant(" + Times(1'000'000, "9") + ")\n"); },
     "out of"},
    {"a long line", [] { return Entry("  p = f32[] parametr(" + Times(20'000'000, "x") + ")\n"); },
     "did you mean parameter?"},
    {"blanks",
     [] { return "HloModule m\nENTRY e {" + Times(20'000'000, " ") + "p = f32[] parametr(0) }"; },
     "did you mean parameter?"},
    {"errors without end", [] { return WithParameter(Times(500'000, "  q = f32[] nope(p)\n")); },
     "unknown opcode 'nope'"},
    {"NULs", [] { return std::string(1'000'000, '\0'); }, "found a NUL byte"},
    {"a NUL in a body",
     [] { return Entry(absl::StrCat("  p = f32[] ", std::string(1, '\0'), "x(0)\n")); },
     "found a NUL byte"},
    {"bytes that are no UTF-8",
     [] { return WithParameter("  \xff\xfe = f32[] ngate(\xc3\x28)\n"); }, "found '\\xff'"},
    {"UTF-16", [] { return std::string("\xff\xfeH\0l\0o\0", 8); }, "UTF-16"},
    {"gzip", [] { return std::string("\x1f\x8b\x08\0\0\0\0\0", 8); }, "gzip"},
    {"a billion calls", [] { return Laughs(100, 10); }, nullptr},
    {"a long chain of calls", [] { return Laughs(20'000, 1); }, nullptr},
    {"a billion uses",
     [] {
       return WithParameter(Times(50'000, [](int i) {
         return absl::StrCat("  v", i, " = f32[] add(", i == 0 ? "p" : absl::StrCat("v", i - 1),
                             ", ", i == 0 ? "p" : absl::StrCat("v", i - 1), ")\n");
       }));
     },
     nullptr},
    {"tuples that double",
     [] {
       return WithParameter("  t0 = tuple(p, p)\n" + Times(60, [](int i) {
                              return absl::StrCat("  t", i + 1, " = tuple(t", i, ", t", i, ")\n");
                            }));
     },
     "more than 524288 parts"},
    {"tuples that nest",
     [] {
       return WithParameter("  t0 = tuple(p)\n" + Times(100'000, [](int i) {
                              return absl::StrCat("  t", i + 1, " = tuple(t", i, ")\n");
                            }));
     },
     "nested more than 200 levels deep"},
    {"arrays that double",
     [] {
       return Entry("  a0 = f32[2] parameter(0)\n" + Times(70, [](int i) {
                      return absl::StrCat("  a", i + 1, " = concatenate(a", i, ", a", i,
                                          "), dimensions={0}\n");
                    }));
     },
     "concatenate"},
    {"parameters",
     [] {
       return Entry(Times(
           100'000, [](int i) { return absl::StrCat("  p", i, " = f32[] parameter(", i, ")\n"); }));
     },
     nullptr},
    {"a parameter's number", [] { return Entry("  p = f32[] parameter(9223372036854775807)\n"); },
     "a parameter's number is 0 to 1048575"},
    {"operands", [] { return WithParameter("  t = tuple(" + Times(200'000, "p, ") + "p)\n"); },
     nullptr},
    {"control edges",
     [] {
       return WithParameter(
           Times(100'000, [](int i) { return absl::StrCat("  q", i, " = f32[] negate(p)\n"); }) +
           "  r = f32[] negate(p), control-predecessors={" +
           Times(99'999, [](int i) { return absl::StrCat("q", i, ", "); }) + "q99999}\n");
     },
     nullptr},
    {"a computation that calls itself",
     [] {
       return std::string(
           "HloModule m\n\nc {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), "
           "to_apply=c\n}\n\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] "
           "call(p), to_apply=c\n}\n");
     },
     "calls itself"},
    {"an open comment", [] { return "HloModule m\n/* " + Times(1'000'000, "x"); },
     "a comment that is never closed"},
    {"an open string",
     [] { return Entry("  p = f32[] parameter(0), metadata={op_name=\"" + Times(1'000'000, "x")); },
     "no closing quote"},
    {"names far from all others",
     [] {
       return Entry(Times(50'000,
                          [](int i) {
                            return absl::StrCat("  name_", i, " = f32[] parameter(", i, ")\n");
                          }) +
                    Times(30, [](int i) {
                      return absl::StrCat("  q", i, " = f32[] negate(nam_", i, ")\n");
                    }));
     },
     "did you mean name_0?"},
    {"long names",
     [] {
       const std::string n(100'000, 'n');
       return Entry(
           Times(20,
                 [&](int i) { return absl::StrCat("  ", n, i, " = f32[] parameter(", i, ")\n"); }) +
           Times(30, [&](int i) {
             return absl::StrCat("  q", i, " = f32[] negate(", n, "q", i, ")\n");
           }));
     },
     "is not defined"},
    {"devices without end",
     [] {
       return Entry(
           "  p = f32[2] parameter(0), sharding={devices=[1099511627776]<=[1099511627776]}\n");
     },
     "no tiles, or too many"},
    {"nothing", [] { return std::string(); }, "expected a computation"},
};

class Hostile : public testing::TestWithParam<Text> {};

// What became of the text: messages, or nothing.
std::string Outcome(const std::string& text) {
  const auto file = std::make_shared<const SourceFile>("hostile", text);
  Diagnostics diagnostics;
  auto module = ParseModule(file, {}, diagnostics);
  if (module.ok() && Verify(**module, diagnostics).ok()) Print(**module);
  return diagnostics.ok() ? "" : diagnostics.Render(*file);
}

TEST_P(Hostile, EndsInAMessageInTime) {
  const std::string text = GetParam().make();
  const std::clock_t start = std::clock();
  const std::string messages = Outcome(text);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (GetParam().message == nullptr) {
    EXPECT_EQ(messages, "");
  } else {
    EXPECT_TRUE(absl::StrContains(messages, GetParam().message)) << messages.substr(0, 2000);
  }
  EXPECT_LT(messages.size(), 40'000u);
#ifdef NDEBUG
  EXPECT_LT(seconds, 1.0);
#else
  EXPECT_LT(seconds, 30.0);
#endif
}

// Lines of a gigabyte, which take longer to make than to refuse.
TEST(HostileSlow, RefusesALineOfAGigabyte) {
  struct Line {
    const char* before;
    char fill;
    const char* after;
    const char* message;
  };
  constexpr Line kLines[] = {
      {"  p = f32[] ", 'x', "(0)\n", "unknown opcode"},
      {"  ", 'n', " = f32[] parameter(0)\n", "has less than 1048576 bytes"},
      {"  p = f32[] ", ' ', "parametr(0)\n", "did you mean parameter?"},
      {"  p = f32[] constant(", '9', ")\n", "has less than 1048576 bytes"},
      {"  p = f32[] parameter(0), metadata={op_name=\"", 'x', "\n", "no closing quote"},
      {"  p = f32[", '1', "] parameter(0)\n", "does not fit in 64 bits"},
      {"  p = ", '(', "\n", "nested more than 200 levels deep"},
      {"  p = f32[] add(", ',', ")\n", "expected an operand"},
  };
  for (const Line& line : kLines) {
    std::string text = absl::StrCat("HloModule m\n\nENTRY e {\n", line.before);
    text.reserve(text.size() + (size_t{1} << 30) + 64);
    text.append(size_t{1} << 30, line.fill);
    text += line.after;
    const auto file = std::make_shared<const SourceFile>("hostile", std::move(text));
    const std::clock_t start = std::clock();
    Diagnostics diagnostics;
    EXPECT_FALSE(ParseModule(file, {}, diagnostics).ok());
    const std::string messages = diagnostics.Render(*file);
    [[maybe_unused]] const double seconds =
        static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_TRUE(absl::StrContains(messages, line.message)) << messages.substr(0, 2000);
    EXPECT_LT(messages.size(), 40'000u);
#ifdef NDEBUG
    EXPECT_LT(seconds, 1.0) << line.fill;
#endif
  }
}

std::string NameOf(const testing::TestParamInfo<Text>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Texts, Hostile, testing::ValuesIn(kTexts), NameOf);

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
