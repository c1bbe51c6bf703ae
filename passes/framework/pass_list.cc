// Reading and printing of pass lists.
#include "passes/framework/pass_list.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int kMaxNesting = 8;

class Reader {
 public:
  explicit Reader(absl::string_view text) : whole_(text), rest_(text) {}

  absl::StatusOr<std::vector<PassStep>> ReadAll() {
    ASSIGN_OR_RETURN(std::vector<PassStep> steps, ReadSteps(0));
    if (!rest_.empty())
      return InvalidArgument("'>' without fix< in the list of passes '", whole_, "'");
    return steps;
  }

 private:
  // Up to the end or an unmatched '>', which stays.
  absl::StatusOr<std::vector<PassStep>> ReadSteps(int depth) {
    std::vector<PassStep> steps;
    while (!rest_.empty() && rest_[0] != '>') {
      const size_t end = std::min(rest_.find_first_of(",<>{}"), rest_.size());
      PassStep step;
      step.name = std::string(absl::StripAsciiWhitespace(rest_.substr(0, end)));
      rest_.remove_prefix(end);
      if (Take('<')) {
        RETURN_IF_ERROR(ReadRepeated(step, depth));
      } else if (Take('{')) {
        RETURN_IF_ERROR(ReadArguments(step));
      } else if (!rest_.empty() && rest_[0] == '}') {
        return InvalidArgument("'}' without '{' in the list of passes '", whole_, "'");
      }
      if (!step.name.empty() || !step.repeated.empty()) steps.push_back(std::move(step));
      rest_ = absl::StripLeadingAsciiWhitespace(rest_);
      if (!Take(',') && !rest_.empty() && rest_[0] != '>')
        return InvalidArgument("expected ',' before '", rest_, "' in the list of passes");
    }
    return steps;
  }

  absl::Status ReadRepeated(PassStep& step, int depth) {
    if (step.name != "fix")
      return InvalidArgument("only fix<...> takes a list of passes, not '", step.name, "'");
    if (depth > kMaxNesting) return InvalidArgument("fix<...> is nested too deeply");
    step.name.clear();
    ASSIGN_OR_RETURN(step.repeated, ReadSteps(depth + 1));
    if (!Take('>')) return InvalidArgument("fix< has no closing '>'");
    return absl::OkStatus();
  }

  absl::Status ReadArguments(PassStep& step) {
    const size_t end = rest_.find('}');
    if (end == absl::string_view::npos)
      return InvalidArgument("'{' after ", step.name, " has no closing '}'");
    if (step.name.empty()) return InvalidArgument("options in braces without a pass before them");
    ASSIGN_OR_RETURN(step.arguments, PassArguments::Parse(rest_.substr(0, end)));
    rest_.remove_prefix(end + 1);
    return absl::OkStatus();
  }

  bool Take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  absl::string_view whole_, rest_;
};

void Append(absl::Span<const PassStep> steps, int indent, std::string& out) {
  const bool lines = indent >= 0;
  for (size_t k = 0; k < steps.size(); ++k) {
    const PassStep& step = steps[k];
    if (lines) out.append(2 * indent, ' ');
    if (step.name.empty()) {
      absl::StrAppend(&out, lines ? "fix<\n" : "fix<");
      Append(step.repeated, lines ? indent + 1 : indent, out);
      if (lines) out.append(2 * indent, ' ');
      out += '>';
    } else {
      const std::string options = step.arguments.Text();
      absl::StrAppend(&out, step.name, options.empty() ? "" : "{", options,
                      options.empty() ? "" : "}");
    }
    if (k + 1 < steps.size()) out += ',';
    if (lines) out += '\n';
  }
}

}  // namespace

absl::StatusOr<std::vector<PassStep>> ParsePassList(absl::string_view text) {
  return Reader(text).ReadAll();
}

std::string PassListText(absl::Span<const PassStep> steps, bool indented) {
  std::string text;
  Append(steps, indented ? 0 : -1, text);
  return text;
}

namespace {

const PassStep* FindStep(absl::Span<const PassStep> steps, absl::string_view name) {
  for (const PassStep& step : steps) {
    if (step.name == name) return &step;
    if (const PassStep* inside = FindStep(step.repeated, name)) return inside;
  }
  return nullptr;
}

}  // namespace

std::string PassWithOptions(absl::string_view list, absl::string_view name) {
  const auto steps = ParsePassList(list);
  const PassStep* found = steps.ok() ? FindStep(*steps, name) : nullptr;
  return found != nullptr ? PassListText({found, 1}) : std::string(name);
}

void LeaveOut(absl::Span<const std::string> left_out, absl::Span<const std::string> kept_alone,
              std::vector<PassStep>& steps) {
  for (PassStep& step : steps) LeaveOut(left_out, kept_alone, step.repeated);
  std::erase_if(steps, [&](const PassStep& step) {
    if (step.name.empty()) return step.repeated.empty();
    return absl::c_linear_search(left_out, step.name) ||
           (!kept_alone.empty() && !absl::c_linear_search(kept_alone, step.name));
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
