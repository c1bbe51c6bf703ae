// The options of one pass in a list of passes: algsimp{layout-sensitive disable=add-zero}.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

// What stands between a pass's braces, and what the pass asked for. A factory reads every option it
// knows, given or not; what it did not ask for is unknown, and what it asked for is its list of
// options. Dashes and underscores in names are interchangeable.
class PassArguments {
 public:
  // Reads `layout-sensitive bytes=1024`, with blanks or commas between options. InvalidArgument for
  // a name without letters or one given twice.
  static absl::StatusOr<PassArguments> Parse(absl::string_view text);

  // Each returns the option's value, `otherwise` where it is not given. A value that cannot be read
  // is an error that Check() reports. `help` is a clause for --list-passes.
  bool Flag(absl::string_view name, absl::string_view help);
  int64_t Int(absl::string_view name, int64_t otherwise, absl::string_view help);
  std::string String(absl::string_view name, absl::string_view otherwise, absl::string_view help);
  // Values between semicolons: disable=add-zero;mul-one. Only those of `allowed` may be given.
  std::vector<std::string> List(absl::string_view name, absl::Span<const absl::string_view> allowed,
                                absl::string_view help);

  // InvalidArgument, naming `pass`, for a value that could not be read or an option that was never
  // asked for.
  absl::Status Check(absl::string_view pass) const;

  // A clause an option asked for: its name, what it takes, its help.
  std::vector<std::string> Help() const;

  // As Parse reads it, without the braces; empty where nothing is given.
  std::string Text() const;

 private:
  struct Given {
    std::string name, value;
    bool has_value = false, asked = false;
  };
  struct Known {
    std::string name, takes, help;
  };
  Given* Ask(absl::string_view name, absl::string_view takes, absl::string_view help);

  std::vector<Given> given_;
  std::vector<Known> known_;
  std::string error_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
