// Layouts of shapes that were inferred: inference itself gives none.
#pragma once

#include "absl/types/span.h"
#include "ir/attribute_holder.h"
#include "ir/computation.h"

namespace hlokit {

// The inferred result `shape` of an op with the layouts that XLA's readers and builders give it:
// those of an operand (or of what a called computation returns) where the op hands values on or
// works element by element, the default order everywhere else.
Shape WithInferredLayout(const Shape& shape, Opcode opcode, absl::Span<const Shape* const> operands,
                         const AttributesBase* attributes, absl::Span<Computation* const> called);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
