// The custom calls that this process knows besides its own: registered here or loaded from
// libraries.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ffi/hlokit_ffi.h"

namespace hlokit {

// Registers `function` for all of the process. AlreadyExists where the target has another one.
absl::Status RegisterCustomCall(absl::string_view target, hlokit_ffi_function function);

// Loads a shared library, for as long as the process lives, and registers what hlokit_ffi_entries
// says; gives those targets. Its other symbols are found by FindCustomCallSymbol. NotFound where it
// does not load, InvalidArgument where it was built for another version.
absl::StatusOr<std::vector<std::string>> LoadCustomCalls(const std::string& library);

// Null where nobody registered the target.
hlokit_ffi_function FindCustomCall(absl::string_view target);

// XLA's first interface: `extern "C" void target(void* out, const void** in)`. Buffers are
// row-major and dense; a tuple is a table of pointers to its elements.
using PlainCustomCall = void (*)(void* out, const void** in);
// Registers a function of this program for all of the process. AlreadyExists where the target has
// another one, in either interface.
absl::Status RegisterCustomCall(absl::string_view target, PlainCustomCall function);
// What was registered so, else the symbol of a loaded library; null where there is neither.
PlainCustomCall FindCustomCallSymbol(absl::string_view target);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
