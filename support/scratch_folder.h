// Folders for files that nobody keeps.
#pragma once

#include <string>

namespace hlokit {

// A fresh folder among the system's temporary files, deleted with the object, whatever is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  // Empty where no folder could be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Deletes the folders that there are, and the files right in them. For signal handlers that end the
// program: it only calls what they may.
void RemoveScratchFolders();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
