// Running out of memory as an error.
#pragma once

#include <new>
#include <utility>

#include "absl/strings/string_view.h"
#include "support/status.h"

namespace hlokit {

// What `step`, a function that gives a Status or StatusOr, gives; ResourceExhausted in the name of
// `what` where it asks for more memory than there is. For the steps in which a user's own sizes are
// allocated.
template <typename Step>
auto WithinMemory(absl::string_view what, Step&& step) -> decltype(step()) {
  try {
    return std::forward<Step>(step)();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("out of memory in ", what);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
