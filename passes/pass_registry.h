// The passes that there are: those of passes.def, and those that plugins bring.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {

struct PassRow {
  std::string name;  // as --passes takes it
  std::string summary;
  std::unique_ptr<Pass> (*make)(PassArguments&) = nullptr;
};

// Those of passes.def in its order, then the others as they came: as they are now, whatever is added
// later. Safe from several threads.
std::shared_ptr<const std::vector<PassRow>> PassRows();

// Adds all of them, or, with an error, none. Errors: InvalidArgument for a name that a list of
// passes could not hold, a row without a function; AlreadyExists for a name that is taken.
absl::Status AddPassRows(absl::Span<const PassRow> rows);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
