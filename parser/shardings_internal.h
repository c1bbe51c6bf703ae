// Shardings in text.
#pragma once

#include "ir/sharding.h"
#include "parser/reader_internal.h"

namespace hlokit {

// Reads `{replicated}`, `{devices=[2,2]<=[4]}`, `{{..}, {..}}` and brings it to XLA's form:
// subgroups merged and sorted, trivial ones dropped. Shardings over named meshes are kept as text.
bool ReadSharding(Reader& reader, Sharding& sharding);

// A tuple that has one sharding for all gets it for each leaf.
void SpreadOverTuple(const Shape& shape, Sharding& sharding);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
