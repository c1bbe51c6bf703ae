// Who decides whether a rewrite may happen, and hears of those that did.
#pragma once

#include "absl/strings/string_view.h"
#include "ir/instruction.h"

namespace hlokit {

// Passes that consist of many local rewrites ask before each of them, so that one rewrite can be
// counted, forbidden (--bisect-limit, disable=RULE) or told of (--explain, --stats).
class RewriteControl {
 public:
  virtual ~RewriteControl() = default;
  // `replacement` is about to take the place of `subject`. False: leave it as it is.
  virtual bool Permit(absl::string_view rule, const Instruction& subject,
                      const Instruction& replacement) = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
