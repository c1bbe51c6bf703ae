// Modules as text that the interpreter runs on zeros, within limits of steps, memory and time.
#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "interpreter/interpreter.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "types/shape_bytes.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxBytes = 1 << 20;  // of one argument, and of all that lives at one time
constexpr int64_t kMaxDevices = 4;

InterpreterOptions Limits(const Module& module) {
  InterpreterOptions options;
  options.replicas = std::clamp<int64_t>(module.header().replica_count, 1, kMaxDevices);
  options.partitions =
      std::clamp<int64_t>(module.header().num_partitions, 1, kMaxDevices / options.replicas);
  options.step_limit = 2000;
  options.memory_limit_bytes = kMaxBytes;
  options.time_limit_s = 1;
  return options;
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  const std::unique_ptr<Module> module = ReadModule(input, false);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return false;
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module->entry()->parameters()) {
    if (TotalBytes(parameter->shape()) > kMaxBytes) return true;
    arguments.emplace_back(parameter->shape());
  }
  const InterpreterOptions options = Limits(*module);
  std::vector<const Literal*> of_one_device;
  for (const Literal& argument : arguments) of_one_device.push_back(&argument);
  const std::vector<std::vector<const Literal*>> of_all(options.replicas * options.partitions,
                                                        of_one_device);
  const auto results = InterpretDevices(*module, of_all, options);
  if (!results.ok()) return true;  // beyond a limit, or asking for a host
  for (const Literal& result : *results)
    CHECK(SameIgnoringLayout(result.shape(), module->entry()->root()->shape()))
        << Text(result.shape());
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
