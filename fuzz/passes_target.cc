// Modules as text and the passes that are run on them: the module stays valid and of equal value.
//
// A line `// passes: dce,algsimp` at the start names the passes; a word that names none stands for
// some pass, so that mutations reach all of them. Without the line the text itself chooses three.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fuzz/evaluate.h"
#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "passes/framework/promises.h"
#include "passes/manager.h"
#include "printer/whole_text.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

constexpr size_t kMaxPasses = 4;
constexpr absl::string_view kMark = "// passes:";

const std::vector<std::string>& PassNames() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string>;
    for (const PassInfo& pass : ListPasses())
      if (!RefusesModules(pass.name)) all->push_back(pass.name);
    return all;
  }();
  return names;
}

// The pass of that name, or the one that the word's hash chooses.
std::string PassOf(absl::string_view word) {
  for (const std::string& name : PassNames())
    if (name == word) return name;
  return PassNames()[std::hash<std::string>()(std::string(word)) % PassNames().size()];
}

std::vector<std::string> PassesOf(absl::string_view input) {
  std::vector<std::string> words = {absl::StrCat("1", input), absl::StrCat("2", input),
                                    absl::StrCat("3", input)};
  if (absl::ConsumePrefix(&input, kMark))
    words = absl::StrSplit(input.substr(0, input.find('\n')), absl::ByAnyChar(", \t\r"),
                           absl::SkipEmpty());
  if (words.size() > kMaxPasses) words.resize(kMaxPasses);
  for (std::string& word : words) word = PassOf(word);
  return words;
}

// Runs the passes; false where one of them refuses the module by name. CHECKs that what it leaves
// is valid, and untouched where it says so.
bool RunAll(Module& module, const std::vector<std::string>& passes) {
  for (const std::string& pass : passes) {
    const std::string before = WholeText(module);
    PassOptions options;
    options.verify_each = true;
    PassReport report;
    const absl::Status status = RunPasses(module, pass, options, &report);
    CHECK(!absl::IsInternal(status)) << pass << ": " << status.ToString() << "\n" << before;
    if (!status.ok()) return false;
    CHECK(report.misreports.empty()) << report.misreports[0] << "\n" << before;
  }
  return true;
}

bool KeepValues(const std::vector<std::string>& passes) {
  for (const std::string& pass : passes)
    if (ChangesValues(pass)) return false;
  return true;
}

// Whether both take the same arguments and give results of one shape: SPMD partitioning cuts those
// of the entry.
bool TakeAndGiveTheSame(const Module& a, const Module& b) {
  const auto of_a = a.entry()->parameters(), of_b = b.entry()->parameters();
  return SameIgnoringLayout(a.entry()->root()->shape(), b.entry()->root()->shape()) &&
         std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const Instruction* p, const Instruction* q) {
                      return SameIgnoringLayout(p->shape(), q->shape());
                    });
}

// CHECKs that both modules give the same.
void CompareValues(const Module& before, const Module& after, const std::string& passes) {
  const auto arguments = ArgumentsFor(before, /*zeros=*/false);
  if (!arguments.ok()) return;
  InterpreterOptions limits = LimitsFor(before);
  const auto expected = EvaluateWithin(before, *arguments, limits);
  if (!expected.ok()) return;    // beyond a limit, or asking for a host
  constexpr int64_t kMore = 20;  // passes write operations out as loops of simple ones
  limits.step_limit *= kMore;
  limits.memory_limit_bytes *= kMore;
  const auto actual = EvaluateWithin(after, *arguments, limits);
  if (absl::IsResourceExhausted(actual.status()) || absl::IsCancelled(actual.status())) return;
  CHECK(actual.ok()) << passes << ": " << actual.status().ToString() << "\n" << WholeText(after);
  CheckSameResults(*expected, *actual, [&] {
    return absl::StrCat(passes, " on\n", WholeText(before), "\nbecame\n", WholeText(after));
  });
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  const std::unique_ptr<Module> module = ReadModule(input, false);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return false;
  const std::vector<std::string> passes = PassesOf(input);
  const std::unique_ptr<Module> after = module->Clone();
  if (!RunAll(*after, passes)) return true;
  // Arguments that are terms of a sum, one a device, are added up by partitioning.
  const bool has_terms = absl::StrContains(WholeText(*module), "unreduced");
  if (KeepValues(passes) && HasOneValue(*module) && !has_terms &&
      TakeAndGiveTheSame(*module, *after))
    CompareValues(*module, *after, absl::StrJoin(passes, ","));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
