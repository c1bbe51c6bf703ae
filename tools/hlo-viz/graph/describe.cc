// Titles, lines and tooltips.
#include "tools/hlo-viz/graph/describe.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "printer/printer.h"
#include "support/display.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

constexpr size_t kShapeBytes = 64, kAttributeBytes = 128, kTooltipBytes = 3000, kNameBytes = 120;
constexpr int64_t kConstantElements = 8;
constexpr size_t kConstantBytes = 64;

// Opcode as pictures show it: a fusion with its kind, a custom-call with its target.
std::string OpcodeText(const Instruction& i) {
  if (i.opcode() == Opcode::kFusion)
    return absl::StrCat("fusion:", Text(i.attr<FusionAttrs>().kind));
  if (i.opcode() == Opcode::kCustomCall)
    return absl::StrCat("custom-call:", Shown(i.attr<CustomCallAttrs>().target, kNameBytes));
  if (i.IsParameter()) return absl::StrCat("Parameter ", i.parameter_number());
  return std::string(Text(i.opcode()));
}

// True where the name already begins with the opcode: "add.3" needs no "(add)".
bool NameTells(const Instruction& i) {
  return !i.IsParameter() && i.opcode() != Opcode::kFusion && i.opcode() != Opcode::kCustomCall &&
         absl::StartsWith(i.name(), Text(i.opcode()));
}

// The kind is in the title; computations are drawn or named.
constexpr absl::string_view kDrawnOtherwise[] = {"kind",
                                                 "calls",
                                                 "to_apply",
                                                 "condition",
                                                 "body",
                                                 "select",
                                                 "scatter",
                                                 "branch_computations",
                                                 "called_computations",
                                                 "true_computation",
                                                 "sharding",
                                                 "metadata",
                                                 "false_computation",
                                                 "custom_call_target"};

// Ends of brackets and quotes in HLO text, a character after the other.
class Nesting {
 public:
  // True if `c` stands outside all brackets and quotes.
  bool Take(char c) {
    const bool quote = c == '"' && previous_ != '\\';
    previous_ = c;
    if (quote) quoted_ = !quoted_;
    if (quoted_ || quote) return false;
    depth_ += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
    return depth_ == 0;
  }

 private:
  int depth_ = 0;
  bool quoted_ = false;
  char previous_ = 0;
};

// What the printed instruction says after its operands.
std::string AttributesText(const Instruction& i) {
  PrintOptions options;
  options.percent = options.result_shape = options.operand_names = false;
  options.metadata = options.backend_config = options.control_dependencies = false;
  options.original_values = false;
  options.operand_index_every = 0;
  if (i.IsConstant() || i.IsParameter()) return "";  // a value or a number stands in parentheses
  const std::string text = Print(i, options);
  const size_t end = text.find("), ", text.find(" = "));  // nothing but commas stands before it
  return end == std::string::npos ? "" : text.substr(end + 3);
}

// Splits at commas that are not inside brackets or quotes.
std::vector<absl::string_view> SplitOutsideBrackets(const std::string& text) {
  std::vector<absl::string_view> parts;
  Nesting nesting;
  size_t start = 0;
  const absl::string_view all = text;
  for (size_t k = 0; k < text.size(); ++k)
    if (nesting.Take(text[k]) && text[k] == ',') {
      parts.push_back(all.substr(start, k - start));
      start = k + 2;  // ", "
    }
  if (start < text.size()) parts.push_back(all.substr(start));
  return parts;
}

}  // namespace

std::string Shown(absl::string_view text, size_t most) {
  std::string line = PrintableLine(text.substr(0, most));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return text.size() > most ? line + "..." : line;
}

std::string TitleOf(const Instruction& i) {
  const std::string name = Shown(i.name(), kNameBytes);
  return NameTells(i) ? name : absl::StrCat(name, " (", OpcodeText(i), ")");
}

std::vector<std::string> AttributeLines(const Instruction& i) {
  std::vector<std::string> lines;
  const std::string text = AttributesText(i);
  for (absl::string_view part : SplitOutsideBrackets(text)) {
    const absl::string_view name = part.substr(0, part.find('='));
    if (!absl::c_linear_search(kDrawnOtherwise, name))
      lines.push_back(Shown(part, kAttributeBytes));
  }
  if (!i.control_predecessors().empty()) {
    const std::string names = absl::StrJoin(
        i.control_predecessors(), ", ",
        [](std::string* out, const Instruction* p) { absl::StrAppend(out, p->name()); });
    lines.push_back(Shown(absl::StrCat("control-predecessors={", names, "}"), kAttributeBytes));
  }
  return lines;
}

std::string ShapeLine(const Shape& shape) {
  return Shown(Text(shape, shape.IsArray() && shape.rank() > 1), kShapeBytes);
}

std::string ConstantText(const Instruction& constant) {
  const Literal* literal = constant.literal();
  if (literal != nullptr && constant.shape().IsArray() &&
      constant.shape().ElementCount() <= kConstantElements) {
    const std::string text = Text(*literal);
    if (text.size() <= kConstantBytes) return text;
  }
  return absl::StrCat(Shown(constant.name(), kNameBytes), " ",
                      Shown(Text(constant.shape()), kShapeBytes));
}

std::string FrameText(const StackFrame& frame) {
  return absl::StrCat(frame.file, ":", frame.line, " (", frame.function, ")");
}

std::vector<std::string> SourceFrames(const Instruction& i) {
  constexpr int64_t kMaxFrames = 16;
  std::vector<std::string> frames;
  const OpMetadata& metadata = i.metadata();
  if (!metadata.source_file.empty())
    frames.push_back(absl::StrCat(metadata.source_file.view(), ":", metadata.source_line));
  const int64_t left = kMaxFrames - static_cast<int64_t>(frames.size());
  const StackFrameTables& tables = i.module()->header().stack_frames;
  for (const StackFrame& frame : CallStack(tables, metadata.stack_frame_id, left))
    frames.push_back(FrameText(frame));
  return frames;
}

// op_name, source frames and the whole instruction, cut to kTooltipBytes.
std::string TooltipOf(const Instruction& i) {
  std::string text;
  const OpMetadata& metadata = i.metadata();
  if (!metadata.op_name.empty()) absl::StrAppend(&text, metadata.op_name.view(), "\n");
  if (!metadata.op_type.empty()) absl::StrAppend(&text, "op_type: ", metadata.op_type.view(), "\n");
  for (const std::string& frame : SourceFrames(i)) absl::StrAppend(&text, frame, "\n");
  absl::StrAppend(&text, Print(i));
  std::vector<std::string> lines =
      absl::StrSplit(absl::string_view(text).substr(0, kTooltipBytes), '\n');
  for (std::string& line : lines) line = Shown(line, kTooltipBytes);
  return absl::StrCat(absl::StrJoin(lines, "\n"), text.size() > kTooltipBytes ? "..." : "");
}

namespace {

// A number with a unit, three significant digits.
std::string Scaled(double value, double step, const char* const (&units)[6]) {
  size_t unit = 0;
  while (value >= step && unit + 1 < std::size(units)) {
    value /= step;
    ++unit;
  }
  return absl::StrFormat(unit == 0 || value >= 100 ? "%.0f%s" : "%.1f%s", value, units[unit]);
}

}  // namespace

std::string CountText(double count) { return Scaled(count, 1000, {"", "k", "M", "G", "T", "P"}); }
std::string BytesText(double bytes) {
  return Scaled(bytes, 1024, {" B", " KiB", " MiB", " GiB", " TiB", " PiB"});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
