// Finds the first bad step of a pass pipeline by binary search over --bisect-limit, the number of
// rewrites allowed. Bad is a module that does not verify, computes other values (interp), or makes
// a command fail. Passes are deterministic, so that log2(steps) runs from the start suffice.
//   invariant: the module is good after `good` steps, bad after `bad`
#include "tools/hlo-opt/bisect.h"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "passes/framework/pass_list.h"
#include "printer/printer.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/command.h"
#include "tools/hlo-opt/pass_spec.h"
#include "tools/hlo-opt/reproducer.h"
#include "tools/hlo-opt/value_check.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// A module after so many steps.
struct Attempt {
  std::unique_ptr<Module> module;
  absl::Status status;     // of the passes
  int64_t steps = 0;       // taken
  std::string pass, step;  // the last pass that ran, and the last step in words
};

class Bisection {
 public:
  Bisection(const Module& module, const std::string& spec, const OptOptions& options)
      : module_(module), spec_(spec), options_(options) {}

  absl::Status Run() {
    if (options_.bisect == "interp") {
      ASSIGN_OR_RETURN(values_, ValueCheck::Start(module_, {options_.inputs, options_.bounds}));
    }
    if (const std::string fault = FaultOf(Try(0)); !fault.empty())
      return InvalidArgument("the module is bad before any pass: ", fault);
    Attempt last = Try(-1);
    std::string fault = FaultOf(last);
    if (fault.empty()) {
      std::fprintf(stderr, "hlo-opt: none of the %lld steps is bad%s\n",
                   static_cast<long long>(last.steps),
                   values_ ? ": results agree before and after" : "");
      return absl::OkStatus();
    }
    int64_t good = 0, bad = last.steps;
    while (bad - good > 1) {
      const int64_t middle = good + (bad - good) / 2;
      Attempt attempt = Try(middle);
      const std::string found = FaultOf(attempt);
      (found.empty() ? good : bad) = middle;
      if (found.empty()) continue;
      last = std::move(attempt);
      fault = found;
    }
    last = Try(bad);
    const std::string made =
        WriteReproducer(*Try(good).module,
                        absl::StrCat("--passes=", ShellWord(PassWithOptions(spec_, last.pass)),
                                     " --bisect-limit=2 ", ValueFlags(options_)),
                        absl::StrCat("step ", bad, " is the first bad one"), options_);
    return absl::AbortedError(absl::StrCat("step ", bad, " is the first bad one, in ", last.pass,
                                           made, ": ", last.step, "\n", fault));
  }

 private:
  // The module after at most `limit` steps (-1: all), with the last rewrite in words.
  Attempt Try(int64_t limit) const {
    Attempt attempt;
    attempt.module = module_.Clone();
    auto pass_options = ManagerOptions(options_);
    if (!pass_options.ok()) return attempt.status = pass_options.status(), std::move(attempt);
    pass_options->step_limit = limit;
    pass_options->before = [&](absl::string_view pass, const Module&) {
      attempt.pass = std::string(pass);
      attempt.step = "what it does without asking";
    };
    pass_options->rewrite = [&](absl::string_view, absl::string_view rule,
                                const Instruction& subject, const Instruction& replacement) {
      attempt.step =
          absl::StrCat("rule ", rule, "\n  ", Print(subject), "\n  ",
                       &subject == &replacement ? "is changed in place"
                                                : absl::StrCat("becomes\n  ", Print(replacement)));
    };
    PassReport report;
    attempt.status = RunPasses(*attempt.module, spec_, *pass_options, &report);
    attempt.steps = report.steps;
    return attempt;
  }

  // What is wrong with a module; empty: nothing.
  std::string FaultOf(const Attempt& attempt) {
    if (!attempt.status.ok()) return std::string(attempt.status.message());
    Diagnostics diagnostics;
    if (absl::Status valid = Verify(*attempt.module, diagnostics); !valid.ok())
      return absl::StrCat("the module is not valid: ", valid.message());
    if (!values_) return FaultByCommand(*attempt.module);
    ValueCheck check = *values_;
    const absl::Status same = check.Check(*attempt.module);
    return same.ok() ? "" : std::string(same.message());
  }

  std::string FaultByCommand(const Module& module) const {
    const std::string path = TemporaryPath("hlo-opt-bisect", "hlo");
    if (absl::Status written = AtomicWriteFile(path, WholeText(module)); !written.ok())
      return std::string(written.message());
    const auto result = RunCommand(absl::StrCat(options_.bisect, " ", path), /*time_limit_s=*/0);
    unlink(path.c_str());
    if (!result.ok()) return std::string(result.status().message());
    if (result->exit_status == 0) return "";
    return absl::StrCat("'", options_.bisect, "' fails on it");
  }

  const Module& module_;
  const std::string& spec_;
  const OptOptions& options_;
  std::optional<ValueCheck> values_;
};

}  // namespace

absl::Status BisectPasses(const Module& module, const std::string& spec,
                          const OptOptions& options) {
  return Bisection(module, spec, options).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
