// The values of a run on given inputs, for modules that are parts of what ran.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/common/inputs.h"

namespace hlokit {

class GivenValues {
 public:
  // The arguments, and, where the interpreter can run the module, what each instruction gives when
  // it runs first; of one GiB at most. Errors: of inputs that do not fit.
  static absl::StatusOr<GivenValues> Record(const Module& module, const InputOptions& options);

  // Writes arguments for a part of the module as an .npz: each parameter gets the value of the
  // instruction of its name, or its corner where the part's shapes are smaller; parameters that
  // stand for nothing that ran get random ones.
  absl::Status Write(const Module& part, const std::string& path) const;

 private:
  explicit GivenValues(const InputOptions& options) : options_(options) {}
  void Keep(int64_t device, const std::string& name, const Literal& value);
  // The value for a parameter's array; null: none.
  const Literal* Find(int64_t device, const Instruction& parameter) const;

  InputOptions options_;  // without the files
  int64_t bytes_ = 0;
  std::map<std::pair<int64_t, std::string>, Literal> values_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
