// Modules as text that the interpreter runs on zeros, within limits of steps, memory and time.
#include <memory>

#include "fuzz/evaluate.h"
#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  const std::unique_ptr<Module> module = ReadModule(input, false);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return false;
  const auto arguments = ArgumentsFor(*module, /*zeros=*/true);
  if (!arguments.ok()) return true;
  const auto results = EvaluateWithin(*module, *arguments, LimitsFor(*module));
  if (!results.ok()) return true;  // beyond a limit, or asking for a host
  for (const Literal& result : *results)
    CHECK(SameIgnoringLayout(result.shape(), module->entry()->root()->shape()))
        << Text(result.shape());
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
