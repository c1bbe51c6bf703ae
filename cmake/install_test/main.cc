// Uses the installed headers and libraries as a stranger would.
#include <cstdio>

#include "support/diagnostics.h"

int main() {
  hlokit::SourceFile file("m.hlo", "HloModule m\n");
  hlokit::Diagnostics diagnostics;
  diagnostics.Error({10, 1}, "name", "a test");
  std::string text = diagnostics.Render(file);
  std::fputs(text.c_str(), stdout);
  return text.find("m.hlo:1:11: error: a test  [name]") == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
