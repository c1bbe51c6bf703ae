// The header of an object file: documented functions for C, and a class for C++.
#pragma once

#include <string>

#include "backends/cpu/aot/aot_object.h"

namespace hlokit {

// The header's text; `name` as in AotOptions, `source` what the object was made of, for the comment
// on top. Accessors are typed where C has the element type (f32, s64, ...; c64 and c128 as pairs);
// bf16, f16 and narrower types are the unsigned integer of their width.
std::string GenerateHeader(const AotObject& object, const std::string& name,
                           const std::string& source);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
