// --explain: the history of one instruction through the passes.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "passes/manager.h"
#include "tools/hlo-opt/explain_pair.h"

namespace hlokit {

// Notes, pass by pass, what happened to the instructions of one name: made, changed (its text
// differs), replaced by a rule, removed, fused with others or kept apart from them, and why. Cost:
// a walk over the module's names before and after each pass, and fusion a second time.
class Explanation {
 public:
  // `name`: of one instruction (with % before it or not), or of two with a comma between, whose way into one fusion is told
  // instead (PairExplanation). `passes`: the list that runs.
  Explanation(std::string name, std::string passes);

  void Before(absl::string_view pass, const Module& module);
  void After(const PassRun& run, const Module& module);
  void Rewrite(absl::string_view pass, absl::string_view rule, const Instruction& subject,
               const Instruction& replacement);

  // Between two stages of a dump, whose passes cannot be asked: what `pass` made of the
  // instructions of that name. Of one that is gone or new, the operand that its users read instead
  // tells what replaced it or what it replaced.
  void Between(absl::string_view pass, const Module& before, const Module& after);

  // After the last pass, or stage of a dump.
  void End(const Module& module);

  // What was noted, a line an event; says so where no pass ever saw such a name.
  std::string Text() const;
  // After the end: that no pass saw such a name, and which one is near. Empty where one did, and of
  // two names, whose text says it.
  const std::string& missing() const { return missing_; }

 private:
  // Text of each instruction of that name, by its computation's name.
  std::map<std::string, std::string> Find(const Module& module) const;
  void NoteFusions(const Module& module, absl::string_view when);
  void NoteReplacements(const Module& before, const Module& after);

  const std::string name_, passes_;
  std::optional<PairExplanation> pair_;
  std::map<std::string, std::string> before_;
  bool seen_ = false;
  std::string events_, missing_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
