// What tests of kernels share: a module's results on the simulator beside the interpreter's. In
// kernel_testing_test.cc.
#pragma once

#include <memory>
#include <string>

#include "backends/cuda/cuda_backend.h"

namespace hlokit {

std::unique_ptr<Module> ParseForTest(const std::string& text);
std::string PtxForTest(const std::string& text, absl::string_view arch = "sm_90a");

// Checks that the simulator gives the same bits with 1 and 8 threads of the host, within `error` of
// the interpreter's results, for random arguments.
void CheckOnSimulator(const std::string& text, double error);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
