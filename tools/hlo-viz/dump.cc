// Listing of XLA's dump folders: the stages of each module, its snapshot if there is one, and the
// files of buffer assignment with it. A revision (of times and sizes) tells a server when to read
// again.
#include "tools/hlo-viz/dump.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "support/file.h"
#include "support/text.h"
#include "tools/common/command.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kSnapshotEndings[] = {".hlo_unoptimized_snapshot.txt",
                                                  ".hlo_unoptimized_snapshot.pb",
                                                  ".hlo_snapshot.txt", ".hlo_snapshot.pb"};
constexpr absl::string_view kMemoryEndings[] = {"-buffer-assignment.txt", "-live-range.txt",
                                                "-memory-usage-report.txt"};

template <typename Fn>
void ForEachFile(const std::string& folder, Fn fn) {
  std::error_code error;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator it(folder, kOptions, error), end;
  for (; !error && it != end; it.increment(error))
    if (std::error_code ignored; it->is_regular_file(ignored)) fn(*it);
}

std::vector<DumpedModule> Sorted(std::vector<DumpedModule> modules) {
  std::sort(modules.begin(), modules.end(),
            [](const DumpedModule& a, const DumpedModule& b) { return a.name < b.name; });
  return modules;
}

DumpStage OnlyStage(const fs::path& path) {
  DumpStage stage;
  stage.path = path.string();
  stage.number = kBeforeAll;
  return stage;
}

// Files named *.hlo, where the folder holds no dumps: each is a module of one stage.
std::vector<DumpedModule> PlainModules(const std::string& folder) {
  std::vector<DumpedModule> modules;
  ForEachFile(folder, [&](const fs::directory_entry& file) {
    if (file.path().extension() == ".hlo")
      modules.push_back(
          {file.path().lexically_relative(folder).replace_extension().string(), {OnlyStage(file)}});
  });
  return Sorted(std::move(modules));
}

// module_0000.jit_f.execution_0000.hlo_unoptimized_snapshot.txt: the module as it was given to XLA,
// with arguments. Of several executions the first one counts.
std::map<std::string, DumpStage> Snapshots(const std::string& folder) {
  std::map<std::string, DumpStage> first;
  ForEachFile(folder, [&](const fs::directory_entry& file) {
    absl::string_view rest;
    const std::string name = file.path().filename().string();
    for (absl::string_view ending : kSnapshotEndings)
      if (rest = name; absl::ConsumeSuffix(&rest, ending)) {
        const size_t execution = rest.rfind(".execution_");
        DumpStage& place = first[std::string(rest.substr(0, execution))];
        if (place.path.empty() || file.path().string() < place.path) place = OnlyStage(file);
        return;
      }
  });
  return first;
}

// The file's time and size; 0 where there is none.
uint64_t StampOfFile(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return 0;
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return HashText(absl::StrCat(path.string(), " ", time, " ", size));
}

std::string WithoutEnding(const std::string& module_path) {
  absl::string_view stem = module_path;
  for (absl::string_view ending : {".txt", ".hlo.pb", ".hlo"})
    if (absl::ConsumeSuffix(&stem, ending)) break;
  return std::string(stem);
}

// What a program of this machine reads in an object file; empty where there is none, or it reads
// none.
std::string Disassembled(const std::string& path) {
  constexpr double kTimeLimit = 10;  // seconds
  for (const char* program : {"llvm-objdump", "objdump"}) {
    const auto done = RunCommand(
        absl::StrCat(program, " -d -r --no-show-raw-insn ", ShellWord(path), " 2>/dev/null"),
        kTimeLimit);
    if (done.ok() && done->exit_status == 0 && !done->timed_out) return done->output;
  }
  return "";
}

absl::StatusOr<std::string> CodeTextOf(const fs::path& file) {
  if (file.extension() == ".o") return Disassembled(file.string());
  return ReadFile(file.string());
}

}  // namespace

absl::StatusOr<std::vector<DumpedModule>> ModulesOfFolder(const std::string& folder) {
  auto dumped = ReadDumpFolder(folder);
  std::vector<DumpedModule> modules;
  if (dumped.ok()) modules = *std::move(dumped);
  for (auto& [name, stage] : Snapshots(folder)) {
    const auto has = [&name = name](const DumpedModule& module) { return module.name == name; };
    if (std::none_of(modules.begin(), modules.end(), has))
      modules.push_back({name, {std::move(stage)}});
  }
  if (modules.empty()) modules = PlainModules(folder);
  if (modules.empty()) return dumped.status();
  return Sorted(std::move(modules));
}

std::string StageLabel(const DumpStage& stage) {
  if (stage.number < 0 || stage.number >= kAfterAll || stage.pass.empty()) return stage.Title();
  return absl::StrFormat("%04d %s: %s", stage.number, stage.pipeline, stage.pass);
}

MemoryFiles ReadMemoryFiles(const std::string& module_path) {
  const std::string stem = WithoutEnding(module_path);
  const auto read = [&](absl::string_view ending) {
    auto text = ReadFile(absl::StrCat(stem, ending));
    return text.ok() ? *std::move(text) : std::string();
  };
  return {read(kMemoryEndings[0]), read(kMemoryEndings[1]), read(kMemoryEndings[2])};
}

std::vector<CodeFile> ReadCodeFiles(const std::string& module_path) {
  constexpr size_t kMaxBytes = size_t{64} << 20;
  const fs::path path(module_path);
  std::string module;
  DumpStage stage;
  std::vector<CodeFile> files;
  if (!ParseDumpName(path.filename().string(), module, stage) || stage.number < kAfterAll)
    return files;
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator it(path.has_parent_path() ? path.parent_path() : fs::path("."), error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (absl::StartsWith(name, module + ".") &&
        (absl::EndsWith(name, ".ll") || absl::EndsWith(name, ".ptx") ||
         absl::EndsWith(name, ".s") || absl::EndsWith(name, ".o")))
      found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  size_t bytes = 0;
  for (const fs::path& file : found) {
    auto text = CodeTextOf(file);
    if (!text.ok() || text->empty() || (bytes += text->size()) > kMaxBytes) continue;
    files.push_back({file.filename().string().substr(module.size() + 1), *std::move(text)});
  }
  return files;
}

uint64_t StampOf(const std::string& module_path) {
  uint64_t sum = StampOfFile(module_path);
  for (absl::string_view ending : kMemoryEndings)
    sum += StampOfFile(absl::StrCat(WithoutEnding(module_path), ending));
  return sum;
}

int64_t RevisionOf(const std::string& path) {
  uint64_t sum = 0;
  if (IsFolder(path)) {
    ForEachFile(path, [&](const fs::directory_entry& file) { sum += StampOfFile(file.path()); });
  } else {
    sum = StampOf(path);
  }
  return static_cast<int64_t>(sum >> 12);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
