// Files without a folder: memfd_create, opened again through /proc.
#include "fuzz/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {

MemoryFile::MemoryFile(absl::string_view bytes) : file_(memfd_create("fuzz", 0)) {
  CHECK(file_ >= 0 &&
        write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

MemoryFile::~MemoryFile() { close(file_); }

std::string MemoryFile::path() const { return absl::StrCat("/proc/self/fd/", file_); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
