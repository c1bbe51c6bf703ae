// Every form of an instruction that NVIDIA's ptxas takes (testdata/ptxsim/forms.txt, made by
// scripts/gpu/ptx_forms.py), decoded: docs/ptxsim.md says by instruction how many are executed.
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

std::string FileOf(const std::string& path) {
  std::ifstream file(absl::StrCat(HLOKIT_SOURCE_DIR, "/", path));
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A kernel around one form, with the registers that forms name.
std::string KernelOf(absl::string_view target, absl::string_view form) {
  return absl::StrCat(".version 8.8\n.target ", target,
                      "\n.address_size 64\n.visible .entry k(.param .b64 pin) {\n"
                      ".reg .b16 h<10>; .reg .b32 w<10>; .reg .b64 q<10>; .reg .b128 x<10>;\n"
                      ".reg .b8 c<10>; .reg .pred p<10>;\n",
                      form, ";\nret;\n}\n");
}

struct Count {
  int forms = 0;
  std::vector<std::string> refused;
};

// By the instruction's name.
std::map<std::string, Count> CountForms() {
  std::map<std::string, Count> counts;
  const std::string text = FileOf("testdata/ptxsim/forms.txt");
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    const size_t end = parts.second.find_first_of(". ");
    Count& count = counts[std::string(parts.second.substr(0, end))];
    ++count.forms;
    if (!DecodeText(KernelOf(parts.first, parts.second)).ok())
      count.refused.emplace_back(parts.second);
  }
  return counts;
}

TEST(Forms, TheTableOfTheDocumentIsTrue) {
  const std::string text = FileOf("docs/ptxsim.md");
  for (const auto& [name, count] : CountForms()) {
    const int runs = count.forms - static_cast<int>(count.refused.size());
    const std::string row = absl::StrCat("| `", name, "` | ", count.forms, " | ", runs, " |");
    EXPECT_TRUE(absl::StrContains(text, row)) << "docs/ptxsim.md lacks the row\n" << row;
    if (std::getenv("HLOKIT_PRINT_REFUSED") != nullptr)
      for (const std::string& form : count.refused) std::printf("refused %s\n", form.c_str());
  }
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
