// metadata={..} inside shardings.
#pragma once

#include <vector>

#include "ir/attribute_types.h"
#include "parser/reader_internal.h"

namespace hlokit {

// One, `{op_name="a"}`, or several, `{{..}, {..}}`. Of several lists the last one counts.
bool ReadMetadataList(Reader& reader, std::vector<OpMetadata>& list);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
