// One GoogleTest case for each test file below testdata/: suite exec where values are computed,
// else golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

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
constexpr const char* kAreas[] = {"parser",   "printer", "verifier", "passes", "ops",
                                  "backends", "tools",   "modules",  "regress"};

std::vector<fs::path> TestFiles(const fs::path& area) {
  std::vector<fs::path> files;
  if (!fs::exists(area)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(area))
    if (entry.path().extension() == ".hlo" || entry.path().extension() == ".test")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void RegisterTests() {
  const fs::path root = HLOKIT_TESTDATA;
  for (const char* area : kAreas) {
    for (const fs::path& path : TestFiles(root / area)) {
      const TestFile file = ReadTestFile(path);
      const fs::path name = fs::relative(path, root).replace_extension();
      testing::RegisterTest(file.cases.empty() ? "golden" : "exec", name.c_str(), nullptr, nullptr,
                            path.c_str(), 1,
                            [file]() -> testing::Test* { return new FileTest(file); });
    }
  }
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hlokit::RegisterTests();
  return RUN_ALL_TESTS();
}
// SPDX-License-Identifier: Apache-2.0
