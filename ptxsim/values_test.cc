// Values of single instructions: each form of testdata/ptxsim/values.txt on lanes of one warp, a
// line of the file a lane, its results held to the bits that scripts/gpu/ptx_values.py worked out
// with fractions. ~2,000 forms, a kernel each.
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
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

std::map<std::string, std::vector<ValueLine>> ReadLines() {
  std::map<std::string, std::vector<ValueLine>> forms;
  std::ifstream file(absl::StrCat(HLOKIT_SOURCE_DIR, "/testdata/ptxsim/values.txt"));
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

bool IsRegister(absl::string_view operand) {
  return operand.size() >= 2 && absl::StrContains("hwqcp", operand.substr(0, 1));
}

// The form between loads of its operands and stores of its results, 4 words a lane of each.
std::string KernelOfForm(const std::string& form) {
  const std::vector<std::string> parts = absl::StrSplit(form, absl::MaxSplits(' ', 1));
  std::vector<std::string> operands = absl::StrSplit(parts[1], ',');
  std::string text =
      ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 pi, .param "
      ".u64 po) {\n.reg .b16 h<10>; .reg .b32 w<10>, n; .reg .b64 q<10>, in, out, t;\n.reg .b8 "
      "c<10>; .reg .pred p<10>;\nld.param.u64 in, [pi]; ld.param.u64 out, [po]; mov.u32 n, "
      "%tid.x;\nmad.wide.u32 in, n, 32, in; mad.wide.u32 out, n, 32, out;\n";
  int at = 0;
  for (size_t i = 1; i < operands.size(); ++i) {
    const absl::string_view reg = absl::StripPrefix(operands[i], "!");
    if (!IsRegister(reg)) continue;
    absl::StrAppend(&text, "ld.global.b64 t, [in+", 8 * at++, "];\n", FromWord(reg));
  }
  absl::StrAppend(&text, form, ";\n");
  at = 0;
  for (absl::string_view reg : absl::StrSplit(operands[0], '|'))
    absl::StrAppend(&text, ToWord(reg), "st.global.b64 [out+", 8 * at++, "], t;\n");
  return text + "ret;\n}\n";
}

TEST(Values, EachFormGivesTheBitsOfExactArithmetic) {
  int run = 0;
  for (const auto& [form, lines] : ReadLines()) {
    Words64 in(lines.size() * 4), out(lines.size() * 4);
    for (size_t i = 0; i < lines.size(); ++i)
      std::copy(lines[i].operands.begin(), lines[i].operands.end(), in.begin() + 4 * i);
    LaunchOptions options;
    options.block[0] = static_cast<uint32_t>(lines.size());
    const absl::Status status = RunWords<uint64_t>(KernelOfForm(form), {&in, &out}, options);
    ASSERT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < lines.size(); ++i)
      for (size_t k = 0; k < lines[i].results.size(); ++k)
        EXPECT_EQ(out[4 * i + k], lines[i].results[k])
            << form << " of operands " << std::hex << testing::PrintToString(lines[i].operands);
    ++run;
  }
  EXPECT_GT(run, 1900);
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
