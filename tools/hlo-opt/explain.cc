// What passes did to one instruction.
#include "tools/hlo-opt/explain.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analysis/module_match.h"
#include "passes/framework/pass_list.h"
#include "passes/fusions/fusion_decisions.h"
#include "printer/printer.h"
#include "support/text.h"

namespace hlokit {
namespace {

constexpr absl::string_view kFusion = "fusion";

}  // namespace

Explanation::Explanation(std::string name, std::string passes)
    : name_(absl::StrReplaceAll(name, {{"%", ""}})), passes_(std::move(passes)) {
  if (const size_t comma = name_.find(','); comma != name_.npos)
    pair_.emplace(name_.substr(0, comma), name_.substr(comma + 1), passes_);
}

void Explanation::End(const Module& module) {
  if (pair_) return pair_->End(module);
  if (seen_) return;
  // No pass ran: what it is, and what fusion would decide.
  for (const auto& [computation, text] : Find(module)) {
    absl::StrAppend(&events_, "in ", computation, ": ", text, "\n");
    seen_ = true;
  }
  if (seen_) return NoteFusions(module, "fusion, if it ran now");
  std::vector<absl::string_view> names;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) names.push_back(i->name());
  missing_ = absl::StrCat("no instruction has this name before or after any pass that ran",
                          DidYouMean(name_, names));
}

std::map<std::string, std::string> Explanation::Find(const Module& module) const {
  std::map<std::string, std::string> found;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->name() == name_) found[c->name()] = Print(*i);
  return found;
}

void Explanation::Before(absl::string_view pass, const Module& module) {
  if (pair_) return pair_->Before(pass, module);
  before_ = Find(module);
  if (!seen_ && !before_.empty())
    for (const auto& [computation, text] : before_)
      absl::StrAppend(&events_, "before ", pass, ": in ", computation, ": ", text, "\n");
  seen_ |= !before_.empty();
  if (pass == kFusion && !before_.empty()) NoteFusions(module, kFusion);
}

void Explanation::NoteFusions(const Module& module, absl::string_view when) {
  absl::StatusOr<std::vector<PassStep>> steps = ParsePassList(PassWithOptions(passes_, kFusion));
  if (!steps.ok() || steps->empty()) return;
  const FusionLimits limits = FusionLimitsOf(steps->front().arguments);
  for (const std::string& decision : FusionDecisions(module, name_, limits))
    absl::StrAppend(&events_, when, ": ", decision, "\n");
}

void Explanation::Rewrite(absl::string_view pass, absl::string_view rule,
                          const Instruction& subject, const Instruction& replacement) {
  if (subject.name() == name_)
    absl::StrAppend(&events_, pass, ": rule ", rule, " puts in its place: ", Print(replacement),
                    "\n");
  if (replacement.name() == name_)
    absl::StrAppend(&events_, pass, ": rule ", rule, " lets it stand for: ", Print(subject), "\n");
}

void Explanation::After(const PassRun& run, const Module& module) {
  if (!run.changed) return;
  if (pair_) return pair_->After(run.name, module);
  const std::map<std::string, std::string> after = Find(module);
  for (const auto& [computation, text] : after) {
    const auto old = before_.find(computation);
    if (old == before_.end()) {
      absl::StrAppend(&events_, run.name, ": made it in ", computation, ": ", text, "\n");
    } else if (old->second != text) {
      absl::StrAppend(&events_, run.name, ": changed it to: ", text, "\n");
    }
  }
  for (const auto& [computation, text] : before_)
    if (after.find(computation) == after.end())
      absl::StrAppend(&events_, run.name, ": removed it from ", computation, "\n");
  seen_ |= !after.empty();
}

void Explanation::Between(absl::string_view pass, const Module& before, const Module& after) {
  if (pair_) return pair_->Between(pass, before, after);
  Before(pass, before);
  PassRun run;
  run.name = std::string(pass);
  run.changed = true;
  After(run, after);
  NoteReplacements(before, after);
}

// Users with a partner in the other module show it: where one reads `x` in the first and `y` in the
// second, y stands for x.
void Explanation::NoteReplacements(const Module& before, const Module& after) {
  const ModuleMatch match(before, after);
  std::set<std::string> said;
  for (const Computation* c : before.Computations())
    for (const Instruction* user : c->Instructions()) {
      const Instruction* partner = match.AfterOf(user);
      if (partner == nullptr || partner->operand_count() != user->operand_count()) continue;
      for (int64_t k = 0; k < user->operand_count(); ++k) {
        const Instruction *was = user->operand(k), *is = partner->operand(k);
        if (match.AfterOf(was) == is) continue;
        if (was->name() == name_ && is->name() != name_)
          said.insert(absl::StrCat("  %", partner->name(), " reads instead: ", Print(*is)));
        if (is->name() == name_ && was->name() != name_)
          said.insert(absl::StrCat("  %", partner->name(), " read before: ", Print(*was)));
      }
    }
  for (const std::string& line : said) absl::StrAppend(&events_, line, "\n");
}

std::string Explanation::Text() const {
  if (pair_) return pair_->Text();
  return absl::StrCat(
      "// ", name_, missing_.empty() ? "" : ": ", missing_, "\n", events_);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
