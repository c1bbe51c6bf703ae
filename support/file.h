// Files: whole reads, writes that appear whole or not at all, and read-only mappings of large
// inputs.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

// The bytes of `path`, or of standard input where it is "-". A `..` behind a file's name takes it
// away.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Replaces `path` by `contents`: written elsewhere, then renamed, so a reader or a crash never sees
// a part.
// "-" is standard output; a path that is no plain file (/dev/stdout, a pipe) is written directly.
absl::Status AtomicWriteFile(const std::string& path, absl::string_view contents);
// The same for contents in pieces, one after the other.
absl::Status AtomicWriteFile(const std::string& path, absl::Span<const absl::string_view> contents);

// Deletes the part of a file that AtomicWriteFile has written so far, if it is at work. For signal
// handlers that end the program: it only calls what they may.
void RemoveUnfinishedFile();

// The folder of the program that runs, where its sister programs lie.
std::string FolderOfProgram();

// A plain file mapped read-only; the bytes live as long as the object.
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  absl::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}

  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
