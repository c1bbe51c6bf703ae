// A file in memory, for readers that take paths.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace hlokit {

// Holds `bytes` under path() for as long as it lives.
class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const;

 private:
  int file_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
