// Folders for files that nobody keeps.
#include "support/scratch_folder.h"

#include <cstdlib>
#include <filesystem>

namespace hlokit {

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "hlokit-XXXXXX").string();
  if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
