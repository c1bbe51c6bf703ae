// --explain: the history of one instruction through the passes.
#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "passes/manager.h"

namespace hlokit {

// Notes, pass by pass, what happened to the instructions of one name: made, changed (its text
// differs), replaced by a rule, removed. Cost: a walk over the module's names before and after each
// pass.
class Explanation {
 public:
  explicit Explanation(std::string name) : name_(std::move(name)) {}

  void Before(absl::string_view pass, const Module& module);
  void After(const PassRun& run, const Module& module);
  void Rewrite(absl::string_view pass, absl::string_view rule, const Instruction& subject,
               const Instruction& replacement);

  // What was noted, a line an event; says so where no pass ever saw such a name.
  std::string Text() const;

 private:
  // Text of each instruction of that name, by its computation's name.
  std::map<std::string, std::string> Find(const Module& module) const;

  std::string name_;
  std::map<std::string, std::string> before_;
  bool seen_ = false;
  std::string events_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
