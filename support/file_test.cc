// Tests of whole reads, atomic writes and mappings.
#include "support/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() : folder_(testing::TempDir() + "/hlokit_file_test_" + std::to_string(getpid())) {
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  long Entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{65536}, size_t{300001}}) {
    std::string contents(size, 'q');
    ASSERT_TRUE(AtomicWriteFile(Path("f"), contents).ok());
    EXPECT_EQ(*ReadFile(Path("f")), contents);
    EXPECT_EQ(MappedFile::Open(Path("f"))->bytes(), contents);
  }
  EXPECT_EQ(Entries(), 1) << "no temporary file stays";
}

TEST_F(FileTest, ReplacingKeepsModeAndFollowsLinks) {
  ASSERT_TRUE(AtomicWriteFile(Path("f"), "old").ok());
  chmod(Path("f").c_str(), 0640);
  fs::create_symlink(Path("f"), Path("link"));
  ASSERT_TRUE(AtomicWriteFile(Path("link"), "new").ok());
  EXPECT_EQ(*ReadFile(Path("f")), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(fs::status(Path("f")).permissions(), fs::perms(0640));
}

TEST_F(FileTest, FailuresSayWhatAndWhy) {
  EXPECT_EQ(ReadFile(Path("none")).status().message(),
            "cannot read " + Path("none") + ": No such file or directory");
  EXPECT_EQ(ReadFile(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadFile(folder_.string()).ok());
  EXPECT_FALSE(MappedFile::Open(Path("none")).ok());
  EXPECT_FALSE(MappedFile::Open(folder_.string()).ok());
  EXPECT_FALSE(AtomicWriteFile(folder_.string(), "x").ok());
  EXPECT_FALSE(AtomicWriteFile(Path("no/such/folder"), "x").ok());
  EXPECT_TRUE(AtomicWriteFile("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(Entries(), 0);
}

TEST_F(FileTest, TheFolderOfTheProgramHoldsIt) {
  EXPECT_TRUE(fs::exists(FolderOfProgram() + "/hlokit_support_test"));
}

TEST_F(FileTest, MappingsMove) {
  ASSERT_TRUE(AtomicWriteFile(Path("f"), "abc").ok());
  MappedFile first = *MappedFile::Open(Path("f"));
  MappedFile second = std::move(first);
  EXPECT_EQ(second.bytes(), "abc");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
