// Functions that the tests of kernels share.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "backends/cuda/kernel_testing_internal.h"
#include "generator/generator.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "types/compare.h"

namespace hlokit {
namespace {

Literal RunOnSimulator(const Module& module, const DeviceArguments& arguments, int threads) {
  CompileOptions options;
  options.threads = threads;
  auto executable = MakePtxSimBackend()->Compile(module.Clone(), options).value();
  auto prepared = executable->Prepare({arguments}).value();
  const absl::Status status = prepared->Run();
  EXPECT_TRUE(status.ok()) << status;
  return std::move(prepared->TakeResults().value()[0]);
}

}  // namespace

std::unique_ptr<Module> ParseForTest(const std::string& text) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", text);
  return ParseModule(source, {}, diagnostics).value();
}

std::string PtxForTest(const std::string& text, absl::string_view arch) {
  return PtxOfModule(ParseForTest(text), arch, {}).value();
}

void CheckOnSimulator(const std::string& text, double error) {
  const auto module = ParseForTest(text);
  const std::vector<Literal> arguments = RandomArguments(*module, 7);
  DeviceArguments pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const auto expected = InterpretDevices(*module, {pointers}, {});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const Literal actual = RunOnSimulator(*module, pointers, 1);
  EXPECT_TRUE(actual == RunOnSimulator(*module, pointers, 8)) << text;
  CompareOptions options;
  options.abs_error = error;
  options.rel_error = error;
  const CompareResult result = Compare(expected->front(), actual, options);
  EXPECT_TRUE(result.equal) << result.Report() << text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
