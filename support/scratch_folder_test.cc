// Scratch folders go with their objects, and where a handler ends the program before.
#include "support/scratch_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/file.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolderTest, GoesWithTheObject) {
  std::string path;
  {
    const ScratchFolder folder;
    path = folder.path();
    ASSERT_TRUE(AtomicWriteFile(path + "/a", "text").ok());
    fs::create_directory(path + "/b");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolderTest, GoesBeforeAHandlerEndsTheProgram) {
  const ScratchFolder kept, other;
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(AtomicWriteFile(kept.path() + "/file" + std::to_string(i), "text").ok());
  RemoveScratchFolders();
  EXPECT_FALSE(fs::exists(kept.path()));
  EXPECT_FALSE(fs::exists(other.path()));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
