// Compiled code comes back from the folder, unless it was damaged there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backends/cpu/cpu_backend.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

constexpr char kModule[] =
    "HloModule m\n\nENTRY e {\n  p = f32[5]{0} parameter(0)\n"
    "  ROOT r = f32[5]{0} add(p, p), metadata={op_name=\"here\"}\n}\n";

class ObjectCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Objects taken from the cache, after a run that gave what it should.
  int64_t CompileAndRun(const std::string& text) {
    Diagnostics diagnostics;
    auto module = ParseModule(std::make_shared<const SourceFile>("test.hlo", text), ParseOptions(),
                              diagnostics);
    EXPECT_TRUE(module.ok()) << module.status();
    CompileOptions options;
    options.cache_dir = folder_.string();
    auto executable = MakeCpuBackend()->Compile(*std::move(module), options);
    EXPECT_TRUE(executable.ok()) << executable.status();
    kept_ = (*executable)->stats().kept;
    Literal argument(Shape::Array(ElementType::kF32, {5}));
    for (int64_t k = 0; k < 5; ++k) argument.SetDouble(k, static_cast<double>(k));
    auto result = (*executable)->Run({&argument, 1});
    EXPECT_TRUE(result.ok()) << result.status();
    for (int64_t k = 0; k < 5; ++k) EXPECT_EQ(result->GetDouble(k), 2.0 * static_cast<double>(k));
    return (*executable)->stats().cached_objects;
  }

  fs::path folder_;
  absl::Status kept_;  // of the last CompileAndRun
};

TEST_F(ObjectCacheTest, WhatCannotBeKeptIsToldAndRuns) {
  EXPECT_EQ(CompileAndRun(kModule), 0);
  EXPECT_TRUE(kept_.ok()) << kept_;
  fs::remove_all(folder_);
  std::ofstream(folder_) << "a file where the folder should be";
  EXPECT_EQ(CompileAndRun(kModule), 0);
  EXPECT_FALSE(kept_.ok());
}

TEST_F(ObjectCacheTest, SecondTimeComesFromTheFolder) {
  EXPECT_EQ(CompileAndRun(kModule), 0);
  EXPECT_GT(CompileAndRun(kModule), 0);
}

TEST_F(ObjectCacheTest, MetadataDoesNotMatterButTheProgramDoes) {
  EXPECT_EQ(CompileAndRun(kModule), 0);
  std::string text = kModule;
  text.replace(text.find("here"), 4, "else");
  EXPECT_GT(CompileAndRun(text), 0);
  text.replace(text.find("add(p, p)"), 9, "multiply(p, two)");
  text.insert(text.find("  ROOT"),
              "  c = f32[] constant(2)\n  two = f32[5]{0} broadcast(c), dimensions={}\n");
  EXPECT_EQ(CompileAndRun(text), 0);
}

TEST_F(ObjectCacheTest, DamagedFilesAreCompiledAnew) {
  EXPECT_EQ(CompileAndRun(kModule), 0);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('?');
  }
  EXPECT_EQ(CompileAndRun(kModule), 0);
  EXPECT_GT(CompileAndRun(kModule), 0);
  for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry.path(), 20);
  EXPECT_EQ(CompileAndRun(kModule), 0);
}

// What a killed process leaves goes with the next compilation, but not while another one writes,
// and no file of the user's.
TEST_F(ObjectCacheTest, LeftoversOfKilledProcessesGo) {
  EXPECT_EQ(CompileAndRun(kModule), 0);
  const fs::path leftover = folder_ / "0123456789abcdef0123456789abcdef.o.tmp77.0";
  const fs::path foreign = folder_ / "notes.o.tmp77.0";
  for (const fs::path& path : {leftover, foreign}) std::ofstream(path) << "hlokit obj";
  const int writer = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(writer, LOCK_SH), 0);
  EXPECT_GT(CompileAndRun(kModule), 0);
  EXPECT_TRUE(fs::exists(leftover));
  close(writer);
  EXPECT_GT(CompileAndRun(kModule), 0);
  EXPECT_FALSE(fs::exists(leftover));
  EXPECT_TRUE(fs::exists(foreign));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
