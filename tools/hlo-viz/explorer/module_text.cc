// The module's text with one line an instruction, so that the page finds an instruction by its line
// number: line = first line of its computation + 1 + its place. Instructions that print on several
// lines are joined.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "printer/printer.h"
#include "tools/hlo-viz/explorer/module_text_internal.h"

namespace hlokit {
namespace {

using Lines = std::vector<absl::string_view>;

bool IsHeading(absl::string_view line) {
  return !line.empty() && line[0] != ' ' && line[0] != '}' && absl::EndsWith(line, "{");
}

// `%main.5` of `ENTRY %main.5 (x: f32[]) -> f32[] {`, without the percent sign.
absl::string_view NameOfHeading(absl::string_view line) {
  absl::ConsumePrefix(&line, "ENTRY ");
  absl::ConsumePrefix(&line, "%");
  return line.substr(0, line.find(' '));
}

bool IsLineOf(absl::string_view line, const Instruction& i) {
  line = absl::StripLeadingAsciiWhitespace(line);
  absl::ConsumePrefix(&line, "ROOT ");
  absl::ConsumePrefix(&line, "%");
  return absl::ConsumePrefix(&line, i.name()) && absl::StartsWith(line, " = ");
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

class TextMaker {
 public:
  explicit TextMaker(const ModuleIndex& index) : index_(index), printed_(Print(index.module())) {
    lines_ = absl::StrSplit(printed_, '\n');
    for (size_t k = 0; k < lines_.size(); ++k)
      if (IsHeading(lines_[k])) heading_.try_emplace(NameOfHeading(lines_[k]), k);
  }

  ModuleText Run() {
    for (size_t k = 0; k < lines_.size() && !IsHeading(lines_[k]); ++k) Add(lines_[k]);
    for (const Computation* computation : index_.computations()) {
      result_.first_line.push_back(count_);
      AddComputation(*computation);
      Add("}");
      Add("");
    }
    return std::move(result_);
  }

 private:
  void Add(absl::string_view line) {
    absl::StrAppend(&result_.text, line, "\n");
    ++count_;
  }

  void AddComputation(const Computation& computation) {
    const std::vector<const Instruction*> instructions = index_.Instructions(computation);
    const auto it = heading_.find(computation.name());
    const size_t first = it == heading_.end() ? lines_.size() : it->second;
    Add(first < lines_.size() ? std::string(lines_[first])
                              : absl::StrCat("%", computation.name(), " {"));
    for (size_t k = 0; k < instructions.size(); ++k) {
      const size_t line = first + 1 + k;
      if (line < lines_.size() && IsLineOf(lines_[line], *instructions[k])) {
        Add(lines_[line]);
      } else {
        Add(absl::StrCat("  ", instructions[k]->IsRoot() ? "ROOT " : "",
                         OneLine(Print(*instructions[k]))));
      }
    }
  }

  const ModuleIndex& index_;
  const std::string printed_;
  Lines lines_;
  absl::flat_hash_map<absl::string_view, size_t> heading_;  // by a computation's name: its line
  ModuleText result_;
  int count_ = 0;
};

}  // namespace

ModuleText TextOf(const ModuleIndex& index) { return TextMaker(index).Run(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
