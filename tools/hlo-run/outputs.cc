// Names of results, and the files they go to.
#include "tools/hlo-run/outputs.h"

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

std::vector<NamedLiteral> NameAll(const std::vector<Literal>& results) {
  std::vector<NamedLiteral> named;
  for (size_t device = 0; device < results.size(); ++device) {
    for (NamedLiteral leaf : NameLeaves(results[device], "out")) {
      if (results.size() > 1) absl::StrAppend(&leaf.name, ".d", device);
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

}  // namespace

absl::Status WriteResults(const std::string& path, const std::vector<Literal>& results) {
  if (absl::EndsWithIgnoreCase(path, ".npz")) return WriteNpz(path, NameAll(results));
  if (absl::EndsWithIgnoreCase(path, ".safetensors"))
    return WriteSafetensors(path, NameAll(results));
  if (absl::EndsWithIgnoreCase(path, ".pb") || absl::EndsWithIgnoreCase(path, ".pbtxt"))
    return WriteLiteral(path, results);
  if (!absl::EndsWithIgnoreCase(path, ".txt")) return WriteFolder(path, NameAll(results));
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
  ASSIGN_OR_RETURN(const NpzFile archive, NpzFile::Open(path));
  std::vector<Literal> results = like;
  for (const NamedLiteral& leaf : NameAll(results)) {
    if (!archive.Contains(leaf.name))
      return InvalidArgument(path, " has no ", leaf.name, ", a result ",
                             Text(leaf.literal->shape()));
    ASSIGN_OR_RETURN(const NumpyArray array, archive.Read(leaf.name));
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
