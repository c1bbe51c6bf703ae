// Each command is a line of a shell: a tool beside this one, the text in a file of a folder in
// $TMPDIR that stays, since an editor shows what the tool wrote there.
//
//   {"hlokit.runPass", "hlo-opt {in} --passes={arg} -o {out}", "hlo"}
// {in} becomes the document's text as it is in the editor, saved or not; {arg} what the action
// carries, quoted for the shell; {out} the file whose name the editor gets back and opens. A tool
// that runs longer than kTimeLimit is stopped. Which actions a place offers is decided by the text
// alone, so the menu appears at once even where the module has errors.
#include "tools/hlo-lsp/service/commands.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/command.h"
#include "tools/common/dump_folder.h"

namespace hlokit {
namespace {

constexpr double kTimeLimit = 600;  // seconds

struct EditorCommand {
  const char* name;
  // With {in}, {out} and {arg} for files and the argument.
  const char* line;
  const char* ending;  // of the file written
};
constexpr EditorCommand kCommands[] = {
    {"hlokit.runPass", "hlo-opt {in} --passes={arg} -o {out}", "hlo"},
    {"hlokit.runPipeline", "hlo-opt {in} --pipeline={arg} -o {out}", "hlo"},
    {"hlokit.isolate", "hlo-opt {in} --extract={arg} -o {out}", "hlo"},
    {"hlokit.reduce", "hlo-reduce {in} --mismatch=cpu,interpreter -q -o {out}", "hlo"},
    {"hlokit.explore", "hlo-viz {in} -o {out}", "html"},
    {"hlokit.program", "hlo-opt {in} --stage=program -o {out}", "txt"},
    {"hlokit.cost", "hlo-cost {in} -o {out}", "txt"},
};

Json Action(const std::string& title, const char* command, const std::string& uri,
            const std::string& argument, const char* kind) {
  return {{"title", title},
          {"kind", kind},
          {"command", {{"title", title}, {"command", command}, {"arguments", {uri, argument}}}}};
}

}  // namespace

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const EditorCommand& command : kCommands) names.emplace_back(command.name);
  return names;
}

Json CodeActions(Document& document, TextRange range) {
  Json actions = Json::array();
  const TextBuffer& buffer = document.buffer();
  const uint32_t offset = buffer.OffsetOf(range.start);
  const std::string& uri = document.uri();
  const ComputationSpan* const in = ComputationAt(document.computations(), offset);
  const int64_t line = buffer.LineOf(offset);
  const auto definition = ReadDefinition(buffer.Line(line), buffer.LineStart(line));
  if (in != nullptr && definition) {
    const std::string name(buffer.text().substr(definition->name.begin,
                                                definition->name.end - definition->name.begin));
    actions.push_back(
        Action(absl::StrCat("Isolate %", name), "hlokit.isolate", uri, name, "refactor.extract"));
  }
  for (const char* pass : {"algsimp", "cse", "dce", "fusion"})
    actions.push_back(
        Action(absl::StrCat("Run pass ", pass), "hlokit.runPass", uri, pass, "refactor.rewrite"));
  actions.push_back(
      Action("Run the CPU's pipeline", "hlokit.runPipeline", uri, "cpu", "refactor.rewrite"));
  actions.push_back(Action("Reduce while the CPU differs from the interpreter", "hlokit.reduce",
                           uri, "", "refactor"));
  actions.push_back(Action("Open in the explorer", "hlokit.explore", uri, "", "source"));
  actions.push_back(Action("Show costs", "hlokit.cost", uri, "", "source"));
  actions.push_back(Action("Show the steps of a run", "hlokit.program", uri, "", "source"));
  return actions;
}

absl::StatusOr<Json> RunEditorCommand(const std::string& name, const Json& arguments,
                                      const std::string& text) {
  for (const EditorCommand& command : kCommands) {
    if (name != command.name) continue;
    std::string argument;
    if (arguments.is_array() && arguments.size() > 1 && arguments[1].is_string())
      argument = arguments[1].get<std::string>();
    const std::string folder = TemporaryPath("hlo-lsp", "d");
    RETURN_IF_ERROR(MakeFolder(folder));
    const std::string in = absl::StrCat(folder, "/module.hlo");
    const std::string out = absl::StrCat(folder, "/result.", command.ending);
    RETURN_IF_ERROR(AtomicWriteFile(in, text));
    const std::string line = absl::StrCat(
        ShellWord(FolderOfProgram()), "/",
        absl::StrReplaceAll(
            command.line,
            {{"{in}", ShellWord(in)}, {"{out}", ShellWord(out)}, {"{arg}", ShellWord(argument)}}));
    ASSIGN_OR_RETURN(const CommandResult result, RunCommand(line, kTimeLimit));
    if (result.timed_out) return InvalidArgument(name, ": took more than ", kTimeLimit, " s");
    if (result.exit_status != 0) return InvalidArgument(result.output);
    return Json{{"file", out}, {"message", result.output}};
  }
  return InvalidArgument("there is no command ", name);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
