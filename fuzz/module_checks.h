// What must hold of any text that reads as a module; shared by the targets that start from one.
#pragma once

#include <memory>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace hlokit {

// The module in `text`, or null where it has errors: strictly, then keeping unknown attributes.
// CHECKs that a refusal comes with a message, and that messages can be shown.
std::unique_ptr<Module> ReadModule(absl::string_view text, bool allow_unknown_attributes);

// CHECKs that what `module` prints reads back and prints the same lines, and from then on the same
// text: the order of computations is that of their callers in the text, as in XLA, and so may
// change the first time.
void CheckFixedPoint(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
