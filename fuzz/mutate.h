// Mutations of inputs: by token for texts, by byte for the rest.
#pragma once

#include <random>
#include <string>

#include "absl/strings/string_view.h"

namespace hlokit {

using FuzzRandom = std::minstd_rand;

// `text` with one to four changes: tokens deleted, repeated, swapped, replaced by words of the
// dictionary, of the text itself or of `other`; numbers moved; lines taken from `other`; the end
// cut off. `other` may be empty. The result has at most `max_size` bytes.
std::string MutateTokens(absl::string_view text, absl::string_view other, size_t max_size,
                         FuzzRandom& random);

// `bytes` with one to four changes: bits flipped, bytes and small integers overwritten, stretches
// deleted, repeated, or taken from `other`, the end cut off.
std::string MutateBytes(absl::string_view bytes, absl::string_view other, size_t max_size,
                        FuzzRandom& random);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
