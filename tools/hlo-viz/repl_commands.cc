// The commands of the session, as a table: name, usage, meaning, and the member function that runs
// it. A first word that names no command names an instruction to draw.
//
//   > list exp                names that hold `exp`
//   > add.5 2                 draws what is two steps around %add.5
//   > allpaths p0 add.5       draws what lies between
// The table also answers `help` and completes words; a command that takes names completes with
// those of the module. Lists stop at kMaxListed lines and say how many there are.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "passes/rewrite/extract.h"
#include "printer/printer.h"
#include "support/file.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/hlo-viz/formats/dot.h"
#include "tools/hlo-viz/formats/graphviz.h"
#include "tools/hlo-viz/graph/describe.h"
#include "tools/hlo-viz/open_with.h"
#include "tools/hlo-viz/repl.h"

namespace hlokit {
namespace {

constexpr size_t kMaxListed = 1000, kMaxCompletions = 200, kMaxNodes = 2000;

std::string NameLine(const Instruction& i) {
  return absl::StrCat(i.name(), "  ", Text(i.opcode()), " ", Shown(Text(i.shape()), 80), "\n");
}

}  // namespace

struct Commands::Row {
  absl::string_view name, usage, meaning;
  absl::StatusOr<std::string> (Commands::*run)(const Words&);
  bool takes_names = false;                     // of instructions and computations
  std::vector<absl::string_view> choices = {};  // for its first word
};

const std::vector<Commands::Row>& Commands::Table() {
  static const std::vector<absl::string_view> kSwitch = {"on", "off"};
  static const std::vector<Row> rows = {
      {"list",
       "list [name|op_name|op_type] PATTERN",
       "instructions whose name, op_name, or opcode or op_type holds it",
       &Commands::List,
       false,
       {"name", "op_name", "op_type", "computations"}},
      {"list", "list computations", "the module's computations", nullptr},
      {"info", "info NAME", "all about an instruction or computation", &Commands::Info, true},
      {"allpaths", "allpaths A B [N]",
       "a picture of all paths between two, the shortest N (100) instructions of them",
       &Commands::Paths, true},
      {"extract", "extract NAME [HEIGHT]",
       "a module that computes it from what is HEIGHT steps above, else from parameters",
       &Commands::ExtractPart, true},
      {"stacktrace", "stacktrace NAME", "where in the source it comes from", &Commands::StackTrace,
       true},
      {"backend_config", "backend_config [on|off]", "backend_config in pictures",
       &Commands::BackendConfig, false, kSwitch},
      {"metadata", "metadata [on|off]", "texts and sources as tooltips", &Commands::Metadata, false,
       kSwitch},
      {"show_fusion_subcomputations", "show_fusion_subcomputations [on|off]", "fusions as boxes",
       &Commands::Fusions, false, kSwitch},
      {"help", "help", "this", &Commands::Help},
      {"quit", "quit", "ends", &Commands::Quit},
      {"exit", "exit", "ends", &Commands::Quit},
  };
  return rows;
}

absl::StatusOr<std::string> Commands::Run(absl::string_view line) {
  const Words words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.empty()) return std::string();
  for (const Row& row : Table())
    if (row.name == words[0] && row.run != nullptr) return (this->*row.run)(words);
  return DrawNamed(words);
}

absl::StatusOr<std::string> Commands::Help(const Words&) {
  std::string text =
      "NAME [WIDTH] [/ BOUNDARY...]\n    a picture of what is WIDTH (2) steps around an "
      "instruction; of a computation, its whole\n";
  for (const Row& row : Table()) absl::StrAppend(&text, row.usage, "\n    ", row.meaning, "\n");
  return text;
}

absl::StatusOr<std::string> Commands::Quit(const Words&) {
  done_ = true;
  return std::string();
}

absl::StatusOr<std::string> Commands::List(const Words& words) {
  std::string text;
  if (words.size() == 2 && words[1] == "computations") {
    for (const Computation* computation : index_.computations())
      absl::StrAppend(&text, computation->name(), computation->IsEntry() ? "  ENTRY" : "", "  ",
                      computation->instruction_count(), " instructions\n");
    return text;
  }
  if (words.size() < 2 || words.size() > 3)
    return InvalidArgument("list [name|op_name|op_type] PATTERN, or list computations");
  const absl::string_view by = words.size() == 3 ? words[1] : "name", pattern = words.back();
  if (by != "name" && by != "op_name" && by != "op_type")
    return InvalidArgument("list knows name, op_name and op_type, not '", by, "'");
  size_t count = 0;
  for (const Computation* computation : index_.computations())
    for (const Instruction* i : computation->Instructions()) {
      const absl::string_view field = by == "name"      ? absl::string_view(i->name())
                                      : by == "op_name" ? absl::string_view(i->metadata().op_name)
                                                        : Text(i->opcode());
      const bool by_type =
          by == "op_type" && absl::StrContains(absl::string_view(i->metadata().op_type), pattern);
      if ((by_type || absl::StrContains(field, pattern)) && ++count <= kMaxListed)
        absl::StrAppend(&text, NameLine(*i));
    }
  return absl::StrCat(text, count, " found\n");
}

absl::StatusOr<std::string> Commands::Info(const Words& words) {
  if (words.size() != 2) return InvalidArgument("info NAME");
  if (const auto computation = index_.FindComputation(words[1]); computation.ok()) {
    std::string callers;
    for (const Instruction* caller : index_.callers(**computation))
      absl::StrAppend(&callers, " ", caller->name());
    return absl::StrCat((*computation)->name(), ": ", (*computation)->instruction_count(),
                        " instructions, called by", callers.empty() ? " nothing" : callers, "\n");
  }
  ASSIGN_OR_RETURN(const Instruction* i, FindInstruction(index_.module(), words[1]));
  std::string text = absl::StrCat(Print(*i), "\nin ", i->parent()->name(), "\noperands:\n");
  for (const Instruction* operand : i->operands()) absl::StrAppend(&text, "  ", NameLine(*operand));
  text += "users:\n";
  for (const Instruction* user : i->users()) absl::StrAppend(&text, "  ", NameLine(*user));
  return text;
}

absl::StatusOr<std::string> Commands::StackTrace(const Words& words) {
  if (words.size() != 2) return InvalidArgument("stacktrace NAME");
  ASSIGN_OR_RETURN(const Instruction* i, FindInstruction(index_.module(), words[1]));
  const std::vector<std::string> frames = SourceFrames(*i);
  if (frames.empty()) return absl::StrCat(i->name(), " has no source\n");
  return absl::StrCat(absl::StrJoin(frames, "\n"), "\n");
}

absl::StatusOr<std::string> Commands::ExtractPart(const Words& words) {
  ExtractOptions extract;
  if (words.size() < 2 || words.size() > 3 ||
      (words.size() == 3 && !absl::SimpleAtoi(words[2], &extract.height)))
    return InvalidArgument("extract NAME [HEIGHT]");
  ASSIGN_OR_RETURN(const Instruction* i, FindInstruction(index_.module(), words[1]));
  ASSIGN_OR_RETURN(const Extraction extraction, Extract({i}, extract));
  return Print(*extraction.module);
}

absl::StatusOr<std::string> Commands::Paths(const Words& words) {
  int64_t most = 100;
  if (words.size() < 3 || words.size() > 4 ||
      (words.size() == 4 && !absl::SimpleAtoi(words[3], &most)))
    return InvalidArgument("allpaths A B [N]");
  ASSIGN_OR_RETURN(const Instruction* from, FindInstruction(index_.module(), words[1]));
  ASSIGN_OR_RETURN(const Instruction* to, FindInstruction(index_.module(), words[2]));
  if (most < 2) return InvalidArgument("allpaths A B N: N counts A and B, at least 2");
  auto selection = AllPaths(index_, *from, *to, static_cast<size_t>(most));
  if (!selection.ok()) selection = AllPaths(index_, *to, *from, static_cast<size_t>(most));
  if (!selection.ok()) return selection.status();
  return WritePicture(*selection);
}

absl::StatusOr<std::string> Commands::Switch(const Words& words, bool& target) {
  if (words.size() > 2 || (words.size() == 2 && words[1] != "on" && words[1] != "off"))
    return InvalidArgument(words[0], " [on|off]");
  if (words.size() == 2) target = words[1] == "on";
  return absl::StrCat(words[0], " is ", target ? "on" : "off", "\n");
}
absl::StatusOr<std::string> Commands::BackendConfig(const Words& words) {
  return Switch(words, options_.draw.backend_config);
}
absl::StatusOr<std::string> Commands::Metadata(const Words& words) {
  return Switch(words, options_.draw.metadata);
}
absl::StatusOr<std::string> Commands::Fusions(const Words& words) {
  return Switch(words, options_.draw.expand_fusions);
}

absl::StatusOr<std::string> Commands::DrawNamed(const Words& words) {
  if (const auto computation = index_.FindComputation(words[0]); computation.ok())
    return WritePicture(OneComputation(index_, **computation, true));
  const auto centre = FindInstruction(index_.module(), words[0]);
  if (!centre.ok())
    return InvalidArgument(std::string(centre.status().message()),
                           ", and no command; help tells them");
  NeighbourhoodOptions near;
  size_t next = 1;
  if (next < words.size() && words[next] != "/" && !absl::SimpleAtoi(words[next++], &near.radius))
    return InvalidArgument("'", words[1], "' is no width");
  if (next < words.size() && words[next] == "/") ++next;
  for (; next < words.size(); ++next) {
    ASSIGN_OR_RETURN(const Instruction* stop, FindInstruction(index_.module(), words[next]));
    near.boundary.insert(stop);
  }
  near.radius = std::clamp(near.radius, 0, 1000000);
  return WritePicture(Neighbourhood(index_, **centre, near));
}

absl::StatusOr<std::string> Commands::WritePicture(const Selection& selection) {
  const Drawing drawing = Draw(index_, selection, options_.draw, {});
  if (drawing.nodes.size() > kMaxNodes)
    return InvalidArgument(drawing.nodes.size(), " nodes are too many for a picture");
  ASSIGN_OR_RETURN(const std::string svg, Render(DotText(drawing), "svg"));
  const std::string stem = options_.output == "-" ? "hlo-viz.svg" : options_.output;
  const size_t dot = std::min(stem.rfind('.'), stem.size());
  const std::string path = absl::StrCat(stem.substr(0, dot), ".", ++pictures_, ".svg");
  RETURN_IF_ERROR(AtomicWriteFile(path, svg));
  if (!options_.browser.empty()) {
    RETURN_IF_ERROR(OpenWith(options_.browser, path));
  }
  return absl::StrCat(selection.title, ": ", drawing.nodes.size(), " nodes, ", path, "\n");
}

std::vector<std::string> Commands::Completions(absl::string_view before,
                                               absl::string_view word) const {
  std::vector<std::string> found;
  const auto offer = [&](absl::string_view name) {
    if (absl::StartsWith(name, word) && found.size() < kMaxCompletions) found.emplace_back(name);
  };
  const Words words = absl::StrSplit(before, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  const absl::string_view command = words.empty() ? "" : words[0];
  const auto row = std::find_if(Table().begin(), Table().end(),
                                [&](const Row& each) { return each.name == command; });
  if (words.empty())
    for (const Row& each : Table()) offer(each.name);
  if (row != Table().end() && words.size() == 1)
    for (absl::string_view choice : row->choices) offer(choice);
  if (row == Table().end() || row->takes_names) {
    for (const Computation* computation : index_.computations()) {
      offer(computation->name());
      for (const Instruction* i : computation->Instructions()) offer(i->name());
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
