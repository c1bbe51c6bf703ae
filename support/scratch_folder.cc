// Folders for files that nobody keeps.
#include "support/scratch_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace hlokit {
namespace {

// The paths of the folders that there are, for RemoveScratchFolders: at most so many, of at most
// that length.
struct KnownFolder {
  std::atomic<bool> taken = false;
  char path[256] = "";
};
KnownFolder known_folders[8];

void Remember(const std::string& path) {
  if (path.size() >= sizeof(KnownFolder::path)) return;
  for (KnownFolder& folder : known_folders) {
    if (folder.taken.exchange(true)) continue;
    std::memcpy(folder.path, path.c_str(), path.size() + 1);
    return;
  }
}

void Forget(const std::string& path) {
  for (KnownFolder& folder : known_folders) {
    if (!folder.taken || path != folder.path) continue;
    folder.path[0] = '\0';
    folder.taken = false;
    return;
  }
}

#if defined(__linux__)
// Deletes the files right in a folder. opendir would allocate.
void RemoveFiles(const char* path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) char entries[2048];
  int64_t size;
  while ((size = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
    for (int64_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      unlinkat(folder, entry->d_name, 0);
      at += entry->d_reclen;
    }
  close(folder);
}
#endif

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "hlokit-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) return;
  Remember(name);
  path_ = std::move(name);
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  Forget(path_);
}

void RemoveScratchFolders() {
#if defined(__linux__)
  constexpr int kTries = 3;  // file systems may pass over entries while others go
  for (const KnownFolder& folder : known_folders)
    for (int i = 0; i < kTries && folder.path[0] != '\0' && rmdir(folder.path) != 0; ++i)
      RemoveFiles(folder.path);
#endif
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
