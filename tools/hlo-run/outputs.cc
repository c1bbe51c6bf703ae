// Names of results, and the files they go to.
#include "tools/hlo-run/outputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/dump_folder.h"
#include "tools/common/literal_files.h"
#include "types/literal_text.h"
#include "types/npz.h"
#include "types/safetensors.h"

namespace hlokit {
namespace {

constexpr int64_t kFewElements = 16;  // printed without being asked for

// `devices`: whose results they are; empty: of all, in order.
std::vector<NamedLiteral> NameAll(const std::vector<Literal>& results,
                                  absl::Span<const int64_t> devices = {}) {
  std::vector<NamedLiteral> named;
  for (size_t k = 0; k < results.size(); ++k) {
    for (NamedLiteral leaf : NameLeaves(results[k], "out")) {
      if (!devices.empty())
        absl::StrAppend(&leaf.name, ".d", devices[k]);
      else if (results.size() > 1)
        absl::StrAppend(&leaf.name, ".d", k);
      named.push_back(std::move(leaf));
    }
  }
  return named;
}

absl::Status WriteFolder(const std::string& path, const std::vector<NamedLiteral>& named) {
  RETURN_IF_ERROR(MakeFolder(path));
  for (const NamedLiteral& leaf : named)
    RETURN_IF_ERROR(WriteNpy(absl::StrCat(path, "/", leaf.name, ".npy"), *leaf.literal));
  return absl::OkStatus();
}

constexpr absl::string_view kFormats[] = {".npz", ".safetensors", ".pb", ".pbtxt", ".txt"};

}  // namespace

bool WritesFolder(const std::string& path) {
  return !path.empty() && path != "-" &&
         std::none_of(std::begin(kFormats), std::end(kFormats), [&](absl::string_view ending) {
           return absl::EndsWithIgnoreCase(path, ending);
         });
}

absl::Status WriteShards(const std::string& folder, const std::vector<Literal>& results,
                         absl::Span<const int64_t> devices) {
  return WriteFolder(folder, NameAll(results, devices));
}

absl::Status WriteResults(const std::string& path, const std::vector<Literal>& results) {
  if (absl::EndsWithIgnoreCase(path, ".npz")) return WriteNpz(path, NameAll(results));
  if (absl::EndsWithIgnoreCase(path, ".safetensors"))
    return WriteSafetensors(path, NameAll(results));
  if (absl::EndsWithIgnoreCase(path, ".pb") || absl::EndsWithIgnoreCase(path, ".pbtxt"))
    return WriteLiteral(path, results);
  if (WritesFolder(path)) return WriteFolder(path, NameAll(results));
  std::string text;
  LiteralTextOptions options;
  options.with_shape = true;
  for (const Literal& result : results) {
    AppendText(text, result, options);
    text += '\n';
  }
  return AtomicWriteFile(path, text);
}

std::string DescribeItem(const Literal& item) {
  std::string text = absl::StrCat(" = ", Text(item.shape()));
  if (item.shape().IsTuple() || item.element_count() <= kFewElements) {
    text += ' ';
    AppendText(text, item, LiteralTextOptions());
  }
  return text + '\n';
}

absl::StatusOr<std::vector<Literal>> ReadResults(const std::string& path,
                                                 const std::vector<Literal>& like) {
  const bool is_folder = std::filesystem::is_directory(path);
  std::optional<NpzFile> archive;
  if (!is_folder) {
    ASSIGN_OR_RETURN(archive, NpzFile::Open(path));
  }
  std::vector<Literal> results = like;
  for (const NamedLiteral& leaf : NameAll(results)) {
    const std::string file = absl::StrCat(path, "/", leaf.name, ".npy");
    if (is_folder ? !std::filesystem::exists(file) : !archive->Contains(leaf.name))
      return InvalidArgument(path, " has no ", leaf.name, ", a result ",
                             Text(leaf.literal->shape()));
    ASSIGN_OR_RETURN(const NumpyArray array, is_folder ? ReadNpy(file) : archive->Read(leaf.name));
    ASSIGN_OR_RETURN(*const_cast<Literal*>(leaf.literal),
                     ToLiteral(array, leaf.literal->shape(), leaf.name));
  }
  return results;
}

std::string DescribeResults(const std::vector<Literal>& results, bool in_full) {
  std::string text;
  for (const NamedLiteral& leaf : NameAll(results)) {
    absl::StrAppend(&text, leaf.name, " = ", Text(leaf.literal->shape()));
    if (in_full || leaf.literal->element_count() <= kFewElements) {
      text += ' ';
      AppendText(text, *leaf.literal, LiteralTextOptions());
    }
    text += '\n';
  }
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
