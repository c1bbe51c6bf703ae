// Names of dumped files.
#include "tools/hlo-viz/dump.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFirst = -1, kLast = INT64_MAX;
constexpr absl::string_view kEndings[] = {".txt", ".hlo.pb", ".hlo.pbtxt", ".pb", ".pbtxt", ".hlo"};

bool ConsumeEnding(absl::string_view& name) {
  for (absl::string_view ending : kEndings)
    if (absl::ConsumeSuffix(&name, ending)) return true;
  return false;
}

// `0017.PIPELINE.after_PASS.before_NEXT`.
bool ReadPass(absl::string_view step, DumpFile& file) {
  const size_t dot = step.find('.');
  int64_t number = 0;
  if (dot == absl::string_view::npos || !absl::SimpleAtoi(step.substr(0, dot), &number))
    return false;
  absl::string_view rest = step.substr(dot + 1);
  const size_t after = rest.find(".after_");
  if (after == absl::string_view::npos) return false;
  const absl::string_view pipeline = rest.substr(0, after);
  absl::string_view pass = rest.substr(after + 7);
  pass = pass.substr(0, pass.find(".before_"));
  file.order = number;
  file.label = absl::StrCat(pipeline, ": after ", pass);
  return true;
}

}  // namespace

DumpFile ReadDumpName(absl::string_view name) {
  DumpFile file;
  const bool plain = absl::EndsWith(name, ".hlo");
  absl::string_view stem = name;
  if (!ConsumeEnding(stem)) return file;
  int64_t number = 0;
  const size_t first = stem.find('.');
  absl::string_view head = stem.substr(0, first);
  const bool dumped = absl::ConsumePrefix(&head, "module_") && absl::SimpleAtoi(head, &number) &&
                      first != absl::string_view::npos;
  if (!dumped) {
    if (plain) file.module = file.label = std::string(stem);
    return file;
  }
  const size_t second = stem.find('.', first + 1);
  if (second == absl::string_view::npos) return file;
  const absl::string_view step = stem.substr(second + 1);
  if (absl::StartsWith(step, "execution_") && absl::StrContains(step, "snapshot")) {
    file.order = kFirst;
    file.label = std::string(step);
  } else if (step == "before_optimizations" || absl::EndsWith(step, "after_optimizations")) {
    file.order = step == "before_optimizations" ? kFirst : kLast;
    file.label = std::string(step);
  } else if (!ReadPass(step, file)) {
    return file;
  }
  file.module = std::string(stem.substr(0, second));
  return file;
}

absl::StatusOr<std::vector<DumpFile>> ListDump(const std::string& folder) {
  std::error_code error;
  // By module, order and label, so that a second encoding of a step falls together with the first.
  std::map<std::tuple<std::string, int64_t, std::string>, DumpFile> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    DumpFile file = ReadDumpName(it->path().filename().string());
    if (file.module.empty()) continue;
    file.path = it->path().string();
    DumpFile& kept = found[{file.module, file.order, file.label}];
    if (kept.path.empty() || absl::EndsWith(file.path, ".txt")) kept = std::move(file);
  }
  if (error) return NotFound("cannot read the folder ", folder, ": ", error.message());
  if (found.empty())
    return NotFound(folder,
                    " holds no modules: neither module_N.NAME.STEP.txt files of "
                    "--xla_dump_to nor .hlo files");
  std::vector<DumpFile> files;
  for (auto& [key, file] : found) files.push_back(std::move(file));
  return files;
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
