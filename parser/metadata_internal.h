// metadata={..} inside shardings.
#pragma once

#include <vector>

#include "ir/attribute_types.h"
#include "parser/reader_internal.h"

namespace hlokit {

// `{op_name="a" source_line=3}`. Parts that this version does not know are errors, or are kept as
// text with a warning. `texts` shares texts that recur.
bool ReadMetadata(Reader& reader, bool keep_unknown, SharedTextCache& texts, OpMetadata& metadata);

// One, `{op_name="a"}`, or several, `{{..}, {..}}`. Of several lists the last one counts.
bool ReadMetadataList(Reader& reader, std::vector<OpMetadata>& list);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
