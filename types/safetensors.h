// Safetensors files: named arrays behind a JSON header, as model hubs publish weights.
//
// The file is eight bytes N (little-endian), N bytes of JSON, then the arrays' bytes, row-major:
//   {"w": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, "__metadata__": {"k": "v"}}
// Offsets count from the header's end. Source: the format's description at
// github.com/huggingface/safetensors; read with bounds checked before anything is believed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "support/file.h"
#include "types/npz.h"

namespace hlokit {

class SafetensorsFile {
 public:
  // Reads the header only; the arrays stay in the mapped file until they are looked at. Errors:
  // InvalidArgument "FILE: header byte N: ..." for what is no JSON or no description of arrays,
  // for types that no element type stands for, sizes that differ from the offsets, and arrays that
  // overlap or end beyond the file.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  const std::vector<std::string>& names() const { return names_; }  // in the header's order
  bool Contains(absl::string_view name) const { return by_name_.contains(name); }
  // A view of the mapped file, which lives as long as it. NotFound for an unknown name; where
  // `type` is not the array's, InvalidArgument "LABEL: expected bf16, given f16".
  absl::StatusOr<NumpyArray> Read(absl::string_view name, ElementType type,
                                  absl::string_view label) const;

 private:
  struct Entry {
    ElementType type = ElementType::kInvalid;
    DimVector shape;
    uint64_t begin = 0, end = 0;  // in the file
  };
  class HeaderReader;

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  std::vector<std::string> names_;
  absl::flat_hash_map<std::string, Entry> by_name_;
};

// Writes the arrays, whole or not at all. Errors: Unimplemented for types that the format lacks
// (complex ones, those below a byte).
absl::Status WriteSafetensors(const std::string& path, absl::Span<const NamedLiteral> arrays);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
