// How HLO text is read.
#pragma once

namespace hlokit {

// How modules and computations are read.
struct ParseOptions {
  // Attributes that this version does not know are kept as text, with a warning, instead of being
  // errors.
  bool allow_unknown_attributes = false;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
