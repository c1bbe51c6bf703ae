// Special registers: %tid.x, %laneid, %clock64, ...
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

enum class Special : uint8_t {
#define HLOKIT_PTX_SPECIAL(text, name, bytes) k##name,
#include "ptxsim/special.def"
#undef HLOKIT_PTX_SPECIAL
};

std::optional<Special> SpecialNamed(absl::string_view text);
int BytesOf(Special special);  // 0: a predicate

// Writes the register op.mode to the column op.d, for all lanes.
void ReadSpecial(const Op& op, Warp& warp, LaneMask mask);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
