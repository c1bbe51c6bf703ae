// Files of several modules.
#pragma once

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "support/diagnostics.h"

namespace hlokit {

// What begins a line between two modules of one file.
inline constexpr absl::string_view kSplitLine = "// -----";

// The pieces of `source` between lines that start with kSplitLine; places keep their line numbers.
std::vector<std::shared_ptr<const SourceFile>> SplitSource(
    const std::shared_ptr<const SourceFile>& source);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
