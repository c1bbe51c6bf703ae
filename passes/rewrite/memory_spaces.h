// Which memory arrays lie in, and the calls that say so.
#pragma once

#include "absl/strings/string_view.h"
#include "ir/instruction.h"

namespace hlokit {

// The host's memory, as XLA numbers memories in layouts, `S(5)`; the device's own is 0.
inline constexpr int64_t kHostSpace = 5;

// The thread that runs what the host computes.
inline constexpr absl::string_view kHostThread = "host";

// The target of the custom call that moves its operand to the host, and back.
inline constexpr absl::string_view kMoveToHost = "MoveToHost";
inline constexpr absl::string_view kMoveToDevice = "MoveToDevice";

// `shape` with all of its arrays that have layouts in memory `space`.
Shape InSpace(Shape shape, int64_t space);
int64_t SpaceOf(const Shape& array);

// True for a custom call of `target` with one operand.
bool IsUnaryCallOf(const Instruction* i, absl::string_view target);

// The value of the frontend attribute `name`; empty where there is none.
absl::string_view FrontendAttribute(const Instruction& i, absl::string_view name);
// Sets it; true if it was otherwise before.
bool SetFrontendAttribute(Instruction& i, absl::string_view name, absl::string_view value);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
