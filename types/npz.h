// NumPy's .npz files: zip archives of .npy arrays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "support/file.h"
#include "types/npy.h"

namespace hlokit {

// An archive open for reading. Entries may be stored or deflated, of any size (zip64).
//   ASSIGN_OR_RETURN(NpzFile file, NpzFile::Open("case.npz"));
//   if (file.Contains("in0")) { ASSIGN_OR_RETURN(NumpyArray array, file.Read("in0")); ... }
class NpzFile {
 public:
  // Reads the directory only. InvalidArgument where the file is no whole zip archive.
  static absl::StatusOr<NpzFile> Open(const std::string& path);

  // Names without ".npy", in the order of the archive.
  const std::vector<std::string>& names() const { return names_; }
  bool Contains(absl::string_view name) const { return by_name_.contains(name); }

  // Stored arrays are views of the mapped file, which lives as long as they; deflated ones are
  // unpacked. NotFound for an unknown name, InvalidArgument for damage.
  absl::StatusOr<NumpyArray> Read(absl::string_view name) const;

 private:
  struct Entry {
    uint32_t method = 0;  // 0 stored, 8 deflated
    uint32_t flags = 0;
    uint32_t crc = 0;
    uint64_t packed_size = 0;
    uint64_t size = 0;
    uint64_t header_at = 0;  // of its local header
  };
  class DirectoryReader;

  absl::StatusOr<absl::string_view> PackedBytes(const Entry& entry) const;
  absl::StatusOr<NumpyArray> ReadEntry(const Entry& entry) const;

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  std::vector<std::string> names_;
  absl::flat_hash_map<std::string, Entry> by_name_;
};

struct NamedLiteral {
  std::string name;        // without ".npy"
  const Literal* literal;  // an array
};

// The arrays inside `literal`, depth first, named prefix0, prefix1, ...; tokens are passed over.
std::vector<NamedLiteral> NameLeaves(const Literal& literal, absl::string_view prefix);

// Writes the arrays, stored, to `path`, whole or not at all. Equal arrays give equal files.
absl::Status WriteNpz(const std::string& path, absl::Span<const NamedLiteral> arrays);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
