// Manual pages and shell completions, made of a tool's own table of flags.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace CLI {
class App;
}

namespace hlokit {

// A page of section 1 for the program `name`, in man's language. `examples` are those of --help.
std::string ManPage(const CLI::App& app, absl::string_view name, absl::string_view examples,
                    absl::string_view version);

// A completion of the program `name` for `shell`: bash, zsh or fish. `more_flags` are flags that
// are no options of `app`, with dashes before them. Errors: InvalidArgument for another shell.
absl::StatusOr<std::string> CompletionScript(const CLI::App& app, absl::string_view name,
                                             absl::string_view shell,
                                             absl::Span<const std::string> more_flags);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
