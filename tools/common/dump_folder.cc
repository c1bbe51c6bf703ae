// Reads the names of the files that XLA dumps:
//   MODULE.before_optimizations.txt
//   MODULE.0017.PIPELINE.after_PASS.before_NEXT.txt
//   MODULE.cpu_after_optimizations.txt
// Of several encodings of one stage, text is preferred.
#include "tools/common/dump_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

// In the order in which they are preferred.
constexpr std::array<absl::string_view, 3> kEndings = {".txt", ".hlo.pb", ".hlo"};
constexpr absl::string_view kStandardOutput = "-";
// XLA's hlo-opt writes them without the s at their end.
constexpr absl::string_view kBefore = ".before_optimization";
constexpr absl::string_view kAfter = "after_optimization";

// `.0017.` in a name: where it starts; npos where there is none.
size_t FindNumber(absl::string_view name) {
  for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
    const size_t end = name.find('.', dot + 1);
    if (end == name.npos || end - dot != 5) continue;
    const absl::string_view digits = name.substr(dot + 1, 4);
    if (std::all_of(digits.begin(), digits.end(), [](char c) { return std::isdigit(c); }))
      return dot;
  }
  return name.npos;
}

// PIPELINE.after_PASS.before_NEXT, or PIPELINE.after_PASS.
void ParseMoment(absl::string_view text, DumpStage& stage) {
  const size_t after = text.find(".after_");
  if (after == text.npos) {
    stage.pipeline = std::string(text);
    return;
  }
  stage.pipeline = std::string(text.substr(0, after));
  text.remove_prefix(after + 7);
  const size_t before = text.find(".before_");
  stage.pass = std::string(text.substr(0, before));
  if (before != text.npos) stage.next = std::string(text.substr(before + 8));
}

}  // namespace

std::string DumpStage::Title() const {
  if (number == kBeforeAll) return "before_optimizations";
  if (number == kAfterAll) return "after_optimizations";
  return absl::StrFormat("%04d %s", number, pass.empty() ? pipeline : pass);
}

absl::Status MakeFolder(const std::string& path) {
  if (path == kStandardOutput)
    return InvalidArgument("- is standard output, and several files go to a folder (./- is one)");
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? InvalidArgument("cannot make folder ", path, ": ", error.message())
               : absl::OkStatus();
}

absl::Status MakeDumpFolder(const std::string& path) {
  return path == kStandardOutput ? absl::OkStatus() : MakeFolder(path);
}

absl::Status WriteDumpFile(const std::string& folder, absl::string_view name,
                           absl::string_view contents) {
  if (folder != kStandardOutput) return AtomicWriteFile(absl::StrCat(folder, "/", name), contents);
  return AtomicWriteFile(
      folder, absl::StrCat("*** Begin ", name, " ***\n", contents, "\n*** End ", name, " ***\n"));
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool ParseDumpName(absl::string_view name, std::string& module, DumpStage& stage) {
  const auto ending = std::find_if(kEndings.begin(), kEndings.end(),
                                   [&](absl::string_view e) { return absl::EndsWith(name, e); });
  if (ending == kEndings.end()) return false;
  name.remove_suffix(ending->size());
  if (const size_t number = FindNumber(name); number != name.npos) {
    if (!absl::SimpleAtoi(name.substr(number + 1, 4), &stage.number)) return false;
    module = std::string(name.substr(0, number));
    ParseMoment(name.substr(number + 6), stage);
    return !stage.pipeline.empty();
  }
  if (name.find(kBefore) != name.npos || name.find(kAfter) != name.npos)
    absl::ConsumeSuffix(&name, "s");
  if (absl::EndsWith(name, kBefore)) {
    stage.number = kBeforeAll;
    module = std::string(name.substr(0, name.size() - kBefore.size()));
    return true;
  }
  if (!absl::EndsWith(name, kAfter)) return false;  // buffer assignments and reports
  stage.number = kAfterAll;
  const absl::string_view head = name.substr(0, name.size() - kAfter.size());
  const size_t dot = head.rfind('.');  // .cpu_, .gpu_, .sm_9.0_gpu_, or nothing
  if (dot == head.npos) return false;
  const size_t target = head.find(".sm_");
  module = std::string(head.substr(0, std::min(dot, target)));
  return true;
}

absl::StatusOr<std::vector<DumpedModule>> ReadDumpFolder(const std::string& path) {
  std::error_code error;
  // The path by module and then by number and moment, so that forms of one stage meet.
  std::map<std::string, std::map<std::pair<int64_t, std::string>, DumpStage>> found;
  fs::recursive_directory_iterator files(path, fs::directory_options::skip_permission_denied,
                                         error);
  if (error) return NotFound("cannot read the folder ", path, ": ", error.message());
  for (; files != fs::recursive_directory_iterator(); files.increment(error)) {
    if (error) return NotFound("cannot read the folder ", path, ": ", error.message());
    if (!files->is_regular_file(error)) continue;
    DumpStage stage;
    std::string module;
    if (!ParseDumpName(files->path().filename().string(), module, stage)) continue;
    stage.path = files->path().string();
    DumpStage& place = found[module][{stage.number, stage.pipeline + stage.pass}];
    if (place.path.empty() || absl::EndsWith(stage.path, kEndings[0])) place = std::move(stage);
  }
  if (found.empty())
    return NotFound(path,
                    " holds no module that XLA dumped (NAME.before_optimizations.txt, "
                    "NAME.0001.PIPELINE.after_PASS.before_NEXT.txt, ...)");
  std::vector<DumpedModule> modules;
  for (auto& [name, stages] : found) {
    modules.push_back({name, {}});
    for (auto& [key, stage] : stages) modules.back().stages.push_back(std::move(stage));
  }
  return modules;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
