// --explain=A,B: whether two instructions come into one fusion, and why or why not.
#pragma once

#include <map>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "passes/manager.h"

namespace hlokit {

// Notes where the two are after each pass that moved one, what the pass `fusion` decides about
// them, and for passes of a dump, which cannot be asked, what hlokit's `fusion` would have.
class PairExplanation {
 public:
  // `passes`: the list that runs.
  PairExplanation(std::string first, std::string second, std::string passes)
      : names_{std::move(first), std::move(second)},
        passes_(std::move(passes)),
        marks_{{false, names_[0], {}, {}}, {false, names_[1], {}, {}}} {}

  void Before(absl::string_view pass, const Module& module);
  void After(absl::string_view pass, const Module& module);
  void Between(absl::string_view pass, const Module& before, const Module& after);
  // After the last pass: what `fusion` would decide, where none has.
  void End(const Module& module);

  // What was noted, a line an event.
  std::string Text() const;

 private:
  // What an instruction keeps where a pass gives it another name, as XLA's fusions do.
  struct Mark {
    bool seen = false;
    std::string name;  // now
    Opcode opcode = Opcode::kParameter;
    std::string op_name;
  };

  std::set<const Computation*> PlacesOf(const Module& module, size_t which);
  std::string PlaceText(const Module& module);
  void NotePlace(absl::string_view pass, const Module& module);
  void NoteDecision(const std::string& when, const Module& module);

  const std::string names_[2];
  const std::string passes_;
  Mark marks_[2];
  std::string place_, events_;
  bool asked_ = false;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
