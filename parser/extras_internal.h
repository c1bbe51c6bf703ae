// What every instruction and the module's line may carry, in text.
#pragma once

#include <string>
#include <vector>

#include "ir/frontend_attributes.h"
#include "ir/module.h"
#include "parser/reader_internal.h"

namespace hlokit {

// `{a="b",c={d}}`, sorted by name; of equal names the last one counts.
bool ReadFrontendAttributes(Reader& reader, FrontendAttributes& attributes);

// `{visualizing_index=0,name=1.5}`, in canonical spelling; no text where there are none.
bool ReadStatistics(Reader& reader, std::string& text);

// `{ {1}: (0, {}, may-alias) }`, by output; of several for one the first counts.
bool ReadAliases(Reader& reader, std::vector<InputOutputAlias>& aliases);
// `{ (1, {0}) }`, sorted, each once.
bool ReadDonors(Reader& reader, std::vector<BufferDonor>& donors);

// `(f32[2]{0})->f32[2]{0}`.
bool ReadEntryLayout(Reader& reader, EntryLayout& layout);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
