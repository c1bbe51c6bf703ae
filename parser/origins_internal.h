// origin={..} of instructions, origin_recovery_table={..} of modules.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"
#include "parser/parse_options.h"
#include "parser/reader_internal.h"

namespace hlokit {

// A tree of `{"name" {index}}`, braces included, into XLA's text of it.
bool ReadOrigin(Reader& reader, std::string& text);

// `{ {"lost" {0}} : {"from"}, "MODULE" ... }`, sorted; of rows for one value the first counts. The
// modules are read with `options`.
bool ReadRecoveryTable(Reader& reader, const ParseOptions& options,
                       std::vector<OriginRecovery>& table);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
