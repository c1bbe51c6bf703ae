// Every pass has test files below testdata/ that show what it does and what it leaves alone, and a
// line in the table of docs/passes.md.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "passes/manager.h"
#include "passes/pipelines.h"
#include "printer/printer.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

constexpr char kSplit[] = "\n// -----";

std::string ReadAll(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The lists of passes that a file's RUN lines name.
std::vector<std::string> ListsIn(absl::string_view text) {
  std::vector<std::string> lists;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "// RUN: hlo-opt ")) continue;
    for (absl::string_view flag : {"--passes=", "--pipeline="}) {
      const size_t at = line.find(flag);
      if (at == absl::string_view::npos) continue;
      absl::string_view list = line.substr(at + flag.size());
      const bool quoted = absl::ConsumePrefix(&list, "'");
      list = list.substr(0, list.find(quoted ? '\'' : ' '));
      if (flag == "--passes=")
        lists.emplace_back(list);
      else if (const auto spec = PipelineSpec(list); spec.ok())
        lists.emplace_back(*spec);
    }
  }
  return lists;
}

// What the files show of one pass.
struct Shown {
  bool changes = false, changes_nothing = false;
  std::set<Opcode> changed, kept;  // opcodes of instructions that it rewrote; that it let stand
};

// The text of each instruction that computes something.
std::map<std::string, Opcode> LinesOf(const Module& module) {
  std::map<std::string, Opcode> lines;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (!i->IsParameter()) lines.emplace(absl::StrCat(c->name(), Print(*i)), i->opcode());
  return lines;
}

void Show(absl::string_view module_text, const std::string& list,
          std::map<std::string, Shown>& shown) {
  Diagnostics diagnostics;
  const auto source = std::make_shared<const SourceFile>("test.hlo", std::string(module_text));
  auto module = ParseModule(source, {}, diagnostics);
  if (!module.ok()) return;
  std::map<std::string, Opcode> before;
  PassOptions options;
  options.before = [&](absl::string_view, const Module& m) { before = LinesOf(m); };
  options.after = [&](const PassRun& run, const Module& m) {
    Shown& pass = shown[run.name];
    (run.changed ? pass.changes : pass.changes_nothing) = true;
    const std::map<std::string, Opcode> after = LinesOf(m);
    for (const auto& [line, opcode] : before)
      (after.contains(line) ? pass.kept : pass.changed).insert(opcode);
    return absl::OkStatus();
  };
  (void)RunPasses(**module, list, options);
}

std::map<std::string, Shown> ShownByFiles() {
  std::map<std::string, Shown> shown;
  const fs::path root = fs::path(HLOKIT_SOURCE_DIR) / "testdata";
  for (const char* folder : {"passes", "regress", "tools"})
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(root / folder)) {
      if (file.path().extension() != ".hlo") continue;
      const std::string text = ReadAll(file.path());
      if (!absl::StrContains(text, "// CHECK") && !fs::exists(file.path().string() + ".out"))
        continue;
      for (const std::string& list : ListsIn(text))
        for (absl::string_view piece : absl::StrSplit(text, kSplit)) Show(piece, list, shown);
    }
  return shown;
}

// True if it let a whole module stand, or an instruction of a kind that it rewrites elsewhere.
bool LeavesAlone(const Shown& pass) {
  for (const Opcode opcode : pass.changed)
    if (pass.kept.contains(opcode)) return true;
  return pass.changes_nothing;
}

TEST(PassFilesTest, EachPassHasFilesForWhatItDoesAndWhatItLeavesAlone) {
  std::map<std::string, Shown> shown = ShownByFiles();
  for (const PassInfo& pass : ListPasses()) {
    const bool only_looks = pass.name == "hlo-verifier" || pass.name == "domain_verifier" ||
                            pass.name == "hlo-cycle-detection" ||
                            pass.name == "unstable-reduction-detector" ||
                            pass.name == "check-no-data-dependency-in-scheduling-annotations";
    EXPECT_TRUE(shown[pass.name].changes || only_looks)
        << pass.name << " changes nothing in any file";
    std::string opcodes;
    for (const Opcode opcode : shown[pass.name].changed)
      absl::StrAppend(&opcodes, " ", Text(opcode));
    EXPECT_TRUE(LeavesAlone(shown[pass.name]))
        << pass.name << " leaves nothing alone in any file of what it rewrites:" << opcodes;
  }
}

TEST(PassFilesTest, EachPassHasALineAndAnEntryInThePage) {
  const std::string page = ReadAll(fs::path(HLOKIT_SOURCE_DIR) / "docs" / "passes.md");
  for (const PassInfo& pass : ListPasses()) {
    EXPECT_TRUE(absl::EndsWith(pass.summary, ".")) << pass.name << ": " << pass.summary;
    EXPECT_TRUE(absl::StrContains(page, absl::StrCat("| `", pass.name, "` | ", pass.summary)))
        << pass.name << " has no entry in docs/passes.md";
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
