// Values of single instructions: each form of testdata/ptxsim/values.txt and hardware.txt on lanes
// of one warp, a line of the file a lane, its results held to the bits that
// scripts/gpu/ptx_values.py worked out with fractions, or that a GPU gave. ~2,000 forms, a kernel
// each.
#include <cctype>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

using Words64 = std::vector<uint64_t>;

struct ValueLine {
  Words64 operands, results;
};

Words64 HexWords(absl::string_view text) {
  Words64 words;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    uint64_t value = 0;
    EXPECT_TRUE(absl::SimpleHexAtoi(word, &value)) << word;
    words.push_back(value);
  }
  return words;
}

std::map<std::string, std::vector<ValueLine>> ReadLines(absl::string_view name) {
  std::map<std::string, std::vector<ValueLine>> forms;
  std::ifstream file(absl::StrCat(HLOKIT_SOURCE_DIR, "/testdata/ptxsim/", name));
  EXPECT_TRUE(file.good());
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, " | ");
    if (parts.size() == 3 && line[0] != '#')
      forms[parts[0]].push_back({HexWords(parts[1]), HexWords(parts[2])});
  }
  return forms;
}

// Moves between a 64-bit register t and a register by its first letter: h, w, q, c or p.
std::string FromWord(absl::string_view reg) {
  switch (reg[0]) {
    case 'h':
      return absl::StrCat("cvt.u16.u64 ", reg, ", t;\n");
    case 'w':
      return absl::StrCat("cvt.u32.u64 ", reg, ", t;\n");
    case 'c':
      return absl::StrCat("cvt.u16.u64 h9, t; mov.b16 {", reg, ", c9}, h9;\n");
    case 'p':
      return absl::StrCat("setp.ne.b64 ", reg, ", t, 0;\n");
    default:
      return absl::StrCat("mov.b64 ", reg, ", t;\n");
  }
}
std::string ToWord(absl::string_view reg) {
  switch (reg[0]) {
    case 'h':
      return absl::StrCat("cvt.u64.u16 t, ", reg, ";\n");
    case 'w':
      return absl::StrCat("cvt.u64.u32 t, ", reg, ";\n");
    case 'c':
      return absl::StrCat("mov.b16 {c8, c9}, 0; mov.b16 h9, {", reg, ", c8}; cvt.u64.u16 t, h9;\n");
    case 'p':
      return absl::StrCat("selp.b64 t, 1, 0, ", reg, ";\n");
    default:
      return absl::StrCat("mov.b64 t, ", reg, ";\n");
  }
}

// Whether a register's name, a letter and a digit, stands at `i`.
bool IsRegisterAt(const std::string& text, size_t i) {
  const auto is_name = [](char c) { return std::isalnum(c) || c == '_' || c == '%'; };
  return i + 1 < text.size() && absl::StrContains("hwqcp", text.substr(i, 1)) &&
         std::isdigit(text[i + 1]) && (i == 0 || !is_name(text[i - 1])) &&
         (i + 2 == text.size() || !is_name(text[i + 2]));
}

constexpr size_t kWordsOfLane = 16;

// The form between loads of its operands and stores of its results, words of 64 bits. Registers get
// names of their own, one a place: forms name some twice.
std::string KernelOfForm(const std::string& form) {
  const std::vector<std::string> parts = absl::StrSplit(form, absl::MaxSplits(' ', 1));
  std::string loads, stores, operands;
  int depth = 0, next = 10;
  size_t in = 0, out = 0;
  bool is_result = true;
  for (size_t i = 0; i < parts[1].size(); ++i) {
    const char c = parts[1][i];
    depth += (c == '{') - (c == '}');
    if (c == ',' && depth == 0) is_result = false;
    if (!IsRegisterAt(parts[1], i)) {
      operands += c;
      continue;
    }
    const std::string reg = absl::StrCat(std::string(1, c), next++);
    operands += reg;
    ++i;
    if (is_result) {
      absl::StrAppend(&stores, ToWord(reg), "st.global.b64 [out+", 8 * out++, "], t;\n");
    } else {
      absl::StrAppend(&loads, "ld.global.b64 t, [in+", 8 * in++, "];\n", FromWord(reg));
    }
  }
  return absl::StrCat(
      ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 pi, .param "
      ".u64 po) {\n.reg .b16 h<60>; .reg .b32 w<60>, n; .reg .b64 q<60>, in, out, t;\n.reg .b8 "
      "c<60>; .reg .pred p<60>;\nld.param.u64 in, [pi]; ld.param.u64 out, [po]; mov.u32 n, "
      "%tid.x;\nmad.wide.u32 in, n, ",
      8 * kWordsOfLane, ", in; mad.wide.u32 out, n, ", 8 * kWordsOfLane, ", out;\n", loads,
      parts[0], " ", operands, ";\n", stores, "ret;\n}\n");
}

// Runs every form of a file; their number.
int RunForms(absl::string_view name) {
  int run = 0;
  for (const auto& [form, lines] : ReadLines(name)) {
    Words64 in(lines.size() * kWordsOfLane), out(lines.size() * kWordsOfLane);
    for (size_t i = 0; i < lines.size(); ++i)
      std::copy(lines[i].operands.begin(), lines[i].operands.end(),
                in.begin() + static_cast<ptrdiff_t>(kWordsOfLane * i));
    LaunchOptions options;
    options.block[0] = static_cast<uint32_t>(lines.size());
    const absl::Status status = RunWords<uint64_t>(KernelOfForm(form), {&in, &out}, options);
    EXPECT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < lines.size(); ++i)
      for (size_t k = 0; k < lines[i].results.size(); ++k)
        EXPECT_EQ(out[kWordsOfLane * i + k], lines[i].results[k])
            << form << " of operands " << std::hex << testing::PrintToString(lines[i].operands);
    ++run;
  }
  return run;
}

TEST(Values, EachFormGivesTheBitsOfExactArithmetic) { EXPECT_GT(RunForms("values.txt"), 1900); }

// Lines that an H200 gave (scripts/gpu/ptx_hardware_lines.py): NaNs, matrix products, and what else
// the ISA leaves open or the simulator once did otherwise. Of a product all lanes of a warp.
TEST(Values, AnH200GaveTheseBits) { EXPECT_GT(RunForms("hardware.txt"), 60); }

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
