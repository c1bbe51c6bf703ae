// Instructions that differ in the same way, as in the copies of a repeated block.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/hlo-diff/comparison.h"

namespace hlokit {

class Folding {
 public:
  using Form = std::vector<const Instruction*>;  // those that are alike, of the first module where
                                                 // they have partners
  static constexpr size_t kShown = 3;            // of each form

  explicit Folding(const Comparison& comparison);
  Folding(const Folding&) = delete;
  Folding& operator=(const Folding&) = delete;

  // Whether reports leave it out, as one more of its form. Of either module.
  bool IsFolded(const Instruction* i) const;
  // The form of the last instruction that is shown of it, where more are left out; else null.
  const Form* MoreAfter(const Instruction* i) const;
  // "and 17 more like %a3"
  static std::string MoreText(const Form& form);

 private:
  std::deque<Form> forms_;  // stay where they are
  std::map<const Instruction*, std::pair<const Form*, size_t>> place_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
