// Listing folders.
#include "tools/hlo-viz/dump.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "support/text.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

std::vector<DumpedModule> PlainModules(const std::string& folder) {
  std::vector<DumpedModule> modules;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file(error) || it->path().extension() != ".hlo") continue;
    DumpStage stage;
    stage.path = it->path().string();
    stage.number = kBeforeAll;
    modules.push_back({it->path().stem().string(), {stage}});
  }
  std::sort(modules.begin(), modules.end(),
            [](const DumpedModule& a, const DumpedModule& b) { return a.name < b.name; });
  return modules;
}

}  // namespace

absl::StatusOr<std::vector<DumpedModule>> ModulesOfFolder(const std::string& folder) {
  auto dumped = ReadDumpFolder(folder);
  if (dumped.ok()) return dumped;
  std::vector<DumpedModule> plain = PlainModules(folder);
  if (plain.empty()) return dumped.status();
  return plain;
}

std::string StageLabel(const DumpStage& stage) {
  if (stage.number < 0 || stage.number >= kAfterAll || stage.pass.empty()) return stage.Title();
  return absl::StrFormat("%04d %s: %s", stage.number, stage.pipeline, stage.pass);
}

int64_t RevisionOf(const std::string& folder) {
  std::error_code error;
  uint64_t sum = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const auto time = it->last_write_time(error).time_since_epoch().count();
    const auto size = it->is_regular_file(error) ? it->file_size(error) : 0;
    sum += HashText(absl::StrCat(it->path().string(), " ", time, " ", size));
  }
  return static_cast<int64_t>(sum >> 12);  // exact as a number of JavaScript
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
