// Runs a test file's commands and judges what comes out.
#pragma once

#include <string>

#include "testdata/runner/test_file.h"

namespace hlokit {

// Empty where all is well, else what failed, ready to print. With HLOKIT_UPDATE_GOLDENS set,
// FILE.out is rewritten instead of compared.
std::string RunTestFile(const TestFile& file);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
