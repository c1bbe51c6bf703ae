// Two modules, compared as hlo-diff does; the second stands behind a line `// second`.
//
// Without that line the second is the first, cloned. A module does not differ from itself; counts
// add up to the instructions of both; the same comparison the other way round finds as many equal
// ones; all reports are made, and the JSON one is JSON.
#include <memory>
#include <string>

#include "analysis/module_match.h"
#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "support/diagnostics.h"
#include "support/json_value.h"
#include "support/status.h"
#include "tools/hlo-diff/report.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

constexpr absl::string_view kSecond = "\n// second\n";

std::unique_ptr<Module> ValidModule(absl::string_view text) {
  std::unique_ptr<Module> module = ReadModule(text, false);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return nullptr;
  return module;
}

size_t InstructionsOf(const Module& module) {
  size_t count = 0;
  for (const Computation* computation : module.Computations())
    count += static_cast<size_t>(computation->instruction_count());
  return count;
}

void CheckComparison(const Module& before, const Module& after, bool equal, uint32_t ignored) {
  const ModuleMatch match(before, after);
  const ModuleDifference difference = Difference(before, after, match, ignored);
  const auto same = static_cast<size_t>(difference.same);
  CHECK(same + difference.changed.size() + difference.removed.size() == InstructionsOf(before));
  CHECK(same + difference.changed.size() + difference.added.size() == InstructionsOf(after));
  CHECK(!equal || difference.empty());
  const Comparison comparison = {"a.hlo", "b.hlo", before, after, match, difference, ignored};
  const std::string text = TextReport(comparison);
  CHECK(text.empty() == difference.empty());
  const auto json = ParseJson(JsonReport(comparison));
  CHECK(json.ok()) << json.status().ToString();
  CHECK(!HtmlReport(comparison).empty());
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  const size_t mark = input.find(kSecond);
  const std::unique_ptr<Module> before = ValidModule(input.substr(0, mark));
  if (before == nullptr) return false;
  if (InstructionsOf(*before) > 500) return true;
  const std::unique_ptr<Module> clone = before->Clone();
  CheckComparison(*before, *clone, /*equal=*/true, /*ignored=*/0);
  if (mark == absl::string_view::npos) return true;
  const std::unique_ptr<Module> after = ValidModule(input.substr(mark + kSecond.size()));
  if (after == nullptr || InstructionsOf(*after) > 500) return false;
  CheckComparison(*before, *after, /*equal=*/false, kMetadataAspect);
  CheckComparison(*after, *before, /*equal=*/false, kShapeAspect | kLayoutAspect);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
