// The stages of one compilation, as files.
#include "tools/hlo-run/compile_dump.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/dump_folder.h"

namespace hlokit {
namespace {

// As XLA spells the backend in a file's name: all of ours for NVIDIA's devices are its gpu.
absl::string_view BackendWord(absl::string_view platform) {
  return platform == "cuda" || platform == "ptx-sim" ? "gpu" : platform;
}

// The files in a folder that are texts, by name.
std::vector<std::filesystem::path> TextsIn(const std::string& folder) {
  std::vector<std::filesystem::path> texts;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() != ".o") texts.push_back(entry.path());
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

CompileDump::CompileDump(std::string folder, std::string platform, const Module& module)
    : folder_(std::move(folder)),
      platform_(std::move(platform)),
      stem_(absl::StrCat("module_0000.", absl::StrReplaceAll(module.name(), {{"/", "_"}}))) {
  if (folder_ == "-") scratch_.emplace();
}

absl::Status CompileDump::Start(const Module& module, std::string& backend_folder) {
  RETURN_IF_ERROR(MakeDumpFolder(folder_));
  if (scratch_) backend_folder = scratch_->path();
  return WriteDumpFile(folder_, absl::StrCat(stem_, ".before_optimizations.txt"),
                       WholeText(module));
}

absl::Status CompileDump::End(const Module& compiled) const {
  RETURN_IF_ERROR(WriteDumpFile(
      folder_, absl::StrCat(stem_, ".", BackendWord(platform_), "_after_optimizations.txt"),
      WholeText(compiled)));
  if (!scratch_ || scratch_->path().empty()) return absl::OkStatus();
  for (const std::filesystem::path& path : TextsIn(scratch_->path())) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path.string()));
    RETURN_IF_ERROR(WriteDumpFile(folder_, absl::StrCat(stem_, ".", path.filename().string()), text));
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
