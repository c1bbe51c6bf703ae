// metadata={..} inside shardings.
#pragma once

#include <string>

#include "parser/reader_internal.h"

namespace hlokit {

// One, or `{{..}, {..}}`, into XLA's text of it.
bool ReadShardingMetadata(Reader& reader, std::string& text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
