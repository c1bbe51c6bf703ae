// One GoogleTest case for each test file below testdata/: suite exec where values are computed,
// else golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "parser/parser.h"
#include "printer/printer.h"
#include "testdata/runner/run.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 public:
  explicit FileTest(TestFile file) : file_(std::move(file)) {}
  void TestBody() override {
    const std::string failure = RunTestFile(file_);
    if (!failure.empty()) ADD_FAILURE_AT(file_.path.c_str(), 1) << failure;
  }

 private:
  TestFile file_;
};

// Folders of test files; others (models, the runner) hold no tests.
constexpr const char* kAreas[] = {"parser",   "printer", "verifier", "passes",  "ops",
                                  "backends", "tools",   "modules",  "regress", "stablehlo"};

std::vector<fs::path> TestFiles(const fs::path& area) {
  std::vector<fs::path> files;
  if (!fs::exists(area)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(area))
    if (entry.path().extension() == ".hlo" || entry.path().extension() == ".mlir" ||
        entry.path().extension() == ".test")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// XLA prints -0.0 as `-0` and reads that as 0, and so do we: the sign is lost between.
std::string WithoutNegativeZeros(const std::string& text) {
  auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool zero = text[i] == '-' && i > 0 && i + 2 < text.size() && text[i + 1] == '0' &&
                      !in_word(text[i - 1]) && !in_word(text[i + 2]);
    if (!zero) out += text[i];
  }
  return out;
}

// What reads well is printed, read again and printed again without a difference.
class RoundTripTest : public testing::Test {
 public:
  explicit RoundTripTest(std::vector<fs::path> files) : files_(std::move(files)) {}
  void TestBody() override {
    int modules = 0;
    for (const fs::path& path : files_) {
      Diagnostics ignored, errors;
      const auto source = std::make_shared<const SourceFile>(path, ReadTestFile(path).text);
      const auto first = ParseModule(source, {true}, ignored);
      if (!first.ok()) continue;  // a test of refusals
      ++modules;
      const std::string text = Print(**first);
      const auto printed = std::make_shared<const SourceFile>(path, text);
      const auto second = ParseModule(printed, {true}, errors);
      ASSERT_TRUE(second.ok()) << errors.Render(*printed);
      EXPECT_EQ(WithoutNegativeZeros(Print(**second)), WithoutNegativeZeros(text));
    }
    EXPECT_GT(modules, 20);
  }

 private:
  std::vector<fs::path> files_;
};

// What ctest calls the test of a file: its path, with _ for each -, behind which a filter of
// GoogleTest would name tests to leave out.
std::string TestName(const fs::path& file, const fs::path& root) {
  std::string name = fs::relative(file, root).replace_extension().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void RegisterTests() {
  const fs::path root = HLOKIT_TESTDATA;
  std::vector<fs::path> all;
  for (const char* area : kAreas) {
    for (const fs::path& path : TestFiles(root / area)) {
      const TestFile file = ReadTestFile(path);
      all.push_back(path);
      testing::RegisterTest(file.cases.empty() ? "golden" : "exec", TestName(path, root).c_str(),
                            nullptr, nullptr, path.c_str(), 1,
                            [file]() -> testing::Test* { return new FileTest(file); });
    }
  }
  testing::RegisterTest("golden", "round_trip", nullptr, nullptr, __FILE__, __LINE__,
                        [all]() -> testing::Test* { return new RoundTripTest(all); });
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hlokit::RegisterTests();
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& run = *testing::UnitTest::GetInstance();
  if (run.test_to_run_count() > 0 || testing::GTEST_FLAG(list_tests)) return status;
  std::cerr << "no test has a name of this filter\n";
  return 1;
}
// SPDX-License-Identifier: Apache-2.0
