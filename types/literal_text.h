// HLO's text of literals: the values of constants as XLA prints them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "types/literal.h"

namespace hlokit {

struct LiteralTextOptions {
  bool with_shape = false;   // `f32[2]{0} {1, 2}` rather than `{1, 2}`
  bool with_layout = true;   // in the shape
  bool one_line = true;      // inner braces of ranks above 1 on one line
  int64_t elide_above = -1;  // arrays of more elements, and all tuples, print as `{...}`; -1: never
};

// As XLA prints a constant's value: `1.5`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, `( 1, {2, 3} )`,
// `true`, `(1, -2)` for complex.
std::string Text(const Literal& literal, const LiteralTextOptions& options = {});
void AppendText(std::string& out, const Literal& literal, const LiteralTextOptions& options);

// One element as text: ints in decimal, pred true/false, floats with XLA's digits
// (f32: 6, else 9; f64: 15, else 17; others what their width needs), inf, -inf, nan, -nan,
// nan(0x1).
void AppendElementText(std::string& out, const Literal& literal, int64_t i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
