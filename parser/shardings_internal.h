// Shardings in text.
#pragma once

#include "ir/sharding.h"
#include "parser/reader_internal.h"

namespace hlokit {

// Reads `{replicated}`, `{devices=[2,2]<=[4]}`, `{{..}, {..}}` and brings it to XLA's form:
// subgroups merged and sorted, trivial ones dropped.
bool ReadSharding(Reader& reader, Sharding& sharding);

// A sharding over named axes, from `mesh` or `maximal_mesh` on to the closing brace.
bool ReadNamedSharding(Reader& reader, Sharding& sharding);

// A tuple that has one sharding for all gets it for each leaf.
void SpreadOverTuple(const Shape& shape, Sharding& sharding);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
